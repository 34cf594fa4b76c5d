#include "core/training/paths.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/glob.h"

namespace linnet::training {
namespace {

bool IsNumber(absl::string_view component) {
  return !component.empty() &&
         component.find_first_not_of("0123456789") == absl::string_view::npos;
}

// The shortest prefix in whole components for which `wanted(prefix, its last
// component)` holds.
template <typename Wanted>
absl::string_view ShortestPrefix(absl::string_view path, Wanted wanted) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const absl::string_view prefix = path.substr(0, end);
    if (wanted(prefix, path.substr(begin, end - begin))) return prefix;
    begin = end + 1;
  }
  return {};
}

}  // namespace

absl::string_view ArrayElement(absl::string_view path) {
  return ShortestPrefix(path,
                        [](absl::string_view, absl::string_view component) {
                          return IsNumber(component);
                        });
}

absl::string_view CheckpointedBlock(absl::string_view path,
                                    const CheckpointPolicy& policy) {
  return ShortestPrefix(
      path, [&](absl::string_view prefix, absl::string_view component) {
        return (policy.every_element && IsNumber(component)) ||
               absl::c_any_of(policy.patterns, [&](const std::string& pattern) {
                 return MatchesGlob(prefix, pattern);
               });
      });
}

std::string GeneralPath(absl::string_view path) {
  std::vector<absl::string_view> components = absl::StrSplit(path, '.');
  for (absl::string_view& component : components) {
    if (IsNumber(component)) component = "*";
  }
  return absl::StrJoin(components, ".");
}

}  // namespace linnet::training
