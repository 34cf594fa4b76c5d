// Step times: Prepared::Time() of entries and pipelines.

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/cost/call_cost.h"
#include "core/device/profile.h"
#include "core/planner/pipeline.h"
#include "core/planner/prepared.h"

namespace linnet::planner {
namespace {

using parallel::Schedule;

absl::Status CheckQuery(const TimeQuery& query) {
  if (query.profile == nullptr || query.replicas < 1) {
    return absl::InvalidArgumentError(
        "a step's time needs a device profile, and at least one replica");
  }
  return absl::OkStatus();
}

// The largest of the parts, but for the bubble.
std::string LimitOf(double compute, double memory, double communication,
                    double host) {
  const std::pair<double, const char*> parts[] = {
      {compute, "compute"},
      {memory, "memory"},
      {communication, "communication"},
      {host, "host"}};
  const auto* most = &parts[0];
  for (const auto& part : parts) {
    if (part.first > most->first) most = &part;
  }
  return most->second;
}

cost::Rules RulesOf(const TimeQuery& query) {
  return query.reference_rules ? cost::Rules::kReference : cost::Rules::kOwn;
}

// Sums gradients over replicas beside the step: the longer counts.
void AddReplicas(const ProcessTime& process, bool training,
                 const TimeQuery& query, StepTime* time) {
  time->tokens *= query.replicas;
  time->limit =
      LimitOf(time->compute, time->memory, time->communication, time->host);
  if (!training || query.replicas == 1) return;
  const double sum =
      cost::AllReduceSeconds(static_cast<double>(process.gradient_bytes),
                             query.replicas, *query.profile);
  if (sum <= time->seconds) return;
  time->communication += sum - time->seconds;
  time->seconds = sum;
  time->limit = "communication";
}

}  // namespace

absl::StatusOr<StepTime> Prepared::Time(const Config& /*config*/,
                                        const TimeQuery& /*query*/) const {
  return absl::UnimplementedError("nothing predicts the time of this step");
}

absl::StatusOr<const EntryTime*> PreparedEntry::TimeModel() const {
  absl::MutexLock lock(&time_mutex_);
  if (time_ == nullptr) {
    EntryTime::Parts parts;
    parts.pool = pool_;
    parts.processes = parts_.collective_processes;
    parts.training = training_.get();
    parts.place = parts_.place ? &*parts_.place : nullptr;
    LINNET_ASSIGN_OR_RETURN(time_, EntryTime::Make(graph(), parts));
  }
  return time_.get();
}

absl::StatusOr<ProcessTime> PreparedEntry::TimeOfProcess(
    const Config& config, const TimeQuery& query) const {
  if (training_ != nullptr && query.policy >= training_->num_policies()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no checkpoint policy ", query.policy));
  }
  Sizes sizes;
  LINNET_RETURN_IF_ERROR(ReadSizes(config, &sizes));
  LINNET_ASSIGN_OR_RETURN(const EntryTime* model, TimeModel());
  return model->Evaluate(query.policy, sizes.span(), *query.profile,
                         config.compiled, RulesOf(query));
}

absl::Status PreparedEntry::AddOperations(const Config& config,
                                          const TimeQuery& query,
                                          StepTime* time) const {
  if (query.operations == 0) return absl::OkStatus();
  Sizes sizes;
  LINNET_RETURN_IF_ERROR(ReadSizes(config, &sizes));
  LINNET_ASSIGN_OR_RETURN(const EntryTime* model, TimeModel());
  LINNET_ASSIGN_OR_RETURN(
      const std::vector<cost::CallTime> calls,
      model->model().Calls(sizes.span(), *query.profile, RulesOf(query)));
  for (const cost::CallTime& call : calls) {
    if (time->operations.size() == query.operations) break;
    const graph::Step& step = graph().step(call.step);
    cost::Seconds all = call.forward;
    all += call.backward;
    OperationTime operation;
    operation.label = std::string(graph().text(step.label));
    operation.native = std::string(graph().text(step.native));
    operation.scope = std::string(graph().text(step.scope));
    operation.calls = call.calls;
    operation.device_seconds = all.device();
    operation.host_seconds = config.compiled ? 0.0 : all.host;
    operation.limit = LimitOf(all.compute, all.memory, all.communication, 0);
    operation.measured = call.measured;
    time->operations.push_back(std::move(operation));
  }
  return absl::OkStatus();
}

void PreparedEntry::AddTimeAssumptions(const TimeQuery& query,
                                       StepTime* time) const {
  const auto model = TimeModel();
  if (!model.ok()) return;
  const cost::StepTimeModel& calls = (*model)->model();
  if (calls.num_transposed() > 0 &&
      !query.profile->HasTransposed(calls.transposed_dtype())) {
    time->assumptions.push_back(absl::StrCat(
        calls.num_transposed(),
        " products are by weights that lie transposed in memory, for which the "
        "profile has no rate; they count at that of others, and may take much "
        "longer"));
  }
  if (parts_.redistributes) {
    time->assumptions.push_back(
        "what DTensors send to each other is not predicted");
  }
  for (const graph::StepId id : (*model)->model().unmeasured()) {
    const graph::Step& step = graph().step(id);
    time->assumptions.push_back(absl::StrCat(
        "no rate is measured for `", graph().text(step.label), "` (",
        graph().text(step.native),
        "): its FLOPs count at the peak of products, or its bytes at the "
        "bandwidth of a copy, whichever takes longer"));
  }
}

absl::StatusOr<StepTime> PreparedEntry::Time(const Config& config,
                                             const TimeQuery& query) const {
  LINNET_RETURN_IF_ERROR(CheckQuery(query));
  LINNET_ASSIGN_OR_RETURN(const ProcessTime process,
                          TimeOfProcess(config, query));
  const cost::Phase& pass = process.step.pass;
  // Weights that are split are made whole for the forward and for the backward
  // pass.
  const double split =
      static_cast<double>(process.gathers) * process.gather + process.reduce;
  StepTime time;
  time.model_name = parts_.model_name;
  time.compute = pass.busy.compute;
  time.memory = pass.busy.memory + process.optimizer;
  time.communication = pass.busy.communication + split;
  time.host = pass.waiting();
  time.seconds = pass.seconds + split + process.optimizer;
  time.tokens = process.tokens;
  AddReplicas(process, training_ != nullptr, query, &time);
  LINNET_RETURN_IF_ERROR(AddOperations(config, query, &time));
  AddTimeAssumptions(query, &time);
  return time;
}

absl::StatusOr<StepTime> PreparedPipeline::Time(const Config& config,
                                                const TimeQuery& query) const {
  LINNET_RETURN_IF_ERROR(CheckQuery(query));
  LINNET_ASSIGN_OR_RETURN(const Config of, ForMicrobatch(config));
  const bool training = stages_[0]->training() != nullptr;
  ProcessTime slowest;
  double slot = -1, once = 0;
  size_t which = 0;
  int64_t gradients = 0, tokens = 0;
  const auto passing = [&](const ProcessTime& stage) {
    // As much goes back in training as came.
    return (training ? 2 : 1) * stage.receive + stage.reduce;
  };
  for (size_t i = 0; i < stages_.size(); ++i) {
    LINNET_ASSIGN_OR_RETURN(const ProcessTime stage,
                            stages_[i]->TimeOfProcess(of, query));
    gradients = std::max(gradients, stage.gradient_bytes);
    // Those of the entry's first input, which the first stage reads.
    if (i == 0) tokens = stage.tokens;
    once = std::max(once, stage.gather + stage.optimizer);
    const double takes = stage.step.pass.seconds + passing(stage);
    if (takes <= slot) continue;
    slot = takes;
    slowest = stage;
    which = i;
  }
  const auto n = static_cast<double>(shape_.microbatches);
  const auto others = static_cast<double>(shape_.devices - 1);
  const cost::Phase& pass = slowest.step.pass;
  StepTime time;
  time.model_name = stages_[0]->model_name();
  // While a device waits for the first stages, or the last ones, it may make
  // gradients of weights instead.
  double idle = slot;
  if (shape_.schedule == Schedule::kZeroBubble) {
    idle = std::max(0.0, slot - 2 * slowest.step.weights.device());
  }
  time.bubble = others * idle / static_cast<double>(shape_.chunks);
  time.compute = n * pass.busy.compute;
  time.memory = n * pass.busy.memory + slowest.optimizer;
  time.communication = n * (pass.busy.communication + passing(slowest)) +
                       (once - slowest.optimizer);
  time.host = n * pass.waiting();
  time.seconds = n * slot + time.bubble + once;
  time.tokens = tokens * shape_.microbatches;
  slowest.gradient_bytes = gradients;
  AddReplicas(slowest, training, query, &time);
  LINNET_RETURN_IF_ERROR(stages_[which]->AddOperations(of, query, &time));
  time.stage = absl::StrCat("stage ", which);
  stages_[which]->AddTimeAssumptions(query, &time);
  return time;
}

}  // namespace linnet::planner
