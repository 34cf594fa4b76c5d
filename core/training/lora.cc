#include "core/training/lora.h"

#include <array>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/glob.h"
#include "core/graph/graph_builder.h"
#include "core/training/paths.h"

namespace linnet::training {
namespace {

using expr::Expr;
using graph::Graph;
using graph::Object;
using graph::ObjectId;
using graph::Step;
using graph::StepId;

// The parameter that a linear step multiplies by, or none. Its operands are the
// input, the weight and perhaps a bias.
ObjectId WeightOf(const Graph& graph, const Step& step) {
  if (step.kind != graph::StepKind::kNative ||
      graph.text(step.label) != "linear")
    return {};
  const auto inputs = graph.inputs(step);
  if (inputs.size() < 2) return {};
  const Object& weight = graph.object(inputs[1]);
  const bool is_matrix = weight.rank == 2 && IsFloat(weight.dtype) &&
                         weight.category == graph::Category::kParameters &&
                         weight.path.valid();
  return is_matrix ? inputs[1] : ObjectId{};
}

std::string LayerOf(const Graph& graph, ObjectId weight) {
  return std::string(
      absl::StripSuffix(graph.text(graph.object(weight).path), ".weight"));
}

// Builds the new graph from the old one, step by step.
class Adapter {
 public:
  Adapter(const Graph& graph, const Lora& lora)
      : graph_(graph),
        lora_(lora),
        pool_(std::make_shared<expr::Pool>(graph.shared_pool())),
        builder_(pool_, graph.roles()),
        packed_(static_cast<size_t>(graph.num_objects())),
        now_(static_cast<size_t>(graph.num_objects())) {}

  absl::StatusOr<Adapted> Run() {
    if (lora_.base != BaseFormat::kPlain) FindPacked();
    // Objects of no step come first, as they stand.
    for (int32_t i = 0; i < graph_.num_objects(); ++i) {
      const Object& object = graph_.object(ObjectId{i});
      if (!object.producer.valid()) CopyObject(ObjectId{i});
    }
    for (ObjectId id : graph_.entry_inputs()) builder_.MarkInput(Now(id));
    for (int32_t i = 0; i < graph_.num_steps(); ++i) CopyStep(StepId{i});
    for (const graph::StateWrite& write : graph_.state_writes()) {
      builder_.WriteState(Now(write.state), Now(write.value));
    }
    for (ObjectId id : graph_.results()) builder_.MarkResult(Now(id));
    absl::StatusOr<std::shared_ptr<const Graph>> built = builder_.Build();
    if (!built.ok()) return built.status();
    adapted_.graph = *std::move(built);
    return std::move(adapted_);
  }

 private:
  ObjectId& Now(ObjectId id) { return now_[static_cast<size_t>(id.index)]; }

  void FindPacked() {
    for (const Step& step : graph_.steps()) {
      const ObjectId weight = WeightOf(graph_, step);
      if (!weight.valid()) continue;
      const Object& object = graph_.object(weight);
      if (ArrayElement(graph_.text(object.path)).empty()) continue;
      packed_[static_cast<size_t>(object.owner.index)] = true;
    }
  }

  void CopyObject(ObjectId id) {
    const Object& object = graph_.object(id);
    graph::ObjectSpec spec = graph::SpecOf(graph_, id);
    if (object.owner != id) {
      spec.view_of = Now(object.owner);
    } else if (IsPacked(object)) {
      spec.packed_bytes = object.bytes;
    } else if (packed_[static_cast<size_t>(id.index)]) {
      spec.packed_bytes =
          PackedBytes(lora_.base, pool_->Product(spec.shape), *pool_);
      ++adapted_.packed;
    }
    Now(id) = builder_.AddObject(spec);
  }

  void CopyStep(StepId id) {
    const Step& step = graph_.step(id);
    std::vector<ObjectId> inputs, outputs;
    for (ObjectId input : graph_.inputs(step)) inputs.push_back(Now(input));
    for (ObjectId output : graph_.outputs(step)) {
      CopyObject(output);
      outputs.push_back(Now(output));
    }
    builder_.AddStep(graph::SpecOf(graph_, step, inputs, outputs));
    const ObjectId weight = WeightOf(graph_, step);
    if (!weight.valid() || outputs.size() != 1) return;
    const std::string layer = LayerOf(graph_, weight);
    if (!IsTarget(layer)) return;
    Now(graph_.outputs(step)[0]) =
        AddAdapter(step, layer, inputs[0], outputs[0], graph_.shape(weight));
  }

  bool IsTarget(absl::string_view layer) const {
    if (lora_.targets.empty()) return !ArrayElement(layer).empty();
    return absl::c_any_of(lora_.targets, [&](const std::string& pattern) {
      return NamesLayer(layer, pattern);
    });
  }

  // One step that makes a tensor of these last dimensions, the others being
  // those of `like`.
  ObjectId Make(const Step& at, graph::StepKind kind, absl::string_view label,
                std::vector<ObjectId> inputs, ObjectId like, Expr last,
                DType dtype, Expr flops, absl::string_view native = {}) {
    std::vector<Expr> shape(builder_.shape(like).begin(),
                            builder_.shape(like).end());
    shape.back() = last;
    graph::ObjectSpec spec;
    spec.shape = shape;
    spec.dtype = dtype;
    const ObjectId made = builder_.AddObject(spec);
    const ObjectId outputs[] = {made};
    builder_.AddStep(
        {kind, label, inputs, outputs, graph_.text(at.scope), native, flops});
    return made;
  }

