#include "core/graph/kinds.h"

#include <cstddef>

#include "absl/strings/string_view.h"

namespace linnet::graph {
namespace {

struct KindRow {
  const char* name;
  StepClass step_class;
};

constexpr KindRow kKinds[] = {
#define LINNET_STEP_KIND(enumerator, name, step_class) \
  {name, StepClass::step_class},
#include "core/graph/step_kind.def"
};

}  // namespace

absl::string_view CategoryName(Category category) {
  switch (category) {
    case Category::kParameters:
      return "parameters";
    case Category::kBuffers:
      return "buffers";
    case Category::kState:
      return "state";
    case Category::kKvCache:
      return "kv_cache";
    case Category::kInputs:
      return "inputs";
    case Category::kActivations:
      return "activations";
    case Category::kWorkspace:
      return "workspace";
    case Category::kGradients:
      return "gradients";
    case Category::kBackwardTemporaries:
      return "backward_temporaries";
    case Category::kMasterWeights:
      return "master_weights";
    case Category::kOptimizerStates:
      return "optimizer_states";
    case Category::kCommunication:
      return "communication";
    case Category::kRuntime:
      return "runtime";
  }
  return "unknown";
}

absl::string_view StepKindName(StepKind kind) {
  return kKinds[static_cast<size_t>(kind)].name;
}

StepClass ClassOf(StepKind kind) {
  return kKinds[static_cast<size_t>(kind)].step_class;
}

}  // namespace linnet::graph
