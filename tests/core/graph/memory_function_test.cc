#include "core/graph/memory_function.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/expr/evaluator.h"
#include "core/graph/graph.h"
#include "core/graph/liveness.h"
#include "core/graph/plain_walk.h"
#include "core/graph/timeline.h"
#include "gtest/gtest.h"
#include "tests/support/graph_text.h"
#include "tests/support/random.h"

namespace linnet::graph {
namespace {

MemoryFunction FunctionOf(const Graph& graph, const Timeline& timeline) {
  auto function =
      MemoryFunction::Build(graph.shared_pool(), graph.roles(), timeline);
  LINNET_CHECK(function.ok()) << function.status();
  return *std::move(function);
}

struct PeakCase {
  std::string name;
  std::string graph;
  std::vector<int64_t> sizes;
  int64_t bytes;
  int64_t moment;
  std::string formula;
};

class PeakTest : public ::testing::TestWithParam<PeakCase> {};

TEST_P(PeakTest, MatchesByHand) {
  const auto graph = ParseGraphOrDie(GetParam().graph);
  const MemoryFunction function = FunctionOf(*graph, ComputeLiveness(*graph));
  const Peak peak = function.Evaluate(GetParam().sizes);
  ASSERT_TRUE(peak.ok());
  EXPECT_EQ(peak.bytes, GetParam().bytes);
  EXPECT_EQ(peak.moment, GetParam().moment);
  EXPECT_EQ(function.FormulaText(), GetParam().formula);
}

constexpr char kCrossing[] =
    "in a batch; b 10*batch = f(a); c batch*context = g(a); d 1 = f(a); out d";

INSTANTIATE_TEST_SUITE_P(
    Cases, PeakTest,
    ::testing::ValuesIn<PeakCase>({
        {"OperandsAndResultsTogether",
         "in a 3; b 5 = f(a); c 7 = f(b); d 1 = f(c); out d",
         {1, 1},
         15,
         1,
         "15"},
        {"LaterAndLarger",
         "in a 1; b 5*batch = f(a); c 1 = f(a); d 5*batch = f(a); out c",
         {2, 1},
         12,
         2,
         "5 * batch + 2"},
        {"FirstOfEquals",
         "in a 1; b 5*batch = f(a); d 5*batch = f(a)",
         {2, 1},
         11,
         0,
         "5 * batch + 1"},
        {"LeftSideOfCrossing",
         kCrossing,
         {2, 5},
         22,
         0,
         "max(batch * context + batch, 11 * batch)"},
        {"AtCrossingTheFirst",
         kCrossing,
         {2, 10},
         22,
         0,
         "max(batch * context + batch, 11 * batch)"},
        {"RightSideOfCrossing",
         kCrossing,
         {2, 11},
         24,
         1,
         "max(batch * context + batch, 11 * batch)"},
        {"LayersMerge",
         "in a batch; b batch = f(a); c 9*batch = f(b); d batch = f(c); "
         "e 9*batch = f(d); h batch = f(e); out h",
         {3, 1},
         33,
         1,
         "11 * batch"},
        {"InputsAlone", "in a 3*context; out a", {1, 4}, 12, 0, "3 * context"},
        {"Nothing", "f()", {1, 1}, 0, 0, "0"},
        {"ViewsAreFree",
         "in a 4; v in a = view(a); w in v = view(v); b 2 = f(w); out b",
         {1, 1},
         6,
         2,
         "6"},
    }),
    [](const auto& test) { return test.param.name; });

// Sizes that any property test tries.
std::vector<int64_t> RandomSizes(Random& random) {
  const auto size = [&] {
    return 1 + random.Below(random.Int(3) == 0 ? 4 : 3000);
  };
  const int64_t batch = size();
  return {batch, size()};
}

TEST(MemoryFunctionTest, AgreesWithThePlainWalks) {
  int candidates = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto graph = RandomGraph(seed);
    const Timeline timeline = ComputeLiveness(*graph);
    const MemoryFunction function = FunctionOf(*graph, timeline);
    candidates = std::max(candidates, function.num_candidates());
    Random random(seed);
    for (int round = 0; round < 4; ++round) {
      const std::vector<int64_t> sizes = RandomSizes(random);
      const TestSizes by_symbol = SizesOf(*graph, sizes);
      const Peak got = function.Evaluate(sizes);
      const Peak want = PlainWalk(*graph, by_symbol);
      ASSERT_EQ(got.error, want.error);
      ASSERT_EQ(got.bytes, want.bytes) << graph->Text();
      ASSERT_EQ(got.moment, want.moment) << graph->Text();
      const Peak also = PlainWalk(timeline, by_symbol);
      ASSERT_EQ(also.bytes, want.bytes);
      ASSERT_EQ(also.moment, want.moment);

      expr::Pool pool(graph->shared_pool());
      const expr::Value formula =
          expr::Evaluate(function.Formula(pool), by_symbol);
      ASSERT_EQ(formula.value, want.bytes) << function.FormulaText();
    }
  }
  EXPECT_GT(candidates, 3) << "the graphs are too simple to test anything";
}

// Arbitrary intervals of several categories, as training and workspaces give.
TEST(MemoryFunctionTest, AgreesOnRandomTimelines) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto graph = RandomGraph(seed);
    Random random(seed);
    Timeline timeline{.moments = 1 + random.Below(60)};
    for (int i = random.Int(80); i > 0; --i) {
      const ObjectId source = {random.Int(graph->num_objects())};
      Interval interval;
      interval.bytes = graph->object(source).full_bytes;
      interval.begin = random.Below(timeline.moments);
      interval.end =
          std::min(timeline.moments - 1, interval.begin + random.Below(8));
      interval.category = static_cast<Category>(random.Index(kNumCategories));
      timeline.intervals.push_back(interval);
    }
    const MemoryFunction function = FunctionOf(*graph, timeline);
    for (int round = 0; round < 4; ++round) {
      const std::vector<int64_t> sizes = RandomSizes(random);
      const Peak got = function.Evaluate(sizes);
      const TestSizes by_symbol = SizesOf(*graph, sizes);
      const Peak want = PlainWalk(timeline, by_symbol);
      ASSERT_EQ(got.bytes, want.bytes);
      ASSERT_EQ(got.moment, want.moment);

      CategoryBytes split{};
      for (const Interval& interval : LiveAt(timeline, want.moment)) {
        split[static_cast<size_t>(interval.category)] +=
            expr::Evaluate(interval.bytes, by_symbol).value;
      }
      ASSERT_EQ(function.Split(got, sizes), split);
    }
  }
}

