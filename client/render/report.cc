#include "client/render/report.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/render/table.h"
#include "client/render/timeline.h"
#include "core/base/bytes.h"
#include "linnet/v1/models.pb.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {
namespace {

// Names on the left, amounts ending here, the rule two columns wider.
constexpr size_t kLineWidth = 34;

struct Line {
  std::string name;
  std::string amount;
  absl::string_view confidence;  // Empty: not said.
};

std::string RenderLine(const Line& line, size_t width) {
  const size_t used = line.name.size() + line.amount.size();
  std::string text =
      absl::StrCat(line.name, std::string(width - used, ' '), line.amount);
  if (!line.confidence.empty()) {
    absl::StrAppend(&text, "  [", line.confidence, "]");
  }
  return absl::StrCat(text, "\n");
}

template <typename Texts>
void AppendList(absl::string_view heading, const Texts& texts,
                std::string& out) {
  if (texts.empty()) return;
  absl::StrAppend(&out, "\n", heading, ":\n");
  for (const std::string& text : texts)
    absl::StrAppend(&out, "  - ", text, "\n");
}

template <typename Tensors>
void AppendTensors(absl::string_view heading, const Tensors& tensors,
                   std::string& out) {
  if (tensors.empty()) return;
  std::vector<std::vector<std::string>> rows;
  for (const v1::TensorType& tensor : tensors) {
    rows.push_back({tensor.name(), tensor.type()});
  }
  absl::StrAppend(&out, "\n", heading, "\n", RenderTable(rows, "  "));
}

void AppendEntry(const v1::Entry& entry, std::string& out) {
  absl::StrAppend(&out, "\nEntry ", entry.name());
  if (entry.generics_size() > 0) {
    absl::StrAppend(&out, "<", absl::StrJoin(entry.generics(), ", "), ">");
  }
  absl::StrAppend(&out, "\n");
  std::vector<std::vector<std::string>> rows;
  for (const v1::TensorType& input : entry.inputs()) {
    rows.push_back({input.name(), input.type()});
  }
  if (!entry.result().empty()) rows.push_back({"->", entry.result()});
  absl::StrAppend(&out, RenderTable(rows, "  "));
  if (entry.states_size() > 0) {
    absl::StrAppend(&out, "  states: ", absl::StrJoin(entry.states(), ", "),
                    "\n");
  }
}

}  // namespace

absl::string_view ConfidenceText(v1::Confidence confidence) {
  switch (confidence) {
    case v1::CONFIDENCE_EXACT:
      return "exact";
    case v1::CONFIDENCE_BACKEND_MODELED:
      return "backend-modeled";
    case v1::CONFIDENCE_ESTIMATED:
      return "estimated";
    default:
      return "unknown";
  }
}

