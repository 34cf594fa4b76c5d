// linnet fit: the largest size of a model that fits a device.

#include "client/render/fit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/config_flags.h"
#include "client/commands/device_flags.h"
#include "client/render/compare.h"
#include "core/base/bytes.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {
namespace {

struct Pool {
  std::string device;
  int64_t devices = 1;
};

struct Flags {
  ConfigFlags config;
  v1::MaximizeRequest request;
  // Of --maximize throughput.
  bool throughput = false;
  std::vector<Pool> pools;
  int64_t devices = 0;  // 0: not given.
  v1::CompareRequest compare;
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
        "--maximize",
        "must be batch, context, kv-cache or throughput, not " + text);
  }
}

void SetObjective(v1::CompareRequest& request, const std::string& text) {
  if (text == "throughput") {
    request.set_objective(v1::OBJECTIVE_THROUGHPUT);
  } else if (text == "per-device") {
    request.set_objective(v1::OBJECTIVE_PER_DEVICE);
  } else if (text == "latency") {
    request.set_objective(v1::OBJECTIVE_LATENCY);
  } else {
    throw CLI::ValidationError(
        "--objective",
        "must be throughput, per-device or latency, not " + text);
  }
}

void SetMaxStep(v1::CompareRequest& request, const std::string& text) {
  double milliseconds = 0.0;
  if (!absl::SimpleAtod(text, &milliseconds) || !(milliseconds > 0.0) ||
      milliseconds > 1e12) {
    throw CLI::ValidationError("--max-step-ms",
                               "must be a number above 0, not " + text);
  }
  request.set_max_step_seconds(milliseconds / 1e3);
}

int64_t Devices(const char* flag, const std::string& text) {
  int64_t devices = 0;
  if (!absl::SimpleAtoi(text, &devices) || devices < 1) {
    throw CLI::ValidationError(
        flag, "must be a whole number, at least 1, not " + text);
  }
  return devices;
}

// `h100-80gb:4`, or a file and a number.
Pool ReadPool(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    throw CLI::ValidationError(
        "--pool",
        "must be a device and how many, such as h100-80gb:4, not " + text);
  }
  return {text.substr(0, colon), Devices("--pool", text.substr(colon + 1))};
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
  command.add_option_function<std::string>(
      "--maximize",
      [&flags](const std::string& text) {
        flags.throughput = text == "throughput";
        if (!flags.throughput) SetGoal(flags.request, text);
      },
      "what grows: batch, context or kv-cache; or throughput, to compare "
      "layouts of several devices");
  const auto compare = [&](const char* name, const char* help, auto set) {
    v1::CompareRequest& to = flags.compare;
    command.add_option_function<std::string>(
        name, [&to, set](const std::string& text) { set(to, text); }, help);
  };
  command.add_option_function<std::string>(
      "--devices",
      [&flags](const std::string& text) {
        flags.devices = Devices("--devices", text);
      },
      "devices to share, for --maximize throughput");
  command
      .add_option_function<std::vector<std::string>>(
          "--pool",
          [&flags](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              flags.pools.push_back(ReadPool(text));
            }
          },
          "devices of one kind, such as h100-80gb:4, in place of --device and "
          "--devices; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  compare("--objective",
          "what is best: throughput (default), per-device (of fewer devices, "
          "too), or latency",
          SetObjective);
  compare("--max-step-ms", "leave out steps that take longer", SetMaxStep);
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

// Compares the layouts of several devices.
Outcome RunCompare(Flags& flags) {
  v1::CompareRequest& request = flags.compare;
  const v1::MemoryBudget& budget = flags.request.budget();
  if (budget.has_device_bytes() ||
      budget.device().empty() == flags.pools.empty()) {
    return UsageError(
        "layouts are compared by the rates of devices; add --device h100-80gb "
        "(or a file with a profile) with --devices, or --pool h100-80gb:4 for "
        "each kind of them, and no --device-memory");
  }
  if (!budget.device().empty()) {
    flags.pools.push_back(
        {budget.device(), std::max<int64_t>(flags.devices, 1)});
  } else if (flags.devices > 0) {
    return UsageError(
        "--pool says how many devices there are; leave out --devices");
  }
  for (const Pool& pool : flags.pools) {
    const auto device = ReadDevice(pool.device);
    if (!device.ok()) return Failure(device.status());
    v1::DevicePool& to = *request.add_pools();
    *to.mutable_device() = *device;
    to.set_devices(pool.devices);
  }
  request.set_reserve_bytes(budget.reserve_bytes());
  request.set_reserve_percent(budget.reserve_percent());
  auto config = FinishConfig("fit", flags.config);
  if (!config.ok()) return Failure(config.status());
  request.mutable_config()->Swap(&*config);
  const auto client = Client::Connect(flags.config.server.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->Compare(request);
  if (!response.ok()) return Failure(response.status());
  bool fits = false;
  for (const v1::PoolLayouts& pool : response->pools()) {
    fits =
        fits || (!pool.layouts().empty() && pool.layouts(0).refused().empty());
  }
  return {fits ? kExitOk : kExitModel,
          flags.config.server.json ? CompareJson(*response)
                                   : RenderCompare(request, *response),
          ""};
}

Outcome RunFit(Flags& flags) {
  const v1::MemoryBudget& budget = flags.request.budget();
  if (flags.throughput) return RunCompare(flags);
  if (flags.request.goal() == v1::GOAL_UNSPECIFIED) {
    return UsageError(
        "what should grow? add --maximize batch, context or kv-cache, or "
        "--maximize throughput with --devices");
  }
  if (flags.compare.ByteSizeLong() > 0 || flags.devices > 0 ||
      !flags.pools.empty()) {
    return UsageError(
        "--devices, --pool, --objective and --max-step-ms are for --maximize "
        "throughput");
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
