// What is in memory when: intervals of bytes on a line of moments.
//
// A *moment* is a point of a run, numbered from 0: a step of an entry, or of a
// training step's forward, backward and optimizer parts. An interval holds its
// bytes from its first moment to its last, both included. What a step reads
// and what it makes are in memory together:
//
//            step 0   step 1   step 2
//   input    [------------------------]   entry inputs: throughout
//   a        [------------]               made at 0, last read at 1
//   b                 [---------------]   made at 1, a result: to the end
//
// The layer knows nothing of graphs: inference, training and pipelines make
// timelines, and the memory function (memory_function.h) takes any.

#ifndef LINNET_CORE_GRAPH_TIMELINE_H_
#define LINNET_CORE_GRAPH_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "core/expr/expr.h"
#include "core/graph/graph.h"
#include "core/graph/kinds.h"

namespace linnet::graph {

struct Interval {
  expr::Expr bytes = {};
  int64_t begin = 0;  // First moment; included.
  int64_t end = 0;    // Last moment; included, so begin == end is one moment.
  Category category = Category::kActivations;
  ObjectId object = {};  // What it is, when it is an object of the graph.
  StepId step = {};      // Else the step that it belongs to, if any.
};

struct Timeline {
  int64_t moments = 0;  // Intervals lie within [0, moments).
  std::vector<Interval> intervals = {};
};

// The intervals of `timeline` in memory at `moment`, in their order.
std::vector<Interval> LiveAt(const Timeline& timeline, int64_t moment);

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_TIMELINE_H_
