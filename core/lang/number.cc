#include "core/lang/number.h"

#include <limits>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace linnet::lang {
namespace {

bool IsWordByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsPrefixed(absl::string_view text) {
  return text.size() >= 2 && text[0] == '0' &&
         (text[1] == 'x' || text[1] == 'b');
}

// Where the run of word bytes from `at` ends, going on over the sign of an
// exponent.
size_t RunEnd(absl::string_view text, size_t at) {
  while (at < text.size() && IsWordByte(text[at])) ++at;
  const bool exponent =
      (text[at - 1] == 'e' || text[at - 1] == 'E') && at + 1 < text.size() &&
      (text[at] == '+' || text[at] == '-') && IsDigit(text[at + 1]);
  if (!exponent || IsPrefixed(text)) return at;
  ++at;
  while (at < text.size() && IsWordByte(text[at])) ++at;
  return at;
}

std::optional<int> DigitValue(char c, int base) {
  int value = 99;
  if (IsDigit(c)) {
    value = c - '0';
  } else if (c >= 'a' && c <= 'f') {
    value = c - 'a' + 10;
  } else if (c >= 'A' && c <= 'F') {
    value = c - 'A' + 10;
  }
  if (value >= base) return std::nullopt;
  return value;
}

// Digits of one base with `_` between two of them.
std::optional<BadNumber> CheckDigits(absl::string_view digits, int base) {
  if (digits.empty()) return BadNumber{"a digit is missing"};
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '_') {
      const bool between = i > 0 && i + 1 < digits.size() &&
                           DigitValue(digits[i - 1], base) &&
                           DigitValue(digits[i + 1], base);
      if (!between) return BadNumber{"`_` may stand only between two digits"};
    } else if (!DigitValue(digits[i], base)) {
      return base == 16 ? BadNumber{"it has a character that is no hex digit"}
             : base == 2
                 ? BadNumber{"it has a character other than `0` and `1`"}
                 : BadNumber{"a number has no suffix"};
    }
  }
  return std::nullopt;
}

Number ReadInt(absl::string_view digits, int base) {
  if (const auto bad = CheckDigits(digits, base)) return *bad;
  if (base == 10 && digits.size() > 1 && digits[0] == '0') {
    return BadNumber{"a decimal number may not start with `0`"};
  }
  uint64_t value = 0;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  for (const char c : digits) {
    if (c == '_') continue;
    const auto digit = static_cast<uint64_t>(*DigitValue(c, base));
    const auto wide_base = static_cast<uint64_t>(base);
    if (value > (kMax - digit) / wide_base) return TooLargeInt{};
    value = value * wide_base + digit;
  }
  return static_cast<int64_t>(value);
}

Number ReadFloat(absl::string_view text) {
  absl::string_view mantissa = text;
  if (const size_t e = text.find_first_of("eE"); e != text.npos) {
    mantissa = text.substr(0, e);
    absl::string_view exponent = text.substr(e + 1);
    if (!exponent.empty() && (exponent[0] == '+' || exponent[0] == '-')) {
      exponent.remove_prefix(1);
    }
    if (const auto bad = CheckDigits(exponent, 10)) return *bad;
  }
  const size_t dot = mantissa.find('.');
  if (const auto bad = CheckDigits(mantissa.substr(0, dot), 10)) return *bad;
  if (dot != mantissa.npos) {
    if (const auto bad = CheckDigits(mantissa.substr(dot + 1), 10)) return *bad;
  }
  std::string plain;
  for (const char c : text) {
    if (c != '_') plain.push_back(c);
  }
  double value = 0;
  if (!absl::SimpleAtod(plain, &value)) return BadNumber{"it is no number"};
  return value;
}

}  // namespace

size_t NumberLength(absl::string_view text) {
  const size_t end = RunEnd(text, 1);
  const bool plain =
      text.substr(0, end).find_first_not_of("0123456789_") == text.npos;
  if (plain && end + 1 < text.size() && text[end] == '.' &&
      IsDigit(text[end + 1])) {
    return RunEnd(text, end + 2);
  }
  return end;
}

Number ReadNumber(absl::string_view text) {
  if (IsPrefixed(text)) return ReadInt(text.substr(2), text[1] == 'x' ? 16 : 2);
  if (text.find_first_of(".eE") != text.npos) return ReadFloat(text);
  return ReadInt(text, 10);
}

}  // namespace linnet::lang
