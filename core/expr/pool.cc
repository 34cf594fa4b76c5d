#include "core/expr/pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/expr/checked.h"
#include "core/expr/expr.h"

namespace linnet::expr {
namespace {

using internal::CheckedAdd;
using internal::CheckedDivide;
using internal::CheckedMul;
using internal::CheckedSub;
using internal::Node;

using Terms = absl::InlinedVector<Term, 16>;
using Factors = absl::InlinedVector<const Atom*, 16>;

// Atoms that are no symbols rank after all symbols.
constexpr uint32_t kFirstComposite = uint32_t{1} << 31;
// The most products of terms that one multiplication forms.
constexpr size_t kMaxProducts = size_t{1} << 16;
// The most terms of a quotient by a sum.
constexpr int kMaxQuotient = 64;

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9fb21c651e98df25;
  return hash ^ (hash >> 29);
}

uint64_t HashOf(absl::Span<const Atom* const> factors) {
  uint64_t hash = factors.size();
  for (const Atom* factor : factors) hash = Mix(hash, factor->rank);
  return hash;
}

uint64_t HashOf(absl::Span<const Term> terms) {
  uint64_t hash = terms.size();
  for (const Term& term : terms) {
    hash = Mix(Mix(hash, term.monomial->hash),
               static_cast<uint64_t>(term.coefficient));
  }
  return hash;
}

// Without the constant, which is the last term when there is one.
absl::Span<const Term> Variable(Expr e) {
  const absl::Span<const Term> terms = e.terms();
  const bool constant = !terms.empty() && terms.back().factors().empty();
  return constant ? terms.first(terms.size() - 1) : terms;
}

int64_t ConstantPart(Expr e) {
  const absl::Span<const Term> terms = e.terms();
  const bool constant = !terms.empty() && terms.back().factors().empty();
  return constant ? terms.back().coefficient : 0;
}

bool SameTerms(absl::Span<const Term> a, absl::Span<const Term> b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Term& x, const Term& y) {
                      return x.coefficient == y.coefficient &&
                             x.monomial == y.monomial;
                    });
}

}  // namespace

bool Pool::NodeEq::operator()(const Node* a, const TermsKey& b) const {
  return SameTerms({a->terms, a->num_terms}, b.terms);
}

Pool::Pool(std::shared_ptr<const Pool> base) : base_(std::move(base)) {
  if (base_ != nullptr) {
    first_symbol_ = base_->num_symbols();
    next_composite_ = base_->next_composite_;
    zero_ = base_->zero_;
    one_ = base_->one_;
    return;
  }
  next_composite_ = kFirstComposite;
  zero_ = Intern({});
  one_ = Constant(1);
}

Expr Pool::Invalid(Error error) {
  static constexpr auto kNodes = [] {
    std::array<Node, static_cast<size_t>(Error::kUnbound) + 1> nodes{};
    for (size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].error = static_cast<Error>(i);
    }
    return nodes;
  }();
  return error == Error::kUnset ? Expr()
                                : Expr(&kNodes[static_cast<size_t>(error)]);
}

Expr Pool::Constant(int64_t value) {
  if (value == 0) return zero_;
  const Term term = {value, InternMonomial({})};
  return Intern({&term, 1});
}

Expr Pool::Symbol(absl::string_view name) {
  for (const Pool* pool = this; pool != nullptr; pool = pool->base_.get()) {
    const auto it = pool->by_name_.find(name);
    if (it != pool->by_name_.end()) return SymbolExpr(it->second);
  }
  const Expr symbol = AddSymbol(name);
  by_name_[symbol.atom()->name] = symbol.symbol();
  return symbol;
}

Expr Pool::AddSymbol(absl::string_view name) {
  const int32_t id = num_symbols();
  LINNET_CHECK(id < INT32_MAX) << "symbols come from bounded input";
  Atom* atom = arena_.New<Atom>();
  atom->rank = static_cast<uint32_t>(id);
  atom->symbol = SymbolId{id};
  atom->name = arena_.Copy(name);
  symbols_.push_back(atom);
  return AtomExpr(atom);
}

int32_t Pool::num_symbols() const {
  return first_symbol_ + static_cast<int32_t>(symbols_.size());
}

