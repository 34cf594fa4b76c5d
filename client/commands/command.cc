#include "client/commands/command.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/render/diagnostic.h"
#include "core/base/nearest.h"

namespace linnet::client {
namespace {

// "; did you mean `--batch`?", or nothing when no name comes close.
std::string DidYouMean(const std::string& name,
                       const std::vector<std::string>& known) {
  const std::vector<absl::string_view> views(known.begin(), known.end());
  const std::vector<std::string> close = NearestNames(name, views);
  if (close.empty()) return "";
  return absl::StrCat("; did you mean `", absl::StrJoin(close, "` or `"), "`?");
}

std::vector<std::string> FlagNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back(absl::StrCat("--", name));
    }
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  return names;
}

// The first argument that no flag or position took, as a message.
std::string Unexpected(const CLI::App& app, const CLI::App* command) {
  std::vector<std::string> rest =
      command != nullptr ? command->remaining() : app.remaining();
  if (rest.empty()) return "";
  for (const std::string& argument : rest) {
    if (absl::StartsWith(argument, "-")) {
      const std::string name = argument.substr(0, argument.find('='));
      return absl::StrCat(
          "unknown flag `", name, "`",
          DidYouMean(name, FlagNames(command != nullptr ? *command : app)));
    }
  }
  if (command == nullptr) {
    return absl::StrCat("unknown command `", rest.front(), "`",
                        DidYouMean(rest.front(), CommandNames(app)));
  }
  return absl::StrCat("unexpected argument `", rest.front(), "`");
}

}  // namespace

void AddServerFlags(CLI::App& command, ServerFlags& flags) {
  command.add_option("--server", flags.connect.server,
                     "host:port or unix:/path of a server; else "
                     "LINNET_SERVER, else this user's own daemon");
  command.add_flag_callback(
      "--no-autostart", [&flags] { flags.connect.autostart = false; },
      "do not start the daemon when none runs");
  command.add_option_function<std::string>(
      "--timeout",
      [&flags](const std::string& text) {
        if (!absl::ParseDuration(text, &flags.connect.timeout) ||
            flags.connect.timeout <= absl::ZeroDuration()) {
          throw CLI::ValidationError(
              "--timeout", "must be a time such as 30s or 2m, not " + text);
        }
      },
      "how long the call may take (60s)");
  command.add_flag("--json", flags.json, "print one JSON document");
}

bool WantsColour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) != 0 &&
         (no_colour == nullptr || *no_colour == '\0');
}

Outcome Failure(const absl::Status& status) {
  const v1::ErrorDetail detail = DetailOf(status);
  int exit_status = kExitServer;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      exit_status = detail.model_at_fault() ? kExitModel : kExitUsage;
      break;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
      exit_status = kExitUsage;
      break;
    case absl::StatusCode::kResourceExhausted:
      // A limit, unless the server was busy for too long.
      if (!detail.has_retry_delay()) exit_status = kExitModel;
      break;
    default:
      break;
  }
  return {exit_status, "", RenderFailure(status, detail, WantsColour())};
}

Outcome UsageError(const std::string& message) {
  return {
      kExitUsage, "",
      RenderFailure(absl::InvalidArgumentError(message), {}, WantsColour())};
}

Outcome RunCommandLine(int argc, const char* const* argv) {
  CLI::App app(
      "linnet: says how much GPU memory a model needs before it runs.");
  app.name("linnet");
  app.allow_extras();
  app.set_version_flag("--version", "linnet " LINNET_VERSION);
  const std::vector<Command> commands = {
      AddMemory(app),  AddFit(app),     AddTime(app),      AddSweep(app),
      AddModels(app),  AddDevices(app), AddCheck(app),     AddExplain(app),
      AddVersion(app), AddHelp(app),    AddCompletion(app)};
  for (const Command& command : commands) command.app->allow_extras();
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::ostringstream out;
    app.exit(help, out, out);
    return {kExitOk, out.str(), ""};
  } catch (const CLI::ParseError& error) {
    // An unknown flag often leaves its value where a position is read.
    for (const Command& command : commands) {
      if (!command.app->parsed()) continue;
      const std::string message = Unexpected(app, command.app);
      if (!message.empty()) return UsageError(message);
    }
    return UsageError(error.what());
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const std::string message = Unexpected(app, command.app);
    return message.empty() ? command.run() : UsageError(message);
  }
  const std::string message = Unexpected(app, nullptr);
  if (!message.empty()) return UsageError(message);
  return {kExitUsage, "", app.help()};
}

}  // namespace linnet::client
