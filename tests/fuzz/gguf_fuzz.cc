// Any bytes as a GGUF file, read and imported.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "core/zoo/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)linnet::zoo::ImportModel(
      "fuzz.gguf", [&](absl::string_view) { return std::optional(bytes); });
  return 0;
}
