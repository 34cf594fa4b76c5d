// Number literals (language.md section 1.4).

#ifndef LINNET_CORE_LANG_NUMBER_H_
#define LINNET_CORE_LANG_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <variant>

#include "absl/strings/string_view.h"

namespace linnet::lang {

// Why a number is no number, as the end of the sentence "`…` is malformed: …".
struct BadNumber {
  absl::string_view reason;
};
struct TooLargeInt {};  // Well formed, but above the i64 maximum.

using Number = std::variant<int64_t, double, TooLargeInt, BadNumber>;

// The bytes of the number at the beginning of `text`, which starts with a
// digit. The result may be malformed: `2f32` is one number of four bytes.
size_t NumberLength(absl::string_view text);

// The value of a whole number. A float past the range of f64 is infinite.
Number ReadNumber(absl::string_view text);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_NUMBER_H_
