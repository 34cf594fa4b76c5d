#include "core/graph/liveness.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/timeline.h"
#include "gtest/gtest.h"
#include "tests/support/graph_text.h"

namespace linnet::graph {
namespace {

using Moments = std::pair<int64_t, int64_t>;
constexpr Moments kNotListed = {-1, -1};

struct LifeCase {
  std::string name;
  std::string graph;
  std::string object;
  Moments want;  // First and last.
};

class LivenessTest : public ::testing::TestWithParam<LifeCase> {};

TEST_P(LivenessTest, MatchesDefinition) {
  GraphReader reader;
  const auto graph = reader.Read(GetParam().graph);
  const Timeline timeline = ComputeLiveness(*graph);
  Moments got = kNotListed;
  for (const Interval& interval : timeline.intervals) {
    if (interval.object == reader.Named(GetParam().object)) {
      got = {interval.begin, interval.end};
    }
  }
  EXPECT_EQ(got, GetParam().want) << graph->Text();
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LivenessTest,
    ::testing::ValuesIn<LifeCase>({
        {"ToTheLastReader",
         "in a 1; b 1 = f(a); c 1 = f(b); d 1 = f(a); out d",
         "b",
         {0, 1}},
        {"ReadTwice",
         "in a 1; b 1 = f(a); c 1 = f(b); d 1 = f(b); out d",
         "b",
         {0, 2}},
        {"UnreadResult", "in a 1; b 1 = f(a); c 1 = f(a); out c", "b", {0, 0}},
        {"Input", "in a 1; b 1 = f(a); c 1 = f(b); out c", "a", {0, 1}},
        {"UnreadInput", "in a 1; b 1 = f(); out b", "a", {0, 0}},
        {"UnreadInputStays",
         "in a 1; in x 1; b 1 = f(a); c 1 = f(b); out c",
         "x",
         {0, 1}},
        {"OutputFromItsStep",
         "in a 1; b 1 = f(a); c 1 = f(b); d 1 = f(a); out c",
         "c",
         {1, 2}},
        {"ReadThroughView",
         "in a 1; b 1 = f(a); v in b = view(b); c 1 = f(v); d 1 = f(c); out d",
         "b",
         {0, 2}},
        {"ReadThroughViewOfView",
         "in a 1; b 1 = f(a); v in b = view(b); w in v = view(v); c 1 = f(w); "
         "d 1 = f(c)",
         "b",
         {0, 3}},
        {"ViewIsNoOwner", "in a 1; b 1 = f(a); v in b = view(b); out v", "v",
         kNotListed},
        {"OutputThroughView",
         "in a 1; b 1 = f(a); v in b = view(b); c 1 = f(a); out v",
         "b",
         {0, 2}},
        {"StateIsPersistent", "in a 1; state s 1; b 1 = f(a, s); out b", "s",
         kNotListed},
        {"WrittenStateStays",
         "in a 1; state s 1; b 1 = f(a); write s b; c 1 = f(a); d 1 = f(c)",
         "b",
         {0, 2}},
        {"InPlaceWriteIsNoOwner",
         "in a 1; state s 1; u in s = write(s, a); write s u; b 1 = f(u)", "u",
         kNotListed},
        {"StepWithoutOutputReads",
         "in a 1; b 1 = f(a); c 1 = f(a); any(b); d 1 = f(c)",
         "b",
         {0, 2}},
        {"NoSteps", "in a 1; out a", "a", {0, 0}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LiveAtTest, IncludesBothEnds) {
  Timeline timeline{.moments = 4};
  timeline.intervals = {{.begin = 1, .end = 2}, {.begin = 0, .end = 0}};
  EXPECT_EQ(LiveAt(timeline, 0).size(), 1u);
  EXPECT_EQ(LiveAt(timeline, 1).size(), 1u);
  EXPECT_EQ(LiveAt(timeline, 2).size(), 1u);
  EXPECT_EQ(LiveAt(timeline, 3).size(), 0u);
}

}  // namespace
}  // namespace linnet::graph
