// Devices that are known by name.

#ifndef LINNET_CORE_DEVICE_DEVICE_H_
#define LINNET_CORE_DEVICE_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/device/profile.h"

namespace linnet::device {

struct Device {
  std::string name;   // `h100-80gb`
  std::string title;  // `NVIDIA H100 SXM 80 GB`
  // All of it, as far as known: of a data sheet in GB of 10^9 bytes, which a
  // device never has less of.
  int64_t memory_bytes = 0;
  std::string source;  // Where the memory and the sheet come from.
  Sheet sheet;
  // Measured on one, or the H100's scaled by both sheets.
  Profile profile;
};

// The built-in devices, by name.
const std::vector<Device>& Devices();

}  // namespace linnet::device

#endif  // LINNET_CORE_DEVICE_DEVICE_H_
