#include "client/render/plot.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/base/bytes.h"

namespace linnet::client {
namespace {

constexpr double kWidth = 860, kHeight = 520;
constexpr double kLeft = 80, kRight = 230, kTop = 30, kBottom = 60;
constexpr const char* kColours[] = {"#1b6ca8", "#c8553d", "#2e8b57", "#8e5ea2",
                                    "#b8860b", "#3d8d99", "#a83279", "#5d6d7e"};
// Sizes that span more than this are drawn by their logarithm.
constexpr double kLogSpan = 16;

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// The first size with several values; -1 when none has.
int AxisOf(const v1::SweepPlan& plan) {
  for (int s = 0; s < plan.sizes_size(); ++s) {
    if (plan.sizes(s).values_size() > 1) return s;
  }
  return -1;
}

std::string NameOf(const v1::SweepPlan& plan, const SweepPoint& point,
                   int axis) {
  std::vector<std::string> parts;
  const v1::SweepVariant& variant = *point.variant;
  if (plan.variants_size() > 1) {
    if (!variant.dtype().empty()) parts.push_back(variant.dtype());
    parts.push_back(variant.layout());
    if (!variant.checkpoint().empty()) parts.push_back(variant.checkpoint());
  }
  for (int s = 0; s < plan.sizes_size(); ++s) {
    if (s == axis || plan.sizes(s).values_size() < 2) continue;
    parts.push_back(absl::StrCat(SizeRoleText(plan.sizes(s).role()), " ",
                                 point.sizes[static_cast<size_t>(s)]));
  }
  return absl::StrJoin(parts, ", ");
}

// From values to places on the paper.
class Scale {
 public:
  Scale(double low, double high, bool logarithm, double from, double to)
      : low_(logarithm ? std::log2(low) : low),
        high_(logarithm ? std::log2(high) : high),
        logarithm_(logarithm),
        from_(from),
        to_(to) {
    if (high_ <= low_) high_ = low_ + 1;
  }
  double operator()(double value) const {
    const double at = logarithm_ ? std::log2(value) : value;
    return from_ + (at - low_) / (high_ - low_) * (to_ - from_);
  }

 private:
  double low_, high_;
  bool logarithm_;
  double from_, to_;
};

void Text(double x, double y, absl::string_view anchor, absl::string_view text,
          std::string* out) {
  absl::StrAppendFormat(
      out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y,
      anchor, Escaped(text));
}

void Stroke(double x1, double y1, double x2, double y2, absl::string_view style,
            std::string* out) {
  absl::StrAppendFormat(out,
                        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                        "y2=\"%.1f\" %s/>\n",
                        x1, y1, x2, y2, style);
}

// 1, 2 or 5 times a power of ten, so that about five of them make `span`.
double NiceStep(double span) {
  const double rough = span / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= rough) return times * power;
  }
  return 10 * power;
}

}  // namespace

void SweepPlot::Add(const v1::SweepPlan& plan, const SweepPoint& point) {
  const int axis = AxisOf(plan);
  if (axis < 0 || !point.has_peaks() || too_many_) return;
  const std::string name = NameOf(plan, point, axis);
  auto line = std::find_if(lines_.begin(), lines_.end(),
                           [&](const Line& each) { return each.name == name; });
  if (line == lines_.end()) {
    if (lines_.size() == kMaxLines) {
      too_many_ = true;
      return;
    }
    lines_.push_back({name, {}});
    line = lines_.end() - 1;
  }
  if (line->dots.size() == kMaxDots) {
    too_many_ = true;
    return;
  }
  line->dots.emplace_back(point.sizes[static_cast<size_t>(axis)],
                          point.expected_bytes);
}

