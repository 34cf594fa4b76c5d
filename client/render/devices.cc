#include "client/render/devices.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "client/render/dump.h"
#include "client/render/table.h"
#include "core/base/bytes.h"

namespace linnet::client {

std::string RenderDevices(const v1::DevicesListResponse& response) {
  std::vector<std::vector<std::string>> rows;
  std::string scaled;
  for (const v1::Device& device : response.devices()) {
    rows.push_back({device.name(), FormatBytes(device.memory_bytes()),
                    device.scaled().empty() ? "measured" : "scaled",
                    device.title()});
    // Those that are scaled are so from one device.
    if (!device.scaled().empty()) scaled = device.rates_source();
  }
  std::string out = RenderTable(rows, "", {1});
  if (!scaled.empty()) absl::StrAppend(&out, "\nscaled: ", scaled, "\n");
  return out;
}

std::string DevicesJson(const v1::DevicesListResponse& response) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const v1::Device& device : response.devices()) {
    list.push_back({{"name", device.name()},
                    {"title", device.title()},
                    {"memory_bytes", device.memory_bytes()},
                    {"source", device.source()},
                    {"rates_source", device.rates_source()},
                    {"scaled", device.scaled()}});
  }
  return Dump({{"version", 1}, {"devices", list}});
}

}  // namespace linnet::client
