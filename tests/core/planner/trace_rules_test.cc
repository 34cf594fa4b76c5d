// The rules of analysis.md section 3, each on the smallest program that shows
// it: which steps a body makes, and which of them own memory.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/expr/evaluator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing_support::ConfigOf;
using testing_support::FullText;
using testing_support::PrepareOrFail;

// "label" of a step that owns its output, "label*" of one that makes a view,
// "label-" of one without output.
std::vector<std::string> Steps(const PreparedEntry& entry) {
  std::vector<std::string> steps;
  const graph::Graph& graph = entry.graph();
  for (const graph::Step& step : graph.steps()) {
    const auto outputs = graph.outputs(step);
    const char* mark = outputs.empty()                                ? "-"
                       : graph.object(outputs[0]).owner == outputs[0] ? ""
                                                                      : "*";
    steps.push_back(absl::StrCat(graph.text(step.label), mark));
  }
  return steps;
}

int64_t Flops(const PreparedEntry& entry, int32_t step) {
  const expr::Value value =
      expr::Evaluate(entry.graph().step(graph::StepId{step}).flops, {});
  EXPECT_TRUE(value.ok());
  return value.value;
}

struct StepsCase {
  std::string name;
  std::string items;  // What stands before the entry.
  std::string entry;  // Parameters, result and body of `pub entry run`.
  std::vector<std::string> want;
};

class StepsTest : public ::testing::TestWithParam<StepsCase> {};

