// Any bytes as the header of a safetensors file, and as its index.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/zoo/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = linnet::zoo::ParseSafetensors(bytes, "fuzz");
  if (header.ok()) {
    int64_t sum = 0;
    for (const auto& tensor : header->tensors) sum += tensor.bytes;
    LINNET_CHECK(sum == header->data_bytes) << "places neither overlap nor gap";
  }
  (void)linnet::zoo::ParseSafetensorsIndex(bytes, "fuzz");
  return 0;
}
