// A model that was not written for several processes, split over them as
// DTensors are (analysis.md section 10).

#ifndef LINNET_CORE_PARALLEL_TENSOR_SPLIT_H_
#define LINNET_CORE_PARALLEL_TENSOR_SPLIT_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"

namespace linnet::parallel {

// The axis by which a parameter of this path is split: 0 by output, 1 by input;
// empty: every process holds a copy.
std::optional<int> SplitAxis(absl::string_view path);

struct SplitOverProcesses {
  std::shared_ptr<const graph::Graph> graph;
  int64_t split_weights = 0;
  int64_t split_caches = 0;
};

// One process's part of `graph` over `processes`. Weights are split by
// SplitAxis(), states of four axes by axis 1, both where the extent divides.
// What is computed, however far, from a split one has 1/`processes` of its
// bytes; results that would be handed back split are gathered whole by the last
// step.
absl::StatusOr<SplitOverProcesses> SplitTensors(const graph::Graph& graph,
                                                int64_t processes);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_TENSOR_SPLIT_H_
