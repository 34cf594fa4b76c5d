// The peak by definition: the oracle of the memory function. It looks at every
// moment and every interval anew; slow, for tests and validation.

#ifndef LINNET_CORE_GRAPH_PLAIN_WALK_H_
#define LINNET_CORE_GRAPH_PLAIN_WALK_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "core/expr/expr.h"
#include "core/graph/graph.h"
#include "core/graph/memory_function.h"
#include "core/graph/timeline.h"

namespace linnet::graph {

// Sums the intervals that contain each moment. Peak::candidate is 0.
Peak PlainWalk(const Timeline& timeline,
               const absl::flat_hash_map<expr::SymbolId, int64_t>& sizes);

// Walks the steps of `graph`; at each, asks of every transient owner whether it
// is needed (analysis.md section 5), without ComputeLiveness().
Peak PlainWalk(const Graph& graph,
               const absl::flat_hash_map<expr::SymbolId, int64_t>& sizes);

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_PLAIN_WALK_H_
