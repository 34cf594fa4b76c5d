// What a pipeline is cut between: the blocks of a model.

#ifndef LINNET_CORE_PARALLEL_UNITS_H_
#define LINNET_CORE_PARALLEL_UNITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"

namespace linnet::parallel {

// A sub-block of the root, or one element of an array of them.
struct Unit {
  std::string path;   // `embedding`, `layers.3`.
  int64_t bytes = 0;  // Of its parameters; a tied one in every unit.
};

// The unit that `path` of a parameter or state lies in: `layers.3` of
// `layers.3.mlp.up.weight`. Empty for a member of the root itself.
absl::string_view UnitOf(absl::string_view path);

// The units that hold parameters, buffers or states, in the order in which the
// model declares them. Sizes that are no numbers count with every role 1.
std::vector<Unit> FindUnits(const graph::Graph& graph);

// The first unit of each stage. Contiguous stages, none empty, whose largest is
// as small as possible: the smallest limit with which filling stages one after
// the other needs at most `stages` of them; when it needs fewer, the last stage
// of several units is cut where its larger half is smallest, until there are
// enough. InvalidArgument when there are more stages than units.
absl::StatusOr<std::vector<size_t>> BalanceStages(absl::Span<const Unit> units,
                                                  int64_t stages);

// The same where the starts of all stages but the first are named.
// InvalidArgument, with close names: one that is no unit, one that does not
// come after the one before it, another number than `stages` - 1.
absl::StatusOr<std::vector<size_t>> NamedStages(
    absl::Span<const Unit> units, absl::Span<const std::string> names,
    int64_t stages);

// `embedding, layers.0-15` of some consecutive units.
std::string UnitsText(absl::Span<const Unit> units);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_UNITS_H_
