#include "core/graph/plain_walk.h"

#include <algorithm>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "core/expr/evaluator.h"
#include "core/expr/expr.h"
#include "core/graph/graph.h"
#include "core/graph/memory_function.h"
#include "core/graph/timeline.h"

namespace linnet::graph {
namespace {

using Sizes = absl::flat_hash_map<expr::SymbolId, int64_t>;

// Adds the value of `bytes` to `*total`.
expr::Error AddBytes(expr::Expr bytes, const Sizes& sizes, int64_t* total) {
  const expr::Value value = expr::Evaluate(bytes, sizes);
  if (!value.ok()) return value.error;
  return __builtin_add_overflow(*total, value.value, total)
             ? expr::Error::kOverflow
             : expr::Error::kNone;
}

bool Reads(const Graph& graph, int32_t step, ObjectId owner) {
  const auto is_of = [&](ObjectId id) {
    return graph.object(id).owner == owner;
  };
  return absl::c_any_of(graph.inputs(StepId{step}), is_of) ||
         absl::c_any_of(graph.outputs(StepId{step}), is_of);
}

// Whether `owner` must be in memory at `step`.
bool IsNeeded(const Graph& graph, ObjectId owner, int32_t step) {
  if (absl::c_linear_search(graph.entry_inputs(), owner)) return true;
  if (graph.object(owner).producer.index > step) return false;
  const auto is_of = [&](ObjectId id) {
    return graph.object(id).owner == owner;
  };
  if (absl::c_any_of(graph.results(), is_of)) return true;
  for (const StateWrite& write : graph.state_writes()) {
    if (is_of(write.value)) return true;
  }
  for (int32_t later = step; later < graph.num_steps(); ++later) {
    if (Reads(graph, later, owner)) return true;
  }
  return false;
}

// The first moment with the largest sum; `add` adds what lives at a moment.
template <typename AddLive>
Peak LargestMoment(int64_t moments, AddLive add) {
  Peak peak;
  peak.bytes = -1;
  for (int64_t moment = 0; moment < std::max<int64_t>(1, moments); ++moment) {
    int64_t total = 0;
    peak.error = add(moment, &total);
    if (!peak.ok()) return peak;
    if (total > peak.bytes) {
      peak.bytes = total;
      peak.moment = moment;
    }
  }
  return peak;
}

}  // namespace

Peak PlainWalk(const Timeline& timeline, const Sizes& sizes) {
  return LargestMoment(timeline.moments, [&](int64_t moment, int64_t* total) {
    for (const Interval& interval : timeline.intervals) {
      if (moment < interval.begin || moment > interval.end) continue;
      const expr::Error error = AddBytes(interval.bytes, sizes, total);
      if (error != expr::Error::kNone) return error;
    }
    return expr::Error::kNone;
  });
}

Peak PlainWalk(const Graph& graph, const Sizes& sizes) {
  return LargestMoment(graph.num_steps(), [&](int64_t moment, int64_t* total) {
    for (int32_t i = 0; i < graph.num_objects(); ++i) {
      const ObjectId id = {i};
      if (!graph.IsTransientOwner(id) ||
          !IsNeeded(graph, id, static_cast<int32_t>(moment))) {
        continue;
      }
      const expr::Error error = AddBytes(graph.object(id).bytes, sizes, total);
      if (error != expr::Error::kNone) return error;
    }
    return expr::Error::kNone;
  });
}

}  // namespace linnet::graph
