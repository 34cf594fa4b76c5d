// Mixtures of experts split over processes, worked out by hand: tensors of f32.

#include "core/parallel/expert_split.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/graph_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::parallel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Four experts of width 3 for 5 rows of width 2, two for each.
constexpr char kMixture[] =
    "in x 5x2; in c 5x2:i64; in f 5x2; param m.router.weight 4x2;"
    "param m.up 4x3x2; param m.up_bias 4x3; param m.correction 4;"
    "param m.down 4x2x3; param other.w 4x2;"
    "l 5x4 = torch.nn.functional.linear(x, m.router.weight);"
    "u 5x2x3 = torch._grouped_mm(shared)(x, m.up, c);"
    "b 5x2x3 = add(u, m.up_bias);"
    "d 5x2 = torch._grouped_mm(combined)(b, m.down, c, f);"
    "y 5x2 = add(d, x); out y; out l";

std::vector<std::string> Steps(const graph::Graph& graph) {
  std::vector<std::string> steps;
  for (const graph::Step& step : graph.steps()) {
    const graph::Object& made = graph.object(graph.outputs(step)[0]);
    steps.push_back(
        absl::StrCat(graph.text(step.label), " ", made.full_bytes.constant()));
  }
  return steps;
}

TEST(ExpertSplitTest, RowsTravelToTheirExperts) {
  const auto graph = training::TrainingGraphReader().Read(kMixture);
  const auto split = SplitExperts(*graph, 2);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_TRUE(graph::VerifyGraph(*split->graph).ok());
  // Rows of width 2 by expert and received, the product, the bias, the second
  // product with its results of width 2 by expert, those sent back, their sum.
  EXPECT_THAT(Steps(*split->graph),
              ElementsAre("torch.nn.functional.linear 80", "rows by expert 80",
                          "all_to_all 80", "torch._grouped_mm(shared) 120",
                          "add 120", "torch._grouped_mm(combined) 80",
                          "all_to_all 80", "sum by row 40", "add 40"));
  EXPECT_EQ(split->exchanges, 2);
  std::vector<std::string> parameters;
  for (const graph::Object& object : split->graph->objects()) {
    if (object.category != graph::Category::kParameters) continue;
    parameters.push_back(absl::StrCat(split->graph->text(object.path), " ",
                                      object.bytes.constant()));
  }
  // Not the router, its correction, nor what is of another block.
  EXPECT_THAT(parameters, testing::UnorderedElementsAre(
                              "m.router.weight 32", "m.up 48", "m.up_bias 24",
                              "m.correction 16", "m.down 48", "other.w 32"));
  EXPECT_EQ(split->split_weights, 3);
}

TEST(ExpertSplitTest, TwoProductsShareTheirRows) {
  const auto graph = training::TrainingGraphReader().Read(
      "in x 5x2; in c 5x2:i64; in f 5x2; param m.gate 4x3x2; param m.up 4x3x2;"
      "param m.down 4x2x3;"
      "g 5x2x3 = torch._grouped_mm(shared)(x, m.gate, c);"
      "u 5x2x3 = torch._grouped_mm(shared)(x, m.up, c); h 5x2x3 = mul(g, u);"
      "d 5x2 = torch._grouped_mm(combined)(h, m.down, c, f);"
      "z 5x2 = exp(x); out d; out z");
  const auto split = SplitExperts(*graph, 4);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->exchanges, 2);
  // Others read x where it was.
  const graph::Step& last = split->graph->steps().back();
  EXPECT_EQ(split->graph->entry_inputs()[0], split->graph->inputs(last)[0]);
}

TEST(ExpertSplitTest, Refusals) {
  const auto graph = training::TrainingGraphReader().Read(kMixture);
  EXPECT_THAT(std::string(SplitExperts(*graph, 3).status().message()),
              HasSubstr("the 4 experts of `m` do not divide over 3 processes "
                        "(--expert-parallel); 2 and 4 do"));
  const auto none =
      training::TrainingGraphReader().Read("in x 4; y 4 = exp(x); out y");
  EXPECT_THAT(std::string(SplitExperts(*none, 2).status().message()),
              HasSubstr("runs no product of experts"));
}

}  // namespace
}  // namespace linnet::parallel
