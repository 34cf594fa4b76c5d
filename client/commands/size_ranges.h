// Lists and ranges of sizes as a person writes them.

#ifndef LINNET_CLIENT_COMMANDS_SIZE_RANGES_H_
#define LINNET_CLIENT_COMMANDS_SIZE_RANGES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "linnet/v1/sweep.pb.h"

namespace linnet::client {

// With commas between: `8`, `1..64` (all), `1..64x2` (doubling), `1..64+8` (by
// eights). A size may end in `k` or `m`, for 1024 and 1024 x 1024 times it.
// InvalidArgument, saying which part is none.
absl::StatusOr<v1::SizeAxis> ParseSizes(absl::string_view text);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_COMMANDS_SIZE_RANGES_H_
