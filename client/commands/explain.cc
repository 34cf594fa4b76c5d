// linnet explain: which implementation each library call gets.

#include <memory>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/model_flags.h"
#include "client/render/explanation.h"
#include "linnet/v1/models.pb.h"

namespace linnet::client {
namespace {

struct Flags {
  ServerFlags server;
  ModelFlags model;
};

Outcome RunExplain(Flags& flags) {
  if (flags.model.model.empty()) {
    return UsageError("which model? try `linnet explain MODEL`");
  }
  if (absl::Status status = FinishModel(flags.model); !status.ok()) {
    return Failure(status);
  }
  v1::ModelsExplainRequest request;
  request.mutable_config()->Swap(&flags.model.config);
  // The choice depends on no size, so any will do.
  request.mutable_config()->set_batch(1);
  request.mutable_config()->set_context(1);
  const auto client = Client::Connect(flags.server.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->ExplainModel(request);
  if (!response.ok()) return Failure(response.status());
  return {kExitOk,
          flags.server.json ? ExplanationJson(*response)
                            : RenderExplanation(*response),
          ""};
}

}  // namespace

Command AddExplain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "which implementation each library call gets, and why");
  auto flags = std::make_shared<Flags>();
  command->add_option("MODEL", flags->model.model,
                      "a built-in model, a .linnet file, or a model folder");
  AddEntryFlags(*command, flags->model);
  AddModelFlags(*command, flags->model);
  AddServerFlags(*command, flags->server);
  return {command, [flags] { return RunExplain(*flags); }};
}

}  // namespace linnet::client
