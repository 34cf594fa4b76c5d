// Headers of checkpoint files: all that a plan needs of gigabytes of weights.

#ifndef LINNET_CLIENT_API_CHECKPOINT_H_
#define LINNET_CLIENT_API_CHECKPOINT_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

namespace linnet::client {

// The length and the header at the start of a safetensors file. NotFound when
// it cannot be read; InvalidArgument when it is too short or its header is said
// to be longer than the file; ResourceExhausted when that has more than
// `max_bytes`.
absl::StatusOr<std::string> ReadSafetensorsHeader(
    const std::filesystem::path& path, int64_t max_bytes);

// The start of a GGUF file up to its tensors' data. What is no such header is
// cut short, for the server to say what is wrong. NotFound and
// ResourceExhausted as above.
absl::StatusOr<std::string> ReadGgufHeader(const std::filesystem::path& path,
                                           int64_t max_bytes);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_API_CHECKPOINT_H_
