#include "client/commands/size_ranges.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace linnet::client {
namespace {

std::optional<int64_t> ParseSize(absl::string_view text) {
  int64_t unit = 1;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) unit = 1024;
  if (!text.empty() && (text.back() == 'm' || text.back() == 'M')) {
    unit = int64_t{1024} * 1024;
  }
  if (unit > 1) text.remove_suffix(1);
  int64_t size = 0;
  if (!absl::SimpleAtoi(text, &size) || size < 1 || size > INT64_MAX / unit) {
    return std::nullopt;
  }
  return size * unit;
}

bool ParseRange(absl::string_view text, v1::SizeRange* range) {
  const size_t dots = text.find("..");
  const auto first = ParseSize(text.substr(0, dots));
  if (!first) return false;
  range->set_first(*first);
  range->set_last(*first);
  if (dots == absl::string_view::npos) return true;
  absl::string_view rest = text.substr(dots + 2);
  const size_t by = rest.find_first_of("x+");
  if (by != absl::string_view::npos) {
    const auto amount = ParseSize(rest.substr(by + 1));
    if (!amount || (rest[by] == 'x' && *amount < 2)) return false;
    if (rest[by] == 'x') {
      range->set_factor(*amount);
    } else {
      range->set_step(*amount);
    }
    rest = rest.substr(0, by);
  }
  const auto last = ParseSize(rest);
  if (!last || *last < *first) return false;
  range->set_last(*last);
  return true;
}

}  // namespace

absl::StatusOr<v1::SizeAxis> ParseSizes(absl::string_view text) {
  v1::SizeAxis axis;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    if (!ParseRange(part, axis.add_ranges())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "`", part,
          "` is no size and no range of sizes; those are written 8, 4k, 1..64, "
          "1..64x2 (doubling) or 1..64+8 (by eights), with commas between"));
    }
  }
  return axis;
}

}  // namespace linnet::client
