#include "core/device/device.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"
#include "core/base/embedded.h"
#include "nlohmann/json.hpp"

namespace linnet {

extern const EmbeddedFile kDeviceFiles[];
extern const int kDeviceFilesCount;

namespace device {
namespace {

using nlohmann::json;

// Those that were not measured scale its rates.
constexpr absl::string_view kMeasured = "h100-80gb";

Sheet ReadSheet(const json& of) {
  return {of.value("bf16", 0.0), of.value("f32", 0.0),
          of.value("bandwidth", 0.0), of.value("link", 0.0)};
}

// The files are ours, so that they have this form is an invariant.
std::vector<Device> ReadDevices() {
  std::vector<Device> devices;
  absl::flat_hash_map<std::string, Profile> measured;
  for (int i = 0; i < kDeviceFilesCount; ++i) {
    const EmbeddedFile& file = kDeviceFiles[i];
    absl::string_view name = file.path;
    if (absl::ConsumePrefix(&name, "profiles/")) {
      auto profile = ParseProfile(file.content, file.path);
      LINNET_CHECK(profile.ok()) << profile.status();
      const std::string key = profile->name;
      measured[key] = *std::move(profile);
      continue;
    }
    const json top =
        json::parse(file.content, nullptr, /*allow_exceptions=*/false);
    LINNET_CHECK(top.is_object()) << "the built-in devices are no JSON object";
    for (const auto& [key, of] : top.items()) {
      Device device;
      device.name = key;
      device.title = of.value("title", "");
      device.memory_bytes = of.value("memory_bytes", int64_t{0});
      device.source = of.value("source", "");
      device.sheet = ReadSheet(of.value("sheet", json::object()));
      devices.push_back(std::move(device));
    }
  }
  std::sort(devices.begin(), devices.end(),
            [](const Device& a, const Device& b) { return a.name < b.name; });
  const auto base =
      std::find_if(devices.begin(), devices.end(),
                   [](const Device& each) { return each.name == kMeasured; });
  LINNET_CHECK(base != devices.end() && measured.contains(kMeasured));
  const Profile& rates = measured[kMeasured];
  for (Device& device : devices) {
    const auto own = measured.find(device.name);
    if (own != measured.end()) {
      device.profile = own->second;
      continue;
    }
    device.profile = Scale(rates, base->sheet, device.sheet);
    device.profile.name = device.name;
    device.profile.memory_bytes = device.memory_bytes;
    device.profile.source =
        absl::StrCat("rates of ", kMeasured, " (", rates.source,
                     ") scaled by the data sheets");
  }
  return devices;
}

}  // namespace

const std::vector<Device>& Devices() {
  static const auto* const kDevices = new std::vector<Device>(ReadDevices());
  return *kDevices;
}

}  // namespace device
}  // namespace linnet
