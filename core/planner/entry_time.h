// How long one process of a step takes, as a function of the sizes.

#ifndef LINNET_CORE_PLANNER_ENTRY_TIME_H_
#define LINNET_CORE_PLANNER_ENTRY_TIME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/cost/step_time.h"
#include "core/device/profile.h"
#include "core/expr/evaluator.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/parallel/schedule.h"
#include "core/planner/training_plans.h"

namespace linnet::planner {

// Seconds of one process; of a pipeline's stage, for one micro-batch where not
// said otherwise.
struct ProcessTime {
  cost::StepTime step;
  double optimizer = 0;  // Once per step.
  // Weights that are split over processes, made whole for one pass over them,
  // and their gradients summed and split.
  double gather = 0, reduce = 0;
  int64_t gathers = 2;         // Passes that need them whole, of a whole step.
  double receive = 0;          // A stage's input, from the stage before.
  int64_t gradient_bytes = 0;  // Of all trained parameters.
  int64_t tokens = 0;          // Of the entry's first input.
};

class EntryTime {
 public:
  struct Parts {
    // Extends the graph's, and what `training` was made with.
    std::shared_ptr<const expr::Pool> pool;
    int64_t processes = 1;  // That run the program together.
    const TrainingPlans* training = nullptr;
    const parallel::StagePlace* place = nullptr;
  };
  static absl::StatusOr<std::unique_ptr<const EntryTime>> Make(
      const graph::Graph& graph, const Parts& parts);

  // Under checkpoint policy `policy` of a training step. OutOfRange when a size
  // passes 64 bits.
  absl::StatusOr<ProcessTime> Evaluate(size_t policy,
                                       absl::Span<const int64_t> sizes,
                                       const device::Profile& profile,
                                       bool compiled, cost::Rules rules) const;
  const cost::StepTimeModel& model() const { return model_; }

 private:
  enum Size : size_t {
    kUpdated,  // Bytes that the optimizer reads and writes.
    kWhole,    // Of the trained parameters that are split, in their dtype.
    kFloats,   // Of their gradients in f32.
    kGradients,
    kReceived,
    kTokens,
    kNumSizes,
  };

  EntryTime(cost::StepTimeModel model, const TrainingPlans* training)
      : model_(std::move(model)), training_(training) {}

  cost::StepTimeModel model_;
  const TrainingPlans* training_;
  expr::Evaluator sizes_;
  int64_t split_weights_ = 0;
  int64_t shards_ = 1;
  bool splits_parameters_ = false;
};

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_ENTRY_TIME_H_
