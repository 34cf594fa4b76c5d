#include "core/planner/sweep.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::FullText;

std::vector<int64_t> Expand(std::vector<SizeRange> ranges) {
  auto sizes = ExpandRanges(ranges, 1000);
  EXPECT_TRUE(sizes.ok()) << sizes.status();
  return sizes.value_or(std::vector<int64_t>());
}

TEST(SweepTest, RangesGrowByStepsAndFactors) {
  EXPECT_THAT(Expand({{1, 4, 1, 1}}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Expand({{1, 64, 1, 4}}), ElementsAre(1, 4, 16, 64));
  EXPECT_THAT(Expand({{1, 10, 4, 1}}), ElementsAre(1, 5, 9));
  EXPECT_THAT(Expand({{7, 7, 1, 1}, {3, 12, 1, 2}}), ElementsAre(7, 3, 6, 12));
  EXPECT_THAT(Expand({{kMaxSweepSize, kMaxSweepSize, 1, 2}}),
              ElementsAre(kMaxSweepSize));
  EXPECT_THAT(Expand({{3, kMaxSweepSize, 1, kMaxSweepSize}}), ElementsAre(3));
  EXPECT_THAT(Expand({{3, kMaxSweepSize, INT64_MAX, 1}}), ElementsAre(3));
  EXPECT_THAT(Expand({{3, kMaxSweepSize, 1, INT64_MAX}}), ElementsAre(3));
}

TEST(SweepTest, RangesThatCannotBe) {
  const std::vector<SizeRange> wrong = {{0, 4, 1, 1},         {4, 3, 1, 1},
                                        {1, 4, 0, 1},         {1, 4, 1, 0},
                                        {1, INT64_MAX, 1, 2}, {1, 2000, 1, 1}};
  for (const SizeRange& range : wrong) {
    EXPECT_FALSE(ExpandRanges({range}, 1000).ok());
  }
}

TEST(SweepTest, LaterRolesChangeFaster) {
  SizeGrid grid;
  EXPECT_EQ(grid.count(), 1);
  grid.Set(Role::kBatch, {1, 2});
  grid.Set(Role::kCache, {5, 6, 7});
  EXPECT_EQ(grid.count(), 6);
  EXPECT_THAT(grid.At(0), ElementsAre(1, 0, 5));
  EXPECT_THAT(grid.At(1), ElementsAre(1, 0, 6));
  EXPECT_THAT(grid.At(5), ElementsAre(2, 0, 7));
  Config config;
  config.context = 9;
  grid.Put(4, &config);
  EXPECT_EQ(config.batch, 2);
  EXPECT_EQ(config.context, 9);
  EXPECT_EQ(config.cache_len, 6);
}

// Each point is what Summarize() says.
void CheckPoints(Config config, const SizeGrid& grid, size_t policies = 1) {
  Config first = config;
  grid.Put(0, &first);
  const auto prepared = Prepare(first);
  ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
  const int64_t n = *grid.count();
  for (size_t policy = 0; policy < policies; ++policy) {
    std::vector<PointPeak> points(static_cast<size_t>(n));
    // In two parts, to start in the middle.
    const auto span = absl::MakeSpan(points);
    ASSERT_TRUE(
        (*prepared)->Peaks(config, grid, 0, policy, span.first(3)).ok());
    ASSERT_TRUE(
        (*prepared)->Peaks(config, grid, 3, policy, span.subspan(3)).ok());
    for (int64_t i = 0; i < n; ++i) {
      const PointPeak& point = points[static_cast<size_t>(i)];
      Config at = config;
      grid.Put(i, &at);
      const auto summary = (*prepared)->SummarizePolicy(at, policy);
      if (!summary.ok()) {
        EXPECT_EQ(point.state, absl::IsOutOfRange(summary.status())
                                   ? PointState::kOverflow
                                   : PointState::kInvalid);
        continue;
      }
      EXPECT_EQ(point.graph_bytes, summary->graph_peak_bytes) << i;
      EXPECT_EQ(point.expected_bytes, summary->expected_peak_bytes) << i;
      EXPECT_EQ(point.state, summary->constraints_hold ? PointState::kOk
                                                       : PointState::kBroken);
    }
  }
}

TEST(SweepTest, PointsAreWhatSummariesSay) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  SizeGrid grid;
  grid.Set(Role::kBatch, {1, 3, 64, kMaxSweepSize});
  grid.Set(Role::kContext, {1, 100, 8192, 200'000});
  CheckPoints(config, grid);
  config.kv_block_size = 16;
  config.cache_len = 512;
  CheckPoints(config, grid);
  config.cache_len.reset();
  grid.Set(Role::kCache, {16, 4096});
  CheckPoints(config, grid);
}

TEST(SweepTest, TrainingStepsAndPipelinesToo) {
  Config config;
  config.model.name = "tinyllama-1.1b-chat";
  config.entry = "loss_packed";
  config.training.emplace().checkpoints = {"none", "block"};
  SizeGrid grid;
  grid.Set(Role::kContext, {64, 128, 1000, 4096});
  CheckPoints(config, grid, 2);
  config.parallel.pipeline = 4;
  CheckPoints(config, grid, 2);
}

TEST(SweepTest, WhatIsWrongEverywhereIsAnError) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.batch = config.context = 1;
  const auto prepared = Prepare(config);
  ASSERT_TRUE(prepared.ok());
  config.context.reset();
  SizeGrid grid;
  grid.Set(Role::kBatch, {1, 2});
  std::vector<PointPeak> points(2);
  EXPECT_THAT(
      std::string((*prepared)
                      ->Peaks(config, grid, 0, 0, absl::MakeSpan(points))
                      .message()),
      HasSubstr("`context` is not given"));
}

}  // namespace
}  // namespace linnet::planner
