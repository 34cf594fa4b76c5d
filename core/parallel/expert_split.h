// Expert parallelism: the experts of mixtures split over processes, each with
// rows of its own.

#ifndef LINNET_CORE_PARALLEL_EXPERT_SPLIT_H_
#define LINNET_CORE_PARALLEL_EXPERT_SPLIT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"

namespace linnet::parallel {

struct SplitByExpert {
  std::shared_ptr<const graph::Graph> graph;
  int64_t split_weights = 0;
  int64_t exchanges = 0;  // All-to-all steps.
};

// One process's program: the parameters of mixtures hold the experts of 1 in
// `processes`, and rows travel to the experts that are theirs and back
// (Lepikhin et al. 2020), every process getting as many rows as it sends:
//   - rows that go through K experts each are copied by expert and exchanged,
//     [R, K, In] to send and as much received, once for all the products that
//     read them;
//   - where a product would sum its results by row, [R, K, Out] are exchanged
//     back first.
// A parameter is split when a product reads it as a weight of experts, or when
// it is a direct member of the same block with the experts as the first of two
// or more axes. InvalidArgument when the entry runs no product of experts, or
// when their number does not divide.
absl::StatusOr<SplitByExpert> SplitExperts(const graph::Graph& graph,
                                           int64_t processes);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_EXPERT_SPLIT_H_
