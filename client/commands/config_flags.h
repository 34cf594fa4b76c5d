// The flags that say what is planned: a model and its configuration.

#ifndef LINNET_CLIENT_COMMANDS_CONFIG_FLAGS_H_
#define LINNET_CLIENT_COMMANDS_CONFIG_FLAGS_H_

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "client/commands/command.h"
#include "client/commands/model_flags.h"
#include "client/commands/training_flags.h"
#include "linnet/v1/model.pb.h"

namespace linnet::client {

struct ConfigFlags {
  ServerFlags server;
  ModelFlags model;
  TrainingFlags training;
};

// MODEL, everything of a Configuration, and the flags of the server.
void AddConfigFlags(CLI::App& command, ConfigFlags& flags);
// The same but for sizes, which a command with several of them reads itself.
void AddConfigFlagsButSizes(CLI::App& command, ConfigFlags& flags);

// The configuration to send, with the content of a local model's files and what
// the environment says; `flags` are spent. InvalidArgument and NotFound for a
// person to read.
absl::StatusOr<v1::Configuration> FinishConfig(const char* command,
                                               ConfigFlags& flags);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_COMMANDS_CONFIG_FLAGS_H_
