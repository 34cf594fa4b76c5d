#include "core/base/nearest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace linnet {
namespace {

constexpr size_t kMaxLength = 128;

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// Twice the edit distance of `a` and `b`, a change of case counting half a
// step; or more than `limit` when it is. REQUIRES: both at most kMaxLength.
size_t HalfSteps(absl::string_view a, absl::string_view b, size_t limit) {
  using Row = std::array<size_t, kMaxLength + 1>;
  Row before_last;
  Row last;
  Row row;
  for (size_t j = 0; j <= b.size(); ++j) last[j] = 2 * j;
  before_last = last;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = 2 * i;
    size_t least = row[0];
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = 2;
      if (a[i - 1] == b[j - 1]) {
        change = 0;
      } else if (Lower(a[i - 1]) == Lower(b[j - 1])) {
        change = 1;
      }
      row[j] = std::min({last[j] + 2, row[j - 1] + 2, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 2);
      }
      least = std::min(least, row[j]);
    }
    if (least > limit + 2) return least;  // A swap may still save one step.
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> NearestNames(absl::string_view name,
                                      absl::Span<const absl::string_view> known,
                                      size_t limit) {
  if (name.size() > kMaxLength) return {};
  const size_t steps = std::max<size_t>(1, name.size() / 3);
  std::vector<std::pair<size_t, absl::string_view>> close;
  for (const absl::string_view candidate : known) {
    const size_t shorter = std::min(name.size(), candidate.size());
    const size_t longer = std::max(name.size(), candidate.size());
    if (longer > kMaxLength || longer - shorter > steps) continue;
    const size_t distance = HalfSteps(name, candidate, 2 * steps);
    if (distance <= 2 * steps) close.push_back({distance, candidate});
  }
  std::stable_sort(
      close.begin(), close.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  if (close.size() > limit) close.resize(limit);
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : close) {
    names.emplace_back(candidate);
  }
  return names;
}

}  // namespace linnet
