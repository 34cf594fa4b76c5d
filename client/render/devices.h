// Lists of devices as text and JSON.

#ifndef LINNET_CLIENT_RENDER_DEVICES_H_
#define LINNET_CLIENT_RENDER_DEVICES_H_

#include <string>

#include "linnet/v1/devices.pb.h"

namespace linnet::client {

std::string RenderDevices(const v1::DevicesListResponse& response);

// {"version": 1, "devices": [{name, title, memory_bytes, source}]}.
std::string DevicesJson(const v1::DevicesListResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_DEVICES_H_
