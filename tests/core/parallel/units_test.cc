#include "core/parallel/units.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::parallel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Unit> Units(const std::vector<int64_t>& bytes) {
  std::vector<Unit> units;
  for (const int64_t each : bytes) {
    units.push_back({absl::StrCat("layers.", units.size()), each});
  }
  return units;
}

std::vector<size_t> Balanced(const std::vector<int64_t>& bytes,
                             int64_t stages) {
  const auto starts = BalanceStages(Units(bytes), stages);
  EXPECT_TRUE(starts.ok()) << starts.status();
  return starts.value_or(std::vector<size_t>());
}

TEST(UnitsTest, AreTheBlocksOfTheRoot) {
  EXPECT_EQ(UnitOf("layers.3.mlp.up.weight"), "layers.3");
  EXPECT_EQ(UnitOf("embedding.weight"), "embedding");
  EXPECT_EQ(UnitOf("scale"), "");
  EXPECT_EQ(UnitOf("norms.12"), "norms");  // An array of parameters.
  const auto graph = training::TrainingGraphReader().Read(
      "param embedding.weight 8x2; param layers.0.a 3; param layers.0.b 1;"
      "param layers.1.a 3; param scale 4; tie head.weight embedding.weight");
  const std::vector<Unit> units = FindUnits(*graph);
  ASSERT_EQ(units.size(), 4u);
  EXPECT_EQ(UnitsText(units), "embedding, layers.0-1, head");
  EXPECT_EQ(units[0].bytes, 64);
  EXPECT_EQ(units[1].bytes, 16);
  EXPECT_EQ(units[3].bytes, 64);  // A tied one counts in both.
}

TEST(UnitsTest, StagesAreBalanced) {
  EXPECT_THAT(Balanced({5, 5, 5, 5}, 2), ElementsAre(0, 2));
  EXPECT_THAT(Balanced({9, 1, 1, 1}, 2), ElementsAre(0, 1));
  EXPECT_THAT(Balanced({1, 2, 3, 4, 5}, 3), ElementsAre(0, 3, 4));
  EXPECT_THAT(Balanced({7}, 1), ElementsAre(0));
  // One large block: the limit of 9 needs two stages, the last is cut in half.
  EXPECT_THAT(Balanced({9, 2, 2, 2, 2}, 3), ElementsAre(0, 1, 3));
  EXPECT_THAT(Balanced({9, 2, 2}, 3), ElementsAre(0, 1, 2));
}

TEST(UnitsTest, NoOtherCutsHaveASmallerLargestStage) {
  const std::vector<std::vector<int64_t>> cases = {{3, 1, 4, 1, 5, 9, 2, 6},
                                                   {1, 1, 1, 1, 1, 1, 1},
                                                   {10, 1, 1, 10, 1, 1, 10}};
  for (const auto& bytes : cases) {
    const auto largest = [&](const std::vector<size_t>& starts) {
      int64_t most = 0;
      for (size_t i = 0; i < starts.size(); ++i) {
        const size_t end = i + 1 < starts.size() ? starts[i + 1] : bytes.size();
        int64_t sum = 0;
        for (size_t u = starts[i]; u < end; ++u) sum += bytes[u];
        most = std::max(most, sum);
      }
      return most;
    };
    const int64_t got = largest(Balanced(bytes, 3));
    for (size_t a = 1; a + 1 < bytes.size(); ++a) {
      for (size_t b = a + 1; b < bytes.size(); ++b) {
        EXPECT_LE(got, largest({0, a, b}));
      }
    }
  }
}

TEST(UnitsTest, NamedStagesBeginWhereTheyAreTold) {
  const std::vector<Unit> units = Units({1, 1, 1, 1});
  const std::vector<std::string> names = {"layers.1", "layers.3"};
  EXPECT_THAT(*NamedStages(units, names, 3), ElementsAre(0, 1, 3));
}

TEST(UnitsTest, StagesThatCannotBe) {
  const std::vector<Unit> units = Units({1, 1, 1, 1});
  const auto message = [&](const std::vector<std::string>& names,
                           int64_t stages) {
    return std::string(NamedStages(units, names, stages).status().message());
  };
  EXPECT_THAT(message({"layer.1"}, 2), HasSubstr("did you mean `layers.1`"));
  EXPECT_THAT(message({"zzz"}, 2), HasSubstr("the blocks are layers.0-3"));
  EXPECT_THAT(message({"layers.2", "layers.1"}, 3),
              HasSubstr("`layers.1` (--stages) comes before"));
  EXPECT_THAT(message({"layers.0"}, 2), HasSubstr("comes before, or at"));
  EXPECT_THAT(message({"layers.1"}, 3), HasSubstr("need the names of 2"));
  EXPECT_THAT(std::string(BalanceStages(units, 5).status().message()),
              HasSubstr("has 4 blocks to cut between, so it cannot run on 5"));
}

}  // namespace
}  // namespace linnet::parallel
