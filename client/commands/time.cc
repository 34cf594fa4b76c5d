// linnet time: how long a step of a model takes.

#include "client/render/time.h"

#include <cstdint>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/config_flags.h"
#include "client/commands/device_flags.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {
namespace {

constexpr int kOperations = 15;

struct Flags {
  ConfigFlags config;
  std::string device;
  int64_t replicas = 1;
  bool why = false;
  bool reference = false;
};

Outcome RunTime(Flags& flags) {
  if (flags.device.empty()) {
    return UsageError(
        "on which device? add --device h100-80gb, or a profile file; `linnet "
        "devices` lists those that are known");
  }
  v1::TimeRequest request;
  const auto device = ReadDevice(flags.device);
  if (!device.ok()) return Failure(device.status());
  *request.mutable_device() = *device;
  if (flags.replicas != 1) request.set_replicas(flags.replicas);
  if (flags.why) request.set_operations(kOperations);
  request.set_reference_rules(flags.reference);
  auto config = FinishConfig("time", flags.config);
  if (!config.ok()) return Failure(config.status());
  request.mutable_config()->Swap(&*config);
  const auto client = Client::Connect(flags.config.server.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->Time(request);
  if (!response.ok()) return Failure(response.status());
  return {
      kExitOk,
      flags.config.server.json ? TimeJson(*response) : RenderTime(*response),
      ""};
}

}  // namespace

Command AddTime(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("time", "how long a step of a model takes");
  auto flags = std::make_shared<Flags>();
  command->add_option("--device", flags->device,
                      "a device by name, such as h100-80gb (see `linnet "
                      "devices`), or a file with its profile");
  command->add_option("--replicas", flags->replicas,
                      "copies of the layout, each with data of its own");
  command->add_flag("--why", flags->why, "the most expensive operations");
  command->add_flag("--reference-rules", flags->reference,
                    "by the reference's rules alone, where ours differ");
  AddConfigFlags(*command, flags->config);
  return {command, [flags] { return RunTime(*flags); }};
}

}  // namespace linnet::client
