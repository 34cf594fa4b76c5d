#include "core/graph/buffer_plan.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/graph/liveness.h"
#include "core/graph/memory_function.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/graph_text.h"
#include "tests/support/random.h"

namespace linnet::graph {
namespace {

using ::testing::HasSubstr;

Buffer Of(int32_t id, int64_t bytes, int64_t begin, int64_t end) {
  return {.object = ObjectId{id}, .bytes = bytes, .begin = begin, .end = end};
}

struct PlanCase {
  std::string name;
  std::vector<Buffer> buffers;
  int64_t alignment;
  std::vector<int64_t> offsets;
  int64_t naive;
  int64_t planned;
  int64_t lower_bound;
};

class BufferPlanTest : public ::testing::TestWithParam<PlanCase> {};

TEST_P(BufferPlanTest, MatchesByHand) {
  const auto plan = PlanBuffers(GetParam().buffers, GetParam().alignment);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<int64_t> offsets;
  for (const Buffer& buffer : plan->buffers) offsets.push_back(buffer.offset);
  EXPECT_EQ(offsets, GetParam().offsets);
  EXPECT_EQ(plan->naive_bytes, GetParam().naive);
  EXPECT_EQ(plan->planned_bytes, GetParam().planned);
  EXPECT_EQ(plan->lower_bound_bytes, GetParam().lower_bound);
  EXPECT_EQ(VerifyBufferPlan(*plan), absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BufferPlanTest,
    ::testing::ValuesIn<PlanCase>({
        {"None", {}, 512, {}, 0, 0, 0},
        {"ReusesDeadStorage",
         {Of(0, 8, 0, 1), Of(1, 4, 1, 2), Of(2, 8, 2, 3)},
         1,
         {0, 8, 0},
         20,
         12,
         12},
        {"EndsAreIncluded",
         {Of(0, 8, 0, 1), Of(1, 8, 1, 2)},
         1,
         {0, 8},
         16,
         16,
         16},
        {"LargestFirst",
         {Of(0, 1, 0, 9), Of(1, 100, 0, 9)},
         1,
         {100, 0},
         101,
         101,
         101},
        {"EarlierFirst",
         {Of(0, 8, 5, 9), Of(1, 8, 0, 5)},
         1,
         {8, 0},
         16,
         16,
         16},
        {"LowerIdFirst",
         {Of(7, 8, 0, 9), Of(3, 8, 0, 9)},
         1,
         {8, 0},
         16,
         16,
         16},
        {"LowestGapThatFits",
         {Of(0, 30, 0, 9), Of(1, 20, 0, 1), Of(2, 10, 0, 9), Of(3, 5, 2, 9),
          Of(4, 15, 2, 9)},
         1,
         {0, 30, 50, 45, 30},
         80,
         60,
         60},
        {"Aligned",
         {Of(0, 1, 0, 1), Of(1, 513, 0, 1)},
         512,
         {1024, 0},
         514,
         1536,
         514},
        {"EmptyOnesTakeNoSpace",
         {Of(0, 0, 0, 9), Of(1, 8, 0, 9)},
         512,
         {0, 0},
         8,
         512,
         8},
        {"FragmentationCosts",
         {Of(0, 10, 0, 1), Of(1, 9, 1, 2), Of(2, 8, 2, 3), Of(3, 7, 0, 3)},
         1,
         {0, 10, 0, 19},
         34,
         26,
         26},
    }),
    [](const auto& test) { return test.param.name; });

TEST(BufferPlanTest, RejectsBadBuffers) {
  EXPECT_THAT(PlanBuffers({Of(4, -1, 0, 0)}, 1).status().message(),
              HasSubstr("object 4 has a negative size"));
  EXPECT_THAT(PlanBuffers({Of(4, 1, 2, 1)}, 1).status().message(),
              HasSubstr("object 4 ends at moment 1, but begins at 2"));
  EXPECT_EQ(PlanBuffers({Of(0, INT64_MAX, 0, 0)}, 512).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(
      PlanBuffers({Of(0, INT64_MAX, 0, 0), Of(1, 1, 1, 1)}, 1).status().code(),
      absl::StatusCode::kOutOfRange);
}

// The rule as it is written: no structure but a list of what was placed.
std::vector<int64_t> PlainOffsets(const std::vector<Buffer>& buffers,
                                  int64_t alignment) {
  const auto rounded = [&](size_t i) {
    return (buffers[i].bytes + alignment - 1) / alignment * alignment;
  };
  std::vector<size_t> rest(buffers.size());
  for (size_t i = 0; i < rest.size(); ++i) rest[i] = i;
  std::vector<int64_t> offsets(buffers.size(), 0);
  std::vector<size_t> placed;
  while (!rest.empty()) {
    size_t best = 0;
    for (size_t k = 1; k < rest.size(); ++k) {
      const Buffer& x = buffers[rest[k]];
      const Buffer& y = buffers[rest[best]];
      const bool equal = rounded(rest[k]) == rounded(rest[best]);
      if (rounded(rest[k]) > rounded(rest[best]) ||
          (equal && x.begin < y.begin) ||
          (equal && x.begin == y.begin && x.object < y.object)) {
        best = k;
      }
    }
    const size_t index = rest[best];
    rest.erase(rest.begin() + static_cast<int64_t>(best));
    // Moves past whatever is in the way until nothing is.
    for (bool moved = true; moved && rounded(index) > 0;) {
      moved = false;
      for (const size_t other : placed) {
        const bool together = buffers[other].begin <= buffers[index].end &&
                              buffers[index].begin <= buffers[other].end;
        if (together && rounded(other) > 0 &&
            offsets[other] < offsets[index] + rounded(index) &&
            offsets[index] < offsets[other] + rounded(other)) {
          offsets[index] = offsets[other] + rounded(other);
          moved = true;
        }
      }
    }
    placed.push_back(index);
  }
  return offsets;
}

TEST(BufferPlanTest, AgreesWithThePlainRule) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto below = [&](int64_t n) { return random.Below(n); };
    std::vector<Buffer> buffers;
    const int64_t moments = 1 + below(40);
    for (int32_t i = static_cast<int32_t>(below(60)); i > 0; --i) {
      const int64_t begin = below(moments);
      buffers.push_back(Of(i, below(8) == 0 ? 0 : 1 + below(2000), begin,
                           begin + below(below(3) == 0 ? 40 : 5)));
    }
    const int64_t alignment = int64_t{1} << below(11);
    const auto plan = PlanBuffers(buffers, alignment);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(VerifyBufferPlan(*plan), absl::OkStatus());
    ASSERT_GE(plan->planned_bytes, plan->lower_bound_bytes);
    std::vector<int64_t> offsets;
    for (const Buffer& buffer : plan->buffers) {
      offsets.push_back(buffer.offset);
    }
    ASSERT_EQ(offsets, PlainOffsets(buffers, alignment));
  }
}

TEST(BufferPlanTest, LowerBoundIsThePeakOfTheGraph) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const auto graph = RandomGraph(seed);
    const Timeline timeline = ComputeLiveness(*graph);
    const auto function =
        MemoryFunction::Build(graph->shared_pool(), graph->roles(), timeline);
    ASSERT_TRUE(function.ok()) << function.status();
    const std::vector<int64_t> sizes = {1 + seed % 7, 1 + seed % 1000};
    const auto plan = PlanBuffers(timeline, graph->roles(), sizes, 512);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->lower_bound_bytes, function->Evaluate(sizes).bytes);
    EXPECT_GE(plan->planned_bytes, plan->lower_bound_bytes);
    EXPECT_EQ(VerifyBufferPlan(*plan), absl::OkStatus());
  }
}

