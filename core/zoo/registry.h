// The built-in models, embedded in the binary.

#ifndef LINNET_CORE_ZOO_REGISTRY_H_
#define LINNET_CORE_ZOO_REGISTRY_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/embedded.h"

namespace linnet::zoo {

struct BuiltinModel {
  absl::string_view name;                // Its directory.
  absl::Span<const EmbeddedFile> files;  // Paths start with the name and '/'.
};

// Every built-in model, by name.
absl::Span<const BuiltinModel> BuiltinModels();

// The model called `name`; null when there is none.
const BuiltinModel* FindBuiltin(absl::string_view name);

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_REGISTRY_H_
