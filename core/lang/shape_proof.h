// Proofs about dimensions (language.md section 5): what follows from the
// `where` clauses in scope. Everything not provable counts as false; nothing is
// checked at run time.

#ifndef LINNET_CORE_LANG_SHAPE_PROOF_H_
#define LINNET_CORE_LANG_SHAPE_PROOF_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/lang/program.h"

namespace linnet::lang {

// The facts known inside one function or block. Every symbol (and pack element
// count) is >= 0 to begin with. Copyable: an inner scope starts from a copy of
// the outer one. Bounded work per query (rewrite depth 8), and none for sides
// that are one expression already. Not thread-safe: queries make expressions
// and remember what they simplified.
class ShapeFacts {
 public:
  // `pool` must outlive the facts and their copies.
  explicit ShapeFacts(expr::Pool* pool) : pool_(pool) {}

  // Adds one `where` clause (section 5.2). A later symbol id counts as declared
  // later. Contradictory facts are not found out.
  void Add(Relation relation, expr::Expr left, expr::Expr right);
  void Add(const Constraint& constraint) {
    Add(constraint.relation, constraint.left, constraint.right);
  }

  // `dim` with the facts applied (section 5.3).
  expr::Expr Simplify(expr::Expr dim) const;

  // Whether `left relation right` follows (section 5.5).
  bool Prove(Relation relation, expr::Expr left, expr::Expr right) const;

  // Whether `divisor` divides `dim` without a remainder.
  bool Divides(expr::Expr divisor, expr::Expr dim) const;

  // Bounds that follow (section 5.4); empty: none known.
  std::optional<int64_t> Low(expr::Expr dim) const;
  std::optional<int64_t> High(expr::Expr dim) const;

 private:
  struct Interval {
    std::optional<int64_t> low, high;
  };

  void AddEqual(expr::Expr difference);
  void AddNonNegative(expr::Expr difference);
  void AddBound(expr::SymbolId symbol, Interval bound);
  void SimplifyFacts();

  // One round of rewriting, from the atoms up.
  expr::Expr RewriteOnce(expr::Expr dim) const;
  expr::Expr RewriteAtom(const expr::Atom& atom) const;
  expr::Expr RewriteComposite(const expr::Atom& atom) const;
  expr::Expr RewriteProduct(const expr::Term& term) const;
  expr::Expr Quotient(expr::Expr a, expr::Expr b) const;
  expr::Expr Remainder(expr::Expr a, expr::Expr b) const;
  expr::Expr Extremum(expr::AtomKind kind, expr::Expr a, expr::Expr b) const;
  bool TermDivisible(expr::Expr term, expr::Expr divisor) const;

  // `use_facts`: also the known non-negative polynomials.
  bool IsNonNegative(expr::Expr dim, bool use_facts) const;
  expr::Expr BoundQuotients(expr::Expr dim) const;
  Interval IntervalOf(expr::Expr dim, bool use_facts) const;
  Interval IntervalOfTerm(const expr::Term& term, bool use_facts) const;
  Interval IntervalOfAtom(const expr::Atom& atom, bool use_facts) const;
  Interval IntervalOfComposite(const expr::Atom& atom, bool use_facts) const;

  expr::Pool* pool_;
  absl::flat_hash_map<expr::SymbolId, Interval> bounds_;  // Else [0, ).
  // Never of a symbol that occurs on a right side.
  absl::flat_hash_map<expr::SymbolId, expr::Expr> rewrites_;
  std::vector<std::pair<expr::Expr, expr::Expr>> divisible_;  // (A, B): B | A.
  std::vector<expr::Expr> zero_;
  std::vector<expr::Expr> non_negative_;
  // What follows from the facts so far, so that a part shared by many others is
  // looked at once: without it the cost is exponential in the depth.
  struct Memo {
    absl::flat_hash_map<expr::Expr, expr::Expr> simplified;
    absl::flat_hash_map<const expr::Atom*, expr::Expr> rewritten;
    absl::flat_hash_map<const expr::Atom*, Interval> intervals[2];  // use_facts

    void Clear() {
      simplified.clear();
      rewritten.clear();
      for (auto& interval : intervals) interval.clear();
    }
  };
  mutable Memo memo_;
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_SHAPE_PROOF_H_
