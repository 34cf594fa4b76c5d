// Rewriting of dimensions (language.md section 5.3).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/lang/shape_proof.h"

namespace linnet::lang {
namespace {

using expr::Atom;
using expr::AtomKind;
using expr::Expr;
using expr::Term;

constexpr int kMaxRewrites = 8;

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

}  // namespace

Expr ShapeFacts::Simplify(Expr dim) const {
  if (!dim.valid() || dim.is_constant()) return dim;
  if (rewrites_.empty() && dim.depth() == 0) return dim;
  const auto found = memo_.simplified.find(dim);
  if (found != memo_.simplified.end()) return found->second;
  Expr result = dim;
  for (int i = 0; i < kMaxRewrites; ++i) {
    const Expr next = RewriteOnce(result);
    if (!next.valid() || next == result) break;
    result = next;
  }
  memo_.simplified[dim] = result;
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
  const auto found = memo_.rewritten.find(&atom);
  if (found != memo_.rewritten.end()) return found->second;
  const Expr result = RewriteComposite(atom);
  memo_.rewritten[&atom] = result;
  return result;
}

Expr ShapeFacts::RewriteComposite(const Atom& atom) const {
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

}  // namespace linnet::lang
