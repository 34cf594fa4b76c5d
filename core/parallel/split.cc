#include "core/parallel/split.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/graph/graph_builder.h"

namespace linnet::parallel {
namespace {

using graph::Category;
using graph::Graph;
using graph::Object;
using graph::ObjectId;
using graph::Step;
using graph::StepId;

// Of what depends on entry inputs and members of the root alone.
constexpr int32_t kAnywhere = -1;

bool IsState(const Object& object) {
  return object.category == Category::kState ||
         object.category == Category::kKvCache;
}

// Which stage makes what, and what crosses between them.
class Plan {
 public:
  Plan(const Graph& graph, absl::Span<const Unit> units,
       absl::Span<const size_t> starts)
      : graph_(graph),
        stages_(static_cast<int32_t>(starts.size())),
        object_stage_(static_cast<size_t>(graph.num_objects()), kAnywhere),
        step_stage_(static_cast<size_t>(graph.num_steps()), kAnywhere),
        needed_(starts.size()),
        received_(starts.size()),
        sent_(starts.size()),
        repeated_(starts.size()) {
    absl::flat_hash_map<std::string, int32_t> unit_stage;
    for (size_t i = 0; i < units.size(); ++i) {
      const auto after = std::upper_bound(starts.begin(), starts.end(), i);
      unit_stage[units[i].path] =
          static_cast<int32_t>(after - starts.begin()) - 1;
    }
    for (int32_t i = 0; i < graph.num_objects(); ++i) {
      const Object& object = graph.object(ObjectId{i});
      if (object.producer.valid() || !object.path.valid()) continue;
      const auto it =
          unit_stage.find(std::string(UnitOf(graph.text(object.path))));
      if (it != unit_stage.end()) Stage(ObjectId{i}) = it->second;
    }
    PlaceSteps();
    FindCrossings();
  }

  int32_t num_stages() const { return stages_; }
  int32_t stage(ObjectId id) const {
    return object_stage_[static_cast<size_t>(id.index)];
  }
  bool runs(StepId id, int32_t stage) const {
    const int32_t own = step_stage_[static_cast<size_t>(id.index)];
    return own == stage ||
           (own == kAnywhere &&
            repeated_[static_cast<size_t>(stage)].contains(id.index));
  }
  // Indices of objects, in order.
  const std::set<int32_t>& needed(int32_t stage) const {
    return needed_[static_cast<size_t>(stage)];
  }
  const std::set<int32_t>& received(int32_t stage) const {
    return received_[static_cast<size_t>(stage)];
  }
  const std::set<int32_t>& sent(int32_t stage) const {
    return sent_[static_cast<size_t>(stage)];
  }

 private:
  int32_t& Stage(ObjectId id) {
    return object_stage_[static_cast<size_t>(id.index)];
  }

  void PlaceSteps() {
    for (int32_t s = 0; s < graph_.num_steps(); ++s) {
      const Step& step = graph_.step(StepId{s});
      int32_t stage = kAnywhere;
      for (ObjectId id : graph_.inputs(step)) {
        stage = std::max(stage, this->stage(id));
      }
      step_stage_[static_cast<size_t>(s)] = stage;
      for (ObjectId id : graph_.outputs(step)) Stage(id) = stage;
    }
  }

  void FindCrossings() {
    for (int32_t s = 0; s < graph_.num_steps(); ++s) {
      const int32_t stage = step_stage_[static_cast<size_t>(s)];
      if (stage == kAnywhere) continue;
      for (ObjectId id : graph_.inputs(StepId{s})) Read(id, stage);
    }
    for (ObjectId id : graph_.results()) Read(id, stages_ - 1);
  }

