// The graph of an entry cut into the stages of a pipeline.

#ifndef LINNET_CORE_PARALLEL_SPLIT_H_
#define LINNET_CORE_PARALLEL_SPLIT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/parallel/units.h"

namespace linnet::parallel {

// One stage's part of a step, for one micro-batch.
struct StageGraph {
  std::shared_ptr<const graph::Graph> graph;
  std::string holds;  // `embedding, layers.0-15`.
  // Values that come from the stage before: inputs of `graph`, in the order in
  // which they are made.
  std::vector<graph::ObjectId> received;
  // Values that go to the stage after; on the last stage the entry's results.
  std::vector<graph::ObjectId> sent;
};

// Cuts `graph` before the units `starts` (the first is 0). A step runs on the
// latest stage of what it reads: parameters and states by their unit, values by
// the step that made them. Steps that depend on entry inputs and members of the
// root alone are repeated on every stage that reads them. A value that a later
// stage reads passes through every stage between. Results belong to the last
// stage. Each stage holds all parameters, buffers and states of its units.
// InvalidArgument when the entry reads or writes a state.
// The graphs are those of one micro-batch; `cut` is the symbol that is then
// 1 / `microbatches` of what it was, and states, which are made once for all
// micro-batches, have `microbatches` times it.
absl::StatusOr<std::vector<StageGraph>> SplitGraph(
    const graph::Graph& graph, absl::Span<const Unit> units,
    absl::Span<const size_t> starts, expr::SymbolId cut = {},
    int64_t microbatches = 1);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_SPLIT_H_
