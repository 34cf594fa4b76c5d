// Interval arithmetic (language.md section 5.4).

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/lang/shape_proof.h"

namespace linnet::lang {
namespace {

using expr::Atom;
using expr::AtomKind;
using expr::Expr;
using expr::Term;

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

}  // namespace

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
  auto& known = memo_.intervals[use_facts ? 1 : 0];
  const auto found = known.find(&atom);
  if (found != known.end()) return found->second;
  const Interval result = IntervalOfComposite(atom, use_facts);
  known[&atom] = result;
  return result;
}

ShapeFacts::Interval ShapeFacts::IntervalOfComposite(const Atom& atom,
                                                     bool use_facts) const {
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

}  // namespace linnet::lang
