#include "client/render/timeline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/render/table.h"
#include "core/base/bytes.h"

namespace linnet::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kColumns = 60;
constexpr size_t kLines = 20;

// A column shows the most of its positions, as eighths of `most`; what is there
// at all is seen.
std::string Course(const std::vector<int64_t>& bytes, int64_t most) {
  static constexpr std::array<absl::string_view, 9> kBars = {
      " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t columns = std::min(kColumns, bytes.size());
  std::string out;
  for (size_t i = 0; i < columns; ++i) {
    const auto begin =
        bytes.begin() + static_cast<std::ptrdiff_t>(i * bytes.size() / columns);
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(
                                         (i + 1) * bytes.size() / columns);
    const int64_t here = *std::max_element(begin, end);
    const double part =
        static_cast<double>(here) / static_cast<double>(std::max(most, {1}));
    const auto eighths = static_cast<size_t>(8 * part);
    absl::StrAppend(&out, kBars[here > 0 ? std::max<size_t>(eighths, 1) : 0]);
  }
  return out;
}

// What it is and what made it, with the numbers of layers left out: one line
// for all of them.
std::string Source(const v1::LiveTensor& tensor) {
  if (tensor.label().empty()) return tensor.name();
  std::string text = tensor.label();
  if (!tensor.scope().empty()) {
    std::vector<std::string> parts = absl::StrSplit(tensor.scope(), '.');
    for (std::string& part : parts) {
      if (absl::c_all_of(part, absl::ascii_isdigit)) part.assign(1, '*');
    }
    absl::StrAppend(&text, " in `", absl::StrJoin(parts, "."), "`");
  }
  if (!tensor.name().empty()) absl::StrAppend(&text, ", ", tensor.name());
  return text;
}

// Tensors of one category and source.
struct Group {
  std::string category, source;
  int64_t tensors = 0, bytes = 0;
};

std::vector<Group> Groups(const v1::Timeline& timeline) {
  std::vector<Group> groups;
  absl::flat_hash_map<std::pair<std::string, std::string>, size_t> index;
  for (const v1::LiveTensor& tensor : timeline.live_at_peak()) {
    const auto [it, added] =
        index.try_emplace({tensor.category(), Source(tensor)}, groups.size());
    if (added) groups.push_back({tensor.category(), it->first.second});
    Group& group = groups[it->second];
    ++group.tensors;
    group.bytes += tensor.bytes();
  }
  absl::c_stable_sort(
      groups, [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  return groups;
}

}  // namespace

std::string RenderTimeline(const v1::Timeline& timeline) {
  std::vector<std::vector<int64_t>> courses;
  int64_t most = 0;
  for (const v1::CategoryTimeline& category : timeline.categories()) {
    courses.emplace_back(category.bytes().begin(), category.bytes().end());
    for (const int64_t bytes : courses.back()) most = std::max(most, bytes);
  }
  std::string out = absl::StrCat("Over the step, ", timeline.num_positions(),
                                 " positions:\n");
  size_t width = 0;
  for (const auto& category : timeline.categories()) {
    width = std::max(width, category.category().size());
  }
  for (size_t i = 0; i < courses.size(); ++i) {
    if (courses[i].empty()) continue;
    const std::string& name =
        timeline.categories(static_cast<int>(i)).category();
    absl::StrAppend(
        &out, "  ", name, std::string(width - name.size(), ' '), "  ",
        Course(courses[i], most), "  at most ",
        FormatBytes(*std::max_element(courses[i].begin(), courses[i].end())),
        "\n");
  }
  if (timeline.live_at_peak_size() == 0) return out;
  absl::StrAppend(&out, "\nIn memory at the peak, ", timeline.peak_at(), ":\n");
  std::vector<std::vector<std::string>> rows;
  int64_t more = timeline.num_more(), more_bytes = timeline.more_bytes();
  for (const Group& group : Groups(timeline)) {
    if (rows.size() >= kLines) {
      more += group.tensors;
      more_bytes += group.bytes;
      continue;
    }
    rows.push_back({FormatBytes(group.bytes), group.category,
                    group.tensors == 1 ? "" : absl::StrCat(group.tensors, " x"),
                    group.source});
  }
  absl::StrAppend(&out, RenderTable(rows, "  ", {0, 2}));
  if (more > 0) {
    absl::StrAppend(&out, "  and ", more, " more of ", FormatBytes(more_bytes),
                    " together\n");
  }
  return out;
}

Json TimelineJson(const v1::Timeline& timeline) {
  Json categories = Json::object();
  for (const v1::CategoryTimeline& category : timeline.categories()) {
    categories[category.category()] = category.bytes();
  }
  Json live = Json::array();
  for (const v1::LiveTensor& tensor : timeline.live_at_peak()) {
    live.push_back({{"name", tensor.name()},
                    {"category", tensor.category()},
                    {"bytes", tensor.bytes()},
                    {"step", tensor.has_step() ? Json(tensor.step()) : Json()},
                    {"label", tensor.label()},
                    {"scope", tensor.scope()}});
  }
  return {
      {"positions", timeline.num_positions()},
      {"categories", categories},
      {"peak_position", timeline.peak_position()},
      {"peak_at", timeline.peak_at()},
      {"live_at_peak", live},
      {"more",
       {{"tensors", timeline.num_more()}, {"bytes", timeline.more_bytes()}}}};
}

}  // namespace linnet::client
