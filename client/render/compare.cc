#include "client/render/compare.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/render/dump.h"
#include "client/render/time.h"
#include "core/base/bytes.h"

namespace linnet::client {
namespace {

using Json = nlohmann::ordered_json;

// Columns of the listing; a refusal begins in the column of the limit.
struct Line {
  std::string layout, size, step, rate, limit, peak;
};

std::string Left(const std::string& text, size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}
std::string Right(const std::string& text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string SizeTitle(const v1::CompareResponse& response) {
  if (response.grows() == "context") return "length";
  return response.grows();
}

std::string RenderPool(const v1::CompareRequest& request,
                       const std::string& title, const v1::PoolLayouts& pool) {
  const bool per_device = request.objective() == v1::OBJECTIVE_PER_DEVICE;
  const bool steps = request.objective() == v1::OBJECTIVE_LATENCY ||
                     request.max_step_seconds() > 0;
  std::vector<Line> lines = {{"layout", title, "step",
                              per_device ? "tokens/s/device" : "tokens/s",
                              "limit", "peak"}};
  size_t fits = 0;
  for (const v1::Layout& layout : pool.layouts()) {
    if (!layout.refused().empty()) {
      lines.push_back({layout.name(), "", "", "-", layout.refused(), ""});
      continue;
    }
    ++fits;
    const double rate =
        layout.time().tokens_per_second() /
        (per_device ? static_cast<double>(layout.devices()) : 1.0);
    lines.push_back({layout.name(),
                     layout.size() > 0 ? absl::StrCat(layout.size()) : "",
                     SecondsText(layout.time().seconds()), CountText(rate),
                     std::string(TimeLimitText(layout.time().limit())),
                     FormatBytes(layout.peak_bytes())});
  }
  size_t layout = 0, size = 0, step = 0, rate = 0, limit = 0, peak = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    layout = std::max(layout, lines[i].layout.size());
    size = std::max(size, lines[i].size.size());
    step = std::max(step, lines[i].step.size());
    rate = std::max(rate, lines[i].rate.size());
    if (i <= fits) limit = std::max(limit, lines[i].limit.size());
    peak = std::max(peak, lines[i].peak.size());
  }
  std::string out =
      absl::StrCat("Predicted throughput on ", pool.devices(), " x ",
                   pool.device().name(), " (", pool.device().source(), ")\n\n");
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    std::string text = absl::StrCat(Left(line.layout, layout), "  ",
                                    Right(line.size, size), "  ");
    if (steps) absl::StrAppend(&text, Right(line.step, step), "  ");
    absl::StrAppend(&text, Right(line.rate, rate), " ");
    if (i <= fits) {
      absl::StrAppend(&text, Left(line.limit, limit), "  ",
                      Right(line.peak, peak));
    } else {
      text += line.limit;
    }
    absl::StrAppend(&out, text, "\n");
  }
  if (fits == 0) absl::StrAppend(&out, "\nNo layout can be used.\n");
  return out;
}

// What each pool does, and what they do together.
std::string RenderTogether(const v1::CompareResponse& response) {
  const v1::PoolsTogether& together = response.together();
  std::string out = absl::StrCat(
      "\nTogether ", CountText(together.tokens_per_second()), " tokens/s");
  if (together.seconds() > 0) {
    absl::StrAppend(&out, ", a step every ", SecondsText(together.seconds()));
  }
  absl::StrAppend(&out, ":\n");
  for (int i = 0; i < together.layouts_size() && i < response.pools_size();
       ++i) {
    const v1::Layout& layout = together.layouts(i);
    absl::StrAppend(&out, "  ", response.pools(i).device().name(), ": ",
                    layout.name().empty() ? "not used" : layout.name());
    if (layout.size() > 0) {
      absl::StrAppend(&out, ", ", response.grows(), " ", layout.size());
    }
    if (!layout.name().empty()) {
      absl::StrAppend(&out, ", ", CountText(layout.time().tokens_per_second()),
                      " tokens/s by itself");
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

Json LayoutJson(const v1::Layout& layout) {
  const v1::Parallel& parallel = layout.parallel();
  Json json = {
      {"name", layout.name()},
      {"tensor", parallel.tensor()},
      {"pipeline", parallel.pipeline()},
      {"microbatches",
       parallel.has_microbatches() ? Json(parallel.microbatches()) : Json()},
      {"replicas", layout.replicas()},
      {"devices", layout.devices()},
      {"checkpoint",
       layout.checkpoint().empty() ? Json() : Json(layout.checkpoint())},
      {"refused", layout.refused().empty() ? Json() : Json(layout.refused())}};
  if (layout.refused().empty()) {
    const v1::StepTime& time = layout.time();
    json["size"] = layout.size() > 0 ? Json(layout.size()) : Json();
    json["seconds"] = time.seconds();
    json["tokens_per_second"] = time.tokens_per_second();
    json["parts"] = {{"compute", time.compute_seconds()},
                     {"memory", time.memory_seconds()},
                     {"communication", time.communication_seconds()},
                     {"host", time.host_seconds()},
                     {"bubble", time.bubble_seconds()}};
    json["limit"] = std::string(TimeLimitText(time.limit()));
    json["peak_bytes"] = layout.peak_bytes();
  }
  return json;
}

}  // namespace

std::string RenderCompare(const v1::CompareRequest& request,
                          const v1::CompareResponse& response) {
  std::string out;
  for (const v1::PoolLayouts& pool : response.pools()) {
    if (!out.empty()) out += '\n';
    out += RenderPool(request, SizeTitle(response), pool);
  }
  if (response.has_together()) out += RenderTogether(response);
  if (!response.assumptions().empty()) {
    absl::StrAppend(&out, "\nAssumptions:\n  - ",
                    absl::StrJoin(response.assumptions(), "\n  - "), "\n");
  }
  return out;
}

std::string CompareJson(const v1::CompareResponse& response) {
  Json pools = Json::array();
  for (const v1::PoolLayouts& pool : response.pools()) {
    Json layouts = Json::array();
    for (const v1::Layout& layout : pool.layouts()) {
      layouts.push_back(LayoutJson(layout));
    }
    const v1::DeviceRates& device = pool.device();
    pools.push_back({{"devices", pool.devices()},
                     {"device",
                      {{"name", device.name()},
                       {"title", device.title()},
                       {"source", device.source()},
                       {"scaled", device.scaled()}}},
                     {"budget", pool.budget_bytes()},
                     {"layouts", std::move(layouts)}});
  }
  Json together;
  if (response.has_together()) {
    Json layouts = Json::array();
    for (const v1::Layout& layout : response.together().layouts()) {
      layouts.push_back(layout.name().empty() ? Json() : LayoutJson(layout));
    }
    together = {{"tokens_per_second", response.together().tokens_per_second()},
                {"seconds", response.together().seconds() > 0
                                ? Json(response.together().seconds())
                                : Json()},
                {"layouts", std::move(layouts)}};
  }
  return Dump(
      {{"version", 1},
       {"model", response.model_name()},
       {"grows", response.grows().empty() ? Json() : Json(response.grows())},
       {"pools", std::move(pools)},
       {"together", std::move(together)},
       {"assumptions", response.assumptions()}});
}

}  // namespace linnet::client
