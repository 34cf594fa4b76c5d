// Sizes in bytes as text. GB is 10^9, GiB is 2^30.

#ifndef LINNET_CORE_BASE_BYTES_H_
#define LINNET_CORE_BASE_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace linnet {

inline constexpr int64_t kKiB = int64_t{1} << 10;
inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;
inline constexpr int64_t kTiB = int64_t{1} << 40;

// Reads "48GiB", "80 GB", "1.5GiB", "512MiB" or "4096" (bytes; "4096B" too).
// Units are B, kB or KB, MB, GB, TB, KiB, MiB, GiB and TiB in any case; blanks
// around the number are skipped. A fraction must give a whole number of bytes
// after rounding down, so "1.5B" is an error and "0.1GiB" is 107374182. Zero is
// a size.
//
// Returns InvalidArgument, naming the text and what is wrong with it, when it
// is empty, negative, not a number, has another unit, or is 2^63 bytes or more.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

// "14.96 GiB", "621.00 MiB", "512 B": the largest unit that gives at least 1,
// two decimals but for plain bytes. A negative number keeps its sign.
std::string FormatBytes(int64_t bytes);

}  // namespace linnet

#endif  // LINNET_CORE_BASE_BYTES_H_
