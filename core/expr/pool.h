// Makes and owns expressions. See expr.h for the words.

#ifndef LINNET_CORE_EXPR_POOL_H_
#define LINNET_CORE_EXPR_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/arena.h"
#include "core/expr/expr.h"

namespace linnet::expr {

// Not thread-safe while it builds; const use afterwards is. A pool can extend
// another one: it finds the expressions of its base, adds its own beside them
// and leaves the base as it is, so that any number of threads can go on from
// one shared pool, each with an extension of its own.
//
// Every operation is memoized: repeating one is a lookup. Operands belong to
// this pool or its bases. Results follow these rules:
//   - exact 64-bit arithmetic; what does not fit is kOverflow, never wraps;
//   - dividing by the constant 0 is kDivisionByZero; any other divisor is taken
//     to be non-zero (B / B folds to 1);
//   - an invalid operand gives its error, the first operand's before the
//     second's.
class Pool {
 public:
  // `base` may be null. It must not be built on any more.
  explicit Pool(std::shared_ptr<const Pool> base = nullptr);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Expr Zero() const { return zero_; }
  Expr One() const { return one_; }
  Expr Constant(int64_t value);

  // The symbol that Symbol() has made for `name` before, else a new one.
  Expr Symbol(absl::string_view name);
  // A new symbol, apart from all others even of the same name. Symbol() never
  // finds it.
  Expr AddSymbol(absl::string_view name);
  // REQUIRES: `symbol` belongs to this pool or a base of it.
  Expr SymbolExpr(SymbolId symbol);
  absl::string_view name(SymbolId symbol) const;
  // Symbols of the bases included; ids count from 0 through all of them.
  int32_t num_symbols() const;

  Expr Add(Expr a, Expr b);
  Expr Sub(Expr a, Expr b);
  Expr Mul(Expr a, Expr b);
  Expr Negate(Expr a);
  Expr Sum(absl::Span<const Expr> parts);
  Expr Product(absl::Span<const Expr> factors);

  // Fold constants; divisors 1 and -1; a divisor that divides exactly as a
  // polynomial (6 * H / 2, A * B / B); and a constant divisor that divides all
  // but a constant (floor((4 * H + 5) / 2) is 2 * H + 2).
  Expr FloorDiv(Expr a, Expr b);
  Expr CeilDiv(Expr a, Expr b);
  Expr Mod(Expr a, Expr b);

  // Fold operands whose difference is a constant; flatten, sort and merge
  // nested ones of the same kind, with at most one constant, which comes last:
  // min(8, min(b, min(a, 4))) is min(a, min(b, 4)).
  Expr Min(Expr a, Expr b);
  Expr Max(Expr a, Expr b);

  // The exact quotient as a polynomial, when there is one.
  std::optional<Expr> DivideExactly(Expr a, Expr b);

  Expr AtomExpr(const Atom* atom);
  Expr MonomialExpr(const Monomial* monomial);
  Expr FromTerm(const Term& term);
  // Applies the operation of a kind other than kSymbol.
  Expr Apply(AtomKind kind, Expr a, Expr b);

  // `e` with the symbols of `values` replaced and everything folded anew. `e`
  // may belong to a pool apart from this one when every symbol of it is
  // replaced. Each distinct subexpression is rebuilt once.
  Expr Substitute(Expr e, const absl::flat_hash_map<SymbolId, Expr>& values);

  // Frees the table of past operations; equal operations still give equal
  // results. For a pool that is kept and no longer built on.
  void ReleaseMemo();

  // Memory of this pool without its bases, in bytes.
  size_t ByteSize() const;

 private:
  enum class Op : uint8_t { kAdd, kSub, kMul, kFloor, kCeil, kMod, kMin, kMax };
  struct MemoKey {
    Expr a, b;
    Op op;
    friend bool operator==(const MemoKey&, const MemoKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const MemoKey& k) {
      return H::combine(std::move(h), k.a, k.b, k.op);
    }
  };
  // What is looked up in the tables of nodes, monomials and atoms.
  struct TermsKey {
    absl::Span<const Term> terms;
    uint64_t hash;
  };
  struct FactorsKey {
    absl::Span<const Atom* const> factors;
    uint64_t hash;
  };
  struct AtomKey {
    AtomKind kind;
    Expr a, b;
    friend bool operator==(const AtomKey&, const AtomKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const AtomKey& k) {
      return H::combine(std::move(h), k.kind, k.a, k.b);
    }
  };
  struct NodeHash {
    using is_transparent = void;
    size_t operator()(const internal::Node* n) const { return n->hash; }
    size_t operator()(const TermsKey& k) const { return k.hash; }
  };
  struct NodeEq {
    using is_transparent = void;
    bool operator()(const internal::Node* a, const internal::Node* b) const {
      return a == b;
    }
    bool operator()(const internal::Node* a, const TermsKey& b) const;
    bool operator()(const TermsKey& a, const internal::Node* b) const {
      return (*this)(b, a);
    }
  };
  struct MonomialHash {
    using is_transparent = void;
    size_t operator()(const Monomial* m) const { return m->hash; }
    size_t operator()(const FactorsKey& k) const { return k.hash; }
  };
  struct MonomialEq {
    using is_transparent = void;
    bool operator()(const Monomial* a, const Monomial* b) const {
      return a == b;
    }
    bool operator()(const Monomial* a, const FactorsKey& b) const {
      return a->factors == b.factors;
    }
    bool operator()(const FactorsKey& a, const Monomial* b) const {
      return (*this)(b, a);
    }
  };

  static Expr Invalid(Error error);
  Expr Find(const MemoKey& key) const;
  template <typename Compute>
  Expr Memoized(Op op, Expr a, Expr b, Compute compute);

  // `terms` sorted and merged, without zeros.
  Expr Intern(absl::Span<const Term> terms);
  // `factors` sorted.
  const Monomial* InternMonomial(absl::Span<const Atom* const> factors);
  const Monomial* Multiply(const Monomial* a, const Monomial* b);
  const Monomial* Divide(const Monomial* a, const Monomial* b);  // Or null.
  Expr InternAtom(AtomKind kind, Expr a, Expr b);

  Expr Merge(Expr a, Expr b, bool subtract);
  Expr MultiplyTerms(Expr a, Expr b);
  Expr Divided(AtomKind kind, Expr a, Expr b);
  std::optional<Expr> DivideByTerm(absl::Span<const Term> a, const Term& b);
  std::optional<Expr> DivideButConstant(AtomKind kind, Expr a, Expr b);
  std::optional<Expr> DivideLong(Expr a, Expr b);
  Expr Extremum(AtomKind kind, Expr a, Expr b);
  Expr SubstituteIn(Expr e, const absl::flat_hash_map<SymbolId, Expr>& values,
                    absl::flat_hash_map<Expr, Expr>& done);

  std::shared_ptr<const Pool> base_;
  int32_t first_symbol_ = 0;     // Symbols below it belong to the bases.
  uint32_t next_composite_ = 0;  // Rank of the next atom that is no symbol.
  Arena arena_;
  std::vector<const Atom*> symbols_;
  absl::flat_hash_map<absl::string_view, SymbolId> by_name_;
  absl::flat_hash_map<AtomKey, const Atom*> atoms_;
  absl::flat_hash_set<const Monomial*, MonomialHash, MonomialEq> monomials_;
  absl::flat_hash_set<const internal::Node*, NodeHash, NodeEq> nodes_;
  absl::flat_hash_map<MemoKey, Expr> memo_;
  Expr zero_, one_;
};

}  // namespace linnet::expr

#endif  // LINNET_CORE_EXPR_POOL_H_
