// The report of one configuration.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/buffer_plan.h"
#include "core/planner/prepared.h"

namespace linnet::planner {
namespace {

// Formulas longer than this say more by their number.
constexpr size_t kShortFormula = 60;

std::string ShortText(expr::Expr formula) {
  std::string text = formula.ToString();
  return text.size() <= kShortFormula ? text : std::string();
}

std::string Tensors(int64_t count) {
  return absl::StrCat(count, count == 1 ? " tensor" : " tensors");
}

Component Part(absl::string_view name, graph::Category category, int64_t bytes,
               Confidence confidence) {
  Component part;
  part.name = std::string(name);
  part.category = std::string(graph::CategoryName(category));
  part.bytes = bytes;
  part.confidence = confidence;
  return part;
}

}  // namespace

void PreparedEntry::AddHeldPart(Held held, int64_t bytes,
                                Report* report) const {
  struct Row {
    absl::string_view name;
    graph::Category category;
  };
  constexpr Row kRows[kNumHeld] = {
      {"Weights", graph::Category::kParameters},
      {"Persistent buffers", graph::Category::kBuffers},
      {"State", graph::Category::kState},
      {"KV cache", graph::Category::kKvCache}};
  const size_t i = static_cast<size_t>(held);
  if (held_objects_[i] == 0) return;
  const bool cache = held == Held::kCache;
  Component part =
      Part(kRows[i].name, kRows[i].category, bytes,
           cache ? parts_.kv_layout.confidence() : Confidence::kExact);
  part.formula = ShortText(held_[i]);
  part.note = Tensors(held_objects_[i]);
  if (cache) {
    absl::StrAppend(&part.note, ", ", parts_.kv_layout.Text());
    if (windowed_ > 0) {
      absl::StrAppend(&part.note, "; ", windowed_, " with a window");
    }
  }
  if (held == Held::kWeights && !parts_.trace.ties.empty()) {
    absl::StrAppend(&part.note, ", ", parts_.trace.ties.size(),
                    " more tied to them");
  }
  report->components.push_back(std::move(part));
}

void PreparedEntry::AddHeld(const Numbers& numbers, Report* report) const {
  for (Held held :
       {Held::kWeights, Held::kBuffers, Held::kState, Held::kCache}) {
    AddHeldPart(held, numbers.held.bytes[static_cast<size_t>(held)], report);
  }
}

void PreparedEntry::AddTransient(const Numbers& numbers, Report* report) const {
  Component activations =
      Part("Peak activations", graph::Category::kActivations,
           numbers.peak.bytes, parts_.activations);
  std::string formula = peak_->FormulaText();
  activations.note = "inputs and outputs included";
  if (formula.size() <= kShortFormula) activations.formula = formula;
  report->components.push_back(std::move(activations));
  report->formulas.emplace_back("activations", std::move(formula));
  if (numbers.workspace == 0) return;
  Component workspace =
      Part("Backend workspace", graph::Category::kWorkspace, numbers.workspace,
           WorkspaceConfidence(numbers.with_workspace.moment));
  workspace.note = absl::StrCat("at ", StepText(numbers.with_workspace.moment),
                                ", where activations and workspace peak");
  report->components.push_back(std::move(workspace));
}

void PreparedEntry::AddProcess(const runtime::ProcessMemory& process,
                               Report* report) const {
  for (const UnknownKernel& kernel : unknown_) {
    report->unknown.push_back(
        absl::StrCat("Workspace of `", kernel.label,
                     "`: no backend model describes ", kernel.native, " (",
                     kernel.calls, kernel.calls == 1 ? " call)" : " calls)"));
  }
  for (const runtime::ProcessItem& item : process.items) {
    if (!item.bytes) {
      report->unknown.push_back(absl::StrCat(item.name, ": ", item.note));
      continue;
    }
    Component part =
        Part(item.name, item.category, *item.bytes, item.confidence);
    part.note = item.note;
    report->components.push_back(std::move(part));
  }
  report->warnings.insert(report->warnings.end(), process.warnings.begin(),
                          process.warnings.end());
}

void PreparedEntry::AddPlace(int64_t step, Report* report) const {
  report->peak_step = step;
  report->num_steps = graph().num_steps();
  if (step < 0) return;
  report->peak_at = StepText(step);
  if (step >= graph().num_steps()) return;
  const graph::Step& at = graph().step(graph::StepId{static_cast<int>(step)});
  report->peak_label = std::string(graph().text(at.label));
  report->peak_scope = std::string(graph().text(at.scope));
}

void PreparedEntry::AddTexts(const Config& config,
                             const std::vector<size_t>& broken,
                             Report* report) const {
  for (size_t i : broken) {
    report->warnings.push_back(absl::StrCat("the model's clause `",
                                            parts_.trace.constraints[i].text,
                                            "` does not hold at these sizes"));
  }
  report->warnings.insert(report->warnings.end(), parts_.trace.warnings.begin(),
                          parts_.trace.warnings.end());
  const std::pair<Role, bool> given[] = {
      {Role::kBatch, config.batch.has_value()},
      {Role::kContext, config.context.has_value() && !config.cache_len},
      {Role::kCache, config.cache_len.has_value()}};
  for (const auto& [role, is_given] : given) {
    const auto has = [&](Role r) {
      return std::find(parts_.roles.begin(), parts_.roles.end(), r) !=
             parts_.roles.end();
    };
    // A context that only sets the cache is used all the same.
    if (!is_given || has(role) ||
        (role == Role::kContext && has(Role::kCache))) {
      continue;
    }
    report->warnings.push_back(absl::StrCat(
        "the ", RoleName(role), " size has no effect: no generic of `",
        parts_.entry_name, "` or of its block takes it"));
  }
  report->assumptions.insert(report->assumptions.end(), parts_.notes.begin(),
                             parts_.notes.end());
  if (parts_.no_bindings) {
    report->assumptions.push_back(
        "weight bindings are left out: nothing is tied and no optional "
        "parameter is present");
  }
  const int64_t caches = held_objects_[static_cast<size_t>(Held::kCache)];
  if (windowed_ > 0) {
    report->assumptions.push_back(
        parts_.kv_layout.rolling
            ? absl::StrCat(windowed_, " of ", caches,
                           " KV caches keep the positions of their layer's "
                           "window only (--kv-layout rolling)")
            : absl::StrCat(windowed_, " of ", caches,
                           " KV caches belong to layers with a window, and are "
                           "counted in full; --kv-layout rolling counts the "
                           "window alone"));
  } else if (parts_.kv_layout.rolling && caches > 0) {
    report->warnings.push_back(
        "no layer with a window is known, so all KV caches are counted in "
        "full");
  }
  if (!parts_.kv_layout.as_declared()) {
    report->assumptions.push_back(
        absl::StrCat("KV caches are laid out as ", parts_.kv_layout.Text()));
  }
}

Report PreparedEntry::MakeReport(const Config& config,
                                 const Sizes& sizes) const {
  Report report;
  report.model_name = parts_.model_name;
  report.config = config;
  report.config.model.files.clear();
  report.config.entry = parts_.entry_name;
  report.config.root = parts_.root_name;
  if (config.dtype.empty()) report.config.dtype = parts_.main_dtype;
  for (size_t i = 0; i < parts_.roles.size(); ++i) {
    report.symbols.emplace_back(RoleName(parts_.roles[i]), sizes.values[i]);
  }
  return report;
}

absl::StatusOr<std::vector<Report>> PreparedEntry::AnalyzeAll(
    const Config& config) const {
  if (training_ == nullptr) return Prepared::AnalyzeAll(config);
  std::vector<Report> reports;
  for (size_t i = 0; i < training_->num_policies(); ++i) {
    LINNET_ASSIGN_OR_RETURN(Report report, AnalyzeTraining(config, i));
    reports.push_back(std::move(report));
  }
  return reports;
}

absl::StatusOr<std::vector<Report>> Prepared::AnalyzeAll(
    const Config& config) const {
  LINNET_ASSIGN_OR_RETURN(Report report, Analyze(config));
  return std::vector<Report>{std::move(report)};
}

absl::StatusOr<Report> PreparedEntry::Analyze(const Config& config) const {
  if (training_ != nullptr) return AnalyzeTraining(config, 0);
  Sizes sizes;
  LINNET_RETURN_IF_ERROR(ReadSizes(config, &sizes));
  Numbers numbers;
  LINNET_RETURN_IF_ERROR(Compute(sizes, &numbers));
  std::vector<size_t> broken;
  LINNET_RETURN_IF_ERROR(BrokenConstraints(sizes, &broken));
  const runtime::ProcessMemory process = Process(config);
  Summary summary;
  LINNET_RETURN_IF_ERROR(Combine(numbers, process, &summary));
  LINNET_ASSIGN_OR_RETURN(
      const graph::BufferPlan plan,
      graph::PlanBuffers(timeline_, graph().roles(), sizes.span(),
                         parts_.backend->alignment()));
  Report report = MakeReport(config, sizes);
  AddHeld(numbers, &report);
  AddTransient(numbers, &report);
  AddProcess(process, &report);
  report.graph_peak_bytes = summary.graph_peak_bytes;
  report.expected_peak_bytes = summary.expected_peak_bytes;
  report.confidence = summary.confidence;
  AddPlace(summary.peak_step, &report);
  report.naive_bytes = plan.naive_bytes;
  report.planned_bytes = plan.planned_bytes;
  report.lower_bound_bytes = plan.lower_bound_bytes;
  AddTexts(config, broken, &report);
  return report;
}

}  // namespace linnet::planner
