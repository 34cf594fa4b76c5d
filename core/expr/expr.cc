#include "core/expr/expr.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace linnet::expr {

absl::string_view ErrorText(Error error) {
  switch (error) {
    case Error::kNone:
      return "is valid";
    case Error::kUnset:
      return "is not set";
    case Error::kOverflow:
      return "overflows 64 bits";
    case Error::kDivisionByZero:
      return "divides by zero";
    case Error::kTooDeep:
      return "is nested too deeply";
    case Error::kTooLarge:
      return "has too many terms";
    case Error::kUnbound:
      return "has a symbol without a value";
  }
  return "is not valid";
}

const Atom* Expr::atom() const {
  const absl::Span<const Term> all = terms();
  if (all.size() != 1 || all[0].coefficient != 1) return nullptr;
  return all[0].monomial->degree() == 1 ? all[0].factors()[0] : nullptr;
}

SymbolId Expr::symbol() const {
  const Atom* only = atom();
  return only != nullptr && only->kind == AtomKind::kSymbol ? only->symbol
                                                            : SymbolId{};
}

int Compare(const Monomial& a, const Monomial& b) {
  if (&a == &b) return 0;
  if (a.degree() != b.degree()) return a.degree() > b.degree() ? -1 : 1;
  for (size_t i = 0; i < a.degree(); ++i) {
    if (a.factors[i] != b.factors[i]) {
      return a.factors[i]->rank < b.factors[i]->rank ? -1 : 1;
    }
  }
  return 0;
}

int Compare(Expr a, Expr b) {
  if (a == b) return 0;
  const absl::Span<const Term> x = a.terms();
  const absl::Span<const Term> y = b.terms();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (const int order = Compare(*x[i].monomial, *y[i].monomial)) return order;
    if (x[i].coefficient != y[i].coefficient) {
      return x[i].coefficient < y[i].coefficient ? -1 : 1;
    }
  }
  if (x.size() == y.size()) return 0;
  return x.size() > y.size() ? -1 : 1;
}

std::vector<SymbolId> SymbolsOf(Expr e) {
  std::vector<SymbolId> found;
  absl::flat_hash_set<const Atom*> seen;
  std::vector<Expr> pending = {e};
  while (!pending.empty()) {
    const Expr next = pending.back();
    pending.pop_back();
    for (const Term& term : next.terms()) {
      for (const Atom* atom : term.factors()) {
        if (!seen.insert(atom).second) continue;
        if (atom->kind == AtomKind::kSymbol) {
          found.push_back(atom->symbol);
        } else {
          pending.push_back(atom->a);
          pending.push_back(atom->b);
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

namespace {

// The least value known for symbols >= 1, capped to 0 and 1; -1 when not even
// 0 is known. One visit per atom keeps shared subexpressions cheap.
class Sign {
 public:
  int Of(Expr e) {
    if (!e.valid()) return -1;
    int low = 0;
    for (const Term& term : e.terms()) {
      const int part = Of(*term.monomial);
      if (part < 0 || term.coefficient < 0) return -1;
      low = std::max(low, part);
    }
    return low;
  }

  int Of(const Monomial& m) {
    int low = 1;
    for (const Atom* atom : m.factors) low = std::min(low, Of(*atom));
    return low;
  }

  int Of(const Atom& atom) {
    if (atom.kind == AtomKind::kSymbol) return 1;
    if (const auto it = done_.find(&atom); it != done_.end()) return it->second;
    const int a = Of(atom.a);
    const int b = Of(atom.b);
    int low = -1;
    switch (atom.kind) {
      case AtomKind::kSymbol:
        break;
      case AtomKind::kFloorDiv:
        if (a >= 0 && b >= 0) low = 0;
        break;
      case AtomKind::kCeilDiv:
        if (b >= 0) low = a;
        break;
      case AtomKind::kMod:
        if (b >= 0) low = 0;
        break;
      case AtomKind::kMin:
        low = std::min(a, b);
        break;
      case AtomKind::kMax:
        low = std::max(a, b);
        break;
    }
    done_[&atom] = low;
    return low;
  }

 private:
  absl::flat_hash_map<const Atom*, int> done_;
};

}  // namespace

bool IsNonNegative(Expr e) { return Sign().Of(e) >= 0; }
bool IsPositive(Expr e) { return Sign().Of(e) >= 1; }
bool IsNonNegative(const Monomial& m) { return Sign().Of(m) >= 0; }
bool IsPositive(const Monomial& m) { return Sign().Of(m) >= 1; }
bool IsPositive(const Atom& atom) { return Sign().Of(atom) >= 1; }

}  // namespace linnet::expr