TEST_P(StepsTest, AreThoseOfTheRules) {
  const auto entry = PrepareOrFail(ConfigOf(absl::StrCat(
      "module t\n", GetParam().items, "\npub entry run", GetParam().entry)));
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(Steps(*entry), ElementsAreArray(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, StepsTest,
    ::testing::ValuesIn<StepsCase>({
        {"ElementwiseOwns",
         "",
         "(x: Tensor[4; f32]) -> Tensor[4; f32] { return exp(x) + x }",
         {"exp", "add"}},
        {"CastToTheSameIsNoStep",
         "",
         "(x: Tensor[4; f32]) -> Tensor[4; f32] { return cast<f32>(x) * x }",
         {"mul"}},
        {"CastCopies",
         "",
         "(x: Tensor[4; bf16]) -> Tensor[4; f32] { return cast<f32>(x) }",
         {"cast"}},
        {"ReshapeOfContiguousIsAView",
         "",
         "(x: Tensor[4, 6; f32]) -> Tensor[24; f32] { return reshape(x, [24]) "
         "}",
         {"reshape*"}},
        {"ReshapeOfPermutedCopies",
         "",
         "(x: Tensor[4, 6; f32]) -> Tensor[24; f32] {\n"
         "  return reshape(permute(x, [1, 0]), [24]) }",
         {"permute*", "reshape (copy)"}},
        // The passes drop the permutation there and back, and the reshape to
        // the shape it has.
        {"PermutedBackIsAView",
         "",
         "(x: Tensor[4, 6; f32]) -> Tensor[24; f32] {\n"
         "  let y = permute(x, [1, 0])\n"
         "  let z = reshape(y, [6, 4])\n"
         "  return reshape(permute(y, [1, 0]), [24]) + reshape(z, [24]) }",
         {"permute*", "reshape*", "reshape (copy)", "add"}},
        {"SliceAndBroadcastAreViews",
         "",
         "(x: Tensor[4, 6; f32]) -> Tensor[2, 4, 3; f32] {\n"
         "  return broadcast_to(x[:, 0:3], [2, 4, 3]) }",
         {"slice*", "broadcast*"}},
        {"ScalarsMakeNoStep",
         "",
         "(x: Tensor[4; f32], a: f32) -> Tensor[4; f32] {\n"
         "  let s = sqrt(a) * 2.0\n  return x * s }",
         {"mul"}},
        {"IndexNotationIsOneStep",
         "",
         "(x: Tensor[4, 6; f32]) -> Tensor[6, 4; f32] {\n"
         "  let y[j, i] = exp(x[i, j]) * cast<f32>(iota(4)[i])\n  return y }",
         {"comprehension"}},
        {"ScalarReductionHasNoOutput",
         "",
         "(x: Tensor[4; f32]) -> Tensor[4; f32] {\n"
         "  let total = sum[i] x[i]\n  return x / total }",
         {"reduce-", "div"}},
        {"ConcatFillIota",
         "",
         "(x: Tensor[4; f32]) -> Tensor[8; f32] {\n"
         "  return concat(x, fill<f32>([4], 0.0), axis = 0) }",
         {"fill", "concat"}},
        {"CallsAreFollowed",
         "fn twice<N: Dim>(x: Tensor[N; f32]) -> "
         "Tensor[N; f32] { return x + x }",
         "(x: Tensor[4; f32]) -> Tensor[4; f32] { return twice(twice(x)) }",
         {"add", "add"}},
        {"LibraryCallIsOneStep",
         "use std.nn.linear::{linear}",
         "(x: Tensor[4, 6; f32], w: Tensor[8, 6; f32]) -> Tensor[4, 8; f32] {\n"
         "  return linear(x, w) }",
         {"linear"}},
        {"BodyWithoutNative",
         "use std.nn.rope::{rotate_half}",
         "(x: Tensor[4, 6; f32]) -> Tensor[4, 6; f32] {\n"
         "  return rotate_half(x) }",
         {"slice*", "slice*", "neg", "concat"}},
        {"MatchTakesTheArmOfTheValue",
         "fn add<N: Dim>(x: Tensor[N; f32], y: Tensor[N; f32]? = none) -> "
         "Tensor[N; f32] { return match y { some(v) => x + v  none => x * x } "
         "}",
         "(x: Tensor[4; f32]) -> Tensor[4; f32] { return add(add(x), some(x)) "
         "}",
         {"mul", "add"}},
        {"StaticRangeIsUnrolled",
         "",
         "(x: Tensor[4; f32]) -> Tensor[4; f32] {\n"
         "  var y = x\n  static for i in 0..3 { y = y + x }\n  return y }",
         {"add", "add", "add"}},
        {"WhileRunsOnce",
         "",
         "(x: Tensor[4; f32], n: i64) -> Tensor[4; f32] {\n"
         "  var y = x\n  var i = n\n"
         "  while i > 0 { y = exp(y)  i = i - 1 }\n  return y }",
         {"exp"}},
        {"BothBranchesOfAnIf",
         "",
         "(x: Tensor[4; f32], c: bool) -> Tensor[4; f32] {\n"
         "  return if c { exp(x) } else { x + x } }",
         {"exp", "add"}},
        {"AttentionMergesHeadsWithoutACopy",
         "use std.nn.attention::{attention}",
         "(q: Tensor[2, 4, 8, 16; f32]) -> Tensor[2, 8, 64; f32] {\n"
         "  let a = attention(q, q, q, 1.0)\n"
         "  return reshape(permute(a, [0, 2, 1, 3]), [2, 8, 64]) }",
         {"attention", "permute*", "reshape*"}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(StepKindTest, TensorTimesScalarIsAScale) {
  const auto entry = PrepareOrFail(ConfigOf(
      "module t\npub entry run(x: Tensor[4; f32]) -> Tensor[4; f32] {\n"
      "  return (x * 2.0) / 3.0 + 1.0 / x + x * x }"));
  ASSERT_NE(entry, nullptr);
  std::vector<graph::StepKind> kinds;
  for (const graph::Step& step : entry->graph().steps()) {
    kinds.push_back(step.kind);
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre(
                         graph::StepKind::kScale, graph::StepKind::kScale,
                         graph::StepKind::kDiv, graph::StepKind::kAdd,
                         graph::StepKind::kMul, graph::StepKind::kAdd));
}

struct FlopsCase {
  std::string name;
  std::string items, entry;
  int64_t want;  // Of step 0.
};

class FlopsTest : public ::testing::TestWithParam<FlopsCase> {};

TEST_P(FlopsTest, CountArithmetic) {
  const auto entry = PrepareOrFail(ConfigOf(absl::StrCat(
      "module t\n", GetParam().items, "\npub entry run", GetParam().entry)));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(Flops(*entry, 0), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, FlopsTest,
    ::testing::ValuesIn<FlopsCase>({
        {"OnePerElement", "",
         "(x: Tensor[4, 6; f32]) -> Tensor[4, 6; f32] { return exp(x) }", 24},
        {"NoneForACast", "",
         "(x: Tensor[4; bf16]) -> Tensor[4; f32] { return cast<f32>(x) }", 0},
        // 24 elements, each exp and *.
        {"Comprehension", "",
         "(x: Tensor[4, 6; f32]) -> Tensor[6, 4; f32] {\n"
         "  let y[j, i] = exp(x[i, j]) * x[i, j]\n  return y }",
         48},
        // 4 x 8 elements, each 6 x (one product + one sum).
        {"NativeLinearAsItsBody", "use std.nn.linear::{linear}",
         "(x: Tensor[4, 6; f32], w: Tensor[8, 6; f32]) -> Tensor[4, 8; f32] {\n"
         "  return linear(x, w) }",
         4 * 8 * 6 * 2},
        // The same without the optional bias.
        {"OptionalArgumentsAreAbsent", "use std.nn.linear::{linear}",
         "(x: Tensor[4, 6; f32], w: Tensor[8, 6; f32], b: Tensor[8; f32]) -> "
         "Tensor[4, 8; f32] { return linear(x, w, some(b)) }",
         4 * 8 * 6 * 2},
        {"ScalarReduction", "",
         "(x: Tensor[5; f32]) -> Tensor[5; f32] {\n"
         "  let total = sum[i] x[i] * x[i]\n  return x / total }",
         10},
    }),
    [](const auto& test) { return test.param.name; });

constexpr char kCacheBlock[] = R"(module t
use std.nn.cache::{write_at}
pub block Store {
    state cache: Tensor[1, 2, 8, 4; f32]
    state other: Tensor[3; f32]
    pub entry alone(x: Tensor[1, 2, 1, 4; f32], at: i32) -> Tensor[1, 2, 8, 4; f32] {
        cache = write_at(cache, x, at)
        return exp(cache)
    }
    pub entry shared(x: Tensor[1, 2, 1, 4; f32], at: i32) -> Tensor[1, 2, 8, 4; f32] {
        let before = cache
        cache = write_at(before, x, at)
        return exp(before)
    }
    pub entry plain(x: Tensor[3; f32]) -> Tensor[3; f32] {
        other = x + other
        return exp(other)
    }
}
)";

TEST(StateTest, CacheWriteIsInPlaceWhenReadNowhereElse) {
  Config config = ConfigOf(kCacheBlock);
  config.entry = "alone";
  const auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(Steps(*entry), ::testing::ElementsAre("write_at*", "exp"));
  EXPECT_TRUE(entry->graph().state_writes().empty());
}

TEST(StateTest, CacheWriteCopiesWhenTheOldValueIsRead) {
  Config config = ConfigOf(kCacheBlock);
  config.entry = "shared";
  const auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(Steps(*entry), ::testing::ElementsAre("write_at", "exp"));
  EXPECT_EQ(entry->graph().state_writes().size(), 1u);
}

TEST(StateTest, OnlyTheCacheIsAKvCache) {
  Config config = ConfigOf(kCacheBlock);
  config.entry = "plain";
  const auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(Steps(*entry), ::testing::ElementsAre("add", "exp"));
  const auto report = entry->Analyze(config);
  ASSERT_TRUE(report.ok());
  ASSERT_GE(report->components.size(), 2u);
  EXPECT_EQ(report->components[0].name, "State");
  EXPECT_EQ(report->components[0].bytes, 3 * 4);
  EXPECT_EQ(report->components[1].name, "KV cache");
  EXPECT_EQ(report->components[1].bytes, 2 * 8 * 4 * 4);
}

TEST(WarningTest, RuntimeIf) {
  const Config config = ConfigOf(
      "module t\npub entry run(x: Tensor[4; f32], c: bool) -> Tensor[4; f32] "
      "{ return if c { exp(x) } else { x + x } }");
  const auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  const auto report = entry->Analyze(config);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_THAT(report->warnings[0], HasSubstr("both branches are counted"));
}

TEST(NumericsTest, ExactRunsBodies) {
  Config config = ConfigOf(
      "module t\nuse std.nn.activations::{relu}\npub entry run(x: Tensor[4; "
      "f32]) -> Tensor[4; f32] { return relu(x) }");
  config.numerics = "exact";
  auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(Steps(*entry), ::testing::ElementsAre("max"));
  config.numerics = "equivalent";
  entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(Steps(*entry), ::testing::ElementsAre("relu"));
}

}  // namespace
}  // namespace linnet::planner