Expr Pool::SymbolExpr(SymbolId symbol) {
  const Pool* pool = this;
  while (symbol.index < pool->first_symbol_) pool = pool->base_.get();
  return AtomExpr(
      pool->symbols_[static_cast<size_t>(symbol.index - pool->first_symbol_)]);
}

absl::string_view Pool::name(SymbolId symbol) const {
  const Pool* pool = this;
  while (symbol.index < pool->first_symbol_) pool = pool->base_.get();
  return pool->symbols_[static_cast<size_t>(symbol.index - pool->first_symbol_)]
      ->name;
}

// Interning.

Expr Pool::Intern(absl::Span<const Term> terms) {
  if (terms.size() > kMaxTerms) return Invalid(Error::kTooLarge);
  const TermsKey key = {terms, HashOf(terms)};
  for (const Pool* pool = this; pool != nullptr; pool = pool->base_.get()) {
    const auto it = pool->nodes_.find(key);
    if (it != pool->nodes_.end()) return Expr(*it);
  }
  int32_t depth = 0;
  for (const Term& term : terms) {
    for (const Atom* atom : term.factors())
      depth = std::max(depth, atom->depth);
  }
  Term* copy = arena_.Array<Term>(terms.size());
  std::copy(terms.begin(), terms.end(), copy);
  const Node* node =
      arena_.New<Node>(copy, static_cast<uint32_t>(terms.size()), Error::kNone,
                       static_cast<uint8_t>(depth), key.hash);
  nodes_.insert(node);
  return Expr(node);
}

const Monomial* Pool::InternMonomial(absl::Span<const Atom* const> factors) {
  const FactorsKey key = {factors, HashOf(factors)};
  for (const Pool* pool = this; pool != nullptr; pool = pool->base_.get()) {
    const auto it = pool->monomials_.find(key);
    if (it != pool->monomials_.end()) return *it;
  }
  const Atom** copy = arena_.Array<const Atom*>(factors.size());
  std::copy(factors.begin(), factors.end(), copy);
  const Monomial* monomial = arena_.New<Monomial>(
      absl::Span<const Atom* const>(copy, factors.size()), key.hash);
  monomials_.insert(monomial);
  return monomial;
}

Expr Pool::InternAtom(AtomKind kind, Expr a, Expr b) {
  const AtomKey key = {kind, a, b};
  for (const Pool* pool = this; pool != nullptr; pool = pool->base_.get()) {
    const auto it = pool->atoms_.find(key);
    if (it != pool->atoms_.end()) return AtomExpr(it->second);
  }
  const int depth = 1 + std::max(a.depth(), b.depth());
  if (depth > kMaxDepth) return Invalid(Error::kTooDeep);
  Atom* atom = arena_.New<Atom>();
  atom->kind = kind;
  atom->depth = depth;
  atom->rank = next_composite_++;
  atom->a = a;
  atom->b = b;
  atoms_[key] = atom;
  return AtomExpr(atom);
}

Expr Pool::AtomExpr(const Atom* atom) {
  return MonomialExpr(InternMonomial({&atom, 1}));
}

Expr Pool::MonomialExpr(const Monomial* monomial) {
  return FromTerm({1, monomial});
}

Expr Pool::FromTerm(const Term& term) { return Intern({&term, 1}); }

const Monomial* Pool::Multiply(const Monomial* a, const Monomial* b) {
  if (a->factors.empty()) return b;
  if (b->factors.empty()) return a;
  if (a->degree() + b->degree() > kMaxDegree) return nullptr;
  Factors factors(a->degree() + b->degree());
  std::merge(a->factors.begin(), a->factors.end(), b->factors.begin(),
             b->factors.end(), factors.begin(),
             [](const Atom* x, const Atom* y) { return x->rank < y->rank; });
  return InternMonomial(factors);
}

const Monomial* Pool::Divide(const Monomial* a, const Monomial* b) {
  if (b->factors.empty()) return a;
  Factors rest;
  size_t next = 0;
  for (const Atom* factor : a->factors) {
    if (next < b->degree() && b->factors[next] == factor) {
      ++next;
    } else {
      rest.push_back(factor);
    }
  }
  return next == b->degree() ? InternMonomial(rest) : nullptr;
}

