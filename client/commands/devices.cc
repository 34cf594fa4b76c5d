// linnet devices: the devices that other commands may name.

#include "client/render/devices.h"

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/api/client.h"
#include "client/commands/command.h"

namespace linnet::client {
namespace {

Outcome RunDevices(const ServerFlags& flags) {
  const auto client = Client::Connect(flags.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->ListDevices();
  if (!response.ok()) return Failure(response.status());
  return {kExitOk,
          flags.json ? DevicesJson(*response) : RenderDevices(*response), ""};
}

}  // namespace

Command AddDevices(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("devices", "the devices that --device takes");
  auto flags = std::make_shared<ServerFlags>();
  AddServerFlags(*command, *flags);
  return {command, [flags] { return RunDevices(*flags); }};
}

}  // namespace linnet::client
