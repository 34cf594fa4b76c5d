// Where a static planner would put transient objects in one arena.

#ifndef LINNET_CORE_GRAPH_BUFFER_PLAN_H_
#define LINNET_CORE_GRAPH_BUFFER_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/graph/timeline.h"

namespace linnet::graph {

// One owner's storage; lives from `begin` to `end`, both included.
struct Buffer {
  ObjectId object = {};
  int64_t bytes = 0;   // As the object has them, not rounded.
  int64_t offset = 0;  // In the arena, a multiple of the alignment.
  int64_t begin = 0;
  int64_t end = 0;
};

struct BufferPlan {
  std::vector<Buffer> buffers;  // In the order given.
  int64_t alignment = 1;
  int64_t naive_bytes = 0;        // The sum of the buffers' sizes.
  int64_t planned_bytes = 0;      // The end of the highest buffer, rounded up.
  int64_t lower_bound_bytes = 0;  // The largest sum live at one moment.
};

// Places `buffers` (their offsets are ignored), the largest first, of equal
// ones the earliest, then the one with the lower id: each at the lowest offset
// that is free over its whole life. Sizes are rounded up to `alignment`, a
// power of two, to be placed; the naive sum and the lower bound are of the
// sizes as they are. So lower bound <= planned always, and planned <= naive but
// for the rounding.
//
// Returns OutOfRange when a sum does not fit 64 bits, InvalidArgument when a
// size is negative or an end lies before its begin.
// Cost: O(n log n + pairs that are alive together).
absl::StatusOr<BufferPlan> PlanBuffers(std::vector<Buffer> buffers,
                                       int64_t alignment);

// The same for the intervals of a timeline at these sizes, in the order of
// `roles`.
absl::StatusOr<BufferPlan> PlanBuffers(const Timeline& timeline,
                                       absl::Span<const expr::SymbolId> roles,
                                       absl::Span<const int64_t> sizes,
                                       int64_t alignment);

// Checks by comparing all pairs that no two buffers share a byte at one moment,
// that offsets are aligned, and that the three totals are right. Internal names
// the first fault.
absl::Status VerifyBufferPlan(const BufferPlan& plan);

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_BUFFER_PLAN_H_
