// The header of a GGUF file: metadata and the place of every tensor.

#ifndef LINNET_CORE_ZOO_GGUF_H_
#define LINNET_CORE_ZOO_GGUF_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace linnet::zoo {

struct GgufValue {
  enum class Kind : uint8_t { kInteger, kReal, kBool, kText, kList };
  Kind kind = Kind::kInteger;
  int64_t integer = 0;  // kInteger, kBool; u64 above 2^63 - 1 is cut to it.
  double real = 0;      // kReal
  std::string text;     // kText
  int64_t count = 0;    // kList: its length.
  // kList of integers or booleans that is not longer than kMaxKeptList.
  std::vector<int64_t> integers;
};
inline constexpr int64_t kMaxKeptList = 4096;

struct GgufTensor {
  std::string name;
  std::vector<int64_t> shape;  // Outermost first, as other formats have it.
  std::string type;            // `Q4_K`
  int64_t bytes = 0;
};

struct GgufHeader {
  std::vector<std::pair<std::string, GgufValue>> metadata;  // In file order.
  std::vector<GgufTensor> tensors;
  int64_t data_bytes = 0;  // Of all tensors, without padding.

  const GgufValue* Find(absl::string_view key) const;  // Null: not there.
};

// Reads the header at the start of `bytes` (versions 2 and 3, little-endian);
// what follows it is not looked at. `path` is for messages. InvalidArgument
// when it ends early, a count or length passes what is left, a key or tensor
// comes twice, lists are nested, or a tensor has an unknown type, more than
// four dimensions or a row that is no whole number of blocks.
absl::StatusOr<GgufHeader> ParseGguf(absl::string_view bytes,
                                     absl::string_view path);

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_GGUF_H_
