// The forward entry of Llama 3.1 8B as a graph, step by step from the list in
// the models' description and not from a program: 1606 steps for tests and
// benchmarks of what comes after tracing.

#ifndef LINNET_TESTS_SUPPORT_LLAMA_GRAPH_H_
#define LINNET_TESTS_SUPPORT_LLAMA_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/graph_builder.h"

namespace linnet::graph {

class LlamaGraph {
 public:
  // Roles: batch, context, cache.
  static std::shared_ptr<const Graph> Make() { return LlamaGraph().Forward(); }

 private:
  using Shape = std::vector<expr::Expr>;

  static constexpr int64_t kHidden = 4096;
  static constexpr int64_t kHeads = 32;
  static constexpr int64_t kKvHeads = 8;
  static constexpr int64_t kWidth = 128;
  static constexpr int64_t kInner = 14336;
  static constexpr int64_t kVocab = 128256;
  static constexpr int kLayers = 32;

  expr::Expr C(int64_t value) { return pool_->Constant(value); }

  ObjectId Weight(absl::string_view name, Shape shape,
                  Category category = Category::kParameters) {
    return builder_.AddObject({.path = scope_.empty()
                                           ? std::string(name)
                                           : absl::StrCat(scope_, ".", name),
                               .category = category,
                               .shape = shape,
                               .dtype = DType::kBF16,
                               .persistent = true});
  }

  ObjectId Step(StepKind kind, absl::string_view label,
                std::vector<ObjectId> inputs, Shape shape,
                DType dtype = DType::kBF16, ObjectId view_of = {}) {
    const ObjectId made = builder_.AddObject(
        {.name = label, .shape = shape, .dtype = dtype, .view_of = view_of});
    expr::Expr flops = pool_->Product(shape);
    if (view_of.valid()) flops = pool_->Zero();
    builder_.AddStep({.kind = kind,
                      .label = label,
                      .inputs = inputs,
                      .outputs = {&made, 1},
                      .scope = scope_,
                      .native = kind == StepKind::kNative ? label : "",
                      .flops = flops});
    return made;
  }
  ObjectId Native(absl::string_view label, std::vector<ObjectId> inputs,
                  Shape shape, DType dtype = DType::kBF16) {
    return Step(StepKind::kNative, label, std::move(inputs), std::move(shape),
                dtype);
  }
  ObjectId View(StepKind kind, ObjectId of, Shape shape) {
    return Step(kind, StepKindName(kind), {of}, std::move(shape),
                builder_.object(of).dtype, of);
  }
  ObjectId Reduced(ObjectId x) {  // One process: a view.
    return Step(StepKind::kNative, "all_reduce", {x}, hidden_, DType::kBF16, x);
  }
  ObjectId Define(std::vector<ObjectId> inputs, Shape shape) {
    return Step(StepKind::kComprehension, "comprehension", std::move(inputs),
                std::move(shape), DType::kF32);
  }

  struct Tables {
    ObjectId cos, sin;
  };
  Tables MakeTables() {
    const Shape half = {C(kWidth / 2)};
    const ObjectId base = Define({}, half);
    const ObjectId length = Define({base}, half);
    const ObjectId smooth = Define({length}, half);
    const ObjectId smoothed = Define({smooth, base}, half);
    const ObjectId inverse = Define({length, base, smoothed}, half);
    const ObjectId angle = Define({inverse}, {s_, C(kWidth / 2)});
    const Shape full = {s_, C(kWidth)};
    const ObjectId angles =
        Step(StepKind::kConcat, "concat", {angle}, full, DType::kF32);
    const ObjectId cos =
        Step(StepKind::kCos, "cos", {angles}, full, DType::kF32);
    const ObjectId cos_cast = Step(StepKind::kCast, "cast", {cos}, full);
    const ObjectId sin =
        Step(StepKind::kSin, "sin", {angles}, full, DType::kF32);
    return {cos_cast, Step(StepKind::kCast, "cast", {sin}, full)};
  }

  ObjectId Heads(ObjectId x, ObjectId weight, int64_t heads) {
    const ObjectId product =
        Native("linear", {x, weight}, {b_, s_, C(heads * kWidth)});
    const ObjectId rows =
        View(StepKind::kReshape, product, {b_, s_, C(heads), C(kWidth)});
    return View(StepKind::kPermute, rows, {b_, C(heads), s_, C(kWidth)});
  }

  ObjectId Rope(ObjectId x, const Tables& tables, int64_t heads) {
    const Shape shape = {b_, C(heads), s_, C(kWidth)};
    const Shape half = {b_, C(heads), s_, C(kWidth / 2)};
    const ObjectId direct = Step(StepKind::kMul, "mul", {x, tables.cos}, shape);
    const ObjectId first = View(StepKind::kSlice, x, half);
    const ObjectId second = View(StepKind::kSlice, x, half);
    const ObjectId negated = Step(StepKind::kNeg, "neg", {second}, half);
    const ObjectId turned =
        Step(StepKind::kConcat, "concat", {negated, first}, shape);
    const ObjectId crossed =
        Step(StepKind::kMul, "mul", {turned, tables.sin}, shape);
    return Step(StepKind::kAdd, "add", {direct, crossed}, shape);
  }

