#include "core/graph/plain_walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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

// From when to when each owner must be in memory, read off the steps one by
// one. Objects that own nothing of their own are never needed.
struct Need {
  int32_t first = 0;
  int32_t last = -1;
};
std::vector<Need> Needs(const Graph& graph) {
  std::vector<Need> needs(static_cast<size_t>(graph.num_objects()));
  const auto of = [&](ObjectId id) -> Need& {
    return needs[static_cast<size_t>(graph.object(id).owner.index)];
  };
  for (int32_t i = 0; i < graph.num_objects(); ++i) {
    const Object& object = graph.object(ObjectId{i});
    Need& need = needs[static_cast<size_t>(i)];
    if (object.producer.valid()) need.first = need.last = object.producer.index;
  }
  for (int32_t step = 0; step < graph.num_steps(); ++step) {
    for (ObjectId id : graph.inputs(StepId{step})) of(id).last = step;
    for (ObjectId id : graph.outputs(StepId{step})) of(id).last = step;
  }
  const int32_t end = std::max(graph.num_steps(), 1);
  for (ObjectId id : graph.results()) of(id).last = end;
  for (const StateWrite& write : graph.state_writes()) {
    of(write.value).last = end;
  }
  for (ObjectId id : graph.entry_inputs()) of(id) = {0, end};
  return needs;
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
  std::vector<int64_t> bytes(timeline.intervals.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    Peak failed;
    failed.error = AddBytes(timeline.intervals[i].bytes, sizes, &bytes[i]);
    if (!failed.ok()) return failed;
  }
  return LargestMoment(timeline.moments, [&](int64_t moment, int64_t* total) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      const Interval& interval = timeline.intervals[i];
      if (moment < interval.begin || moment > interval.end) continue;
      if (__builtin_add_overflow(*total, bytes[i], total)) {
        return expr::Error::kOverflow;
      }
    }
    return expr::Error::kNone;
  });
}

Peak PlainWalk(const Graph& graph, const Sizes& sizes) {
  const std::vector<Need> needs = Needs(graph);
  std::vector<int64_t> bytes(needs.size());
  for (int32_t i = 0; i < graph.num_objects(); ++i) {
    const ObjectId id = {i};
    if (!graph.IsTransientOwner(id)) continue;
    Peak failed;
    failed.error =
        AddBytes(graph.object(id).bytes, sizes, &bytes[static_cast<size_t>(i)]);
    if (!failed.ok()) return failed;
  }
  return LargestMoment(graph.num_steps(), [&](int64_t moment, int64_t* total) {
    for (size_t i = 0; i < needs.size(); ++i) {
      if (moment < needs[i].first || moment > needs[i].last) continue;
      if (__builtin_add_overflow(*total, bytes[i], total)) {
        return expr::Error::kOverflow;
      }
    }
    return expr::Error::kNone;
  });
}

}  // namespace linnet::graph
