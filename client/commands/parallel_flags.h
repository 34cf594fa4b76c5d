// The flags that lay a step out over several devices.

#ifndef LINNET_CLIENT_COMMANDS_PARALLEL_FLAGS_H_
#define LINNET_CLIENT_COMMANDS_PARALLEL_FLAGS_H_

#include "CLI/CLI.hpp"
#include "linnet/v1/model.pb.h"

namespace linnet::client {

// --tensor-parallel --sequence-parallel --expert-parallel --pipeline-parallel
// --microbatches --virtual-stages --schedule --stages, all into `config`.
void AddParallelFlags(CLI::App& command, v1::Configuration& config);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_COMMANDS_PARALLEL_FLAGS_H_