TEST(VerifyBufferPlanTest, FindsFaults) {
  const auto plan =
      PlanBuffers({Of(0, 8, 0, 1), Of(1, 8, 1, 2), Of(2, 4, 0, 2)}, 4);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(VerifyBufferPlan(*plan), absl::OkStatus());
  const auto fault = [&](auto change) {
    BufferPlan broken = *plan;
    change(broken);
    return std::string(VerifyBufferPlan(broken).message());
  };
  EXPECT_THAT(fault([](BufferPlan& p) { p.buffers[1].offset = 4; }),
              HasSubstr("shares space"));
  EXPECT_THAT(fault([](BufferPlan& p) { p.buffers[0].offset = 30; }),
              HasSubstr("not aligned"));
  EXPECT_THAT(fault([](BufferPlan& p) { p.buffers[0].offset = -4; }),
              HasSubstr("before the arena"));
  EXPECT_THAT(fault([](BufferPlan& p) { p.naive_bytes += 1; }),
              HasSubstr("naive sum is 21, not 20"));
  EXPECT_THAT(fault([](BufferPlan& p) { p.planned_bytes -= 1; }),
              HasSubstr("planned arena is 19, not 20"));
  EXPECT_THAT(fault([](BufferPlan& p) { p.lower_bound_bytes = 0; }),
              HasSubstr("lower bound is 0, not 20"));
}

}  // namespace
}  // namespace linnet::graph