// Operations.

Expr Pool::Find(const MemoKey& key) const {
  for (const Pool* pool = this; pool != nullptr; pool = pool->base_.get()) {
    const auto it = pool->memo_.find(key);
    if (it != pool->memo_.end()) return it->second;
  }
  return Expr();
}

template <typename Compute>
Expr Pool::Memoized(Op op, Expr a, Expr b, Compute compute) {
  if (!a.valid()) return a;
  if (!b.valid()) return b;
  const MemoKey key = {a, b, op};
  const Expr known = Find(key);
  if (known.error() != Error::kUnset) return known;
  const Expr result = compute(a, b);
  memo_[key] = result;
  return result;
}

Expr Pool::Add(Expr a, Expr b) {
  return Memoized(Op::kAdd, a, b, [this](Expr x, Expr y) {
    return Merge(x, y, /*subtract=*/false);
  });
}

Expr Pool::Sub(Expr a, Expr b) {
  return Memoized(Op::kSub, a, b, [this](Expr x, Expr y) {
    return Merge(x, y, /*subtract=*/true);
  });
}

Expr Pool::Mul(Expr a, Expr b) {
  return Memoized(Op::kMul, a, b,
                  [this](Expr x, Expr y) { return MultiplyTerms(x, y); });
}

Expr Pool::Negate(Expr a) { return Sub(zero_, a); }

Expr Pool::Sum(absl::Span<const Expr> parts) {
  Expr sum = zero_;
  for (const Expr part : parts) sum = Add(sum, part);
  return sum;
}

Expr Pool::Product(absl::Span<const Expr> factors) {
  Expr product = one_;
  for (const Expr factor : factors) product = Mul(product, factor);
  return product;
}

Expr Pool::FloorDiv(Expr a, Expr b) {
  return Memoized(Op::kFloor, a, b, [this](Expr x, Expr y) {
    return Divided(AtomKind::kFloorDiv, x, y);
  });
}

Expr Pool::CeilDiv(Expr a, Expr b) {
  return Memoized(Op::kCeil, a, b, [this](Expr x, Expr y) {
    return Divided(AtomKind::kCeilDiv, x, y);
  });
}

Expr Pool::Mod(Expr a, Expr b) {
  return Memoized(Op::kMod, a, b, [this](Expr x, Expr y) {
    return Divided(AtomKind::kMod, x, y);
  });
}

Expr Pool::Min(Expr a, Expr b) {
  return Memoized(Op::kMin, a, b, [this](Expr x, Expr y) {
    return Extremum(AtomKind::kMin, x, y);
  });
}

Expr Pool::Max(Expr a, Expr b) {
  return Memoized(Op::kMax, a, b, [this](Expr x, Expr y) {
    return Extremum(AtomKind::kMax, x, y);
  });
}

Expr Pool::Apply(AtomKind kind, Expr a, Expr b) {
  switch (kind) {
    case AtomKind::kFloorDiv:
      return FloorDiv(a, b);
    case AtomKind::kCeilDiv:
      return CeilDiv(a, b);
    case AtomKind::kMod:
      return Mod(a, b);
    case AtomKind::kMin:
      return Min(a, b);
    case AtomKind::kMax:
      return Max(a, b);
    case AtomKind::kSymbol:
      break;
  }
  LINNET_CHECK(false) << "a symbol is no operation";
  return Expr();
}

Expr Pool::Merge(Expr a, Expr b, bool subtract) {
  const absl::Span<const Term> x = a.terms();
  const absl::Span<const Term> y = b.terms();
  Terms merged;
  size_t i = 0;
  size_t j = 0;
  while (i < x.size() || j < y.size()) {
    int order = i == x.size() ? 1 : -1;
    if (i < x.size() && j < y.size()) {
      order = Compare(*x[i].monomial, *y[j].monomial);
    }
    Term term = order <= 0 ? x[i] : Term{0, y[j].monomial};
    if (order >= 0) {
      const int64_t other = y[j].coefficient;
      const bool fits =
          subtract ? CheckedSub(term.coefficient, other, &term.coefficient)
                   : CheckedAdd(term.coefficient, other, &term.coefficient);
      if (!fits) return Invalid(Error::kOverflow);
      ++j;
    }
    if (order <= 0) ++i;
    if (term.coefficient != 0) merged.push_back(term);
  }
  return Intern(merged);
}

