// GGUF files as models of the same families.

#ifndef LINNET_CORE_ZOO_IMPORT_GGUF_H_
#define LINNET_CORE_ZOO_IMPORT_GGUF_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/zoo/import.h"
#include "nlohmann/json.hpp"

namespace linnet::zoo {

// The model that the keys of a config describe, without its weights' headers.
// Fails as ImportModel() does; `path` is for messages.
absl::StatusOr<ImportedModel> ImportConfig(const nlohmann::json& config,
                                           absl::string_view path);

// The model of a GGUF file of which `bytes` holds at least the header. Its
// `weight_bytes` are those of all tensors. Fails as ImportModel() does.
absl::StatusOr<ImportedModel> ImportGguf(absl::string_view bytes,
                                         absl::string_view path);

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_IMPORT_GGUF_H_
