#include "core/planner/devices.h"

#include "absl/strings/str_cat.h"
#include "core/device/device.h"
#include "core/planner/error.h"

namespace linnet::planner {

std::vector<DeviceSummary> ListDevices() {
  std::vector<DeviceSummary> devices;
  for (const device::Device& each : device::Devices()) {
    devices.push_back({each.name, each.title, each.memory_bytes, each.source});
  }
  return devices;
}

absl::StatusOr<DeviceSummary> FindDevice(absl::string_view name) {
  std::vector<absl::string_view> known;
  for (const device::Device& each : device::Devices()) {
    if (each.name == name) {
      return DeviceSummary{each.name, each.title, each.memory_bytes,
                           each.source};
    }
    known.push_back(each.name);
  }
  return UnknownName(absl::StatusCode::kNotFound,
                     absl::StrCat("there is no device `", name, "`"), name,
                     known);
}

}  // namespace linnet::planner
