#include "client/render/devices.h"

#include <vector>

#include "client/render/dump.h"
#include "client/render/table.h"
#include "core/base/bytes.h"

namespace linnet::client {

std::string RenderDevices(const v1::DevicesListResponse& response) {
  std::vector<std::vector<std::string>> rows;
  for (const v1::Device& device : response.devices()) {
    rows.push_back({device.name(), FormatBytes(device.memory_bytes()),
                    device.title(), device.source()});
  }
  return RenderTable(rows, "", {1});
}

std::string DevicesJson(const v1::DevicesListResponse& response) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const v1::Device& device : response.devices()) {
    list.push_back({{"name", device.name()},
                    {"title", device.title()},
                    {"memory_bytes", device.memory_bytes()},
                    {"source", device.source()}});
  }
  return Dump({{"version", 1}, {"devices", list}});
}

}  // namespace linnet::client
