// Proofs about dimensions (language.md section 5): what follows from the
// `where` clauses in scope. Everything not provable counts as false; nothing is
// checked at run time.

#ifndef LINNET_CORE_LANG_SHAPE_PROOF_H_
#define LINNET_CORE_LANG_SHAPE_PROOF_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/expr/expr.h"
#include "core/lang/program.h"

namespace linnet::lang {

// The facts known inside one function or block. Every symbol (and pack element
// count) is >= 0 to begin with. Copyable: an inner scope starts from a copy of
// the outer one. Bounded work per query (rewrite depth 8).
class ShapeFacts {
 public:
  // `pool` must outlive the facts.
  explicit ShapeFacts(expr::Pool* pool) : pool_(pool) {}

  // Adds one `where` clause (section 5.2). A later symbol id counts as declared
  // later.
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
  expr::Pool* pool_;
  // Filled in by the implementation; see the .cc.
  struct Interval {
    int64_t low = 0;
    std::optional<int64_t> high;
  };
  absl::flat_hash_map<expr::SymbolId, Interval> bounds_;
  absl::flat_hash_map<expr::SymbolId, expr::Expr> rewrites_;
  std::vector<std::pair<expr::Expr, expr::Expr>> divisible_;  // (A, B): B | A.
  std::vector<expr::Expr> zero_;
  std::vector<expr::Expr> non_negative_;
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_SHAPE_PROOF_H_
