// Any bytes as the profile of a device.

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/device/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto profile = linnet::device::ParseProfile(bytes, "fuzz");
  if (!profile.ok()) return 0;
  for (const double n : {1.0, 300.0, 1e9}) {
    for (const double k : {1.0, 300.0, 1e9}) {
      for (const auto dtype : {linnet::DType::kBF16, linnet::DType::kF32}) {
        const double flops = profile->ProductFlops(dtype, n, k);
        LINNET_CHECK(flops >= 0 && flops <= profile->peak(dtype));
      }
    }
  }
  LINNET_CHECK(profile->AttentionFlops(true, false, true, 64) > 0);
  return 0;
}
