// The flags that say which model is meant and how it is to be read.

#ifndef LINNET_CLIENT_COMMANDS_MODEL_FLAGS_H_
#define LINNET_CLIENT_COMMANDS_MODEL_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "linnet/v1/model.pb.h"

namespace linnet::client {

struct ModelFlags {
  std::string model;
  std::vector<std::string> bindings;  // `G=VALUE`.
  v1::Configuration config;           // What the other flags say.
};

// --root --dtype --bind --optional --no-bindings.
void AddModelFlags(CLI::App& command, ModelFlags& flags);

// --entry --numerics.
void AddEntryFlags(CLI::App& command, ModelFlags& flags);

// Reads the model and the bindings into `config`. The errors of ReadModel();
// InvalidArgument for a binding that is not G=VALUE or comes twice.
absl::Status FinishModel(ModelFlags& flags);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_COMMANDS_MODEL_FLAGS_H_