namespace {

// What each stage of a pipeline holds and needs, above the report of the one
// that needs most.
std::string RenderDevices(const v1::AnalyzeResponse& response) {
  if (response.devices_size() == 0) return "";
  std::vector<std::vector<std::string>> rows = {
      {"", "graph", "expected", "holds"}};
  std::string most;
  int64_t bytes = -1;
  for (const v1::DeviceMemory& device : response.devices()) {
    rows.push_back({device.name(), FormatBytes(device.graph_bytes()),
                    FormatBytes(device.expected_bytes()), device.holds()});
    if (device.expected_bytes() > bytes) {
      bytes = device.expected_bytes();
      most = device.name();
    }
  }
  return absl::StrCat(RenderTable(rows, "", {1, 2}), "\nOf ", most,
                      ", which needs the most:\n\n");
}

std::string RenderOne(const v1::AnalyzeResponse& response) {
  std::vector<Line> lines;
  for (const v1::Component& component : response.components()) {
    // What has no bytes is listed below, under what is not included.
    if (!component.has_bytes()) continue;
    lines.push_back({component.name(), FormatBytes(component.bytes()),
                     ConfidenceText(component.confidence())});
  }
  const size_t num_components = lines.size();
  const v1::Peak& peak = response.peak();
  const auto amount = [](bool known, int64_t bytes) {
    return known ? FormatBytes(bytes) : std::string("unknown");
  };
  lines.push_back(
      {"Graph peak", amount(peak.has_graph_bytes(), peak.graph_bytes()), ""});
  lines.push_back({"Expected peak",
                   amount(peak.has_expected_bytes(), peak.expected_bytes()),
                   ConfidenceText(peak.confidence())});

  size_t width = kLineWidth;
  for (const Line& line : lines) {
    width = std::max(width, line.name.size() + 1 + line.amount.size());
  }
  std::string out = RenderDevices(response);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == num_components) {
      absl::StrAppend(&out, std::string(width + 2, '-'), "\n");
    }
    absl::StrAppend(&out, RenderLine(lines[i], width));
  }

  absl::StrAppend(&out, "\n");
  if (!peak.at().empty()) {
    absl::StrAppend(&out, response.has_training() ? "Peak in " : "Peak at ",
                    peak.at(), ".\n");
  }
  if (response.training().has_recomputed_part()) {
    absl::StrAppend(
        &out, "Computed again: ",
        absl::StrFormat("%.1f%%", 100 * response.training().recomputed_part()),
        " of the step's FLOPs.\n");
  }
  if (response.has_allocation()) {
    const v1::Allocation& allocation = response.allocation();
    absl::StrAppend(
        &out, "Transient storage: ", FormatBytes(allocation.naive_bytes()),
        " with a buffer per tensor, ", FormatBytes(allocation.planned_bytes()),
        " planned, ", FormatBytes(allocation.lower_bound_bytes()),
        " live at most.\n");
  }
  if (response.has_timeline()) {
    absl::StrAppend(&out, "\n", RenderTimeline(response.timeline()));
  }
  AppendList("Not included (unknown)", response.unknown(), out);
  AppendList("Warnings", response.warnings(), out);
  AppendList("Assumptions", response.assumptions(), out);
  return out;
}

std::string Heading(const v1::AnalyzeResponse& response) {
  return absl::StrCat("Checkpointing: ", response.training().checkpoint(),
                      "\n\n");
}

}  // namespace

std::string RenderReport(const v1::AnalyzeResponse& response) {
  if (response.other_policies_size() == 0) return RenderOne(response);
  std::string out = absl::StrCat(Heading(response), RenderOne(response));
  for (const v1::AnalyzeResponse& other : response.other_policies()) {
    absl::StrAppend(&out, "\n", Heading(other), RenderOne(other));
  }
  return out;
}

std::string RenderModels(const v1::ModelsListResponse& response) {
  std::vector<std::vector<std::string>> rows;
  for (const v1::ModelSummary& model : response.models()) {
    rows.push_back({model.name(), model.family(),
                    model.title().empty() ? model.summary() : model.title()});
  }
  return RenderTable(rows, "");
}

std::string RenderDescription(const v1::ModelsDescribeResponse& response) {
  const v1::ModelSummary& model = response.model();
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](absl::string_view name, std::string value) {
    if (!value.empty()) rows.push_back({std::string(name), std::move(value)});
  };
  add("Name", model.name());
  add("Title", model.title());
  add("Summary", model.summary());
  add("License", model.license());
  add("Family", model.family());
  add("Root block", response.root_block());
  add("Parameters", absl::StrCat(response.num_parameters(), " in ",
                                 FormatBytes(response.parameter_bytes())));
  if (response.has_cache_bytes_per_token()) {
    add("Cache", absl::StrCat(FormatBytes(response.cache_bytes_per_token()),
                              " per token"));
  }
  std::string out = RenderTable(rows, "");

  if (response.generics_size() > 0) {
    rows.clear();
    for (const v1::Generic& generic : response.generics()) {
      rows.push_back({generic.name(), generic.kind(),
                      generic.has_value() ? generic.value() : "must be bound"});
    }
    absl::StrAppend(&out, "\nGenerics\n", RenderTable(rows, "  "));
  }
  for (const v1::Entry& entry : response.entries()) AppendEntry(entry, out);
  AppendTensors("States", response.states(), out);
  AppendTensors("Parameters", response.parameters(), out);
  if (response.ties_size() > 0) {
    rows.clear();
    for (const v1::Tie& tie : response.ties()) {
      rows.push_back({tie.path(), "=", tie.owner()});
    }
    absl::StrAppend(&out, "\nTied\n", RenderTable(rows, "  "));
  }
  return out;
}

}  // namespace linnet::client
