// linnetd, the planning service.

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/user_socket.h"
#include "server/config/config.h"
#include "server/lifecycle/daemon.h"

namespace {

using linnet::server::SettingInfo;
using linnet::server::Settings;

constexpr int kUsageError = 2;

std::string DefaultSocket() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return absl::StrCat(
      linnet::UserSocketFolder(runtime ? runtime : "", geteuid()), "/",
      linnet::kUserSocketName);
}

absl::Status Load(const std::string& file,
                  const std::map<const SettingInfo*, std::string>& flags,
                  Settings& settings) {
  settings.socket = DefaultSocket();
  if (!file.empty()) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.is_open() || in.bad()) {
      return absl::NotFoundError(absl::StrCat("cannot read ", file));
    }
    LINNET_RETURN_IF_ERROR(linnet::server::ApplyFile(text, file, settings));
  }
  LINNET_RETURN_IF_ERROR(linnet::server::ApplyEnvironment(
      [](const char* name) -> const char* { return std::getenv(name); },
      settings));
  for (const auto& [setting, value] : flags) {
    if (absl::Status status = setting->set(value, settings); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          linnet::server::FlagName(setting->key), " ", status.message()));
    }
  }
  return linnet::server::CheckSettings(settings);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("linnetd: says how much memory models need before they run");
  std::string file;
  bool check_only = false;
  bool detach = false;
  std::map<const SettingInfo*, std::string> flags;
  app.add_option("--config", file, "a TOML file of settings");
  app.add_flag("--check-config", check_only,
               "check the settings, say so, and exit");
  app.add_flag("--detach", detach, "go to the background once ready");
  app.set_version_flag("--version", std::string("linnetd ") + LINNET_VERSION);
  for (const SettingInfo& setting : linnet::server::AllSettings()) {
    const auto keep = [&flags, &setting](const std::string& value) {
      flags[&setting] = value;
    };
    const std::string name = linnet::server::FlagName(setting.key);
    const std::string help(setting.help);
    if (setting.is_flag) {
      app.add_flag_callback(
          name, [keep] { keep("true"); }, help);
    } else {
      app.add_option_function<std::string>(name, keep, help);
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }

  Settings settings;
  if (absl::Status status = Load(file, flags, settings); !status.ok()) {
    std::cerr << "linnetd: " << status.message() << std::endl;
    return kUsageError;
  }
  if (check_only) {
    std::cout << "The settings are fine.\n";
    return 0;
  }
  return linnet::server::RunDaemon(settings, detach);
}
