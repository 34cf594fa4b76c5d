// What a training step is asked to be.

#ifndef LINNET_CORE_TRAINING_OPTIONS_H_
#define LINNET_CORE_TRAINING_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/dtype.h"

namespace linnet::training {

enum class Optimizer : uint8_t { kSgd, kSgdMomentum, kAdam, kAdamW };

// "sgd", "sgd-momentum", "adam" or "adamw".
absl::string_view OptimizerName(Optimizer optimizer);
std::optional<Optimizer> ParseOptimizer(absl::string_view name);
std::vector<absl::string_view> OptimizerNames();

// Tensors of a parameter's size that it keeps from step to step.
int64_t StatesPerParameter(Optimizer optimizer);

struct Options {
  Optimizer optimizer = Optimizer::kAdamW;
  // Of the copy that the optimizer updates, where it is not the parameter's.
  std::optional<DType> master_dtype;
  // Of the parameters' gradients; by default that of what is updated.
  std::optional<DType> gradient_dtype;
  // Patterns over parameter paths; none: every float parameter.
  std::vector<std::string> trainable;
  // Processes that a parameter is split over, 1 for none.
  int64_t shards = 1;
};

// What a backward pass runs forward again instead of keeping it.
struct CheckpointPolicy {
  std::string name = "none";
  bool every_element = false;         // Of every block array.
  std::vector<std::string> patterns;  // Over block paths.

  bool none() const { return !every_element && patterns.empty(); }
};

// `none`, `block`, or patterns separated by commas.
CheckpointPolicy ParsePolicy(absl::string_view text);

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_OPTIONS_H_
