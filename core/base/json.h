// JSON from outside: bounded, without duplicate keys, one clear error.

#ifndef LINNET_CORE_BASE_JSON_H_
#define LINNET_CORE_BASE_JSON_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace linnet {

struct JsonLimits {
  int64_t max_bytes = int64_t{4} << 20;  // Of the text.
  int32_t max_depth = 32;                // Of nested lists and objects.
};

// Parses `text`; `path` is for messages. InvalidArgument, naming the place,
// when it is no JSON, is nested deeper or longer than `limits` allows, or an
// object has a key twice. Memory is a small multiple of the text.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text,
                                         absl::string_view path,
                                         const JsonLimits& limits = {});

}  // namespace linnet

#endif  // LINNET_CORE_BASE_JSON_H_
