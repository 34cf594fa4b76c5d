#include "client/commands/device_flags.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace linnet::client {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

}  // namespace

absl::StatusOr<v1::DeviceChoice> ReadDevice(const std::string& text) {
  v1::DeviceChoice device;
  if (!absl::EndsWith(text, ".json") && !absl::StrContains(text, '/')) {
    device.set_name(text);
    return device;
  }
  std::ifstream file(text, std::ios::binary);
  std::string content(kMaxBytes + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.eof() && file.fail()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--device ", text, " cannot be read: ",
                     errno == 0 ? "it is no file" : std::strerror(errno)));
  }
  content.resize(static_cast<size_t>(file.gcount()));
  if (content.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--device ", text, " has more than ", kMaxBytes,
                     " bytes, which no device profile has"));
  }
  if (content.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--device ", text, " is empty, or no file"));
  }
  device.set_profile_json(content);
  return device;
}

}  // namespace linnet::client
