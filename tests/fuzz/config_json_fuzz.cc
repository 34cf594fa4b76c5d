// Any text as a config.json, alone and with any bytes as its one safetensors
// file: what follows the first zero byte.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "core/zoo/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::string_view config = bytes.substr(0, bytes.find('\0'));
  const absl::string_view rest = config.size() < size
                                     ? bytes.substr(config.size() + 1)
                                     : absl::string_view();
  (void)linnet::zoo::ImportModel(
      "config.json",
      [&](absl::string_view path) -> std::optional<absl::string_view> {
        if (path == "config.json") return config;
        if (path == "model.safetensors" && !rest.empty()) return rest;
        return std::nullopt;
      });
  return 0;
}
