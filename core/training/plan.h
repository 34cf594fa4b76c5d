// The memory of a training step under one checkpoint policy, as functions of
// the sizes.

#ifndef LINNET_CORE_TRAINING_PLAN_H_
#define LINNET_CORE_TRAINING_PLAN_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/memory_function.h"
#include "core/graph/timeline.h"
#include "core/training/moments.h"
#include "core/training/options.h"
#include "core/training/step_model.h"

namespace linnet::training {

// Immutable.
struct Plan {
  CheckpointPolicy policy;
  Moments moments{0, {}};
  graph::Timeline timeline;
  // Of everything on the timeline; and of the program's own tensors, without
  // workspace and gathered weights.
  std::optional<graph::MemoryFunction> peak;
  std::optional<graph::MemoryFunction> own_peak;
  // FLOPs of the forward pass, and of the steps that run again.
  expr::Expr forward_flops, recomputed_flops;

  size_t ByteSize() const;
};

// What others add to a timeline, or change of it.
using Adjust = absl::FunctionRef<void(const Moments&, graph::Timeline*)>;
inline void AsItIs(const Moments&, graph::Timeline*) {}

// The plan of `model` under `policy`. `pool` is that of the model, built on and
// kept. Fails as MemoryFunction::Build() does. Cost: milliseconds for a decoder
// of dozens of layers.
absl::StatusOr<Plan> MakePlan(const StepModel& model,
                              const CheckpointPolicy& policy,
                              const std::shared_ptr<expr::Pool>& pool,
                              Adjust adjust = AsItIs);

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_PLAN_H_