  ObjectId AddWeight(const std::string& layer, absl::string_view name,
                     Expr rows, Expr columns) {
    const std::array<Expr, 2> shape = {rows, columns};
    const std::string path = absl::StrCat(layer, ".", name, ".weight");
    graph::ObjectSpec spec;
    spec.name = name;
    spec.path = path;
    spec.category = graph::Category::kParameters;
    spec.shape = shape;
    spec.dtype = lora_.dtype;
    spec.persistent = true;
    return builder_.AddObject(spec);
  }

  ObjectId AddAdapter(const Step& step, const std::string& layer, ObjectId x,
                      ObjectId y, absl::Span<const Expr> weight) {
    using graph::StepKind;
    const Expr rank = pool_->Constant(lora_.rank);
    const Expr outputs = weight[0], inputs = weight[1];
    const auto it = absl::c_find_if(
        adapters_, [&](const auto& known) { return known.layer == layer; });
    std::array<ObjectId, 2> ab;
    if (it != adapters_.end()) {
      ab = it->ab;
    } else {
      ab = {AddWeight(layer, "lora_A", rank, inputs),
            AddWeight(layer, "lora_B", outputs, rank)};
      adapters_.push_back({layer, ab});
      ++adapted_.adapters;
    }
    const DType base = builder_.object(y).dtype;
    const DType wide =
        DTypeBytes(lora_.dtype) > DTypeBytes(base) ? lora_.dtype : base;
    const absl::string_view native = graph_.text(step.native);
    const Expr zero = pool_->Zero();
    const Expr rows = Rows(y);
    const auto product = [&](Expr a, Expr b) {
      return pool_->Mul(pool_->Mul(pool_->Constant(2), rows), pool_->Mul(a, b));
    };
    ObjectId a = x;
    if (builder_.object(x).dtype != lora_.dtype) {
      a = Make(step, StepKind::kCast, "cast", {x}, x, inputs, lora_.dtype,
               zero);
    }
    const ObjectId h = Make(step, StepKind::kNative, "linear", {a, ab[0]}, y,
                            rank, lora_.dtype, product(inputs, rank), native);
    const ObjectId z =
        Make(step, StepKind::kNative, "linear", {h, ab[1]}, y, outputs,
             lora_.dtype, product(rank, outputs), native);
    const Expr elements = pool_->Mul(rows, outputs);
    const ObjectId scaled = Make(step, StepKind::kScale, "mul", {z}, y, outputs,
                                 lora_.dtype, elements);
    const ObjectId sum = Make(step, StepKind::kAdd, "add", {y, scaled}, y,
                              outputs, wide, elements);
    if (wide == base) return sum;
    return Make(step, StepKind::kCast, "cast", {sum}, y, outputs, base, zero);
  }

  // Elements of all dimensions but the last.
  Expr Rows(ObjectId id) {
    const auto shape = builder_.shape(id);
    return pool_->Product(shape.subspan(0, shape.size() - 1));
  }

  struct Known {
    std::string layer;
    std::array<ObjectId, 2> ab;
  };

  const Graph& graph_;
  const Lora& lora_;
  std::shared_ptr<expr::Pool> pool_;
  graph::GraphBuilder builder_;
  std::vector<bool> packed_;   // By object of the old graph.
  std::vector<ObjectId> now_;  // What stands for it in the new one.
  std::vector<Known> adapters_;
  Adapted adapted_;
};

}  // namespace

std::vector<std::string> LinearLayers(const Graph& graph) {
  std::vector<std::string> layers;
  for (const Step& step : graph.steps()) {
    const ObjectId weight = WeightOf(graph, step);
    if (!weight.valid()) continue;
    std::string layer = LayerOf(graph, weight);
    if (!absl::c_linear_search(layers, layer)) {
      layers.push_back(std::move(layer));
    }
  }
  return layers;
}

bool NamesLayer(absl::string_view layer, absl::string_view pattern) {
  return MatchesGlob(layer, pattern) ||
         MatchesGlob(layer, absl::StrCat("*.", pattern));
}

absl::StatusOr<Adapted> AddAdapters(const Graph& graph, const Lora& lora) {
  return Adapter(graph, lora).Run();
}

Expr PackedBytes(BaseFormat format, Expr elements, expr::Pool& pool) {
  const auto per = [&](Expr of, int64_t count) {
    return pool.CeilDiv(of, pool.Constant(count));
  };
  const Expr blocks = per(elements, 64);
  const Expr four = pool.Constant(4);
  Expr bytes = pool.Add(per(elements, 2), pool.Constant(16 * 4));
  if (format == BaseFormat::kNf4) {
    return pool.Add(bytes, pool.Mul(four, blocks));
  }
  bytes = pool.Add(bytes, pool.Add(blocks, pool.Mul(four, per(blocks, 256))));
  return pool.Add(bytes, pool.Constant(256 * 4 + 4));
}

}  // namespace linnet::training
