#include "client/render/sweep.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/render/time.h"
#include "core/base/bytes.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using Json = nlohmann::ordered_json;

absl::string_view StateText(v1::PointState state) {
  switch (state) {
    case v1::POINT_STATE_OK:
      return "ok";
    case v1::POINT_STATE_BROKEN:
      return "broken";
    case v1::POINT_STATE_OVERFLOW:
      return "overflow";
    case v1::POINT_STATE_INVALID:
      return "invalid";
    default:
      return "unknown";
  }
}

// A field with a comma or a quote in it stands between quotes.
std::string CsvText(absl::string_view text) {
  if (text.find_first_of(",\"\n") == absl::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

bool Fits(const SweepPoint& point, const v1::SweepDevice& device) {
  return point.expected_bytes <= device.memory_bytes();
}

}  // namespace

absl::string_view SizeRoleText(v1::SizeRole role) {
  switch (role) {
    case v1::SIZE_ROLE_BATCH:
      return "batch";
    case v1::SIZE_ROLE_CONTEXT:
      return "context";
    case v1::SIZE_ROLE_CACHE:
      return "cache";
    default:
      return "size";
  }
}

void SweepReader::Take(
    const v1::SweepResponse& part,
    const std::function<void(const SweepPoint&)>& point,
    const std::function<void(const v1::SweepVariant&,
                             const std::string& reason)>& refusal) {
  if (part.has_plan()) plan_ = part.plan();
  if (part.has_refusal()) {
    const int32_t variant = part.refusal().variant();
    if (variant >= 0 && variant < plan_.variants_size()) {
      refusal(plan_.variants(variant), part.refusal().reason());
    }
    return;
  }
  if (!part.has_points()) return;
  const v1::SweepPoints& points = part.points();
  const int n = points.expected_bytes_size();
  const int devices = plan_.devices_size();
  if (points.variant() < 0 || points.variant() >= plan_.variants_size() ||
      points.graph_bytes_size() != n) {
    return;
  }
  SweepPoint at;
  at.variant = &plan_.variants(points.variant());
  at.sizes.resize(static_cast<size_t>(plan_.sizes_size()));
  for (int i = 0; i < n; ++i) {
    int64_t index = points.first() + i;
    for (int s = plan_.sizes_size(); s-- > 0;) {
      const auto& values = plan_.sizes(s).values();
      if (values.empty()) continue;
      at.sizes[static_cast<size_t>(s)] =
          values.Get(static_cast<int>(index % values.size()));
      index /= values.size();
    }
    at.graph_bytes = points.graph_bytes(i);
    at.expected_bytes = points.expected_bytes(i);
    at.state =
        points.states_size() == n ? points.states(i) : v1::POINT_STATE_OK;
    at.seconds.clear();
    if (points.seconds_size() == n * devices) {
      for (int d = 0; d < devices; ++d) {
        at.seconds.push_back(points.seconds(i * devices + d));
      }
    }
    ++points_;
    good_ += at.has_peaks() ? 1 : 0;
    point(at);
  }
}

std::string SweepWriter::Header(const v1::SweepPlan& plan) {
  std::set<std::string> dtypes, layouts, policies;
  for (const v1::SweepVariant& variant : plan.variants()) {
    dtypes.insert(variant.dtype());
    layouts.insert(variant.layout());
    policies.insert(variant.checkpoint());
  }
  dtypes_ = dtypes.size() > 1;
  layouts_ = layouts.size() > 1;
  policies_ = policies.size() > 1;
  if (form_ == SweepForm::kJsonLines) return "";
  if (form_ == SweepForm::kCsv) {
    std::string out = "dtype,layout,checkpoint";
    for (const v1::SizeValues& sizes : plan.sizes()) {
      absl::StrAppend(&out, ",", SizeRoleText(sizes.role()));
    }
    absl::StrAppend(&out, ",graph_bytes,expected_bytes,state");
    for (const v1::SweepDevice& device : plan.devices()) {
      absl::StrAppend(
          &out, ",", CsvText(absl::StrCat("fits ", device.rates().name())), ",",
          CsvText(absl::StrCat("seconds ", device.rates().name())));
    }
    return out + "\n";
  }
  std::vector<std::pair<std::string, size_t>> columns;
  const auto widest = [](const std::set<std::string>& texts) {
    size_t width = 0;
    for (const std::string& text : texts) width = std::max(width, text.size());
    return width;
  };
  if (dtypes_) columns.emplace_back("dtype", widest(dtypes));
  if (layouts_) columns.emplace_back("layout", widest(layouts));
  if (policies_) columns.emplace_back("checkpoint", widest(policies));
  for (const v1::SizeValues& sizes : plan.sizes()) {
    int64_t largest = 0;
    for (const int64_t size : sizes.values()) largest = std::max(largest, size);
    columns.emplace_back(SizeRoleText(sizes.role()),
                         absl::StrCat(largest).size());
  }
  columns.emplace_back("peak", 12);
  for (const v1::SweepDevice& device : plan.devices()) {
    columns.emplace_back(device.rates().name(), 8);
  }
  std::string out;
  widths_.clear();
  for (const auto& [name, width] : columns) {
    widths_.push_back(std::max(name.size(), width));
    absl::StrAppend(
        &out, out.empty() ? "" : "  ",
        absl::StrFormat("%*s", static_cast<int>(widths_.back()), name));
  }
  return out + "\n";
}

void SweepWriter::Add(const v1::SweepPlan& plan, const SweepPoint& point,
                      std::string* out) const {
  switch (form_) {
    case SweepForm::kTable:
      return AddTable(plan, point, out);
    case SweepForm::kCsv:
      return AddCsv(plan, point, out);
    case SweepForm::kJsonLines:
      break;
  }
  AddJson(plan, point, out);
}

void SweepWriter::AddTable(const v1::SweepPlan& plan, const SweepPoint& point,
                           std::string* out) const {
  size_t column = 0;
  const auto add = [&](absl::string_view text) {
    if (column > 0) out->append("  ");
    const size_t width = widths_[column++];
    if (text.size() < width) out->append(width - text.size(), ' ');
    out->append(text.data(), text.size());
  };
  if (dtypes_) add(point.variant->dtype());
  if (layouts_) add(point.variant->layout());
  if (policies_) add(point.variant->checkpoint());
  for (const int64_t size : point.sizes) add(absl::StrCat(size));
  add(point.has_peaks() ? FormatBytes(point.expected_bytes)
                        : std::string(StateText(point.state)));
  for (int d = 0; d < plan.devices_size(); ++d) {
    const auto i = static_cast<size_t>(d);
    const double seconds = i < point.seconds.size() ? point.seconds[i] : 0.0;
    if (!point.has_peaks()) {
      add("");
    } else if (!Fits(point, plan.devices(d))) {
      add("no");
    } else {
      add(seconds > 0 ? SecondsText(seconds) : "fits");
    }
  }
  if (point.state == v1::POINT_STATE_BROKEN) out->append("  (clause broken)");
  out->push_back('\n');
}

void SweepWriter::AddCsv(const v1::SweepPlan& plan, const SweepPoint& point,
                         std::string* out) const {
  const v1::SweepVariant& variant = *point.variant;
  absl::StrAppend(out, CsvText(variant.dtype()), ",", CsvText(variant.layout()),
                  ",", CsvText(variant.checkpoint()));
  for (const int64_t size : point.sizes) absl::StrAppend(out, ",", size);
  if (point.has_peaks()) {
    absl::StrAppend(out, ",", point.graph_bytes, ",", point.expected_bytes);
  } else {
    absl::StrAppend(out, ",,");
  }
  absl::StrAppend(out, ",", StateText(point.state));
  for (int d = 0; d < plan.devices_size(); ++d) {
    const auto i = static_cast<size_t>(d);
    const double seconds = i < point.seconds.size() ? point.seconds[i] : 0.0;
    absl::StrAppend(out, ",",
                    !point.has_peaks()             ? ""
                    : Fits(point, plan.devices(d)) ? "yes"
                                                   : "no",
                    ",", seconds > 0 ? absl::StrCat(seconds) : "");
  }
  out->push_back('\n');
}

void SweepWriter::AddJson(const v1::SweepPlan& plan, const SweepPoint& point,
                          std::string* out) const {
  const v1::SweepVariant& variant = *point.variant;
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  Json json = {{"dtype", text_or_null(variant.dtype())},
               {"layout", variant.layout()},
               {"checkpoint", text_or_null(variant.checkpoint())}};
  for (int s = 0; s < plan.sizes_size(); ++s) {
    json[std::string(SizeRoleText(plan.sizes(s).role()))] =
        point.sizes[static_cast<size_t>(s)];
  }
  json["graph"] = point.has_peaks() ? Json(point.graph_bytes) : Json();
  json["expected"] = point.has_peaks() ? Json(point.expected_bytes) : Json();
  json["state"] = std::string(StateText(point.state));
  if (plan.devices_size() > 0) {
    Json devices = Json::object();
    for (int d = 0; d < plan.devices_size(); ++d) {
      const auto i = static_cast<size_t>(d);
      const double seconds = i < point.seconds.size() ? point.seconds[i] : 0.0;
      devices[plan.devices(d).rates().name()] = {
          {"fits",
           point.has_peaks() ? Json(Fits(point, plan.devices(d))) : Json()},
          {"seconds", seconds > 0 ? Json(seconds) : Json()}};
    }
    json["devices"] = std::move(devices);
  }
  absl::StrAppend(
      out, json.dump(-1, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace linnet::client