Expr Pool::MultiplyTerms(Expr a, Expr b) {
  const absl::Span<const Term> x = a.terms();
  const absl::Span<const Term> y = b.terms();
  if (x.size() * y.size() > kMaxProducts) return Invalid(Error::kTooLarge);
  Terms products;
  for (const Term& s : x) {
    for (const Term& t : y) {
      Term term = {0, Multiply(s.monomial, t.monomial)};
      if (term.monomial == nullptr) return Invalid(Error::kTooLarge);
      if (!CheckedMul(s.coefficient, t.coefficient, &term.coefficient)) {
        return Invalid(Error::kOverflow);
      }
      products.push_back(term);
    }
  }
  if (x.size() > 1 && y.size() > 1) {
    std::sort(products.begin(), products.end(),
              [](const Term& s, const Term& t) {
                return Compare(*s.monomial, *t.monomial) < 0;
              });
  }
  Terms merged;
  for (size_t i = 0; i < products.size();) {
    Term term = products[i];
    for (++i; i < products.size() && products[i].monomial == term.monomial;
         ++i) {
      if (!CheckedAdd(term.coefficient, products[i].coefficient,
                      &term.coefficient)) {
        return Invalid(Error::kOverflow);
      }
    }
    if (term.coefficient != 0) merged.push_back(term);
  }
  return Intern(merged);
}

// Division.

Expr Pool::Divided(AtomKind kind, Expr a, Expr b) {
  if (b.is_zero()) return Invalid(Error::kDivisionByZero);
  if (a.is_constant() && b.is_constant()) {
    int64_t value = 0;
    const Error error = CheckedDivide(kind, a.constant(), b.constant(), &value);
    return error == Error::kNone ? Constant(value) : Invalid(error);
  }
  if (const std::optional<Expr> quotient = DivideExactly(a, b)) {
    return kind == AtomKind::kMod ? zero_ : *quotient;
  }
  if (const std::optional<Expr> folded = DivideButConstant(kind, a, b)) {
    return *folded;
  }
  return InternAtom(kind, a, b);
}

std::optional<Expr> Pool::DivideExactly(Expr a, Expr b) {
  if (!a.valid() || !b.valid() || b.is_zero()) return std::nullopt;
  if (a.is_zero()) return a;
  if (a == b) return one_;
  if (b.terms().size() == 1) return DivideByTerm(a.terms(), b.terms()[0]);
  return DivideLong(a, b);
}

std::optional<Expr> Pool::DivideByTerm(absl::Span<const Term> a,
                                       const Term& b) {
  Terms quotient;
  for (const Term& term : a) {
    int64_t remainder = 0;
    Term part;
    if (CheckedDivide(AtomKind::kMod, term.coefficient, b.coefficient,
                      &remainder) != Error::kNone ||
        remainder != 0 ||
        CheckedDivide(AtomKind::kFloorDiv, term.coefficient, b.coefficient,
                      &part.coefficient) != Error::kNone) {
      return std::nullopt;
    }
    part.monomial = Divide(term.monomial, b.monomial);
    if (part.monomial == nullptr) return std::nullopt;
    quotient.push_back(part);
  }
  // Dividing all by one monomial keeps their order.
  return Intern(quotient);
}

// Long division. The order of monomials is kept by products, so the first term
// of an exact quotient is the quotient of the first terms, and its last term
// that of the last ones.
std::optional<Expr> Pool::DivideLong(Expr a, Expr b) {
  const Term& last = b.terms().back();
  if (!DivideByTerm(a.terms().last(1), last)) return std::nullopt;
  Expr rest = a;
  Expr quotient = zero_;
  for (int i = 0; i < kMaxQuotient; ++i) {
    const std::optional<Expr> part =
        DivideByTerm(rest.terms().first(1), b.terms()[0]);
    if (!part) return std::nullopt;
    quotient = Add(quotient, *part);
    rest = Sub(rest, Mul(*part, b));
    if (!rest.valid() || !quotient.valid()) return std::nullopt;
    if (rest.is_zero()) return quotient;
  }
  return std::nullopt;
}

