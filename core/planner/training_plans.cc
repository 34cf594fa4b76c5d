#include "core/planner/training_plans.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace linnet::planner {
namespace {

absl::Status Overflow(expr::Error error) {
  return absl::OutOfRangeError(
      absl::StrCat("the memory of the training step at these sizes ",
                   expr::ErrorText(error)));
}

absl::string_view PartText(training::Part part) {
  switch (part) {
    case training::Part::kForward:
      return "the forward pass";
    case training::Part::kRecompute:
    case training::Part::kBackward:
      return "the backward pass";
    case training::Part::kOptimizer:
      break;
  }
  return "the optimizer step";
}

}  // namespace

absl::StatusOr<std::unique_ptr<const TrainingPlans>> TrainingPlans::Make(
    std::shared_ptr<const graph::Graph> graph, const runtime::Backend& backend,
    const TrainingSettings& settings, const std::shared_ptr<expr::Pool>& pool,
    const parallel::StagePlace* place) {
  const absl::Span<const expr::SymbolId> roles = graph->roles();
  std::vector<graph::ObjectId> received;
  if (place != nullptr) received = place->received();
  std::unique_ptr<TrainingPlans> plans(new TrainingPlans(
      std::move(graph), backend, settings.options, *pool, received));
  const auto adjust = [&](const training::Moments& moments,
                          graph::Timeline* timeline) {
    if (place == nullptr) return;
    parallel::HoldTraining(*place, plans->model_, moments, *pool, timeline);
  };
  const training::ParameterBytes& bytes = plans->totals().bytes;
  const expr::Expr totals[] = {bytes.master, bytes.states, bytes.gradient};
  LINNET_ASSIGN_OR_RETURN(plans->totals_,
                          expr::Evaluator::Compile(roles, totals));
  for (const training::CheckpointPolicy& policy : settings.policies) {
    LINNET_ASSIGN_OR_RETURN(
        training::Plan plan,
        training::MakePlan(plans->model_, policy, pool, adjust));
    const expr::Expr flops[] = {plan.forward_flops, plan.recomputed_flops};
    LINNET_ASSIGN_OR_RETURN(expr::Evaluator evaluator,
                            expr::Evaluator::Compile(roles, flops));
    plans->plans_.push_back(std::move(plan));
    plans->flops_.push_back(std::move(evaluator));
  }
  return std::unique_ptr<const TrainingPlans>(std::move(plans));
}

absl::Status TrainingPlans::Compute(size_t policy,
                                    absl::Span<const int64_t> sizes,
                                    TrainingNumbers* numbers) const {
  std::array<int64_t, 3> totals{};
  if (const expr::Error error = totals_.Run(sizes, absl::MakeSpan(totals));
      error != expr::Error::kNone) {
    return Overflow(error);
  }
  numbers->masters = totals[0];
  numbers->states = totals[1];
  numbers->all_gradients = totals[2];
  const training::Plan& plan = plans_[policy];
  numbers->peak = plan.peak->Evaluate(sizes);
  numbers->own_peak = plan.own_peak->Evaluate(sizes);
  for (const graph::Peak& peak : {numbers->peak, numbers->own_peak}) {
    if (!peak.ok()) return Overflow(peak.error);
  }
  numbers->at = plan.peak->Split(numbers->peak, sizes);
  // Of a step of three forward passes' FLOPs.
  numbers->recompute = RecomputedPart(policy, sizes);
  if (numbers->recompute) *numbers->recompute /= 3;
  return absl::OkStatus();
}

std::optional<double> TrainingPlans::RecomputedPart(
    size_t policy, absl::Span<const int64_t> sizes) const {
  if (plans_[policy].policy.none()) return std::nullopt;
  // A step of more FLOPs than 64 bits hold has its memory all the same.
  std::array<int64_t, 2> flops{};
  if (flops_[policy].Run(sizes, absl::MakeSpan(flops)) != expr::Error::kNone ||
      flops[0] <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(flops[1]) / static_cast<double>(flops[0]);
}

std::string TrainingPlans::PlaceText(size_t policy, int64_t moment) const {
  const training::Moments& moments = plans_[policy].moments;
  if (moment < 0 || moment >= moments.count()) return "";
  const training::Place place = moments.At(moment);
  std::string text = absl::StrCat(PartText(place.part), " (position ", moment,
                                  " of ", moments.count(), ")");
  if (place.step < 0) return text;
  const graph::Graph& graph = model_.graph();
  const graph::Step& step = graph.step(graph::StepId{place.step});
  absl::StrAppend(&text, ": ", graph.text(step.label));
  const absl::string_view scope = graph.text(step.scope);
  if (!scope.empty()) absl::StrAppend(&text, " in `", scope, "`");
  if (place.part == training::Part::kRecompute) {
    absl::StrAppend(&text, ", computed again");
  }
  return text;
}

size_t TrainingPlans::ByteSize() const {
  size_t bytes = sizeof(*this) + totals_.ByteSize();
  for (const training::Plan& plan : plans_) bytes += plan.ByteSize();
  for (const expr::Evaluator& flops : flops_) bytes += flops.ByteSize();
  const size_t steps = static_cast<size_t>(model_.graph().num_steps());
  bytes +=
      steps * (sizeof(runtime::SavedTensors) + sizeof(training::StepWorkspace));
  bytes += static_cast<size_t>(model_.totals().parameters) *
           sizeof(training::ParameterBytes);
  return bytes;
}

}  // namespace linnet::planner