  ObjectId Layer(ObjectId x) {
    const auto square = [&](int64_t out, int64_t in) {
      return Shape{C(out), C(in)};
    };
    const ObjectId norm = Weight("attention_norm.weight", {C(kHidden)});
    const ObjectId q = Weight("q_proj.weight", square(kHidden, kHidden));
    const ObjectId k =
        Weight("k_proj.weight", square(kKvHeads * kWidth, kHidden));
    const ObjectId v =
        Weight("v_proj.weight", square(kKvHeads * kWidth, kHidden));
    const ObjectId o = Weight("o_proj.weight", square(kHidden, kHidden));
    const ObjectId mlp_norm = Weight("mlp_norm.weight", {C(kHidden)});
    const ObjectId gate = Weight("gate_proj.weight", square(kInner, kHidden));
    const ObjectId up = Weight("up_proj.weight", square(kInner, kHidden));
    const ObjectId down = Weight("down_proj.weight", square(kHidden, kInner));
    for (const char* name : {"cache_k", "cache_v"}) {
      Weight(name, {b_, C(kKvHeads), cache_, C(kWidth)}, Category::kKvCache);
    }

    const ObjectId normed = Native("rms_norm", {x, norm}, hidden_);
    const Tables tables = MakeTables();
    const ObjectId queries = Rope(Heads(normed, q, kHeads), tables, kHeads);
    const ObjectId keys = Rope(Heads(normed, k, kKvHeads), tables, kKvHeads);
    const ObjectId values = Heads(normed, v, kKvHeads);
    const ObjectId mask = Native("causal_mask", {}, {s_, s_}, DType::kBool);
    const ObjectId attended =
        Native("grouped_attention", {queries, keys, values, mask},
               {b_, C(kHeads), s_, C(kWidth)});
    const ObjectId merged =
        View(StepKind::kReshape,
             View(StepKind::kPermute, attended, {b_, s_, C(kHeads), C(kWidth)}),
             hidden_);
    const ObjectId middle =
        Step(StepKind::kAdd, "add",
             {x, Reduced(Native("linear", {merged, o}, hidden_))}, hidden_);
    const ObjectId again = Native("rms_norm", {middle, mlp_norm}, hidden_);
    const Shape inner = {b_, s_, C(kInner)};
    const ObjectId gated =
        Native("silu", {Native("linear", {again, gate}, inner)}, inner);
    const ObjectId product =
        Step(StepKind::kMul, "mul",
             {gated, Native("linear", {again, up}, inner)}, inner);
    return Step(StepKind::kAdd, "add",
                {middle, Reduced(Native("linear", {product, down}, hidden_))},
                hidden_);
  }

  std::shared_ptr<const Graph> Forward() {
    const ObjectId table =
        Weight("embed_tokens.weight", {C(kVocab), C(kHidden)});
    const ObjectId tokens = builder_.AddObject(
        {.name = "tokens", .shape = Shape{b_, s_}, .dtype = DType::kI32});
    builder_.MarkInput(tokens);
    ObjectId x = Native("embedding", {tokens, table}, hidden_);
    for (int i = 0; i < kLayers; ++i) {
      scope_ = absl::StrCat("layers.", i);
      x = Layer(x);
    }
    scope_ = "";
    const ObjectId norm = Weight("norm.weight", {C(kHidden)});
    const ObjectId head = Weight("lm_head.weight", {C(kVocab), C(kHidden)});
    const expr::Expr rows = pool_->Mul(b_, s_);
    const ObjectId normed = Native("rms_norm", {x, norm}, hidden_);
    const ObjectId flat = View(StepKind::kReshape, normed, {rows, C(kHidden)});
    scope_ = "lm_head";
    const ObjectId logits = Native("linear", {flat, head}, {rows, C(kVocab)});
    scope_ = "";
    const ObjectId gathered = Step(StepKind::kNative, "all_gather", {logits},
                                   {rows, C(kVocab)}, DType::kBF16, logits);
    builder_.MarkResult(
        View(StepKind::kReshape, gathered, {b_, s_, C(kVocab)}));
    auto graph = builder_.Build();
    LINNET_CHECK(graph.ok()) << graph.status();
    return *graph;
  }

  std::shared_ptr<expr::Pool> pool_ = std::make_shared<expr::Pool>();
  expr::Expr b_ = pool_->Symbol("batch");
  expr::Expr s_ = pool_->Symbol("context");
  expr::Expr cache_ = pool_->Symbol("cache");
  Shape hidden_ = {b_, s_, C(kHidden)};
  GraphBuilder builder_{pool_, {b_.symbol(), s_.symbol(), cache_.symbol()}};
  std::string scope_;
};

}  // namespace linnet::graph

#endif  // LINNET_TESTS_SUPPORT_LLAMA_GRAPH_H_
