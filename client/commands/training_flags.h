// The flags that turn an entry into a training step.

#ifndef LINNET_CLIENT_COMMANDS_TRAINING_FLAGS_H_
#define LINNET_CLIENT_COMMANDS_TRAINING_FLAGS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "linnet/v1/model.pb.h"

namespace linnet::client {

struct TrainingFlags {
  bool training = false;
  std::string needs_training;  // A flag given that is for training only.
  v1::TrainingSettings settings;
};

// --training --optimizer --master-dtype --gradient-dtype --trainable
// --checkpoint --shards.
void AddTrainingFlags(CLI::App& command, TrainingFlags& flags);

// Copies them into `config`. InvalidArgument for one without --training.
absl::Status FinishTraining(const TrainingFlags& flags,
                            v1::Configuration& config);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_COMMANDS_TRAINING_FLAGS_H_
