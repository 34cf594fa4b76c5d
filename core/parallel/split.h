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

// A contiguous part of the model on one device.
struct Chunk {
  int32_t first_step = 0, num_steps = 0;  // Of the device's graph.
  // Inputs of the entry that it is the first of the device's chunks to read.
  std::vector<graph::ObjectId> inputs;
  // Values that come from the stage before: inputs of the graph, in the order
  // in which they are made.
  std::vector<graph::ObjectId> received;
  // Values that go to the stage after; of the last stage the entry's results.
  std::vector<graph::ObjectId> sent;
  bool last = false;  // Of all stages.
};

// One device's part of a step, for one micro-batch that goes through all of its
// chunks.
struct StageGraph {
  std::shared_ptr<const graph::Graph> graph;
  std::string holds;  // `embedding, layers.0-15`.
  std::vector<Chunk> chunks;
};

// Cuts `graph` into stages before the units `starts` (the first is 0); stage k
// goes to device k mod `devices`, which must divide their number. A step runs
// on the latest stage of what it reads: parameters and states by their unit,
// values by the step that made them. Steps that depend on entry inputs and
// members of the root alone are repeated on every stage that reads them. A
// value that a later stage reads passes through every stage between. Results
// belong to the last stage. Each device holds all parameters, buffers and
// states of its units. InvalidArgument when the entry reads or writes a state.
// The graphs are those of one micro-batch; `cut` is the symbol that is then
// 1 / `microbatches` of what it was, and states, which are made once for all
// micro-batches, have `microbatches` times it.
absl::StatusOr<std::vector<StageGraph>> SplitGraph(
    const graph::Graph& graph, absl::Span<const Unit> units,
    absl::Span<const size_t> starts, int64_t devices, expr::SymbolId cut = {},
    int64_t microbatches = 1);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_SPLIT_H_
