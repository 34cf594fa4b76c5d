// The devices that requests may name.

#ifndef LINNET_CORE_PLANNER_DEVICES_H_
#define LINNET_CORE_PLANNER_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace linnet::planner {

struct DeviceSummary {
  std::string name, title;
  int64_t memory_bytes = 0;
  std::string source;  // Where the figures come from.
};

// The built-in devices, by name.
std::vector<DeviceSummary> ListDevices();

// NotFound, with the names that come close, when there is none.
absl::StatusOr<DeviceSummary> FindDevice(absl::string_view name);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_DEVICES_H_
