// Programs with collectives split by the sequence, worked out by hand: tensors
// of f32.

#include "core/parallel/sequence_split.h"

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

// "label bytes" of each step's output.
std::vector<std::string> Steps(const graph::Graph& graph) {
  std::vector<std::string> steps;
  for (const graph::Step& step : graph.steps()) {
    const graph::Object& made = graph.object(graph.outputs(step)[0]);
    steps.push_back(
        absl::StrCat(graph.text(step.label), " ", made.full_bytes.constant()));
  }
  return steps;
}

SplitBySequence Split(absl::string_view text, int64_t processes) {
  const auto graph = training::TrainingGraphReader().Read(text);
  auto split = SplitSequence(*graph, processes);
  EXPECT_TRUE(split.ok()) << split.status();
  EXPECT_TRUE(graph::VerifyGraph(*split->graph).ok());
  return *std::move(split);
}

// A layer of 6 rows of width 2 on two processes: x, a norm, two products that
// read it, an all-reduce, and the residual sum.
TEST(SequenceSplitTest, ALayer) {
  const SplitBySequence split = Split(
      "in t 6:i64; param e.weight 9x2; param n 2; param up 4x2; param gate 4x2;"
      "param down 2x4;"
      "x 1x6x2 = torch.nn.functional.embedding(t, e.weight);"
      "y 1x6x2 = torch.rms_norm(x, n);"
      "u 1x6x4 = torch.nn.functional.linear(y, up);"
      "g 1x6x4 = torch.nn.functional.linear(y, gate); h 1x6x4 = mul(u, g);"
      "d 1x6x2 = torch.nn.functional.linear(h, down);"
      "r 1x6x2 = torch.distributed.all_reduce(d); z 1x6x2 = add(x, r); out z",
      2);
  EXPECT_THAT(Steps(*split.graph),
              ElementsAre("torch.nn.functional.embedding 48", "scatter 24",
                          "torch.rms_norm 24", "all_gather 48",
                          "torch.nn.functional.linear 96",
                          "torch.nn.functional.linear 96", "mul 96",
                          "torch.nn.functional.linear 48", "reduce_scatter 24",
                          "add 24", "all_gather 48"));
  EXPECT_EQ(split.scattered, 4);  // x, y, r, z.
  EXPECT_EQ(split.gathers, 2);    // Of y once, for both products; of z.
}

TEST(SequenceSplitTest, RowsThatDoNotDivideAreRoundedUp) {
  const SplitBySequence split = Split(
      "in x 5x2; r 5x2 = torch.distributed.all_reduce(x); y 5x2 = exp(r);"
      "v in y 10 = reshape(y); out v",
      2);
  // Three rows of five. A view is taken of the whole.
  EXPECT_THAT(Steps(*split.graph), ElementsAre("reduce_scatter 24", "exp 24",
                                               "all_gather 40", "reshape 40"));
}

TEST(SequenceSplitTest, OtherOperandsAreScattered) {
  const SplitBySequence split = Split(
      "in m 4x2; in c 2; in x 4x2; r 4x2 = torch.distributed.all_reduce(x);"
      "y 4x2 = mul(r, m); z 4x2 = mul(y, c); s 4 = reduce(z); out s",
      4);
  EXPECT_THAT(Steps(*split.graph),
              ElementsAre("reduce_scatter 8", "scatter 8", "mul 8", "mul 8",
                          "all_gather 32", "reduce 16"));
}

TEST(SequenceSplitTest, NeedsAnAllReduce) {
  const auto graph =
      training::TrainingGraphReader().Read("in x 4x2; y 4x2 = exp(x); out y");
  EXPECT_THAT(std::string(SplitSequence(*graph, 2).status().message()),
              HasSubstr("this entry has none"));
}

}  // namespace
}  // namespace linnet::parallel
