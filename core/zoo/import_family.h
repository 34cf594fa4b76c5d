// What the importers of single families share.

#ifndef LINNET_CORE_ZOO_IMPORT_FAMILY_H_
#define LINNET_CORE_ZOO_IMPORT_FAMILY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/zoo/config_reader.h"
#include "core/zoo/import.h"
#include "core/zoo/safetensors.h"

namespace linnet::zoo {

// One entry of the list of families: reads `config` into everything of `model`
// but weight bytes. Errors are left in `config`.
struct Family {
  absl::string_view model_type;
  void (*import)(ConfigReader& config, ImportedModel* model);
};

// Decoders of the general source, sorted by model_type.
absl::Span<const Family> DecoderFamilies();
// Families whose program is that of a built-in card.
absl::Span<const Family> CardFamilies();

// "model.layers.3." of ("model.layers.#.", 3).
std::string WithNumber(absl::string_view pattern, int64_t number);

// A float constant as the language writes it: digits on both sides of a dot.
std::string FloatText(double value);

// The dtype of `torch_dtype` or `dtype`, `missing` when neither is there.
std::string ConfigDType(ConfigReader& config, absl::string_view missing);

// Adds the parameter and its binding, and counts it unless its tensor is one
// that an earlier parameter has.
void AddParameter(ImportedParameter parameter, ImportedModel* model);

// The tensors of all files of a checkpoint.
struct Checkpoint {
  std::vector<StoredTensor> tensors;
  std::vector<std::string> files;  // Beside `tensors`: where each lies.
  bool complete = true;            // No file is missing.
};

// Finds the tensor of every parameter of `model`, corrects the bindings to the
// checkpoint's spelling, adds biases that only the checkpoint tells of, and
// sets `weight_bytes`. InvalidArgument naming the tensors that are missing or
// have another shape than the config says.
absl::Status MatchCheckpoint(const Checkpoint& checkpoint,
                             absl::string_view config_path,
                             ImportedModel* model);

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_IMPORT_FAMILY_H_
