// Sequence parallelism: what tensor-parallel processes would all hold alike is
// split over them by the sequence.

#ifndef LINNET_CORE_PARALLEL_SEQUENCE_SPLIT_H_
#define LINNET_CORE_PARALLEL_SEQUENCE_SPLIT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"

namespace linnet::parallel {

struct SplitBySequence {
  std::shared_ptr<const graph::Graph> graph;
  int64_t scattered = 0;  // Tensors of which a process has its rows alone.
  int64_t gathers = 0;    // Steps that make them whole.
};

// One process's program with collectives (analysis.md section 10) made over, as
// torch.distributed.tensor.parallel.SequenceParallel does and as Korthikanti et
// al. 2022 describe:
//   - an all-reduce becomes a reduce-scatter, of which each of `processes` has
//     ceil(S / processes) rows of the sequence, the axis before the last;
//   - the token embedding's result is scattered, where it has the shape of an
//     all-reduce's;
//   - row by row steps (arithmetic, activations, norms) of a scattered tensor
//     make scattered ones; other operands of theirs are scattered where they
//     have rows;
//   - any other step reads the gathered tensor, made once by the first that
//     needs it. Autograd keeps what such a step keeps, whole.
// InvalidArgument when the program has no all-reduce of two axes or more.
absl::StatusOr<SplitBySequence> SplitSequence(const graph::Graph& graph,
                                              int64_t processes);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_SEQUENCE_SPLIT_H_
