// linnet fit: the largest size of a model that fits a device.

#include "client/render/fit.h"

#include <cstdint>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/config_flags.h"
#include "client/commands/device_flags.h"
#include "core/base/bytes.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {
namespace {

struct Flags {
  ConfigFlags config;
  v1::MaximizeRequest request;
};

int64_t Bytes(const char* flag, const std::string& text) {
  const absl::StatusOr<int64_t> bytes = ParseBytes(text);
  if (!bytes.ok()) {
    throw CLI::ValidationError(flag, std::string(bytes.status().message()));
  }
  return *bytes;
}

void SetGoal(v1::MaximizeRequest& request, const std::string& text) {
  if (text == "batch") {
    request.set_goal(v1::GOAL_BATCH);
  } else if (text == "context") {
    request.set_goal(v1::GOAL_CONTEXT);
  } else if (text == "kv-cache") {
    request.set_goal(v1::GOAL_KV_CACHE);
  } else {
    throw CLI::ValidationError(
        "--maximize", "must be batch, context or kv-cache, not " + text);
  }
}

void SetPercent(v1::MaximizeRequest& request, const std::string& text) {
  double percent = 0.0;
  if (!absl::SimpleAtod(text, &percent) ||
      !(percent >= 0.0 && percent <= 100.0)) {
    throw CLI::ValidationError("--reserve-percent",
                               "must be a number from 0 to 100, not " + text);
  }
  request.mutable_budget()->set_reserve_percent(percent);
}

void AddFlags(CLI::App& command, Flags& flags) {
  v1::MaximizeRequest& request = flags.request;
  const auto add = [&](const char* name, const char* help, auto set) {
    command.add_option_function<std::string>(
        name, [&request, set](const std::string& text) { set(request, text); },
        help);
  };
  add("--maximize", "what grows: batch, context or kv-cache", SetGoal);
  add("--device",
      "a device by name, such as h100-80gb (see `linnet devices`), or a file "
      "with its profile",
      [](v1::MaximizeRequest& to, const std::string& text) {
        to.mutable_budget()->set_device(text);
      });
  add("--device-memory", "all memory of the device instead, such as 80GiB",
      [](v1::MaximizeRequest& to, const std::string& text) {
        to.mutable_budget()->set_device_bytes(Bytes("--device-memory", text));
      });
  add("--reserve", "memory to leave free, such as 2GiB",
      [](v1::MaximizeRequest& to, const std::string& text) {
        to.mutable_budget()->set_reserve_bytes(Bytes("--reserve", text));
      });
  add("--reserve-percent", "percent of the device's memory to leave free",
      SetPercent);
  AddConfigFlags(command, flags.config);
}

Outcome RunFit(Flags& flags) {
  const v1::MemoryBudget& budget = flags.request.budget();
  if (flags.request.goal() == v1::GOAL_UNSPECIFIED) {
    return UsageError(
        "what should grow? add --maximize batch, context or "
        "kv-cache");
  }
  if (budget.device().empty() != budget.has_device_bytes()) {
    return UsageError(
        budget.has_device_bytes()
            ? "--device and --device-memory say the same twice; give one"
            : "how much memory is there? add --device h100-80gb or "
              "--device-memory 80GiB");
  }
  if (!budget.device().empty()) {
    const auto device = ReadDevice(budget.device());
    if (!device.ok()) return Failure(device.status());
    flags.request.mutable_budget()->set_device(device->name());
    flags.request.mutable_budget()->set_profile_json(device->profile_json());
  }
  auto config = FinishConfig("fit", flags.config);
  if (!config.ok()) return Failure(config.status());
  flags.request.mutable_config()->Swap(&*config);
  const auto client = Client::Connect(flags.config.server.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->Maximize(flags.request);
  if (!response.ok()) return Failure(response.status());
  const int status = response->has_value() ? kExitOk : kExitModel;
  return {status,
          flags.config.server.json ? FitJson(flags.request, *response)
                                   : RenderFit(flags.request, *response),
          ""};
}

}  // namespace

Command AddFit(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "fit", "the largest batch, context or cache that fits a device");
  auto flags = std::make_shared<Flags>();
  AddFlags(*command, *flags);
  return {command, [flags] { return RunFit(*flags); }};
}

}  // namespace linnet::client
