// linnet models: the built-in models, or one model's entries and parameters.

#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/model_flags.h"
#include "client/render/json.h"
#include "client/render/report.h"
#include "linnet/v1/models.pb.h"

namespace linnet::client {
namespace {

struct Flags {
  ServerFlags server;
  ModelFlags model;
  bool names = false;
};

Outcome ListModels(const Flags& flags, Client& client) {
  const auto response = client.ListModels();
  if (!response.ok()) return Failure(response.status());
  if (flags.server.json) return {kExitOk, ModelsJson(*response), ""};
  if (!flags.names) return {kExitOk, RenderModels(*response), ""};
  std::string output;
  for (const v1::ModelSummary& model : response->models()) {
    output += model.name() + "\n";
  }
  return {kExitOk, output, ""};
}

Outcome RunModels(Flags& flags) {
  v1::ModelsDescribeRequest request;
  const bool describe = !flags.model.model.empty();
  if (describe) {
    if (absl::Status status = FinishModel(flags.model); !status.ok()) {
      return Failure(status);
    }
    request.mutable_config()->Swap(&flags.model.config);
  }
  const auto client = Client::Connect(flags.server.connect);
  if (!client.ok()) return Failure(client.status());
  if (!describe) return ListModels(flags, **client);
  const auto response = (*client)->DescribeModel(request);
  if (!response.ok()) return Failure(response.status());
  return {kExitOk,
          flags.server.json ? DescriptionJson(*response)
                            : RenderDescription(*response),
          ""};
}

}  // namespace

Command AddModels(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("models", "the built-in models, or one model");
  auto flags = std::make_shared<Flags>();
  command->add_option("MODEL", flags->model.model,
                      "describe this model instead of listing all");
  command->add_flag("--names", flags->names, "print the names alone");
  AddModelFlags(*command, flags->model);
  AddServerFlags(*command, flags->server);
  return {command, [flags] { return RunModels(*flags); }};
}

}  // namespace linnet::client
