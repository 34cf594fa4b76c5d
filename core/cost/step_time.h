// How long one process takes for its part of a step (analysis.md section 13).
//
// The device runs kernels in order, the host issues calls in order. With clocks
// h and d, a call does  h += its host seconds;  d = max(d, h) + its device's.
// A step is over at d; what d has beyond the device's own seconds is spent
// waiting for the host.

#ifndef LINNET_CORE_COST_STEP_TIME_H_
#define LINNET_CORE_COST_STEP_TIME_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/cost/operation.h"
#include "core/device/profile.h"
#include "core/expr/evaluator.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"

namespace linnet::cost {

// Seconds. Device seconds by what bounds them.
struct Seconds {
  double host = 0;
  double compute = 0, memory = 0, communication = 0;

  double device() const { return compute + memory + communication; }
  Seconds& operator+=(const Seconds& other);
};
Seconds operator*(double factor, Seconds of);

// A part of a step on the two clocks.
struct Phase {
  double seconds = 0;  // Until the device is done.
  Seconds busy;        // What host and device did in it.

  double waiting() const { return seconds - busy.device(); }
};

// Several calls of one kind and size.
struct CallTime {
  graph::StepId step;  // The first of them.
  int64_t calls = 0;
  Seconds forward, backward;  // Of all of them.
  bool measured = true;       // False: no rate of a profile is meant for it.
};

struct StepTime {
  // Forward, what is computed again, and backward. For zero bubble, the part of
  // `busy` that makes the gradients of weights.
  Phase pass;
  Seconds forward, weights;
};

class StepTimeModel {
 public:
  // `pool` extends the graph's. Cost: a few operations of the pool per step.
  static absl::StatusOr<StepTimeModel> Build(const graph::Graph& graph,
                                             const CallSettings& settings,
                                             expr::Pool& pool);

  struct Run {
    // FLOPs computed again, as a part of those of the forward pass.
    double recomputed = 0;
    bool compiled = false;  // No host time per call.
    Rules rules = Rules::kOwn;
  };
  // At these sizes of the graph's roles. OutOfRange when a number passes 64
  // bits. Cost: microseconds for thousands of steps, of few different calls.
  absl::StatusOr<StepTime> Evaluate(absl::Span<const int64_t> sizes,
                                    const device::Profile& profile,
                                    const Run& run) const;

  // The calls by kind and size, those that take the device or the host longest
  // first.
  absl::StatusOr<std::vector<CallTime>> Calls(absl::Span<const int64_t> sizes,
                                              const device::Profile& profile,
                                              Rules rules = Rules::kOwn) const;

  // Products by transposed weights, for which a profile may have no rate.
  int64_t num_transposed() const { return transposed_; }
  // The dtype of the first of them.
  DType transposed_dtype() const { return transposed_dtype_; }
  // One call for each kind of native step that no rate is meant for.
  const std::vector<graph::StepId>& unmeasured() const { return unmeasured_; }
  size_t num_calls() const { return calls_.size(); }

 private:
  struct Kind {
    Operation operation;  // Its sizes are of no use any more.
    int32_t first_size = 0;
    graph::StepId step;
  };
  struct Costs {
    Seconds forward, backward, weights;
  };

  absl::StatusOr<std::vector<Costs>> CostKinds(absl::Span<const int64_t> sizes,
                                               const device::Profile& profile,
                                               Rules rules) const;

  int64_t processes_ = 1;
  int64_t transposed_ = 0;
  DType transposed_dtype_ = DType::kF32;
  std::vector<Kind> kinds_;
  std::vector<int32_t> calls_;  // Kinds, in order.
  std::vector<graph::StepId> unmeasured_;
  expr::Evaluator sizes_;
};

}  // namespace linnet::cost

#endif  // LINNET_CORE_COST_STEP_TIME_H_
