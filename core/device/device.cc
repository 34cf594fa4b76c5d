#include "core/device/device.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/embedded.h"
#include "nlohmann/json.hpp"

namespace linnet {

extern const EmbeddedFile kDeviceFiles[];
extern const int kDeviceFilesCount;

namespace device {
namespace {

std::vector<Device> ReadDevices() {
  std::vector<Device> devices;
  for (int i = 0; i < kDeviceFilesCount; ++i) {
    // Ours, so that it is JSON of this form is an invariant.
    const auto json = nlohmann::json::parse(kDeviceFiles[i].content, nullptr,
                                            /*allow_exceptions=*/false);
    LINNET_CHECK(json.is_object()) << "the built-in devices are no JSON object";
    for (const auto& [name, of] : json.items()) {
      devices.push_back({name, of.value("title", ""),
                         of.value("memory_bytes", int64_t{0}),
                         of.value("source", "")});
    }
  }
  std::sort(devices.begin(), devices.end(),
            [](const Device& a, const Device& b) { return a.name < b.name; });
  return devices;
}

}  // namespace

const std::vector<Device>& Devices() {
  static const auto* const kDevices = new std::vector<Device>(ReadDevices());
  return *kDevices;
}

}  // namespace device
}  // namespace linnet
