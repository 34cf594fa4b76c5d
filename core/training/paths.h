// Paths of blocks and parameters, `layers.3.mlp.gate.weight`, and patterns over
// them.

#ifndef LINNET_CORE_TRAINING_PATHS_H_
#define LINNET_CORE_TRAINING_PATHS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/training/options.h"

namespace linnet::training {

// The shortest prefix of `path` that is an element of a block array, so one
// that ends in a number: `layers.3` of `layers.3.experts.1.weight`. Empty when
// there is none.
absl::string_view ArrayElement(absl::string_view path);

// The shortest prefix of `path`, in whole components, that `policy`
// checkpoints; empty when there is none.
absl::string_view CheckpointedBlock(absl::string_view path,
                                    const CheckpointPolicy& policy);

// `path` with every number turned into `*`: `layers.*.mlp`.
std::string GeneralPath(absl::string_view path);

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_PATHS_H_
