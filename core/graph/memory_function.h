// The peak of a timeline as a function of the roles.
//
// Words. At each moment the live intervals sum to a polynomial, the moment's
// *total*. A *candidate* is a moment that can be the first one with the largest
// total at some sizes. Only a moment at which an interval begins can be one;
// of equal totals only the first; and of two totals the one that the other
// *covers* cannot. A total covers another when it is at least as large wherever
// all roles are >= 1, as its coefficients show: each is at least as large, or
// what one lacks a multiple of its monomial has too much. It must be the
// earlier one, or strictly larger:
//
//   moment  total                      candidate
//   0       63 * S + 9                 no: covered by moment 2, strictly
//   1       S * S                      yes
//   2       64 * S + 8                 yes
//   3       S * S                      no: equal to moment 1, which is first
//
// A decoder of 32 layers and thousands of steps keeps a handful, so a peak at
// other sizes costs tens of nanoseconds and no step is looked at again.

#ifndef LINNET_CORE_GRAPH_MEMORY_FUNCTION_H_
#define LINNET_CORE_GRAPH_MEMORY_FUNCTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/expr/evaluator.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/kinds.h"
#include "core/graph/timeline.h"

namespace linnet::graph {

struct Peak {
  int64_t bytes = 0;
  int64_t moment = 0;     // The first with that many bytes.
  int32_t candidate = 0;  // Its index, for Split() and Formula().
  expr::Error error = expr::Error::kNone;  // Then nothing else counts.

  bool ok() const { return error == expr::Error::kNone; }
};

// Bytes per category.
using CategoryBytes = std::array<int64_t, kNumCategories>;

// Immutable; const use is thread-safe and does not allocate unless said.
class MemoryFunction {
 public:
  // Derives the candidates in one sweep, O(moments + intervals) when few stay.
  // `pool` owns the expressions of `timeline` (an extension of the graph's when
  // a backend added its own) and is kept alive for Formula(). Returns
  // InvalidArgument when an interval's bytes are invalid or use a symbol that
  // is no role, or a coefficient of a total does not fit 64 bits, and
  // ResourceExhausted when there are more than kMaxCandidates candidates or
  // kMaxTerms terms in them.
  // REQUIRES: the intervals lie within the timeline's moments.
  static absl::StatusOr<MemoryFunction> Build(
      std::shared_ptr<const expr::Pool> pool,
      absl::Span<const expr::SymbolId> roles, const Timeline& timeline);

  // The peak at these sizes, in the order of `roles`, each >= 1. On a timeline
  // with nothing in it, 0 bytes at moment 0.
  Peak Evaluate(absl::Span<const int64_t> sizes) const;

  // The bytes of each category at the moment of `peak`; they sum to its bytes.
  // REQUIRES: `peak` came from Evaluate() of this function at these sizes.
  CategoryBytes Split(const Peak& peak, absl::Span<const int64_t> sizes) const;

  int32_t num_candidates() const {
    return static_cast<int32_t>(candidates_.size());
  }
  // Moments of the candidates, ascending.
  int64_t candidate_moment(int32_t candidate) const;

  // The maximum of all candidates as an expression; `pool` is this function's,
  // or an extension of it. Allocates.
  expr::Expr Formula(expr::Pool& pool) const;
  // The same as text: "max(2 * S * S, 64 * S + 8)".
  std::string FormulaText() const;

  static constexpr size_t kMaxCandidates = size_t{1} << 12;
  static constexpr size_t kMaxTerms = size_t{1} << 20;

  size_t num_roles() const { return totals_.num_inputs(); }
  size_t ByteSize() const;  // Without the pool.

 private:
  struct Candidate {
    int64_t moment = 0;
    std::vector<expr::Term> total;     // In the order of monomials.
    std::vector<Category> categories;  // Of the outputs of `split`.
    expr::Evaluator split;

    absl::Status SetSplit(
        absl::Span<const expr::SymbolId> roles,
        const std::vector<std::vector<expr::Term>>& by_category);
  };

  MemoryFunction() = default;

  std::shared_ptr<const expr::Pool> pool_;
  std::vector<Candidate> candidates_;
  expr::Evaluator totals_;  // One output per candidate.
};

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_MEMORY_FUNCTION_H_
