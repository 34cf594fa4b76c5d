// A training step of a graph under one or more checkpoint policies, ready to be
// evaluated at any sizes.

#ifndef LINNET_CORE_PLANNER_TRAINING_PLANS_H_
#define LINNET_CORE_PLANNER_TRAINING_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/expr/evaluator.h"
#include "core/graph/memory_function.h"
#include "core/parallel/schedule.h"
#include "core/planner/training_config.h"
#include "core/runtime/backend.h"
#include "core/training/plan.h"
#include "core/training/step_model.h"

namespace linnet::planner {

// Bytes of a training step at some sizes, weights, buffers and states apart.
struct TrainingNumbers {
  int64_t masters = 0;
  int64_t states = 0;         // Of the optimizer.
  int64_t all_gradients = 0;  // Of every trained parameter at once.
  graph::Peak peak;           // Of everything on the timeline.
  graph::CategoryBytes at{};  // What `peak` consists of.
  graph::Peak own_peak;       // Without workspace and gathered weights.
  std::optional<double> recompute;
};

class TrainingPlans {
 public:
  // `pool` extends the graph's; it is built on and kept. `place`: the graph is
  // that of a pipeline's stage.
  static absl::StatusOr<std::unique_ptr<const TrainingPlans>> Make(
      std::shared_ptr<const graph::Graph> graph,
      const runtime::Backend& backend, const TrainingSettings& settings,
      const std::shared_ptr<expr::Pool>& pool,
      const parallel::StagePlace* place = nullptr);

  size_t num_policies() const { return plans_.size(); }
  const training::Plan& plan(size_t policy) const { return plans_[policy]; }
  const training::StepModel& model() const { return model_; }
  const training::StepModel::Totals& totals() const { return model_.totals(); }

  // The numbers at these sizes, in the order of the graph's roles. OutOfRange
  // when one passes 64 bits.
  absl::Status Compute(size_t policy, absl::Span<const int64_t> sizes,
                       TrainingNumbers* numbers) const;

  // FLOPs computed again, as a part of those of the forward pass. Empty without
  // checkpointing, and when they pass 64 bits.
  std::optional<double> RecomputedPart(size_t policy,
                                       absl::Span<const int64_t> sizes) const;

  // "the backward pass (position 1668 of 3339): mul in `layers.3.mlp`".
  std::string PlaceText(size_t policy, int64_t moment) const;

  size_t ByteSize() const;

 private:
  TrainingPlans(std::shared_ptr<const graph::Graph> graph,
                const runtime::Backend& backend,
                const training::Options& options, expr::Pool& pool,
                absl::Span<const graph::ObjectId> received)
      : model_(std::move(graph), backend, options, pool, received) {}

  training::StepModel model_;
  std::vector<training::Plan> plans_;
  expr::Evaluator totals_;  // Masters, states and gradients.
  // Of each plan: FLOPs of the forward pass and those computed again.
  std::vector<expr::Evaluator> flops_;
};

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_TRAINING_PLANS_H_