  // `stage` reads an object.
  void Read(ObjectId id, int32_t stage) {
    needed_[static_cast<size_t>(stage)].insert(id.index);
    const int32_t home = this->stage(id);
    if (home == kAnywhere) return Repeat(id, stage);
    if (home == stage || !graph_.object(id).producer.valid()) return;
    for (int32_t k = home; k < stage; ++k) {
      sent_[static_cast<size_t>(k)].insert(id.index);
      received_[static_cast<size_t>(k) + 1].insert(id.index);
      needed_[static_cast<size_t>(k) + 1].insert(id.index);
    }
  }

  // The steps that make an object out of inputs run on `stage` too.
  void Repeat(ObjectId id, int32_t stage) {
    std::vector<ObjectId> open = {id};
    while (!open.empty()) {
      const StepId producer = graph_.object(open.back()).producer;
      open.pop_back();
      if (!producer.valid() || !repeated_[static_cast<size_t>(stage)]
                                    .insert(producer.index)
                                    .second) {
        continue;
      }
      for (ObjectId input : graph_.inputs(producer)) {
        needed_[static_cast<size_t>(stage)].insert(input.index);
        open.push_back(input);
      }
    }
  }

  const Graph& graph_;
  const int32_t stages_;
  std::vector<int32_t> object_stage_;
  std::vector<int32_t> step_stage_;
  std::vector<std::set<int32_t>> needed_, received_, sent_, repeated_;
};

// Builds the graph of one device.
class StageBuilder {
 public:
  StageBuilder(const Graph& graph, const Plan& plan, expr::SymbolId cut,
               int64_t microbatches)
      : graph_(graph),
        plan_(plan),
        pool_(std::make_shared<expr::Pool>(graph.shared_pool())),
        builder_(pool_, graph.roles()) {
    if (cut.valid() && microbatches > 1) {
      whole_[cut] =
          pool_->Mul(pool_->Constant(microbatches), pool_->SymbolExpr(cut));
    }
  }

  absl::StatusOr<StageGraph> Run(absl::Span<const int32_t> stages) {
    for (int32_t i = 0; i < graph_.num_objects(); ++i) {
      AddMember(ObjectId{i}, stages);
    }
    const absl::flat_hash_map<int32_t, ObjectId> members = now_;
    for (const int32_t stage : stages) {
      // Each chunk makes, receives and repeats what it needs by itself.
      now_ = members;
      now_.insert(inputs_.begin(), inputs_.end());
      AddChunk(stage);
    }
    LINNET_ASSIGN_OR_RETURN(made_.graph, builder_.Build());
    return std::move(made_);
  }

 private:
  void AddChunk(int32_t stage) {
    Chunk& chunk = made_.chunks.emplace_back();
    chunk.last = stage + 1 == plan_.num_stages();
    chunk.first_step = steps_;
    for (ObjectId id : graph_.entry_inputs()) {
      if (!plan_.needed(stage).contains(id.index) || now_.contains(id.index)) {
        continue;
      }
      Copy(id);
      inputs_[id.index] = now_[id.index];
      builder_.MarkInput(now_[id.index]);
      chunk.inputs.push_back(now_[id.index]);
    }
    for (const int32_t i : plan_.received(stage)) {
      Copy(ObjectId{i}, /*alone=*/true);
      builder_.MarkInput(now_[i]);
      chunk.received.push_back(now_[i]);
    }
    for (int32_t s = 0; s < graph_.num_steps(); ++s) {
      if (plan_.runs(StepId{s}, stage)) AddStep(graph_.step(StepId{s}));
    }
    chunk.num_steps = steps_ - chunk.first_step;
    AddSent(stage, &chunk);
  }

  // A parameter, buffer or state that a stage of the device holds, or one of
  // the root or of another stage that it reads.
  void AddMember(ObjectId id, absl::Span<const int32_t> stages) {
    const Object& object = graph_.object(id);
    if (object.producer.valid() || !object.path.valid()) return;
    const int32_t home = plan_.stage(id);
    for (const int32_t stage : stages) {
      if (home == stage || plan_.needed(stage).contains(id.index)) {
        return Copy(id);
      }
    }
  }

