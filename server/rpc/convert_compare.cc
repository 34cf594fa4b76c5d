#include "server/rpc/convert_compare.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_time.h"
#include "server/rpc/status.h"

namespace linnet::server {
namespace {

absl::StatusOr<planner::Objective> ToObjective(v1::Objective from) {
  switch (from) {
    case v1::OBJECTIVE_UNSPECIFIED:
    case v1::OBJECTIVE_THROUGHPUT:
      return planner::Objective::kThroughput;
    case v1::OBJECTIVE_PER_DEVICE:
      return planner::Objective::kPerDevice;
    case v1::OBJECTIVE_LATENCY:
      return planner::Objective::kLatency;
    default:
      return FieldError("objective", "is one this server does not know");
  }
}

void FillLayout(const planner::Layout& from, v1::Layout& to) {
  to.set_name(from.name);
  FillParallel(from.parallel, *to.mutable_parallel());
  to.set_replicas(from.replicas);
  to.set_devices(from.devices);
  to.set_checkpoint(from.checkpoint);
  to.set_refused(from.refused);
  if (!from.refused.empty()) return;
  to.set_size(from.size);
  FillStepTime(from.time, *to.mutable_time());
  to.set_peak_bytes(from.peak_bytes);
}

}  // namespace

absl::StatusOr<CompareQuestion> ToQuestion(const v1::CompareRequest& from,
                                           const planner::Limits& limits) {
  CompareQuestion question;
  planner::LayoutQuery& query = question.query;
  if (from.pools().empty() ||
      from.pools_size() >
          static_cast<int>(planner::PreparedLayouts::kMaxPools)) {
    return FieldError(
        "pools",
        absl::StrCat("must be 1 to ", planner::PreparedLayouts::kMaxPools));
  }
  LINNET_ASSIGN_OR_RETURN(question.config, ToConfig(from.config(), limits));
  for (const v1::DevicePool& pool : from.pools()) {
    LINNET_ASSIGN_OR_RETURN(planner::DeviceSummary device,
                            ToDevice(pool.device()));
    planner::PoolQuery& of = query.pools.emplace_back();
    of.profile = device.profile.get();
    of.budget.device_bytes = device.memory_bytes;
    of.budget.reserve_bytes = from.reserve_bytes();
    of.budget.reserve_percent = from.reserve_percent();
    // Said before a model is traced for it.
    LINNET_RETURN_IF_ERROR(planner::BudgetBytes(of.budget).status());
    if (pool.devices() < 1 ||
        pool.devices() > planner::PreparedLayouts::kMaxDevices) {
      return FieldError("pools.devices",
                        absl::StrCat("must lie between 1 and ",
                                     planner::PreparedLayouts::kMaxDevices));
    }
    question.config.parallel.compare_devices.push_back(pool.devices());
    question.devices.push_back(std::move(device));
  }
  LINNET_ASSIGN_OR_RETURN(query.objective, ToObjective(from.objective()));
  query.max_step_seconds = from.max_step_seconds();
  if (!(query.max_step_seconds >= 0) || std::isinf(query.max_step_seconds)) {
    return FieldError("max_step_seconds", "must be a number, at least 0");
  }
  return question;
}

void FillPlan(const planner::LayoutPlan& from, const CompareQuestion& question,
              v1::CompareResponse& to) {
  if (from.goal) {
    to.set_grows(*from.goal == planner::Goal::kBatch ? "batch" : "context");
  }
  for (size_t i = 0; i < from.pools.size(); ++i) {
    const planner::PoolPlan& plan = from.pools[i];
    v1::PoolLayouts& pool = *to.add_pools();
    FillDevice(question.devices[i], *pool.mutable_device());
    pool.set_devices(question.config.parallel.compare_devices[i]);
    pool.set_budget_bytes(plan.budget_bytes);
    for (const planner::Layout& layout : plan.layouts) {
      FillLayout(layout, *pool.add_layouts());
      if (to.model_name().empty()) to.set_model_name(layout.time.model_name);
    }
  }
  if (from.together) {
    v1::PoolsTogether& together = *to.mutable_together();
    for (const std::optional<planner::Layout>& layout :
         from.together->layouts) {
      v1::Layout& one = *together.add_layouts();
      if (layout) FillLayout(*layout, one);
    }
    together.set_tokens_per_second(from.together->tokens_per_second);
    together.set_seconds(from.together->seconds);
  }
  to.mutable_assumptions()->Assign(from.assumptions.begin(),
                                   from.assumptions.end());
}

}  // namespace linnet::server
