#include "core/base/bytes.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace linnet {
namespace {

__extension__ typedef __int128 Wide;

struct Unit {
  const char* name;
  int64_t bytes;
};

constexpr Unit kUnits[] = {
    {"", 1},
    {"B", 1},
    {"kB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
    {"KiB", kKiB},
    {"MiB", kMiB},
    {"GiB", kGiB},
    {"TiB", kTiB},
};

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  constexpr size_t kMaxShown = 40;
  const bool cut = text.size() > kMaxShown;
  return absl::InvalidArgumentError(
      absl::StrCat("size \"", absl::Utf8SafeCEscape(text.substr(0, kMaxShown)),
                   cut ? "..." : "", "\" ", what));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::string_view TakeDigits(absl::string_view* text) {
  size_t n = 0;
  while (n < text->size() && IsDigit((*text)[n])) ++n;
  const absl::string_view digits = text->substr(0, n);
  text->remove_prefix(n);
  return digits;
}

}  // namespace

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  if (rest.empty()) return absl::InvalidArgumentError("size is empty");
  if (rest[0] == '-') return Wrong(text, "is negative");
  const absl::string_view whole = TakeDigits(&rest);
  if (whole.empty()) return Wrong(text, "does not begin with a number");
  absl::string_view fraction;
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction = TakeDigits(&rest);
    if (fraction.empty()) return Wrong(text, "has no digit after the point");
  }
  const absl::string_view unit = absl::StripAsciiWhitespace(rest);
  int64_t scale = 0;
  for (const Unit& known : kUnits) {
    if (absl::EqualsIgnoreCase(unit, known.name)) scale = known.bytes;
  }
  if (scale == 0) {
    return Wrong(text,
                 "has an unknown unit; known are B, kB, MB, GB, TB, KiB, MiB, "
                 "GiB and TiB");
  }
  if (scale == 1 && !fraction.empty()) {
    return Wrong(text, "is not a whole number of bytes");
  }
  int64_t bytes = 0;
  for (const char digit : whole) {
    if (__builtin_mul_overflow(bytes, 10, &bytes) ||
        __builtin_add_overflow(bytes, digit - '0', &bytes)) {
      return Wrong(text, "does not fit 64 bits");
    }
  }
  if (__builtin_mul_overflow(bytes, scale, &bytes)) {
    return Wrong(text, "does not fit 64 bits");
  }
  // Digits past the 18th are less than a byte of any unit.
  int64_t numerator = 0;
  int64_t denominator = 1;
  for (const char digit : fraction.substr(0, 18)) {
    numerator = numerator * 10 + (digit - '0');
    denominator *= 10;
  }
  const auto part =
      static_cast<int64_t>(static_cast<Wide>(numerator) * scale / denominator);
  if (__builtin_add_overflow(bytes, part, &bytes)) {
    return Wrong(text, "does not fit 64 bits");
  }
  return bytes;
}

std::string FormatBytes(int64_t bytes) {
  const double size = static_cast<double>(bytes);
  const double magnitude = size < 0 ? -size : size;
  if (magnitude < static_cast<double>(kKiB)) return absl::StrCat(bytes, " B");
  const char* names[] = {"KiB", "MiB", "GiB", "TiB"};
  int64_t scale = kKiB;
  size_t unit = 0;
  while (unit < 3 && magnitude >= static_cast<double>(scale) * 1024) {
    scale *= 1024;
    ++unit;
  }
  return absl::StrFormat("%.2f %s", size / static_cast<double>(scale),
                         names[unit]);
}

}  // namespace linnet
