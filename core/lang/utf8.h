// Reading UTF-8 that may be ill-formed.

#ifndef LINNET_CORE_LANG_UTF8_H_
#define LINNET_CORE_LANG_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace linnet::lang {

inline constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  uint32_t value = 0;  // Meaningless when ill-formed.
  int32_t length = 1;  // In bytes; 1 for an ill-formed byte.
  bool well_formed = true;
};

// Reads the code point at `position`, which must be below text.size().
// Overlong forms, surrogates and values past U+10FFFF are ill-formed.
CodePoint DecodeUtf8(absl::string_view text, size_t position);

// `text` with each ill-formed byte as U+FFFD.
std::string WellFormed(absl::string_view text);

// The same, with control characters as U+FFFD too and a tab as one blank: one
// line that is fit for a terminal.
std::string Printable(absl::string_view text);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_UTF8_H_
