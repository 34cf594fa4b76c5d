// The header of a safetensors file: an 8-byte little-endian length, then that
// many bytes of JSON that name every tensor, its dtype, shape and place.

#ifndef LINNET_CORE_ZOO_SAFETENSORS_H_
#define LINNET_CORE_ZOO_SAFETENSORS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace linnet::zoo {

struct StoredTensor {
  std::string name;
  std::string dtype;           // As the file names it: `BF16`, `F8_E4M3`, `U8`.
  std::vector<int64_t> shape;  // Of stored elements; empty for a scalar.
  int64_t bytes = 0;
};

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // In the order of the file.
  int64_t data_bytes = 0;             // Of all tensors.
};

// Reads the header at the start of `bytes`; what follows it is not looked at.
// `path` is for messages. InvalidArgument, naming the tensor, when
//   - the length passes the end of `bytes`, or the JSON is none or is of
//     another form (a key missing, twice, or of another type; deep nesting);
//   - a tensor comes twice, has an unknown dtype or a shape whose size passes
//     63 bits;
//   - offsets overlap, leave a gap, or disagree with dtype and shape.
// Memory is a small multiple of the header.
absl::StatusOr<SafetensorsHeader> ParseSafetensors(absl::string_view bytes,
                                                   absl::string_view path);

// Reads `model.safetensors.index.json`: the file of every tensor, in the order
// of the names. InvalidArgument when it is anything else, or names a file with
// a '/' or '\\'.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
ParseSafetensorsIndex(absl::string_view text, absl::string_view path);

// The product of `shape`; -1 when an extent is negative or it passes 63 bits.
int64_t ElementCount(const std::vector<int64_t>& shape);

// "[4096, 14336]".
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_SAFETENSORS_H_
