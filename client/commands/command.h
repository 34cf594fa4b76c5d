// The command line: what is common to its commands.

#ifndef LINNET_CLIENT_COMMANDS_COMMAND_H_
#define LINNET_CLIENT_COMMANDS_COMMAND_H_

#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/api/client.h"

namespace linnet::client {

// The exit statuses of linnet.
inline constexpr int kExitOk = 0;
inline constexpr int kExitModel = 1;   // The model has errors or is too large.
inline constexpr int kExitUsage = 2;   // The command line is at fault.
inline constexpr int kExitServer = 3;  // The server failed or is out of reach.

// What a command gives back; printed only once all of it is known.
struct Outcome {
  int exit_status = kExitOk;
  std::string output;  // For standard output.
  std::string errors;  // For standard error.
};

// Flags that every command with a server takes.
struct ServerFlags {
  ConnectOptions connect;
  bool json = false;
};
void AddServerFlags(CLI::App& command, ServerFlags& flags);

// A failed call as an outcome: its text, and the status that says whose fault
// it is.
Outcome Failure(const absl::Status& status);
Outcome UsageError(const std::string& message);

// Whether standard error is a terminal that wants colours.
bool WantsColour();

// One command. `run` is called after its flags were read.
using Run = std::function<Outcome()>;
struct Command {
  CLI::App* app;
  Run run;
};

// Each adds its command to `app`. The flags live as long as the result.
Command AddMemory(CLI::App& app);
Command AddFit(CLI::App& app);
Command AddTime(CLI::App& app);
Command AddSweep(CLI::App& app);
Command AddDevices(CLI::App& app);
Command AddModels(CLI::App& app);
Command AddCheck(CLI::App& app);
Command AddExplain(CLI::App& app);
Command AddVersion(CLI::App& app);
Command AddHelp(CLI::App& app);
Command AddCompletion(CLI::App& app);

// Reads the command line and runs one command, without printing.
Outcome RunCommandLine(int argc, const char* const* argv);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_COMMANDS_COMMAND_H_
