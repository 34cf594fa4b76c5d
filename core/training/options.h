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

enum class Optimizer : uint8_t {
  kSgd,
  kSgdMomentum,
  kAdam,
  kAdamW,
  kAdamW8Bit,  // Two states in blocks of 8-bit numbers (bitsandbytes).
  kAdafactor,  // Sums over rows and columns (torch.optim.Adafactor).
};

// "sgd", "sgd-momentum", "adam", "adamw", "adamw-8bit" or "adafactor".
absl::string_view OptimizerName(Optimizer optimizer);
std::optional<Optimizer> ParseOptimizer(absl::string_view name);
std::vector<absl::string_view> OptimizerNames();

// How a frozen weight is stored beside adapters.
enum class BaseFormat : uint8_t {
  kPlain,      // As the parameter is.
  kNf4,        // 4-bit numbers with a scale per block (bitsandbytes).
  kNf4Double,  // The same with scales in 8 bits.
};

// "plain", "nf4" or "nf4-double".
absl::string_view BaseFormatName(BaseFormat format);
std::optional<BaseFormat> ParseBaseFormat(absl::string_view name);
std::vector<absl::string_view> BaseFormatNames();

// Low-rank adapters: y = W x becomes y = W x + B (A x) times a number, with A
// of rank x inputs and B of outputs x rank. W is frozen.
struct Lora {
  int64_t rank = 8;
  // Patterns over the paths of linear layers, or over their last parts, such as
  // `q_proj`; none: every one in a block array.
  std::vector<std::string> targets;
  DType dtype = DType::kF32;  // Of A and B.
  BaseFormat base = BaseFormat::kPlain;
};

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
  // What is split over them: 1 master weights and optimizer states, 2 gradients
  // too, 3 parameters too.
  int32_t zero_stage = 3;
  std::optional<Lora> lora;

  bool splits_parameters() const { return shards > 1 && zero_stage >= 3; }
  bool splits_gradients() const { return shards > 1 && zero_stage >= 2; }
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
