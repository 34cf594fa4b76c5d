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
  memo_.Clear();
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
  memo_.Clear();
  for (auto& [symbol, value] : rewrites_) value = Simplify(value);
  for (auto& [dividend, divisor] : divisible_) {
    dividend = Simplify(dividend);
    divisor = Simplify(divisor);
  }
  for (Expr& zero : zero_) zero = Simplify(zero);
  std::vector<Expr> orderings;
  orderings.swap(non_negative_);
  for (Expr ordering : orderings) AddNonNegative(Simplify(ordering));
  memo_.Clear();
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