// floor((m + r) / d) = m / d + floor(r / d) for constants r and d that divides
// m; ceilings alike; and (m + r) mod d = r mod d.
std::optional<Expr> Pool::DivideButConstant(AtomKind kind, Expr a, Expr b) {
  const int64_t r = ConstantPart(a);
  if (!b.is_constant() || r == 0) return std::nullopt;
  const std::optional<Expr> quotient = DivideByTerm(Variable(a), b.terms()[0]);
  if (!quotient) return std::nullopt;
  int64_t part = 0;
  const Error error = CheckedDivide(kind, r, b.constant(), &part);
  if (error != Error::kNone) return Invalid(error);
  const Expr constant = Constant(part);
  return kind == AtomKind::kMod ? constant : Add(*quotient, constant);
}

// Minimum and maximum.

Expr Pool::Extremum(AtomKind kind, Expr a, Expr b) {
  std::vector<Expr> pending = {b, a};
  std::vector<Expr> leaves;
  while (!pending.empty()) {
    const Expr next = pending.back();
    pending.pop_back();
    if (const Atom* atom = next.atom(); atom != nullptr && atom->kind == kind) {
      pending.push_back(atom->b);
      pending.push_back(atom->a);
      continue;
    }
    // Of two that differ by a constant only one can matter.
    bool merged = false;
    for (Expr& leaf : leaves) {
      if (!SameTerms(Variable(leaf), Variable(next))) continue;
      const int64_t known = ConstantPart(leaf);
      const int64_t added = ConstantPart(next);
      if (kind == AtomKind::kMin ? added < known : added > known) leaf = next;
      merged = true;
      break;
    }
    if (!merged) leaves.push_back(next);
  }
  std::sort(leaves.begin(), leaves.end(),
            [](Expr x, Expr y) { return Compare(x, y) < 0; });
  Expr result = leaves.back();
  for (size_t i = leaves.size() - 1; i-- > 0;) {
    result = InternAtom(kind, leaves[i], result);
    if (!result.valid()) return result;
  }
  return result;
}

// Substitution.

Expr Pool::Substitute(Expr e,
                      const absl::flat_hash_map<SymbolId, Expr>& values) {
  absl::flat_hash_map<Expr, Expr> done;
  return SubstituteIn(e, values, done);
}

Expr Pool::SubstituteIn(Expr e,
                        const absl::flat_hash_map<SymbolId, Expr>& values,
                        absl::flat_hash_map<Expr, Expr>& done) {
  if (!e.valid()) return e;
  if (const auto it = done.find(e); it != done.end()) return it->second;
  Expr sum = zero_;
  for (const Term& term : e.terms()) {
    Expr product = Constant(term.coefficient);
    for (const Atom* atom : term.factors()) {
      Expr factor;
      if (atom->kind != AtomKind::kSymbol) {
        factor = Apply(atom->kind, SubstituteIn(atom->a, values, done),
                       SubstituteIn(atom->b, values, done));
      } else if (const auto it = values.find(atom->symbol);
                 it != values.end()) {
        factor = it->second;
        // An unset value would be taken for "not computed yet".
        if (factor.error() == Error::kUnset) factor = Invalid(Error::kUnbound);
      } else {
        factor = AtomExpr(atom);
      }
      product = Mul(product, factor);
    }
    sum = Add(sum, product);
  }
  done[e] = sum;
  return sum;
}

void Pool::ReleaseMemo() { memo_ = {}; }

size_t Pool::ByteSize() const {
  const auto table = [](const auto& t) {
    using Table = std::decay_t<decltype(t)>;
    return t.capacity() * (sizeof(typename Table::value_type) + 1);
  };
  return sizeof(*this) + arena_.ByteSize() +
         symbols_.capacity() * sizeof(const Atom*) + table(by_name_) +
         table(atoms_) + table(monomials_) + table(nodes_) + table(memo_);
}

}  // namespace linnet::expr
