#include "client/render/fit.h"

#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/render/dump.h"
#include "client/render/report.h"
#include "core/base/bytes.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using Json = nlohmann::ordered_json;

struct GoalText {
  absl::string_view flag, what;
};
constexpr std::array<GoalText, 4> kGoals = {{{"", "size"},
                                             {"batch", "batch size"},
                                             {"context", "context length"},
                                             {"kv-cache", "cache length"}}};

const GoalText& TextOf(v1::Goal goal) {
  const auto index = static_cast<size_t>(goal);
  return kGoals[index < kGoals.size() ? index : 0];
}

absl::string_view StoppedText(v1::StoppedBy stopped_by) {
  switch (stopped_by) {
    case v1::STOPPED_BY_MODEL:
      return "model";
    case v1::STOPPED_BY_SEARCH:
      return "search";
    default:
      return "memory";
  }
}

std::string BudgetText(const v1::MaximizeResponse& response) {
  std::string text =
      absl::StrCat(FormatBytes(response.budget_bytes()), " budget");
  if (!response.device_title().empty()) {
    absl::StrAppend(&text, " of ", response.device_title());
  }
  return text;
}

std::string NothingFits(const v1::MaximizeRequest& request,
                        const v1::MaximizeResponse& response) {
  const absl::string_view what = TextOf(request.goal()).what;
  if (response.stopped_by() == v1::STOPPED_BY_MODEL) {
    return absl::StrCat("No ", what, " is possible: ", response.smallest(),
                        " breaks the model's clause `", response.clause(),
                        "`.\n");
  }
  return absl::StrCat("No ", what, " fits: ", response.smallest(), " needs ",
                      FormatBytes(response.peak().expected_bytes()), ", ",
                      FormatBytes(-response.headroom_bytes()), " more than a ",
                      BudgetText(response), ".\n");
}

}  // namespace

std::string RenderFit(const v1::MaximizeRequest& request,
                      const v1::MaximizeResponse& response) {
  if (!response.has_value()) return NothingFits(request, response);
  std::string out = absl::StrCat(
      "Maximum ", TextOf(request.goal()).what, ": ", response.value(), "\n\n",
      "Estimated peak memory: ", FormatBytes(response.peak().expected_bytes()),
      "\nHeadroom: ", FormatBytes(response.headroom_bytes()), " of a ",
      BudgetText(response), "\n");
  if (response.stopped_by() == v1::STOPPED_BY_MODEL) {
    absl::StrAppend(&out, "Limited by the model's clause `", response.clause(),
                    "`, not by memory.\n");
  } else if (response.stopped_by() == v1::STOPPED_BY_SEARCH) {
    absl::StrAppend(&out, "Limited by the search, which looks no further.\n");
  }
  return out;
}

std::string FitJson(const v1::MaximizeRequest& request,
                    const v1::MaximizeResponse& response) {
  const v1::Peak& peak = response.peak();
  Json device;
  if (!response.device_title().empty()) {
    const std::string& name = request.budget().device();
    device = {{"name", name.empty() ? response.device_title() : name},
              {"title", response.device_title()},
              {"source", response.device_source()}};
  }
  const Json json = {
      {"version", 1},
      {"maximize", std::string(TextOf(request.goal()).flag)},
      {"value", response.has_value() ? Json(response.value()) : Json()},
      {"smallest", response.smallest()},
      {"stopped_by", std::string(StoppedText(response.stopped_by()))},
      {"clause", response.clause().empty() ? Json() : Json(response.clause())},
      {"peak",
       {{"graph", peak.graph_bytes()},
        {"expected", peak.expected_bytes()},
        {"confidence", std::string(ConfidenceText(peak.confidence()))}}},
      {"budget", response.budget_bytes()},
      {"headroom", response.headroom_bytes()},
      {"device", device}};
  return Dump(json);
}

}  // namespace linnet::client
