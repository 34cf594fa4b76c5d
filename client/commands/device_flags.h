// The flag that says which device a step runs on.

#ifndef LINNET_CLIENT_COMMANDS_DEVICE_FLAGS_H_
#define LINNET_CLIENT_COMMANDS_DEVICE_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {

// A device by name, or the profile in a file: what ends in `.json` or has a `/`
// is a file. InvalidArgument when it cannot be read, or has more than 1 MiB.
absl::StatusOr<v1::DeviceChoice> ReadDevice(const std::string& text);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_COMMANDS_DEVICE_FLAGS_H_