absl::StatusOr<std::string> SweepPlot::Svg(const v1::SweepPlan& plan) const {
  if (too_many_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a plot has at most ", kMaxLines, " lines of ", kMaxDots,
        " points; give the other sizes one value, or take larger steps"));
  }
  if (lines_.empty()) {
    return absl::InvalidArgumentError(
        "there is nothing to plot: no size has several values with a peak");
  }
  double low = 0, high = 0, most = 0;
  for (const Line& line : lines_) {
    for (const auto& [size, bytes] : line.dots) {
      const auto at = static_cast<double>(size);
      low = low == 0 ? at : std::min(low, at);
      high = std::max(high, at);
      most = std::max(most, static_cast<double>(bytes));
    }
  }
  for (const v1::SweepDevice& device : plan.devices()) {
    const auto memory = static_cast<double>(device.memory_bytes());
    // Those far above everything would press the lines flat.
    if (memory < 3 * most) most = std::max(most, memory);
  }
  most *= 1.05;
  const bool logarithm = high / low > kLogSpan;
  const Scale x(low, high, logarithm, kLeft, kWidth - kRight);
  const Scale y(0, most, false, kHeight - kBottom, kTop);
  std::string out = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\" fill=\"#333\">\n<rect width=\"100%%\" "
      "height=\"100%%\" fill=\"#fff\"/>\n",
      kWidth, kHeight, kWidth, kHeight);
  const double gib = static_cast<double>(kGiB);
  const double step = NiceStep(most / gib);
  for (double at = 0; at * gib <= most; at += step) {
    Stroke(kLeft, y(at * gib), kWidth - kRight, y(at * gib),
           "stroke=\"#e3e3e3\"", &out);
    Text(kLeft - 8, y(at * gib) + 4, "end", absl::StrFormat("%g", at), &out);
  }
  const auto tick = [&](double at) {
    Stroke(x(at), kHeight - kBottom, x(at), kHeight - kBottom + 5,
           "stroke=\"#333\"", &out);
    Text(x(at), kHeight - kBottom + 20, "middle", absl::StrFormat("%.10g", at),
         &out);
  };
  if (logarithm) {
    const double octaves = std::log2(high / low);
    const double by = std::exp2(std::ceil(octaves / 10));
    for (double at = low; at <= high; at *= by) tick(std::round(at));
  } else {
    const double every = std::max(1.0, NiceStep(std::max(high - low, 1.0)));
    tick(low);
    for (double at = std::ceil(low / every) * every; at <= high; at += every) {
      if (at > low) tick(at);
    }
  }
  Stroke(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom,
         "stroke=\"#333\"", &out);
  Stroke(kLeft, kTop, kLeft, kHeight - kBottom, "stroke=\"#333\"", &out);
  const int axis = AxisOf(plan);
  Text((kLeft + kWidth - kRight) / 2, kHeight - 18, "middle",
       SizeRoleText(plan.sizes(axis).role()), &out);
  Text(kLeft, kTop - 12, "middle", "expected peak, GiB", &out);
  double legend = kTop + 10;
  const double legend_x = kWidth - kRight + 20;
  for (size_t i = 0; i < lines_.size(); ++i) {
    std::vector<std::pair<int64_t, int64_t>> dots = lines_[i].dots;
    std::sort(dots.begin(), dots.end());
    const char* colour = kColours[i % std::size(kColours)];
    std::string path;
    for (const auto& [size, bytes] : dots) {
      absl::StrAppendFormat(&path, "%s%.1f,%.1f", path.empty() ? "" : " ",
                            x(static_cast<double>(size)),
                            y(static_cast<double>(bytes)));
    }
    absl::StrAppendFormat(
        &out,
        "<polyline points=\"%s\" fill=\"none\" "
        "stroke=\"%s\" stroke-width=\"2\"%s/>\n",
        path, colour,
        i < std::size(kColours) ? "" : " stroke-dasharray=\"7 3\"");
    if (lines_[i].name.empty()) continue;
    Stroke(legend_x, legend - 4, legend_x + 18, legend - 4,
           absl::StrFormat("stroke=\"%s\" stroke-width=\"2\"", colour), &out);
    Text(legend_x + 24, legend, "start", lines_[i].name, &out);
    legend += 18;
  }
  for (const v1::SweepDevice& device : plan.devices()) {
    const auto memory = static_cast<double>(device.memory_bytes());
    if (memory > most) continue;
    Stroke(kLeft, y(memory), kWidth - kRight, y(memory),
           "stroke=\"#999\" stroke-dasharray=\"4 4\"", &out);
    Text(kWidth - kRight + 4, y(memory) + 4, "start", device.rates().name(),
         &out);
  }
  return out + "</svg>\n";
}

}  // namespace linnet::client
