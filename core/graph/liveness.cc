#include "core/graph/liveness.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/timeline.h"

namespace linnet::graph {

Timeline ComputeLiveness(const Graph& graph) {
  Timeline timeline;
  timeline.moments = std::max<int64_t>(1, graph.num_steps());
  const int64_t last_moment = timeline.moments - 1;

  // The last moment at which each owner is needed; views count for theirs.
  std::vector<int64_t> last(static_cast<size_t>(graph.num_objects()), -1);
  const auto need = [&](ObjectId id, int64_t moment) {
    int64_t& end = last[static_cast<size_t>(graph.object(id).owner.index)];
    end = std::max(end, moment);
  };
  for (int32_t i = 0; i < graph.num_steps(); ++i) {
    for (const ObjectId id : graph.inputs(StepId{i})) need(id, i);
    for (const ObjectId id : graph.outputs(StepId{i})) need(id, i);
  }
  for (const ObjectId id : graph.results()) need(id, last_moment);
  for (const StateWrite& write : graph.state_writes()) {
    need(write.value, last_moment);
  }
  for (const ObjectId id : graph.entry_inputs()) need(id, last_moment);

  for (int32_t i = 0; i < graph.num_objects(); ++i) {
    const ObjectId id = {i};
    if (!graph.IsTransientOwner(id)) continue;
    const Object& object = graph.object(id);
    timeline.intervals.push_back(
        {.bytes = object.bytes,
         .begin = object.producer.valid() ? object.producer.index : 0,
         .end = last[static_cast<size_t>(i)],
         .category = object.category,
         .object = id});
  }
  return timeline;
}

std::vector<Interval> LiveAt(const Timeline& timeline, int64_t moment) {
  std::vector<Interval> live;
  for (const Interval& interval : timeline.intervals) {
    if (interval.begin <= moment && moment <= interval.end) {
      live.push_back(interval);
    }
  }
  return live;
}

}  // namespace linnet::graph
