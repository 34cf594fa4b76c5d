// linnet version and linnet help.

#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "client/commands/command.h"

namespace linnet::client {

Command AddVersion(CLI::App& app) {
  return {app.add_subcommand("version", "the version of this program"), [] {
            return Outcome{kExitOk, "linnet " LINNET_VERSION "\n", ""};
          }};
}

Command AddHelp(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "help on a command");
  auto topic = std::make_shared<std::string>();
  command->add_option("COMMAND", *topic, "the command to explain");
  return {command, [&app, topic]() -> Outcome {
            if (topic->empty()) return {kExitOk, app.help(), ""};
            for (CLI::App* other : app.get_subcommands({})) {
              if (other->get_name() == *topic) {
                return {kExitOk, other->help("linnet " + *topic), ""};
              }
            }
            return UsageError("there is no command `" + *topic + "`");
          }};
}

}  // namespace linnet::client
