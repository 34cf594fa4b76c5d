#include "client/render/time.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/render/dump.h"
#include "client/render/table.h"

namespace linnet::client {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

struct Part {
  absl::string_view name;
  double seconds;
  absl::string_view what;
};

std::vector<Part> PartsOf(const v1::StepTime& step) {
  return {{"Compute", step.compute_seconds(), ""},
          {"Memory", step.memory_seconds(), ""},
          {"Communication", step.communication_seconds(), ""},
          {"Host", step.host_seconds(), "the device waits for calls"},
          {"Bubble", step.bubble_seconds(), "a stage waits for others"}};
}

std::string RenderParts(const v1::StepTime& step) {
  Rows rows;
  for (const Part& part : PartsOf(step)) {
    if (part.seconds <= 0) continue;
    rows.push_back(
        {std::string(part.name), SecondsText(part.seconds),
         absl::StrFormat("%.1f%%", 100 * part.seconds / step.seconds()),
         std::string(part.what)});
  }
  return RenderTable(rows, "", {1, 2});
}

std::string RenderOperations(const v1::StepTime& step) {
  if (step.operations().empty()) return "";
  Rows rows = {
      {"operation", "first in", "calls", "device", "host", "bound by"}};
  for (const v1::OperationTime& each : step.operations()) {
    rows.push_back({each.label(), each.scope(), absl::StrCat(each.calls()),
                    SecondsText(each.device_seconds()),
                    SecondsText(each.host_seconds()),
                    absl::StrCat(TimeLimitText(each.limit()),
                                 each.measured() ? "" : " (no rate)")});
  }
  return absl::StrCat(
      "\nMost expensive",
      step.stage().empty()
          ? ""
          : absl::StrCat(", of one micro-batch on ", step.stage()),
      ":\n", RenderTable(rows, "  ", {2, 3, 4}));
}

std::string RenderStep(const v1::StepTime& step) {
  std::string out =
      absl::StrCat("Step time: ", SecondsText(step.seconds()), ", ",
                   CountText(step.tokens_per_second()), " tokens/s (",
                   CountText(static_cast<double>(step.tokens())),
                   " per step)\n\n", RenderParts(step), "\nLimited by ",
                   TimeLimitText(step.limit()), ".\n", RenderOperations(step));
  if (!step.assumptions().empty()) {
    absl::StrAppend(&out, "\nAssumptions:\n  - ",
                    absl::StrJoin(step.assumptions(), "\n  - "), "\n");
  }
  return out;
}

Json Operations(const v1::StepTime& step) {
  Json list = Json::array();
  for (const v1::OperationTime& each : step.operations()) {
    list.push_back({{"label", each.label()},
                    {"native", each.native()},
                    {"scope", each.scope()},
                    {"calls", each.calls()},
                    {"device_seconds", each.device_seconds()},
                    {"host_seconds", each.host_seconds()},
                    {"limit", std::string(TimeLimitText(each.limit()))},
                    {"measured", each.measured()}});
  }
  return list;
}

}  // namespace

std::string SecondsText(double seconds) {
  const auto digits = [](double value, absl::string_view unit) {
    const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return absl::StrFormat("%.*f %s", decimals, value, unit);
  };
  if (seconds >= 0.9995) return digits(seconds, "s");
  if (seconds >= 0.9995e-3) return digits(seconds * 1e3, "ms");
  return digits(seconds * 1e6, "us");
}

absl::string_view TimeLimitText(v1::TimeLimit limit) {
  switch (limit) {
    case v1::TIME_LIMIT_COMPUTE:
      return "compute";
    case v1::TIME_LIMIT_MEMORY:
      return "memory";
    case v1::TIME_LIMIT_COMMUNICATION:
      return "communication";
    case v1::TIME_LIMIT_HOST:
      return "host";
    default:
      return "unknown";
  }
}

std::string CountText(double count) {
  const std::string digits = absl::StrFormat("%.0f", count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string RenderTime(const v1::TimeResponse& response) {
  std::string out;
  for (const v1::StepTime& step : response.steps()) {
    if (response.steps_size() > 1) {
      absl::StrAppend(&out, out.empty() ? "" : "\n",
                      "== checkpoint: ", step.checkpoint(), " ==\n\n");
    }
    out += RenderStep(step);
  }
  const v1::DeviceRates& device = response.device();
  absl::StrAppend(&out, "\nPredicted with the rates of ", device.title(), ": ",
                  device.source(), "\n");
  return out;
}

std::string TimeJson(const v1::TimeResponse& response) {
  Json steps = Json::array();
  for (const v1::StepTime& step : response.steps()) {
    steps.push_back(
        {{"checkpoint",
          step.checkpoint().empty() ? Json() : Json(step.checkpoint())},
         {"seconds", step.seconds()},
         {"parts",
          {{"compute", step.compute_seconds()},
           {"memory", step.memory_seconds()},
           {"communication", step.communication_seconds()},
           {"host", step.host_seconds()},
           {"bubble", step.bubble_seconds()}}},
         {"limit", std::string(TimeLimitText(step.limit()))},
         {"tokens", step.tokens()},
         {"tokens_per_second", step.tokens_per_second()},
         {"stage", step.stage().empty() ? Json() : Json(step.stage())},
         {"operations", Operations(step)},
         {"assumptions", step.assumptions()}});
  }
  const v1::DeviceRates& device = response.device();
  return Dump({{"version", 1},
               {"model", response.model_name()},
               {"steps", steps},
               {"device",
                {{"name", device.name()},
                 {"title", device.title()},
                 {"source", device.source()},
                 {"scaled", device.scaled()}}}});
}

}  // namespace linnet::client
