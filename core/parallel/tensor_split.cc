#include "core/parallel/tensor_split.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/glob.h"
#include "core/base/status_macros.h"
#include "core/parallel/graph_copy.h"

namespace linnet::parallel {
namespace {

using graph::Category;
using graph::Graph;
using graph::Object;
using graph::ObjectId;

struct Rule {
  absl::string_view pattern;
  int axis;
};

// The rules of linnet.parallel, the first that matches counts.
constexpr Rule kRules[] = {
    {"*q_proj.weight", 0},  {"*k_proj.weight", 0},    {"*v_proj.weight", 0},
    {"*qkv.weight", 0},     {"*gate_proj.weight", 0}, {"*up_proj.weight", 0},
    {"*gate_up.weight", 0}, {"*mlp.up.weight", 0},    {"*mlp.gate.weight", 0},
    {"*q_proj.bias", 0},    {"*k_proj.bias", 0},      {"*v_proj.bias", 0},
    {"*qkv.bias", 0},       {"*o_proj.weight", 1},    {"*down_proj.weight", 1},
    {"*mlp.down.weight", 1}};

class Splitter {
 public:
  Splitter(const Graph& graph, int64_t processes)
      : graph_(graph),
        processes_(processes),
        copy_(graph),
        split_(static_cast<size_t>(graph.num_objects())) {}

  absl::StatusOr<SplitOverProcesses> Run() {
    for (int32_t i = 0; i < graph_.num_objects(); ++i) {
      if (!graph_.object(ObjectId{i}).producer.valid()) Copy(ObjectId{i});
    }
    copy_.CopyMembersAndInputs();
    for (const graph::Step& step : graph_.steps()) CopyStep(step);
    GatherResults();
    LINNET_ASSIGN_OR_RETURN(made_.graph, copy_.Build());
    return std::move(made_);
  }

 private:
  bool IsSplit(ObjectId id) const {
    return split_[static_cast<size_t>(id.index)];
  }

  bool Divides(const Object& object, size_t axis) const {
    const auto shape = graph_.shape(object);
    return axis < shape.size() && shape[axis].is_constant() &&
           shape[axis].constant() % processes_ == 0;
  }

  bool StartsSplit(const Object& object) {
    switch (object.category) {
      case Category::kParameters: {
        const auto axis = SplitAxis(graph_.text(object.path));
        return axis && Divides(object, static_cast<size_t>(*axis));
      }
      case Category::kState:
      case Category::kKvCache:
        return object.rank == 4 && Divides(object, 1);
      default:
        return false;
    }
  }

  void Copy(ObjectId id) {
    const Object& object = graph_.object(id);
    const bool member = object.path.valid() && !object.producer.valid();
    auto split = split_[static_cast<size_t>(id.index)];
    if (member) split = StartsSplit(object);
    if (object.owner != id || !split) {
      copy_.Copy(id);
      return;
    }
    expr::Pool& pool = copy_.pool();
    copy_.CopyPacked(id, pool.CeilDiv(object.bytes, pool.Constant(processes_)));
    made_.split_weights += object.category == Category::kParameters;
    made_.split_caches += object.category == Category::kKvCache;
  }

  void CopyStep(const graph::Step& step) {
    const bool split = absl::c_any_of(
        graph_.inputs(step), [&](ObjectId input) { return IsSplit(input); });
    for (ObjectId output : graph_.outputs(step)) {
      split_[static_cast<size_t>(output.index)] = split;
      Copy(output);
    }
    copy_.CopyStep(step);
  }

  void GatherResults() {
    for (ObjectId id : graph_.results()) {
      const ObjectId part = copy_.now(id);
      if (!IsSplit(id)) {
        copy_.MarkResult(part);
        continue;
      }
      graph::StepSpec gather;
      gather.kind = graph::StepKind::kConcat;
      gather.label = "gather";
      gather.inputs = {&part, 1};
      copy_.MarkResult(
          copy_.AddStep(gather, graph_.shape(id), graph_.object(id).dtype));
    }
  }

  const Graph& graph_;
  const int64_t processes_;
  GraphCopy copy_;
  std::vector<bool> split_;  // By object of the whole graph.
  SplitOverProcesses made_;
};

}  // namespace

std::optional<int> SplitAxis(absl::string_view path) {
  for (const Rule& rule : kRules) {
    if (MatchesGlob(path, rule.pattern)) return rule.axis;
  }
  return std::nullopt;
}

absl::StatusOr<SplitOverProcesses> SplitTensors(const Graph& graph,
                                                int64_t processes) {
  return Splitter(graph, processes).Run();
}

}  // namespace linnet::parallel