  // Adds `id` as it is; one whose storage the stage does not have, or `alone`,
  // has its own.
  void Copy(ObjectId id, bool alone = false) {
    const Object& object = graph_.object(id);
    graph::ObjectSpec spec = graph::SpecOf(graph_, id);
    spec.persistent = false;
    std::vector<expr::Expr> shape(graph_.shape(object).begin(),
                                  graph_.shape(object).end());
    if (IsState(object) && !whole_.empty()) {
      for (expr::Expr& size : shape) size = pool_->Substitute(size, whole_);
    }
    spec.shape = shape;
    const auto owner = now_.find(object.owner.index);
    if (object.owner != id && owner != now_.end() && !alone) {
      spec.view_of = owner->second;
    } else {
      const Object& storage = graph_.object(object.owner);
      if (!alone && storage.persistent) {
        spec.persistent = true;
        spec.category = storage.category;
        if (graph::IsPacked(storage)) spec.packed_bytes = storage.bytes;
      }
      if (alone) {
        spec.category = Category::kInputs;
        spec.path = {};
      }
    }
    now_[id.index] = builder_.AddObject(spec);
  }

  void AddStep(const Step& step) {
    std::vector<ObjectId> inputs, outputs;
    for (ObjectId id : graph_.inputs(step)) inputs.push_back(now_[id.index]);
    for (ObjectId id : graph_.outputs(step)) {
      Copy(id);
      outputs.push_back(now_[id.index]);
    }
    builder_.AddStep(graph::SpecOf(graph_, step, inputs, outputs));
    ++steps_;
  }

  void AddSent(int32_t stage, Chunk* chunk) {
    std::vector<int32_t> sent(plan_.sent(stage).begin(),
                              plan_.sent(stage).end());
    if (chunk->last) {
      for (ObjectId id : graph_.results()) sent.push_back(id.index);
    }
    for (const int32_t i : sent) {
      builder_.MarkResult(now_[i]);
      chunk->sent.push_back(now_[i]);
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  std::shared_ptr<expr::Pool> pool_;
  // What the role that is cut was in the whole step.
  absl::flat_hash_map<expr::SymbolId, expr::Expr> whole_;
  graph::GraphBuilder builder_;
  // By index in the whole graph: what stands for it in the present chunk, and
  // the inputs of the entry.
  absl::flat_hash_map<int32_t, ObjectId> now_, inputs_;
  int32_t steps_ = 0;
  StageGraph made_;
};

absl::Status CheckNoState(const Graph& graph) {
  for (const Step& step : graph.steps()) {
    for (ObjectId id : graph.inputs(step)) {
      const Object& owner = graph.object(graph.object(id).owner);
      if (!IsState(owner)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the entry reads or writes the state `", graph.text(owner.path),
          "`; a pipeline runs entries without state only, such as `forward`"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<StageGraph>> SplitGraph(
    const Graph& graph, absl::Span<const Unit> units,
    absl::Span<const size_t> starts, int64_t devices, expr::SymbolId cut,
    int64_t microbatches) {
  LINNET_RETURN_IF_ERROR(CheckNoState(graph));
  const Plan plan(graph, units, starts);
  std::vector<StageGraph> graphs;
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<int32_t> stages;
    std::vector<std::string> holds;
    for (size_t i = static_cast<size_t>(device); i < starts.size();
         i += static_cast<size_t>(devices)) {
      const size_t end = i + 1 < starts.size() ? starts[i + 1] : units.size();
      stages.push_back(static_cast<int32_t>(i));
      holds.push_back(UnitsText(units.subspan(starts[i], end - starts[i])));
    }
    LINNET_ASSIGN_OR_RETURN(
        StageGraph of,
        StageBuilder(graph, plan, cut, microbatches).Run(stages));
    of.holds = absl::StrJoin(holds, ", ");
    graphs.push_back(std::move(of));
  }
  return graphs;
}

}  // namespace linnet::parallel
