// linnet memory: how much memory a model needs.

#include <memory>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/config_flags.h"
#include "client/render/json.h"
#include "client/render/report.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {
namespace {

struct Flags {
  ConfigFlags config;
  bool why = false;
};

Outcome RunMemory(Flags& flags) {
  auto config = FinishConfig("memory", flags.config);
  if (!config.ok()) return Failure(config.status());
  v1::AnalyzeRequest request;
  request.set_view(flags.why ? v1::VIEW_TIMELINE : v1::VIEW_FULL);
  request.mutable_config()->Swap(&*config);
  const auto client = Client::Connect(flags.config.server.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->Analyze(request);
  if (!response.ok()) return Failure(response.status());
  return {kExitOk,
          flags.config.server.json
              ? ReportJson(*response, flags.config.model.model)
              : RenderReport(*response),
          ""};
}

}  // namespace

Command AddMemory(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "memory", "how much memory a model needs, before it runs");
  auto flags = std::make_shared<Flags>();
  AddConfigFlags(*command, flags->config);
  command->add_flag("--why", flags->why,
                    "what is in memory over the step, and which tensors at its "
                    "peak");
  return {command, [flags] { return RunMemory(*flags); }};
}

}  // namespace linnet::client
