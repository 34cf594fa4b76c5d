#include "core/graph/graph.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/expr/pool.h"
#include "core/graph/graph_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/graph_text.h"

namespace linnet::graph {
namespace {

using ::testing::ElementsAre;

// A small graph with one of everything, as a tracer would make it.
struct Small {
  std::shared_ptr<expr::Pool> pool = std::make_shared<expr::Pool>();
  expr::Expr batch = pool->Symbol("batch");
  GraphBuilder builder{pool, {batch.symbol()}};
  ObjectId weight, cache, tokens, hidden, view, written;

  Small() {
    const std::vector<expr::Expr> square = {pool->Constant(4),
                                            pool->Constant(4)};
    const std::vector<expr::Expr> rows = {batch, pool->Constant(4)};
    const std::vector<expr::Expr> flat = {pool->Mul(batch, pool->Constant(4))};
    weight = builder.AddObject({.path = "layers.0.weight",
                                .category = Category::kParameters,
                                .shape = square,
                                .dtype = DType::kBF16,
                                .persistent = true});
    cache = builder.AddObject({.path = "layers.0.cache",
                               .category = Category::kKvCache,
                               .shape = rows,
                               .dtype = DType::kBF16,
                               .persistent = true});
    tokens = builder.AddObject(
        {.name = "tokens", .shape = {&batch, 1}, .dtype = DType::kI32});
    builder.MarkInput(tokens);
    hidden = builder.AddObject({.shape = rows, .dtype = DType::kBF16});
    builder.AddStep({.label = "embedding",
                     .inputs = {tokens, weight, tokens},
                     .outputs = {hidden},
                     .scope = "layers.0",
                     .native = "torch.embedding"});
    view = builder.AddObject(
        {.shape = flat, .dtype = DType::kBF16, .view_of = hidden});
    builder.AddStep({.kind = StepKind::kReshape,
                     .label = "reshape",
                     .inputs = {hidden},
                     .outputs = {view}});
    written = builder.AddObject(
        {.shape = rows, .dtype = DType::kBF16, .view_of = cache});
    builder.AddStep({.label = "write_at",
                     .inputs = {cache, view},
                     .outputs = {written},
                     .flops = pool->Mul(batch, pool->Constant(8))});
    builder.WriteState(cache, written);  // In place: nothing to record.
    builder.WriteState(cache, view);
    builder.MarkResult(view);
  }
};

TEST(GraphBuilderTest, PrintsWhatItWasGiven) {
  Small small;
  const auto graph = small.builder.Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(VerifyGraph(**graph), absl::OkStatus());
  EXPECT_EQ((*graph)->Text(),
            "input %2: i32[batch]\n"
            "0 native embedding(%2, layers.0.weight) -> %3: bf16[batch, 4] "
            "by torch.embedding @ layers.0\n"
            "1 reshape(%3) -> %4: bf16[4 * batch] in %3\n"
            "2 native write_at(layers.0.cache, %4) -> %5: bf16[batch, 4] in "
            "layers.0.cache flops 8 * batch\n"
            "write layers.0.cache = %4\n"
            "result %4\n");
}

TEST(GraphBuilderTest, TracksStorage) {
  Small small;
  const auto built = small.builder.Build();
  ASSERT_TRUE(built.ok()) << built.status();
  const Graph& graph = **built;
  const Object& hidden = graph.object(small.hidden);
  EXPECT_EQ(hidden.bytes.ToString(), "8 * batch");
  EXPECT_EQ(hidden.owner, small.hidden);
  EXPECT_EQ(hidden.producer, StepId{0});
  const Object& view = graph.object(small.view);
  EXPECT_TRUE(view.bytes.is_zero());
  EXPECT_EQ(view.full_bytes, hidden.bytes);
  EXPECT_EQ(view.owner, small.hidden);
  const Object& written = graph.object(small.written);
  EXPECT_EQ(written.owner, small.cache);
  EXPECT_EQ(written.category, Category::kKvCache);
  EXPECT_FALSE(written.persistent);
  EXPECT_TRUE(graph.IsTransientOwner(small.hidden));
  EXPECT_FALSE(graph.IsTransientOwner(small.view));
  EXPECT_FALSE(graph.IsTransientOwner(small.cache));
  EXPECT_EQ(graph.object(small.tokens).category, Category::kInputs);
  EXPECT_THAT(graph.inputs(StepId{0}), ElementsAre(small.tokens, small.weight));
  EXPECT_EQ(graph.text(graph.step(StepId{0}).scope), "layers.0");
  EXPECT_EQ(graph.text(graph.step(StepId{1}).scope), "");
  ASSERT_EQ(graph.state_writes().size(), 1u);
  EXPECT_EQ(graph.state_writes()[0].value, small.view);
}

TEST(GraphBuilderTest, NamesTheObjectWhoseSizeIsWrong) {
  const auto build = [](absl::string_view name, auto make) {
    auto pool = std::make_shared<expr::Pool>();
    const expr::Expr batch = pool->Symbol("batch");
    GraphBuilder builder(pool, {batch.symbol()});
    const expr::Expr dim = make(*pool, batch);
    builder.AddObject({.name = name, .shape = {&dim, 1}});
    return builder.Build().status();
  };
  EXPECT_EQ(
      build("x", [](expr::Pool& pool,
                    expr::Expr) { return pool.Constant(int64_t{1} << 62); }),
      absl::InvalidArgumentError("the size of `x` overflows 64 bits"));
  EXPECT_EQ(build("y",
                  [](expr::Pool& pool, expr::Expr batch) {
                    return pool.FloorDiv(batch, pool.Zero());
                  }),
            absl::InvalidArgumentError("the size of `y` divides by zero"));
  EXPECT_EQ(build("z",
                  [](expr::Pool& pool, expr::Expr batch) {
                    return pool.Add(batch, pool.Symbol("Layers"));
                  }),
            absl::InvalidArgumentError(
                "the size of `z` depends on `Layers`, which has no value"));
}

TEST(GraphBuilderTest, NamesTheStepWhoseWorkIsWrong) {
  auto pool = std::make_shared<expr::Pool>();
  GraphBuilder builder(pool, {});
  builder.AddStep(
      {.label = "linear",
       .flops = pool->Mul(pool->Constant(INT64_MAX), pool->Constant(2))});
  EXPECT_EQ(builder.Build().status(),
            absl::InvalidArgumentError(
                "the work of step 0 (`linear`) overflows 64 bits"));
}

TEST(VerifyGraphTest, FindsReadsBeforeWrites) {
  auto pool = std::make_shared<expr::Pool>();
  GraphBuilder builder(pool, {});
  const ObjectId late = builder.AddObject({.name = "late"});
  builder.AddStep({.label = "a", .inputs = {late}});
  builder.AddStep({.label = "b", .outputs = {late}});
  const auto graph = builder.Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(
      VerifyGraph(**graph),
      absl::InternalError("object 0 is read by step 0 before it is made"));
}

TEST(VerifyGraphTest, FindsObjectsThatNothingMakes) {
  auto pool = std::make_shared<expr::Pool>();
  GraphBuilder builder(pool, {});
  builder.AddObject({.name = "orphan"});
  const auto graph = builder.Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(VerifyGraph(**graph),
            absl::InternalError("object 0 is made by no step"));
}

TEST(VerifyGraphTest, AcceptsRandomGraphs) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(VerifyGraph(*RandomGraph(seed)), absl::OkStatus());
  }
}

TEST(GraphTest, StaysSmall) {
  const auto graph = RandomGraph(1, {.max_steps = 5000});
  const auto per_step =
      graph->ByteSize() / static_cast<size_t>(graph->num_steps() + 1);
  // 4 MiB for a trace of 1606 steps.
  EXPECT_LT(per_step, size_t{2600}) << graph->num_steps();
  EXPECT_GT(graph->ByteSize(), graph->objects().size() * sizeof(Object));
}

TEST(KindsTest, EveryKindHasAName) {
  for (size_t i = 0; i < kNumCategories; ++i) {
    EXPECT_NE(CategoryName(static_cast<Category>(i)), "unknown");
  }
  EXPECT_EQ(CategoryName(Category::kKvCache), "kv_cache");
  EXPECT_EQ(StepKindName(StepKind::kAdd), "add");
  EXPECT_EQ(StepKindName(StepKind::kNative), "native");
  EXPECT_EQ(ClassOf(StepKind::kSlice), StepClass::kLayout);
  EXPECT_EQ(ClassOf(StepKind::kShr), StepClass::kShift);
}

}  // namespace
}  // namespace linnet::graph
