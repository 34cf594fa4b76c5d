// linnet check: what is wrong with sources.

#include "client/render/check.h"

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/api/bundle.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "linnet/v1/models.pb.h"

namespace linnet::client {
namespace {

struct Flags {
  ServerFlags server;
  std::vector<std::string> paths;
  bool strict = false;
};

Outcome RunCheck(Flags& flags) {
  if (flags.paths.empty()) {
    return UsageError(
        "which sources? try `linnet check FILE.linnet` or `linnet check "
        "FOLDER`");
  }
  const auto request = ReadSources(flags.paths);
  if (!request.ok()) return Failure(request.status());
  const auto client = Client::Connect(flags.server.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->CheckSources(*request);
  if (!response.ok()) return Failure(response.status());
  const bool fails = response->num_errors() > 0 ||
                     (flags.strict && response->num_warnings() > 0);
  return {fails ? kExitModel : kExitOk,
          flags.server.json ? CheckJson(*response) : RenderCheck(*response),
          ""};
}

}  // namespace

Command AddCheck(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("check", "what is wrong with sources, if anything");
  auto flags = std::make_shared<Flags>();
  command->add_option("PATH", flags->paths,
                      ".linnet files, and folders to search for them");
  command->add_flag("--strict", flags->strict, "fail on warnings too");
  AddServerFlags(*command, flags->server);
  return {command, [flags] { return RunCheck(*flags); }};
}

}  // namespace linnet::client
