// Symbolic sizes: canonical polynomials over symbols, with 64-bit coefficients.
//
// Words. A *symbol* is a named unknown: a dimension of the language, a role of
// the engine. An *atom* is a symbol or one of floor(a / b), ceil(a / b),
// a mod b, min(a, b), max(a, b) over expressions. A *monomial* is a multiset of
// atoms; a *term* is a coefficient that is not 0 times a monomial; an
// expression is a sum of terms with distinct monomials:
//
//   2 * batch * context + 3 * min(batch, 8) + 1
//   ^ ^^^^^^^^^^^^^^^       ^^^^^^^^^^^^^     ^ the term of the empty monomial
//   | monomial, 2 atoms     an atom
//   coefficient
//
// All of these are made by a Pool (pool.h) and interned there, so that one
// quantity built two ways is one expression, and comparing pointers compares
// values. Nodes are immutable and live as long as their pool.
//
// Order. Atoms: symbols by id, then the others by age. Monomials: more atoms
// first, then by their atoms, so the constant comes last. Terms stand in the
// order of their monomials. It depends on the order of construction alone, not
// on addresses.

#ifndef LINNET_CORE_EXPR_EXPR_H_
#define LINNET_CORE_EXPR_EXPR_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/id.h"

namespace linnet::expr {

struct SymbolTag;
using SymbolId = Id<SymbolTag>;

// Why an expression, or its value, does not exist.
enum class Error : uint8_t {
  kNone,
  kUnset,           // A default Expr.
  kOverflow,        // Does not fit 64 bits.
  kDivisionByZero,  // Of a division, ceiling division or remainder.
  kTooDeep,         // Atoms within atoms beyond kMaxDepth.
  kTooLarge,        // More than kMaxTerms terms or kMaxDegree atoms in a term.
  kUnbound,         // A symbol has no value.
};

// "overflows 64 bits", "divides by zero", ...: what an expression does.
absl::string_view ErrorText(Error error);

inline constexpr int kMaxDepth = 64;
inline constexpr size_t kMaxTerms = 4096;
inline constexpr size_t kMaxDegree = 64;

struct Atom;
struct Monomial;
struct Term;
class Pool;  // pool.h

namespace internal {
struct Node;
}  // namespace internal

// A handle to an interned expression, the size of a pointer and passed by
// value. Two expressions of one pool are equal exactly when they are the same
// polynomial. A default one is not valid (kUnset).
class Expr {
 public:
  constexpr Expr() = default;

  // Whether it is an expression at all; an operation on one that is not gives
  // the same error again.
  bool valid() const { return error() == Error::kNone; }
  Error error() const;

  bool is_zero() const;
  bool is_one() const;
  bool is_constant() const;
  int64_t constant() const;  // REQUIRES: is_constant().

  // The terms, none for 0. Empty for an invalid expression.
  absl::Span<const Term> terms() const;

  // The only atom when the expression is exactly one atom, else null.
  const Atom* atom() const;
  // The symbol when the expression is exactly one symbol, else invalid.
  SymbolId symbol() const;

  // The deepest nesting of atoms: 0 for polynomials of symbols.
  int depth() const;

  // See ToText() below.
  std::string ToString() const;

  friend constexpr bool operator==(Expr, Expr) = default;
  template <typename H>
  friend H AbslHashValue(H h, Expr e) {
    return H::combine(std::move(h), e.node_);
  }
  friend std::ostream& operator<<(std::ostream& os, Expr e) {
    return os << e.ToString();
  }

 private:
  friend class Pool;
  constexpr explicit Expr(const internal::Node* node) : node_(node) {}
  const internal::Node* node_ = nullptr;
};

enum class AtomKind : uint8_t {
  kSymbol,
  kFloorDiv,  // Rounds toward minus infinity.
  kCeilDiv,   // Rounds toward plus infinity.
  kMod,       // a - b * floor(a / b): never negative for b > 0.
  kMin,
  kMax,
};

struct Atom {
  AtomKind kind = AtomKind::kSymbol;
  int32_t depth = 0;       // 0 for a symbol, else 1 + that of the operands.
  uint32_t rank = 0;       // Place in the order of atoms.
  SymbolId symbol;         // kSymbol
  absl::string_view name;  // kSymbol
  Expr a, b;               // The others' operands.
};

// Interned: equal monomials of one pool are one object.
struct Monomial {
  absl::Span<const Atom* const> factors;  // Sorted; repeated for powers.
  uint64_t hash = 0;

  size_t degree() const { return factors.size(); }
};

struct Term {
  int64_t coefficient = 0;  // Not 0.
  const Monomial* monomial = nullptr;

  absl::Span<const Atom* const> factors() const { return monomial->factors; }
};

// Negative, 0 or positive as `a` stands before, at or after `b` in the order
// above. For monomials of one pool.
int Compare(const Monomial& a, const Monomial& b);
// A total order of expressions of one pool: by their first term that differs.
int Compare(Expr a, Expr b);

// The symbols that occur anywhere in `e`, sorted, each once.
std::vector<SymbolId> SymbolsOf(Expr e);

// Whether the value is known to be >= 0 (or >= 1) whenever every symbol is
// >= 1. False means "not known".
bool IsNonNegative(Expr e);
bool IsPositive(Expr e);
bool IsNonNegative(const Monomial& m);
bool IsPositive(const Monomial& m);
bool IsPositive(const Atom& atom);

// The language's own form: `2 * batch * context + 1`, `H / 2`, `H % 3`,
// `min(a, b)`; a ceiling division is `ceil(a / b)`. A coefficient comes first,
// 1 is left out, a power is repeated. An invalid expression prints
// `<overflows 64 bits>`. Text past `max_bytes` is cut off and ends in `...`.
std::string ToText(absl::Span<const Term> terms, size_t max_bytes = 4096);

namespace internal {

struct Node {
  const Term* terms = nullptr;
  uint32_t num_terms = 0;
  Error error = Error::kNone;
  uint8_t depth = 0;
  uint64_t hash = 0;
};

}  // namespace internal

inline Error Expr::error() const {
  return node_ == nullptr ? Error::kUnset : node_->error;
}
inline absl::Span<const Term> Expr::terms() const {
  if (node_ == nullptr) return {};
  return {node_->terms, node_->num_terms};
}
inline bool Expr::is_zero() const { return valid() && node_->num_terms == 0; }
inline bool Expr::is_constant() const {
  return valid() &&
         (node_->num_terms == 0 ||
          (node_->num_terms == 1 && node_->terms[0].monomial->degree() == 0));
}
inline int64_t Expr::constant() const {
  return node_->num_terms == 0 ? 0 : node_->terms[0].coefficient;
}
inline bool Expr::is_one() const { return is_constant() && constant() == 1; }
inline int Expr::depth() const { return node_ == nullptr ? 0 : node_->depth; }

}  // namespace linnet::expr

#endif  // LINNET_CORE_EXPR_EXPR_H_
