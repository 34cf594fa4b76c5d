#include "core/training/plan.h"

#include "core/base/status_macros.h"
#include "core/training/timeline.h"

namespace linnet::training {

absl::StatusOr<Plan> MakePlan(const StepModel& model,
                              const CheckpointPolicy& policy,
                              const std::shared_ptr<expr::Pool>& pool,
                              Adjust adjust) {
  const graph::Graph& graph = model.graph();
  Plan plan;
  plan.policy = policy;
  plan.moments =
      Moments(graph.num_steps(), FindRegions(graph, model.flow(), policy));
  plan.timeline = MakeTimeline(model, plan.moments, *pool);
  adjust(plan.moments, &plan.timeline);
  LINNET_ASSIGN_OR_RETURN(plan.peak, graph::MemoryFunction::Build(
                                         pool, graph.roles(), plan.timeline));
  LINNET_ASSIGN_OR_RETURN(
      plan.own_peak, graph::MemoryFunction::Build(
                         pool, graph.roles(), WithoutModeled(plan.timeline)));
  plan.forward_flops = pool->Zero();
  plan.recomputed_flops = pool->Zero();
  for (int32_t s = 0; s < graph.num_steps(); ++s) {
    const expr::Expr flops = graph.step(graph::StepId{s}).flops;
    plan.forward_flops = pool->Add(plan.forward_flops, flops);
    if (plan.moments.region_of(s) < 0) continue;
    plan.recomputed_flops = pool->Add(plan.recomputed_flops, flops);
  }
  return plan;
}

size_t Plan::ByteSize() const {
  size_t bytes = sizeof(*this) + peak->ByteSize() + own_peak->ByteSize() +
                 timeline.intervals.capacity() * sizeof(graph::Interval);
  // Places, and three numbers per step.
  bytes += static_cast<size_t>(moments.count()) * 4 * sizeof(int64_t);
  return bytes;
}

}  // namespace linnet::training
