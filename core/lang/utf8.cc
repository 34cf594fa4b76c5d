#include "core/lang/utf8.h"

namespace linnet::lang {
namespace {

// The bytes of a sequence by its first byte, and what the first byte adds; 0
// for a byte that begins none.
int32_t SequenceLength(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

bool IsAllowed(uint32_t value, int32_t length) {
  if (length == 3) return value >= 0x800 && (value < 0xD800 || value > 0xDFFF);
  if (length == 4) return value >= 0x10000 && value <= 0x10FFFF;
  return true;
}

}  // namespace

CodePoint DecodeUtf8(absl::string_view text, size_t position) {
  constexpr CodePoint kIllFormed = {0, 1, false};
  const auto first = static_cast<uint8_t>(text[position]);
  if (first < 0x80) return {first, 1, true};
  const int32_t length = SequenceLength(first);
  if (length == 0 || text.size() - position < static_cast<size_t>(length)) {
    return kIllFormed;
  }
  uint32_t value = first & (0x7Fu >> length);
  for (size_t i = 1; i < static_cast<size_t>(length); ++i) {
    const auto byte = static_cast<uint8_t>(text[position + i]);
    if ((byte & 0xC0) != 0x80) return kIllFormed;
    value = value << 6 | (byte & 0x3Fu);
  }
  if (!IsAllowed(value, length)) return kIllFormed;
  return {value, length, true};
}

std::string WellFormed(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text, i);
    const auto length = static_cast<size_t>(c.length);
    const absl::string_view bytes =
        c.well_formed ? text.substr(i, length) : kReplacement;
    out.append(bytes.data(), bytes.size());
    i += length;
  }
  return out;
}

std::string Printable(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text, i);
    const auto length = static_cast<size_t>(c.length);
    const bool control =
        c.value < 0x20 || (c.value >= 0x7F && c.value <= 0x9F) ||
        // Marks that change the direction of the text after them.
        (c.value >= 0x202A && c.value <= 0x202E) ||
        (c.value >= 0x2066 && c.value <= 0x2069);
    absl::string_view bytes = text.substr(i, length);
    if (c.well_formed && c.value == '\t') {
      bytes = " ";
    } else if (!c.well_formed || control) {
      bytes = kReplacement;
    }
    out.append(bytes.data(), bytes.size());
    i += length;
  }
  return out;
}

}  // namespace linnet::lang
