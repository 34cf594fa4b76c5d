// What objects and steps of a graph are.

#ifndef LINNET_CORE_GRAPH_KINDS_H_
#define LINNET_CORE_GRAPH_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <ostream>

#include "absl/strings/string_view.h"

namespace linnet::graph {

// What memory is for.
enum class Category : uint8_t {
  kParameters,
  kBuffers,
  kState,
  kKvCache,
  kInputs,
  kActivations,
  kWorkspace,
  kGradients,
  kBackwardTemporaries,
  kMasterWeights,
  kOptimizerStates,
  kCommunication,
  kRuntime,
};
inline constexpr size_t kNumCategories =
    static_cast<size_t>(Category::kRuntime) + 1;

// "parameters", "kv_cache", "backward_temporaries", ...
absl::string_view CategoryName(Category category);

enum class StepKind : uint8_t {
#define LINNET_STEP_KIND(enumerator, name, step_class) enumerator,
#include "core/graph/step_kind.def"
};

// Groups of kinds that the rules of backends, training and time share.
enum class StepClass : uint8_t {
  kArithmetic,
  kUnary,
  kCast,
  kSelect,
  kComparison,
  kLogic,
  kShift,
  kLayout,
  kJoin,
  kCreate,
  kIndexed,
  kNative,
};

// "add", "reshape", "native", ...
absl::string_view StepKindName(StepKind kind);
StepClass ClassOf(StepKind kind);

inline std::ostream& operator<<(std::ostream& os, Category category) {
  return os << CategoryName(category);
}
inline std::ostream& operator<<(std::ostream& os, StepKind kind) {
  return os << StepKindName(kind);
}

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_KINDS_H_