TEST(MemoryFunctionTest, NeverShrinksAsARoleGrows) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const auto graph = RandomGraph(seed);
    const MemoryFunction function = FunctionOf(*graph, ComputeLiveness(*graph));
    Random random(seed);
    for (int round = 0; round < 5; ++round) {
      const std::vector<int64_t> sizes = RandomSizes(random);
      for (size_t role = 0; role < sizes.size(); ++role) {
        std::vector<int64_t> larger = sizes;
        larger[role] += 1 + random.Below(10);
        EXPECT_GE(function.Evaluate(larger).bytes,
                  function.Evaluate(sizes).bytes);
      }
    }
  }
}

TEST(MemoryFunctionTest, WorkspaceMayMoveThePeak) {
  const auto graph =
      ParseGraphOrDie("in a batch; b 9*batch = f(a); c 2*batch = f(a); out c");
  Timeline timeline = ComputeLiveness(*graph);
  auto pool = std::make_shared<expr::Pool>(graph->shared_pool());
  timeline.intervals.push_back(
      {.bytes = pool->Mul(pool->Constant(100), pool->Symbol("context")),
       .begin = 1,
       .end = 1,
       .category = Category::kWorkspace});
  const MemoryFunction plain = FunctionOf(*graph, ComputeLiveness(*graph));
  const auto function = MemoryFunction::Build(pool, graph->roles(), timeline);
  ASSERT_TRUE(function.ok()) << function.status();
  EXPECT_EQ(plain.Evaluate({10, 1}).moment, 0);
  const Peak peak = function->Evaluate({10, 1});
  EXPECT_EQ(peak.moment, 1);
  EXPECT_EQ(peak.bytes, 130);
  const CategoryBytes split = function->Split(peak, {10, 1});
  EXPECT_EQ(split[static_cast<size_t>(Category::kWorkspace)], 100);
  EXPECT_EQ(split[static_cast<size_t>(Category::kActivations)], 20);
  EXPECT_EQ(split[static_cast<size_t>(Category::kInputs)], 10);
}

TEST(MemoryFunctionTest, ReportsOverflow) {
  const auto graph = ParseGraphOrDie("in a batch*context; out a");
  const MemoryFunction function = FunctionOf(*graph, ComputeLiveness(*graph));
  EXPECT_EQ(function.Evaluate({int64_t{1} << 40, int64_t{1} << 40}).error,
            expr::Error::kOverflow);
  EXPECT_EQ(
      PlainWalk(*graph, SizesOf(*graph, {int64_t{1} << 40, int64_t{1} << 40}))
          .error,
      expr::Error::kOverflow);
}

TEST(MemoryFunctionTest, RejectsBadSizes) {
  auto pool = std::make_shared<expr::Pool>();
  const expr::Expr batch = pool->Symbol("batch");
  const expr::Expr huge = pool->Mul(pool->Constant(int64_t{1} << 62), batch);
  const auto error = [&](std::vector<expr::Expr> sizes) {
    Timeline timeline{.moments = 1};
    for (const expr::Expr size : sizes) {
      timeline.intervals.push_back({.bytes = size});
    }
    return MemoryFunction::Build(pool, {batch.symbol()}, timeline).status();
  };
  EXPECT_EQ(error({huge, huge}),
            absl::InvalidArgumentError("memory at moment 0 overflows 64 bits"));
  EXPECT_EQ(error({expr::Expr()}),
            absl::InvalidArgumentError(
                "the bytes of an interval from moment 0 is not set"));
  EXPECT_EQ(error({pool->Symbol("Layers")}),
            absl::InvalidArgumentError(
                "`Layers` is no size that can be given a value"));
}

TEST(MemoryFunctionTest, LimitsItsCandidates) {
  // Incomparable totals: a - b grows in one coefficient and falls in another.
  auto pool = std::make_shared<expr::Pool>();
  const expr::Expr a = pool->Symbol("a");
  const expr::Expr b = pool->Symbol("b");
  const auto count = static_cast<int64_t>(MemoryFunction::kMaxCandidates) + 1;
  Timeline timeline{.moments = count};
  for (int64_t i = 0; i < count; ++i) {
    timeline.intervals.push_back(
        {.bytes = pool->Add(pool->Mul(pool->Constant(i), a),
                            pool->Mul(pool->Constant(count - i), b)),
         .begin = i,
         .end = i});
  }
  const auto build = [&] {
    return MemoryFunction::Build(pool, {a.symbol(), b.symbol()}, timeline);
  };
  EXPECT_EQ(build().status().code(), absl::StatusCode::kResourceExhausted);
  timeline.intervals.pop_back();
  const auto function = build();
  ASSERT_TRUE(function.ok()) << function.status();
  EXPECT_EQ(function->Evaluate({1, 5}).moment, 0);
  EXPECT_EQ(function->Evaluate({5, 1}).moment, count - 2);
}

}  // namespace
}  // namespace linnet::graph
