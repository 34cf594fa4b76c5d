// The report of a training step.

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "core/planner/prepared.h"
#include "core/training/optimizer.h"

namespace linnet::planner {
namespace {

using graph::Category;

std::string Tensors(int64_t count) {
  return absl::StrCat(count, count == 1 ? " tensor" : " tensors");
}

void AddPart(absl::string_view name, Category category, int64_t bytes,
             Confidence confidence, std::string note, Report* report) {
  Component part;
  part.name = std::string(name);
  part.category = std::string(graph::CategoryName(category));
  part.bytes = bytes;
  part.confidence = confidence;
  part.note = std::move(note);
  report->components.push_back(std::move(part));
}

std::string UnmodeledText(const training::Unmodeled& kernel) {
  const bool saved = kernel.what == training::Unmodeled::What::kSaved;
  return absl::StrCat(
      saved ? "Saved tensors of `" : "Workspace of `", kernel.label,
      "`: no backend model describes ", kernel.native,
      saved ? ", so all that it reads and makes is assumed to be kept (" : " (",
      kernel.calls, kernel.calls == 1 ? " call)" : " calls)");
}

}  // namespace

absl::Status PreparedEntry::DeriveTraining() {
  auto pool = std::make_shared<expr::Pool>(graph().shared_pool());
  LINNET_ASSIGN_OR_RETURN(
      training_,
      TrainingPlans::Make(parts_.trace.graph, *parts_.backend, *parts_.training,
                          pool, parts_.place ? &*parts_.place : nullptr));
  LINNET_RETURN_IF_ERROR(DeriveHeld(*pool));
  pool->ReleaseMemo();
  pool_ = std::move(pool);
  return DeriveConstraints();
}

absl::Status PreparedEntry::CombineTraining(
    const HeldBytes& held, const TrainingNumbers& numbers,
    const runtime::ProcessMemory& process, Summary* summary) const {
  bool fits = true;
  const auto add = [&](int64_t* sum, int64_t part) {
    fits = fits && !__builtin_add_overflow(*sum, part, sum);
  };
  for (int64_t bytes : held.bytes) add(&summary->persistent_bytes, bytes);
  add(&summary->persistent_bytes, numbers.masters);
  add(&summary->persistent_bytes, numbers.states);
  add(&summary->graph_peak_bytes, summary->persistent_bytes);
  const int64_t cache = held.bytes[static_cast<size_t>(Held::kCache)];
  add(&summary->graph_peak_bytes, held.declared_cache_bytes - cache);
  add(&summary->graph_peak_bytes, numbers.own_peak.bytes);
  summary->activation_bytes = numbers.own_peak.bytes;
  summary->workspace_bytes =
      numbers.at[static_cast<size_t>(Category::kWorkspace)];
  summary->peak_step = numbers.peak.moment;
  // What autograd keeps is the backend's doing.
  summary->confidence = Confidence::kModeled;
  if (cache > 0) {
    summary->confidence =
        Weakest(summary->confidence, parts_.kv_layout.confidence());
  }
  for (const runtime::ProcessItem& item : process.items) {
    if (item.bytes) {
      add(&summary->runtime_bytes, *item.bytes);
      summary->confidence = Weakest(summary->confidence, item.confidence);
    } else {
      ++summary->num_unknown;
    }
  }
  summary->num_unknown +=
      static_cast<int32_t>(training_->model().unmodeled().size());
  add(&summary->expected_peak_bytes, summary->persistent_bytes);
  add(&summary->expected_peak_bytes, numbers.peak.bytes);
  add(&summary->expected_peak_bytes, summary->runtime_bytes);
  summary->expected_peak_bytes =
      std::max(summary->expected_peak_bytes, summary->graph_peak_bytes);
  return fits ? absl::OkStatus()
              : absl::OutOfRangeError(
                    "the peak at these sizes overflows 64 bits");
}

absl::StatusOr<Summary> PreparedEntry::SummarizeTraining(const Config& config,
                                                         size_t policy) const {
  Sizes sizes;
  LINNET_RETURN_IF_ERROR(ReadSizes(config, &sizes));
  HeldBytes held;
  LINNET_RETURN_IF_ERROR(ComputeHeld(sizes, &held));
  TrainingNumbers numbers;
  LINNET_RETURN_IF_ERROR(training_->Compute(policy, sizes.span(), &numbers));
  std::vector<size_t> broken;
  LINNET_RETURN_IF_ERROR(BrokenConstraints(sizes, &broken));
  Summary summary;
  summary.constraints_hold = broken.empty();
  LINNET_RETURN_IF_ERROR(
      CombineTraining(held, numbers, Process(config), &summary));
  return summary;
}

void PreparedEntry::AddTrainingParts(const HeldBytes& held,
                                     const TrainingNumbers& numbers,
                                     Report* report) const {
  const training::Options& options = parts_.training->options;
  const training::StepModel::Totals& totals = training_->totals();
  const auto held_part = [&](Held kind) {
    AddHeldPart(kind, held.bytes[static_cast<size_t>(kind)], report);
  };
  const auto at = [&](Category category) {
    return numbers.at[static_cast<size_t>(category)];
  };
  const auto part = [&](absl::string_view name, Category category,
                        Confidence confidence, std::string note) {
    if (at(category) == 0) return;
    AddPart(name, category, at(category), confidence, std::move(note), report);
  };
  held_part(Held::kWeights);
  if (options.splits_parameters() && !report->components.empty()) {
    absl::StrAppend(&report->components.back().note, ", split over ",
                    options.shards, " processes");
  }
  if (numbers.masters > 0) {
    AddPart("Master weights", Category::kMasterWeights, numbers.masters,
            Confidence::kExact, Tensors(totals.masters), report);
  }
  AddPart("Gradients", Category::kGradients, at(Category::kGradients),
          Confidence::kExact,
          absl::StrCat("at the peak; ", FormatBytes(numbers.all_gradients),
                       " before the optimizer step"),
          report);
  if (numbers.states > 0) {
    AddPart(absl::StrCat("Optimizer states (",
                         training::OptimizerName(options.optimizer), ")"),
            Category::kOptimizerStates, numbers.states, Confidence::kExact,
            absl::StrCat(training::StatesNote(options.optimizer), ", of ",
                         Tensors(totals.trained)),
            report);
  }
  held_part(Held::kBuffers);
  held_part(Held::kState);
  held_part(Held::kCache);
  part("Inputs", Category::kInputs, Confidence::kExact, "");
  AddPart("Saved activations", Category::kActivations,
          at(Category::kActivations), Confidence::kModeled,
          "all activations live at the peak", report);
  part("Backward temporaries", Category::kBackwardTemporaries,
       Confidence::kModeled, "gradients of activations");
  part("Backend workspace", Category::kWorkspace, Confidence::kModeled, "");
  part("Gathered parameters", Category::kCommunication, Confidence::kModeled,
       "whole weights beside their parts");
}

void PreparedEntry::AddTrainingPlace(size_t policy,
                                     const TrainingNumbers& numbers,
                                     Report* report) const {
  const training::Plan& plan = training_->plan(policy);
  const int64_t moment = numbers.peak.moment;
  report->num_steps = graph().num_steps();
  report->peak_at = training_->PlaceText(policy, moment);
  report->training = TrainingReport{plan.policy.name, numbers.recompute, moment,
                                    plan.moments.count()};
  const training::Place place = plan.moments.At(moment);
  report->peak_step = place.step;
  if (place.step < 0) return;
  const graph::Step& step = graph().step(graph::StepId{place.step});
  report->peak_label = std::string(graph().text(step.label));
  report->peak_scope = std::string(graph().text(step.scope));
}

absl::StatusOr<Report> PreparedEntry::AnalyzeTraining(const Config& config,
                                                      size_t policy) const {
  Sizes sizes;
  LINNET_RETURN_IF_ERROR(ReadSizes(config, &sizes));
  HeldBytes held;
  LINNET_RETURN_IF_ERROR(ComputeHeld(sizes, &held));
  TrainingNumbers numbers;
  LINNET_RETURN_IF_ERROR(training_->Compute(policy, sizes.span(), &numbers));
  std::vector<size_t> broken;
  LINNET_RETURN_IF_ERROR(BrokenConstraints(sizes, &broken));
  const runtime::ProcessMemory process = Process(config);
  Summary summary;
  LINNET_RETURN_IF_ERROR(CombineTraining(held, numbers, process, &summary));
  Report report = MakeReport(config, sizes);
  if (report.config.training) {
    report.config.training->checkpoints = {training_->plan(policy).policy.name};
  }
  AddTrainingParts(held, numbers, &report);
  for (const training::Unmodeled& kernel : training_->model().unmodeled()) {
    report.unknown.push_back(UnmodeledText(kernel));
  }
  AddProcess(process, &report);
  report.graph_peak_bytes = summary.graph_peak_bytes;
  report.expected_peak_bytes = summary.expected_peak_bytes;
  report.confidence = summary.confidence;
  AddTrainingPlace(policy, numbers, &report);
  AddTexts(config, broken, &report);
  return report;
}

}  // namespace linnet::planner
