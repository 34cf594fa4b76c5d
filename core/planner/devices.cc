#include "core/planner/devices.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/device/device.h"
#include "core/planner/error.h"

namespace linnet::planner {
namespace {

DeviceSummary SummaryOf(const device::Device& device) {
  DeviceSummary summary;
  summary.name = device.name;
  summary.title = device.title;
  summary.memory_bytes = device.memory_bytes;
  summary.source = device.source;
  summary.rates_source = device.profile.source;
  summary.scaled = device.profile.scaled;
  // Built-in devices live as long as the process.
  summary.profile = std::shared_ptr<const device::Profile>(
      std::shared_ptr<void>(), &device.profile);
  return summary;
}

}  // namespace

std::vector<DeviceSummary> ListDevices() {
  std::vector<DeviceSummary> devices;
  for (const device::Device& each : device::Devices()) {
    devices.push_back(SummaryOf(each));
  }
  return devices;
}

absl::StatusOr<DeviceSummary> FindDevice(absl::string_view name) {
  std::vector<absl::string_view> known;
  for (const device::Device& each : device::Devices()) {
    if (each.name == name) return SummaryOf(each);
    known.push_back(each.name);
  }
  return UnknownName(absl::StatusCode::kNotFound,
                     absl::StrCat("there is no device `", name, "`"), name,
                     known);
}

absl::StatusOr<DeviceSummary> ReadDevice(absl::string_view profile_json) {
  LINNET_ASSIGN_OR_RETURN(
      device::Profile profile,
      device::ParseProfile(profile_json, "the device profile"));
  DeviceSummary summary;
  summary.name = profile.name;
  summary.title = profile.name;
  summary.memory_bytes = profile.memory_bytes;
  summary.source = profile.source;
  summary.rates_source = profile.source;
  summary.scaled = profile.scaled;
  summary.profile = std::make_shared<const device::Profile>(std::move(profile));
  return summary;
}

}  // namespace linnet::planner
