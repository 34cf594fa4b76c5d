// Models that others have saved: a `config.json` of the Hub with the headers of
// its safetensors files, or the header of a GGUF file, as a program of ours
// with a card.

#ifndef LINNET_CORE_ZOO_IMPORT_H_
#define LINNET_CORE_ZOO_IMPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/zoo/card.h"

namespace linnet::zoo {

// One parameter of the program and where its values lie in the checkpoint.
struct ImportedParameter {
  std::string path;    // In the program: `layers.0.mlp.gate.weight`.
  std::string tensor;  // In the checkpoint; `*` stands for 0 to copies - 1.
  std::vector<int64_t> shape;  // Of one tensor, as the checkpoint stores it.
  int64_t copies = 1;          // Tensors that the parameter joins.
  // Values that one stored element holds: 2 for packed 4-bit values.
  int64_t values_per_element = 1;
  bool required = true;  // Whether the model works without it.
};

struct ImportedModel {
  Card card;
  Bindings bindings;
  // Sources, and `linnet.toml`: path and content. `card.source_path` is one.
  std::vector<std::pair<std::string, std::string>> files;
  // Optional members that are there although no tensor shows it.
  std::vector<std::string> present;
  std::vector<ImportedParameter> parameters;
  // Of all parameters, tied ones once. The config alone says it.
  int64_t parameter_count = 0;
  // Bytes of the tensors that the parameters are read from, as stored; empty
  // when no headers are there or some are missing.
  std::optional<int64_t> weight_bytes;
  // What a reader of a report should know: what was left out or assumed.
  std::vector<std::string> notes;
};

// Content of a file of a bundle; empty when there is no such file.
using FindFile =
    std::function<std::optional<absl::string_view>(absl::string_view)>;

// Whether a bundle that starts from a file of this name is an import.
bool IsImport(absl::string_view root_file);

// Imports the model that starts from `root_file` ("dir/config.json", or a path
// ending in ".gguf"). Beside a config.json, `model.safetensors.index.json` and
// the safetensors files it names, or `model.safetensors`, are read when they
// are there; of each only the header need be.
// InvalidArgument: one clear message that names the file and the key or tensor:
//   a config that is wrong or contradicts itself, an architecture that is not
//   known (with those that are), headers that are malformed, or that lack a
//   tensor or give one another shape than the config.
absl::StatusOr<ImportedModel> ImportModel(absl::string_view root_file,
                                          const FindFile& find);

// The values of `model_type` that ImportModel() knows, sorted.
std::vector<absl::string_view> KnownModelTypes();

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_IMPORT_H_
