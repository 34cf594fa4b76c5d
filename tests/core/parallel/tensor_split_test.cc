#include "core/parallel/tensor_split.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::parallel {
namespace {

using ::testing::ElementsAre;

TEST(TensorSplitTest, RulesByPath) {
  EXPECT_EQ(SplitAxis("layers.0.attention.q_proj.weight"), 0);
  EXPECT_EQ(SplitAxis("layers.0.attention.q_proj.bias"), 0);
  EXPECT_EQ(SplitAxis("h.0.attn.qkv.bias"), 0);
  EXPECT_EQ(SplitAxis("layers.0.mlp.up.weight"), 0);
  EXPECT_EQ(SplitAxis("layers.0.mlp.down.weight"), 1);
  EXPECT_EQ(SplitAxis("layers.0.attention.o_proj.weight"), 1);
  EXPECT_EQ(SplitAxis("layers.0.attention.o_proj.bias"), std::nullopt);
  EXPECT_EQ(SplitAxis("layers.0.mlp.up.bias"), std::nullopt);
  EXPECT_EQ(SplitAxis("embedding.weight"), std::nullopt);
}

TEST(TensorSplitTest, WhatComesFromASplitWeightIsSplit) {
  const auto graph = training::TrainingGraphReader().Read(
      "in x 4; param n 4; param q_proj.weight 4x4; param o_proj.weight 4x4;"
      "param k_proj.weight 3x4; a 4 = mul(x, n); b 4 = linear(a, "
      "q_proj.weight);"
      "v in b 2x2 = reshape(b); c 4 = exp(v); d 3 = linear(a, k_proj.weight);"
      "out c; out d");
  const auto split = SplitTensors(*graph, 2);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->split_weights, 2);  // 3 rows do not divide.
  std::vector<int64_t> bytes;
  for (const graph::Object& object : split->graph->objects()) {
    bytes.push_back(object.bytes.constant());
  }
  // x, n, q, o, k; a whole, b and c in halves, the view nothing, d whole; c
  // gathered.
  EXPECT_THAT(bytes, ElementsAre(16, 16, 32, 32, 48, 16, 8, 0, 8, 12, 16));
  EXPECT_EQ(split->graph->num_steps(), graph->num_steps() + 1);
  EXPECT_EQ(split->graph->object(split->graph->results()[0]).bytes.constant(),
            16);
}

}  // namespace
}  // namespace linnet::parallel
