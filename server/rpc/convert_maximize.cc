#include "server/rpc/convert_maximize.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/planner/devices.h"
#include "server/rpc/convert.h"
#include "server/rpc/status.h"

namespace linnet::server {
namespace {

absl::StatusOr<planner::Goal> ToGoal(v1::Goal goal) {
  switch (goal) {
    case v1::GOAL_BATCH:
      return planner::Goal::kBatch;
    case v1::GOAL_CONTEXT:
      return planner::Goal::kContext;
    case v1::GOAL_KV_CACHE:
      return planner::Goal::kKvCache;
    case v1::GOAL_UNSPECIFIED:
      return FieldError("goal", "must be set");
    default:
      return FieldError("goal", "is one this server does not know");
  }
}

v1::StoppedBy ToStoppedBy(planner::StoppedBy from) {
  switch (from) {
    case planner::StoppedBy::kModel:
      return v1::STOPPED_BY_MODEL;
    case planner::StoppedBy::kSearch:
      return v1::STOPPED_BY_SEARCH;
    case planner::StoppedBy::kMemory:
      break;
  }
  return v1::STOPPED_BY_MEMORY;
}

absl::Status FillBudget(const v1::MemoryBudget& from, MaximizeQuestion& to) {
  const int given = static_cast<int>(!from.device().empty()) +
                    static_cast<int>(from.has_device_bytes()) +
                    static_cast<int>(!from.profile_json().empty());
  if (given != 1) {
    return FieldError(
        "budget",
        "must have one of `device`, `device_bytes` and `profile_json`");
  }
  if (from.has_device_bytes()) {
    to.budget.device_bytes = from.device_bytes();
  } else {
    LINNET_ASSIGN_OR_RETURN(const planner::DeviceSummary device,
                            from.device().empty()
                                ? planner::ReadDevice(from.profile_json())
                                : planner::FindDevice(from.device()));
    to.budget.device_bytes = device.memory_bytes;
    to.device_title = device.title;
    to.device_source = device.source;
  }
  to.budget.reserve_bytes = from.reserve_bytes();
  to.budget.reserve_percent = from.reserve_percent();
  // Said before a model is traced for it.
  return planner::BudgetBytes(to.budget).status();
}

}  // namespace

absl::StatusOr<MaximizeQuestion> ToQuestion(const v1::MaximizeRequest& from,
                                            const planner::Limits& limits) {
  MaximizeQuestion question;
  LINNET_ASSIGN_OR_RETURN(question.goal, ToGoal(from.goal()));
  LINNET_RETURN_IF_ERROR(FillBudget(from.budget(), question));
  LINNET_ASSIGN_OR_RETURN(planner::Config config,
                          ToConfig(from.config(), limits));
  question.config = planner::WithGoal(std::move(config), question.goal);
  return question;
}

void FillMaximum(const planner::Prepared& prepared,
                 const planner::Maximum& from, v1::MaximizeResponse& to) {
  to.set_budget_bytes(from.budget_bytes);
  if (from.value) to.set_value(*from.value);
  to.set_smallest(from.smallest);
  to.set_stopped_by(ToStoppedBy(from.stopped_by));
  to.set_clause(from.clause);
  v1::AnalyzeResponse at;
  FillSummary(prepared, from.at, at);
  *to.mutable_peak() = std::move(*at.mutable_peak());
  to.set_headroom_bytes(from.headroom_bytes);
}

}  // namespace linnet::server
