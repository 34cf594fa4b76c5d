#include "core/lang/shape_proof.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace linnet::lang {
namespace {

using expr::Atom;
using expr::AtomKind;
using expr::Expr;
using expr::SymbolId;
using expr::Term;

constexpr int kMaxRewrites = 8;

std::optional<int64_t> CheckedAdd(std::optional<int64_t> a,
                                  std::optional<int64_t> b) {
  int64_t sum;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

std::optional<int64_t> CheckedMul(std::optional<int64_t> a,
                                  std::optional<int64_t> b) {
  int64_t product;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

std::optional<int64_t> Greater(std::optional<int64_t> a,
                               std::optional<int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

std::optional<int64_t> Less(std::optional<int64_t> a,
                            std::optional<int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

bool IsAtomOf(const Term& term, AtomKind kind) {
  return term.factors().size() == 1 && term.factors()[0]->kind == kind;
}

// Whether `symbol` occurs in `term` other than as its only factor.
bool OccursDeeper(const Term& term, SymbolId symbol) {
  if (term.factors().size() == 1 && term.factors()[0]->symbol == symbol) {
    return false;
  }
  for (const Atom* atom : term.factors()) {
    if (atom->kind == AtomKind::kSymbol) {
      if (atom->symbol == symbol) return true;
      continue;
    }
    for (Expr operand : {atom->a, atom->b}) {
      const std::vector<SymbolId> symbols = SymbolsOf(operand);
      if (std::binary_search(symbols.begin(), symbols.end(), symbol)) {
        return true;
      }
    }
  }
  return false;
}

// The term that an equation `sum of terms == 0` can be solved for: its symbol
// stands alone, and is the one declared last of those. Null: none.
const Term* SolvableTerm(absl::Span<const Term> terms) {
  const Term* best = nullptr;
  for (const Term& term : terms) {
    if (!IsAtomOf(term, AtomKind::kSymbol)) continue;
    if (term.coefficient != 1 && term.coefficient != -1) continue;
    const SymbolId symbol = term.factors()[0]->symbol;
    if (best != nullptr && symbol < best->factors()[0]->symbol) continue;
    if (std::none_of(terms.begin(), terms.end(), [symbol](const Term& other) {
          return OccursDeeper(other, symbol);
        })) {
      best = &term;
    }
  }
  return best;
}

}  // namespace

// Adding facts.

void ShapeFacts::Add(Relation relation, Expr left, Expr right) {
  const Expr difference = Simplify(pool_->Sub(left, right));
  if (!difference.valid()) return;
  const Expr one = pool_->One();
  switch (relation) {
    case Relation::kEq:
      AddEqual(difference);
      break;
    case Relation::kNe:
      return;
    case Relation::kGe:
      AddNonNegative(difference);
      break;
    case Relation::kGt:
      AddNonNegative(pool_->Sub(difference, one));
      break;
    case Relation::kLe:
      AddNonNegative(pool_->Negate(difference));
      break;
    case Relation::kLt:
      AddNonNegative(pool_->Sub(pool_->Negate(difference), one));
      break;
  }
  SimplifyFacts();
}

void ShapeFacts::AddEqual(Expr difference) {
  if (difference.is_constant()) return;
  const absl::Span<const Term> terms = difference.terms();
  if (terms.size() == 1 && IsAtomOf(terms[0], AtomKind::kMod)) {
    const Atom& remainder = *terms[0].factors()[0];
    divisible_.emplace_back(remainder.a, remainder.b);
    return;
  }
  const Term* solved = SolvableTerm(terms);
  if (solved == nullptr) {
    zero_.push_back(difference);
    return;
  }
  const SymbolId symbol = solved->factors()[0]->symbol;
  const Expr alone = pool_->SymbolExpr(symbol);
  // c * symbol + others == 0 with c = 1 or -1.
  const Expr value = solved->coefficient == 1
                         ? pool_->Negate(pool_->Sub(difference, alone))
                         : pool_->Add(difference, alone);
  rewrites_[symbol] = value;
  simplified_.clear();
  // What was known of the symbol is known of its value.
  const auto bound = bounds_.find(symbol);
  const Interval known =
      bound == bounds_.end() ? Interval{0, {}} : bound->second;
  if (known.low) {
    AddNonNegative(pool_->Sub(value, pool_->Constant(*known.low)));
  }
  if (known.high) {
    AddNonNegative(pool_->Sub(pool_->Constant(*known.high), value));
  }
}

void ShapeFacts::AddNonNegative(Expr difference) {
  if (IsNonNegative(difference, /*use_facts=*/false)) return;
  if (!difference.valid() || difference.is_constant()) return;
  // c * symbol + k >= 0 bounds the symbol.
  const absl::Span<const Term> terms = difference.terms();
  const bool has_constant =
      terms.size() == 2 && terms[1].monomial->degree() == 0;
  if ((terms.size() == 1 || has_constant) &&
      IsAtomOf(terms[0], AtomKind::kSymbol)) {
    const int64_t k = has_constant ? terms[1].coefficient : 0;
    const int64_t c = terms[0].coefficient;
    const SymbolId symbol = terms[0].factors()[0]->symbol;
    constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
    if (c != kLowest && k != kLowest) {
      AddBound(symbol, c > 0 ? Interval{-FloorDiv(k, c), {}}
                             : Interval{{}, FloorDiv(k, -c)});
      return;
    }
  }
  if (std::find(non_negative_.begin(), non_negative_.end(), difference) ==
      non_negative_.end()) {
    non_negative_.push_back(difference);
  }
}

void ShapeFacts::AddBound(SymbolId symbol, Interval bound) {
  Interval& known = bounds_.try_emplace(symbol, Interval{0, {}}).first->second;
  known.low = Greater(known.low, bound.low);
  known.high = Less(known.high, bound.high);
}

// Brings earlier facts into the form that later ones give to queries.
void ShapeFacts::SimplifyFacts() {
  simplified_.clear();
  for (auto& [symbol, value] : rewrites_) value = Simplify(value);
  for (auto& [dividend, divisor] : divisible_) {
    dividend = Simplify(dividend);
    divisor = Simplify(divisor);
  }
  for (Expr& zero : zero_) zero = Simplify(zero);
  std::vector<Expr> orderings;
  orderings.swap(non_negative_);
  for (Expr ordering : orderings) AddNonNegative(Simplify(ordering));
  simplified_.clear();
}

// Simplification.

Expr ShapeFacts::Simplify(Expr dim) const {
  if (!dim.valid() || dim.is_constant()) return dim;
  if (rewrites_.empty() && dim.depth() == 0) return dim;
  const auto found = simplified_.find(dim);
  if (found != simplified_.end()) return found->second;
  Expr result = dim;
  for (int i = 0; i < kMaxRewrites; ++i) {
    const Expr next = RewriteOnce(result);
    if (!next.valid() || next == result) break;
    result = next;
  }
  simplified_[dim] = result;
  return result;
}

// Recursion: atoms nest at most expr::kMaxDepth deep.
Expr ShapeFacts::RewriteOnce(Expr dim) const {
  if (dim.depth() == 0 && rewrites_.empty()) return dim;
  Expr sum = pool_->Zero();
  for (const Term& term : dim.terms()) {
    sum = pool_->Add(sum, RewriteProduct(term));
  }
  return sum;
}

Expr ShapeFacts::RewriteProduct(const Term& term) const {
  Expr product = pool_->Constant(term.coefficient);
  for (const Atom* atom : term.factors()) {
    product = pool_->Mul(product, RewriteAtom(*atom));
  }
  if (product.depth() == 0 || product.terms().size() != 1) return product;
  // floor(x / y) * rest is x * (rest / y) when y divides both.
  const absl::Span<const Atom* const> factors = product.terms()[0].factors();
  for (size_t i = 0; i < factors.size(); ++i) {
    const Atom& quotient = *factors[i];
    if (quotient.kind != AtomKind::kFloorDiv) continue;
    const Expr y = quotient.b;
    if (y.terms().size() != 1 || !Divides(y, quotient.a)) continue;
    Expr rest = pool_->Constant(product.terms()[0].coefficient);
    for (size_t j = 0; j < factors.size(); ++j) {
      if (j != i) rest = pool_->Mul(rest, pool_->AtomExpr(factors[j]));
    }
    const std::optional<Expr> scaled = pool_->DivideExactly(rest, y);
    if (scaled) return pool_->Mul(quotient.a, *scaled);
  }
  return product;
}

Expr ShapeFacts::RewriteAtom(const Atom& atom) const {
  if (atom.kind == AtomKind::kSymbol) {
    const auto found = rewrites_.find(atom.symbol);
    return found == rewrites_.end() ? pool_->AtomExpr(&atom) : found->second;
  }
  const Expr a = RewriteOnce(atom.a);
  const Expr b = RewriteOnce(atom.b);
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
      return Quotient(a, b);
    case AtomKind::kMod:
      return Remainder(a, b);
    case AtomKind::kMin:
    case AtomKind::kMax:
      return Extremum(atom.kind, a, b);
    default:
      return pool_->Apply(atom.kind, a, b);
  }
}

// floor((m + r) / d) is m / d when d divides m and 0 <= r < d.
Expr ShapeFacts::Quotient(Expr a, Expr b) const {
  if (!b.is_constant() || b.constant() <= 0) return pool_->FloorDiv(a, b);
  const int64_t d = b.constant();
  Expr exact = pool_->Zero();
  Expr rest = pool_->Zero();
  for (const Term& term : a.terms()) {
    const Expr part = pool_->FromTerm(term);
    if (part.is_constant()) {
      const int64_t floor = FloorDiv(part.constant(), d);
      exact = pool_->Add(exact, pool_->Constant(floor));
      rest = pool_->Add(rest, pool_->Constant(part.constant() - floor * d));
    } else if (TermDivisible(part, b)) {
      exact = pool_->Add(exact, pool_->FloorDiv(part, b));
    } else {
      rest = pool_->Add(rest, part);
    }
  }
  const Interval bounds = IntervalOf(rest, /*use_facts=*/false);
  if (bounds.low && bounds.high && *bounds.low >= 0 && *bounds.high < d) {
    return exact;
  }
  // Divisible as a whole, but for a constant.
  if (!a.terms().empty() && a.terms().back().monomial->degree() == 0) {
    const int64_t constant = a.terms().back().coefficient;
    const int64_t r = constant - FloorDiv(constant, d) * d;
    const Expr whole = pool_->Sub(a, pool_->Constant(r));
    if (r != 0 && Divides(b, whole)) return pool_->FloorDiv(whole, b);
  }
  return pool_->FloorDiv(a, b);
}

Expr ShapeFacts::Remainder(Expr a, Expr b) const {
  if (Divides(b, a)) return pool_->Zero();
  if (b.is_constant() && b.constant() > 0 && !a.terms().empty() &&
      a.terms().back().monomial->degree() == 0) {
    const int64_t constant = a.terms().back().coefficient;
    const int64_t r =
        constant - FloorDiv(constant, b.constant()) * b.constant();
    const Expr rest = pool_->Constant(r);
    if (Divides(b, pool_->Sub(a, rest))) return rest;
  }
  return pool_->Mod(a, b);
}

Expr ShapeFacts::Extremum(AtomKind kind, Expr a, Expr b) const {
  const bool is_min = kind == AtomKind::kMin;
  if (IsNonNegative(pool_->Sub(a, b), /*use_facts=*/true))
    return is_min ? b : a;
  if (IsNonNegative(pool_->Sub(b, a), /*use_facts=*/true))
    return is_min ? a : b;
  return pool_->Apply(kind, a, b);
}

bool ShapeFacts::Divides(Expr divisor, Expr dim) const {
  if (!divisor.valid() || !dim.valid()) return false;
  if (dim.is_zero()) return true;
  if (divisor.is_constant() &&
      (divisor.constant() == 1 || divisor.constant() == -1)) {
    return true;
  }
  if (TermDivisible(dim, divisor)) return true;
  return std::all_of(dim.terms().begin(), dim.terms().end(),
                     [&](const Term& term) {
                       return TermDivisible(pool_->FromTerm(term), divisor);
                     });
}

// As a polynomial, or as a multiple of a dividend known for the divisor.
bool ShapeFacts::TermDivisible(Expr term, Expr divisor) const {
  if (divisor.is_zero()) return false;
  if (pool_->DivideExactly(term, divisor)) return true;
  return std::any_of(divisible_.begin(), divisible_.end(),
                     [&](const std::pair<Expr, Expr>& fact) {
                       return fact.second == divisor && !fact.first.is_zero() &&
                              pool_->DivideExactly(term, fact.first);
                     });
}

// Bounds.

ShapeFacts::Interval ShapeFacts::IntervalOf(Expr dim, bool use_facts) const {
  if (!dim.valid()) return {};
  Interval sum{0, 0};
  for (const Term& term : dim.terms()) {
    const Interval part = IntervalOfTerm(term, use_facts);
    sum.low = CheckedAdd(sum.low, part.low);
    sum.high = CheckedAdd(sum.high, part.high);
  }
  return sum;
}

ShapeFacts::Interval ShapeFacts::IntervalOfTerm(const Term& term,
                                                bool use_facts) const {
  Interval product{1, 1};
  for (const Atom* atom : term.factors()) {
    const Interval factor = IntervalOfAtom(*atom, use_facts);
    if (term.factors().size() == 1) {
      product = factor;
    } else if (!factor.low || *factor.low < 0) {
      return {};
    } else {
      product.low = CheckedMul(product.low, factor.low);
      product.high = factor.high == 0 || product.high == 0
                         ? std::optional<int64_t>(0)
                         : CheckedMul(product.high, factor.high);
      // A product too large for 64 bits still is not negative.
      if (!product.low) product.low = 0;
    }
  }
  const Interval scaled{CheckedMul(product.low, term.coefficient),
                        CheckedMul(product.high, term.coefficient)};
  if (term.coefficient > 0) return scaled;
  return {scaled.high, scaled.low};
}

ShapeFacts::Interval ShapeFacts::IntervalOfAtom(const Atom& atom,
                                                bool use_facts) const {
  if (atom.kind == AtomKind::kSymbol) {
    const auto found = bounds_.find(atom.symbol);
    return found == bounds_.end() ? Interval{0, {}} : found->second;
  }
  Interval a = IntervalOf(atom.a, use_facts);
  const Interval b = IntervalOf(atom.b, use_facts);
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
    case AtomKind::kCeilDiv: {
      if (!b.low || *b.low < 1) return {};
      if (!a.low || *a.low < 0) {
        if (!use_facts || !IsNonNegative(atom.a, /*use_facts=*/false))
          return {};
        a.low = 0;
      }
      const int64_t round = atom.kind == AtomKind::kCeilDiv ? 1 : 0;
      Interval quotient{b.high ? *a.low / *b.high : 0, {}};
      if (a.high) quotient.high = CheckedAdd(*a.high / *b.low, round);
      return quotient;
    }
    case AtomKind::kMod:
      if (!b.low || *b.low < 1) return {};
      return {0, CheckedAdd(b.high, -1)};
    case AtomKind::kMin:
      return {a.low && b.low ? Less(a.low, b.low) : std::nullopt,
              Less(a.high, b.high)};
    case AtomKind::kMax:
      return {Greater(a.low, b.low),
              a.high && b.high ? Greater(a.high, b.high) : std::nullopt};
    case AtomKind::kSymbol:
      break;
  }
  return {};
}

// `dim` with each floor(x / c) replaced by a bound that can only make it less.
Expr ShapeFacts::BoundQuotients(Expr dim) const {
  Expr sum = pool_->Zero();
  for (const Term& term : dim.terms()) {
    Expr part = pool_->FromTerm(term);
    const bool others_known =
        term.factors().size() == 1 ||
        IntervalOfTerm(Term{1, term.monomial}, false).low.has_value();
    if (others_known) {
      part = pool_->Constant(term.coefficient);
      for (const Atom* atom : term.factors()) {
        const bool is_quotient =
            atom->kind == AtomKind::kFloorDiv && atom->b.is_constant() &&
            atom->b.constant() >= 1 && IsNonNegative(atom->a, false);
        if (!is_quotient) {
          part = pool_->Mul(part, pool_->AtomExpr(atom));
        } else if (term.coefficient < 0) {
          part = pool_->Mul(part, atom->a);
        } else {
          part = pool_->Zero();
        }
      }
    }
    sum = pool_->Add(sum, part);
  }
  return sum;
}

bool ShapeFacts::IsNonNegative(Expr dim, bool use_facts) const {
  if (!dim.valid()) return false;
  const auto low_is_non_negative = [&](Expr e) {
    const std::optional<int64_t> low = IntervalOf(e, use_facts).low;
    return low && *low >= 0;
  };
  if (low_is_non_negative(dim)) return true;
  if (!use_facts) return false;
  for (Expr fact : non_negative_) {
    if (low_is_non_negative(pool_->Sub(dim, fact))) return true;
  }
  return dim.depth() > 0 && low_is_non_negative(BoundQuotients(dim));
}

std::optional<int64_t> ShapeFacts::Low(Expr dim) const {
  return IntervalOf(Simplify(dim), /*use_facts=*/true).low;
}

std::optional<int64_t> ShapeFacts::High(Expr dim) const {
  return IntervalOf(Simplify(dim), /*use_facts=*/true).high;
}

// Queries.

bool ShapeFacts::Prove(Relation relation, Expr left, Expr right) const {
  if (!left.valid() || !right.valid()) return false;
  if (left == right) {
    return relation == Relation::kEq || relation == Relation::kLe ||
           relation == Relation::kGe;
  }
  const Expr difference = Simplify(pool_->Sub(left, right));
  if (!difference.valid()) return false;
  const auto positive = [&](Expr e) {
    return IsNonNegative(pool_->Sub(e, pool_->One()), /*use_facts=*/true);
  };
  switch (relation) {
    case Relation::kEq:
      return difference.is_zero() ||
             std::any_of(zero_.begin(), zero_.end(), [&](Expr zero) {
               return difference == zero || difference == pool_->Negate(zero);
             });
    case Relation::kNe:
      return positive(difference) || positive(pool_->Negate(difference));
    case Relation::kGe:
      return IsNonNegative(difference, /*use_facts=*/true);
    case Relation::kGt:
      return positive(difference);
    case Relation::kLe:
      return IsNonNegative(pool_->Negate(difference), /*use_facts=*/true);
    case Relation::kLt:
      return positive(pool_->Negate(difference));
  }
  return false;
}

}  // namespace linnet::lang
