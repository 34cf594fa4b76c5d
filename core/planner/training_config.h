// The settings of a training step, read and checked against the model.

#ifndef LINNET_CORE_PLANNER_TRAINING_CONFIG_H_
#define LINNET_CORE_PLANNER_TRAINING_CONFIG_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/hash.h"
#include "core/graph/graph.h"
#include "core/lang/program.h"
#include "core/planner/bind.h"
#include "core/planner/planner.h"
#include "core/training/lora.h"
#include "core/training/options.h"

namespace linnet::planner {

struct TrainingSettings {
  training::Options options;
  std::vector<training::CheckpointPolicy> policies;  // At least one.
};

// InvalidArgument, with close names: an optimizer or dtype that does not exist,
// shards below 1, more policies or patterns than a request may have.
absl::StatusOr<TrainingSettings> ReadTraining(const TrainingConfig& config);

// InvalidArgument when the entry returns nothing that can be a loss; the
// message names the entries that do.
absl::Status CheckLoss(const lang::Program& program, const Target& target);

// InvalidArgument, with close names: a pattern that matches no float parameter
// or no block whose steps run; a model or an entry with nothing to train.
absl::Status CheckTraining(const graph::Graph& graph,
                           const TrainingSettings& settings);

// Puts the adapters of settings.options.lora into the graph, and makes them,
// with what --trainable names, all that is trained. InvalidArgument, with close
// names: a pattern that matches no linear layer, or an entry that runs none.
absl::StatusOr<training::Adapted> Adapt(const graph::Graph& graph,
                                        TrainingSettings* settings);

// Everything of the settings decides what is prepared.
void AddTraining(const Config& config, Hasher* hasher);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_TRAINING_CONFIG_H_
