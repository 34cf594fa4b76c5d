// The devices that requests may name, or bring a profile of.

#ifndef LINNET_CORE_PLANNER_DEVICES_H_
#define LINNET_CORE_PLANNER_DEVICES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/planner/planner.h"

namespace linnet::planner {

struct DeviceSummary {
  std::string name, title;
  int64_t memory_bytes = 0;
  std::string source;        // Where its memory comes from,
  std::string rates_source;  // and where its rates do.
  // Rates that were scaled from another device's, by name.
  std::vector<std::string> scaled;
  std::shared_ptr<const device::Profile> profile;  // Never null.
};

// The built-in devices, by name.
std::vector<DeviceSummary> ListDevices();

// NotFound, with the names that come close, when there is none.
absl::StatusOr<DeviceSummary> FindDevice(absl::string_view name);

// The device of a profile (core/device/profile.h). InvalidArgument, naming the
// field, when it is none.
absl::StatusOr<DeviceSummary> ReadDevice(absl::string_view profile_json);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_DEVICES_H_
