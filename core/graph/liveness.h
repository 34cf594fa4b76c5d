// When the transient objects of an entry are in memory.

#ifndef LINNET_CORE_GRAPH_LIVENESS_H_
#define LINNET_CORE_GRAPH_LIVENESS_H_

#include "core/graph/graph.h"
#include "core/graph/timeline.h"

namespace linnet::graph {

// One interval per transient owner of `graph`, in the order of objects, with a
// moment per step (one moment for a graph without steps):
//   - an entry input: throughout, read or not;
//   - any other: from the step that makes it to the last step that reads it or
//     a view of it; one moment when nothing does;
//   - what a result or a state write holds: to the end.
// Zero-sized owners are kept. Cost: O(objects + uses).
Timeline ComputeLiveness(const Graph& graph);

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_LIVENESS_H_
