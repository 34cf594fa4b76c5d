#include "server/rpc/convert_compare.h"

#include <cmath>

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
  LINNET_ASSIGN_OR_RETURN(question.device, ToDevice(from.device()));
  planner::LayoutQuery& query = question.query;
  query.profile = question.device.profile.get();
  query.budget.device_bytes = question.device.memory_bytes;
  query.budget.reserve_bytes = from.reserve_bytes();
  query.budget.reserve_percent = from.reserve_percent();
  // Said before a model is traced for it.
  LINNET_RETURN_IF_ERROR(planner::BudgetBytes(query.budget).status());
  LINNET_ASSIGN_OR_RETURN(query.objective, ToObjective(from.objective()));
  query.max_step_seconds = from.max_step_seconds();
  if (!(query.max_step_seconds >= 0) || std::isinf(query.max_step_seconds)) {
    return FieldError("max_step_seconds", "must be a number, at least 0");
  }
  if (from.devices() < 1 ||
      from.devices() > planner::PreparedLayouts::kMaxDevices) {
    return FieldError("devices",
                      absl::StrCat("must lie between 1 and ",
                                   planner::PreparedLayouts::kMaxDevices));
  }
  LINNET_ASSIGN_OR_RETURN(question.config, ToConfig(from.config(), limits));
  question.config.parallel.compare_devices = from.devices();
  return question;
}

void FillPlan(const planner::LayoutPlan& from, const CompareQuestion& question,
              v1::CompareResponse& to) {
  to.set_budget_bytes(from.budget_bytes);
  if (from.goal) {
    to.set_grows(*from.goal == planner::Goal::kBatch ? "batch" : "context");
  }
  for (const planner::Layout& layout : from.layouts) {
    FillLayout(layout, *to.add_layouts());
    if (to.model_name().empty()) to.set_model_name(layout.time.model_name);
  }
  FillDevice(question.device, *to.mutable_device());
  to.mutable_assumptions()->Assign(from.assumptions.begin(),
                                   from.assumptions.end());
}

}  // namespace linnet::server
