#include "server/rpc/convert_time.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/status.h"

namespace linnet::server {
namespace {

constexpr int32_t kMaxOperations = 1000;

std::vector<std::string> PoliciesOf(const planner::Config& config) {
  if (!config.training) return {""};
  if (config.training->checkpoints.empty()) return {"none"};
  return config.training->checkpoints;
}

}  // namespace

absl::StatusOr<planner::DeviceSummary> ToDevice(const v1::DeviceChoice& from) {
  if (from.name().empty() == from.profile_json().empty()) {
    return FieldError("device", "must have one of `name` and `profile_json`");
  }
  return from.name().empty() ? planner::ReadDevice(from.profile_json())
                             : planner::FindDevice(from.name());
}

absl::StatusOr<TimeQuestion> ToQuestion(const v1::TimeRequest& from,
                                        const planner::Limits& limits) {
  TimeQuestion question;
  LINNET_ASSIGN_OR_RETURN(question.device, ToDevice(from.device()));
  question.query.profile = question.device.profile.get();
  if (from.has_replicas() && from.replicas() < 1) {
    return FieldError("replicas", "must be at least 1");
  }
  if (from.has_replicas()) question.query.replicas = from.replicas();
  if (from.operations() < 0 || from.operations() > kMaxOperations) {
    return FieldError("operations",
                      absl::StrCat("must lie between 0 and ", kMaxOperations));
  }
  question.query.operations = static_cast<size_t>(from.operations());
  question.query.reference_rules = from.reference_rules();
  LINNET_ASSIGN_OR_RETURN(question.config, ToConfig(from.config(), limits));
  return question;
}

v1::TimeLimit ToTimeLimit(absl::string_view limit) {
  if (limit == "memory") return v1::TIME_LIMIT_MEMORY;
  if (limit == "communication") return v1::TIME_LIMIT_COMMUNICATION;
  if (limit == "host") return v1::TIME_LIMIT_HOST;
  return v1::TIME_LIMIT_COMPUTE;
}

void FillDevice(const planner::DeviceSummary& from, v1::DeviceRates& to) {
  to.set_name(from.name);
  to.set_title(from.title);
  to.set_source(from.rates_source);
  to.mutable_scaled()->Assign(from.scaled.begin(), from.scaled.end());
}

void FillStepTime(const planner::StepTime& from, v1::StepTime& to) {
  to.set_seconds(from.seconds);
  to.set_compute_seconds(from.compute);
  to.set_memory_seconds(from.memory);
  to.set_communication_seconds(from.communication);
  to.set_host_seconds(from.host);
  to.set_bubble_seconds(from.bubble);
  to.set_limit(ToTimeLimit(from.limit));
  to.set_tokens(from.tokens);
  to.set_tokens_per_second(from.tokens_per_second());
  for (const planner::OperationTime& each : from.operations) {
    v1::OperationTime& operation = *to.add_operations();
    operation.set_label(each.label);
    operation.set_native(each.native);
    operation.set_scope(each.scope);
    operation.set_calls(each.calls);
    operation.set_device_seconds(each.device_seconds);
    operation.set_host_seconds(each.host_seconds);
    operation.set_limit(ToTimeLimit(each.limit));
    operation.set_measured(each.measured);
  }
  to.set_stage(from.stage);
  to.mutable_assumptions()->Assign(from.assumptions.begin(),
                                   from.assumptions.end());
}

absl::Status FillTimes(const planner::Prepared& prepared,
                       const TimeQuestion& question, v1::TimeResponse& to) {
  FillDevice(question.device, *to.mutable_device());
  const std::vector<std::string> policies = PoliciesOf(question.config);
  for (size_t i = 0; i < policies.size(); ++i) {
    planner::TimeQuery query = question.query;
    query.policy = i;
    LINNET_ASSIGN_OR_RETURN(const planner::StepTime time,
                            prepared.Time(question.config, query));
    to.set_model_name(time.model_name);
    v1::StepTime& step = *to.add_steps();
    FillStepTime(time, step);
    step.set_checkpoint(policies[i]);
  }
  return absl::OkStatus();
}

}  // namespace linnet::server
