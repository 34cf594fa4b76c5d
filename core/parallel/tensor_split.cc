#include "core/parallel/tensor_split.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/glob.h"
#include "core/base/status_macros.h"
#include "core/graph/graph_builder.h"

namespace linnet::parallel {
namespace {

using expr::Expr;
using graph::Category;
using graph::Graph;
using graph::Object;
using graph::ObjectId;
using graph::StepId;

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
        pool_(std::make_shared<expr::Pool>(graph.shared_pool())),
        builder_(pool_, graph.roles()),
        split_(static_cast<size_t>(graph.num_objects())),
        now_(static_cast<size_t>(graph.num_objects())) {}

  absl::StatusOr<SplitOverProcesses> Run() {
    for (int32_t i = 0; i < graph_.num_objects(); ++i) {
      if (!graph_.object(ObjectId{i}).producer.valid()) Copy(ObjectId{i});
    }
    for (ObjectId id : graph_.entry_inputs()) builder_.MarkInput(Now(id));
    for (int32_t s = 0; s < graph_.num_steps(); ++s) CopyStep(StepId{s});
    for (const graph::StateWrite& write : graph_.state_writes()) {
      builder_.WriteState(Now(write.state), Now(write.value));
    }
    GatherResults();
    LINNET_ASSIGN_OR_RETURN(made_.graph, builder_.Build());
    return std::move(made_);
  }

 private:
  ObjectId& Now(ObjectId id) { return now_[static_cast<size_t>(id.index)]; }
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
    graph::ObjectSpec spec = graph::SpecOf(graph_, id);
    if (object.owner != id) {
      spec.view_of = Now(object.owner);
    } else if (split) {
      spec.packed_bytes =
          pool_->CeilDiv(object.bytes, pool_->Constant(processes_));
      made_.split_weights += object.category == Category::kParameters;
      made_.split_caches += object.category == Category::kKvCache;
    }
    Now(id) = builder_.AddObject(spec);
  }

  void CopyStep(StepId id) {
    const graph::Step& step = graph_.step(id);
    std::vector<ObjectId> inputs, outputs;
    const bool split = absl::c_any_of(
        graph_.inputs(step), [&](ObjectId input) { return IsSplit(input); });
    for (ObjectId input : graph_.inputs(step)) inputs.push_back(Now(input));
    for (ObjectId output : graph_.outputs(step)) {
      split_[static_cast<size_t>(output.index)] = split;
      Copy(output);
      outputs.push_back(Now(output));
    }
    builder_.AddStep(graph::SpecOf(graph_, step, inputs, outputs));
  }

  void GatherResults() {
    for (ObjectId id : graph_.results()) {
      if (!IsSplit(id)) {
        builder_.MarkResult(Now(id));
        continue;
      }
      const Object& object = graph_.object(id);
      graph::ObjectSpec spec;
      spec.shape = graph_.shape(object);
      spec.dtype = object.dtype;
      const ObjectId whole = builder_.AddObject(spec);
      const ObjectId inputs[] = {Now(id)}, outputs[] = {whole};
      builder_.AddStep({graph::StepKind::kConcat, "gather", inputs, outputs, "",
                        "", pool_->Zero()});
      builder_.MarkResult(whole);
    }
  }

  const Graph& graph_;
  const int64_t processes_;
  std::shared_ptr<expr::Pool> pool_;
  graph::GraphBuilder builder_;
  std::vector<bool> split_;    // By object of the whole graph.
  std::vector<ObjectId> now_;  // What stands for it in the part.
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
