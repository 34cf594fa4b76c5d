#include "core/parallel/tensor_split.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph_builder.h"
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

TEST(TensorSplitTest, CachesAreSplitByHeads) {
  auto pool = std::make_shared<expr::Pool>();
  graph::GraphBuilder builder(pool, {});
  const auto cache = [&](const char* path, std::vector<int64_t> sizes) {
    std::vector<expr::Expr> shape;
    for (const int64_t size : sizes) shape.push_back(pool->Constant(size));
    graph::ObjectSpec spec;
    spec.path = path;
    spec.category = graph::Category::kKvCache;
    spec.shape = shape;
    spec.persistent = true;
    return builder.AddObject(spec);
  };
  const graph::ObjectId heads = cache("a.cache_k", {1, 4, 2, 2});
  cache("b.cache_k", {1, 3, 2, 2});  // Three heads do not divide.
  cache("c.cache", {1, 4, 2});       // Not of four axes.
  const expr::Expr shape[] = {pool->Constant(16)};
  graph::ObjectSpec made;
  made.shape = shape;
  const graph::ObjectId out = builder.AddObject(made);
  const graph::ObjectId inputs[] = {heads}, outputs[] = {out};
  builder.AddStep({graph::StepKind::kNeg, "neg", inputs, outputs, "", "", {}});
  const auto graph = builder.Build();
  ASSERT_TRUE(graph.ok());
  const auto split = SplitTensors(**graph, 2);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->split_caches, 1);
  std::vector<int64_t> bytes;
  for (const graph::Object& object : split->graph->objects()) {
    bytes.push_back(object.bytes.constant());
  }
  EXPECT_THAT(bytes, ElementsAre(32, 48, 32, 32));
}

TEST(TensorSplitPropertyTest, MoreProcessesNeverHoldMore) {
  const auto graph = training::TrainingGraphReader().Read(
      "in x 24; param q_proj.weight 24x24; param o_proj.weight 24x24;"
      "a 24 = linear(x, q_proj.weight); b 24 = linear(a, o_proj.weight);"
      "c 24 = exp(b)");
  int64_t before = INT64_MAX;
  for (const int64_t processes : {1, 2, 4, 8, 24}) {
    const auto split = SplitTensors(*graph, processes);
    ASSERT_TRUE(split.ok()) << split.status();
    int64_t bytes = 0;
    for (const graph::Object& object : split->graph->objects()) {
      bytes += object.bytes.constant();
    }
    EXPECT_LE(bytes, before) << processes;
    before = bytes;
  }
}

}  // namespace
}  // namespace linnet::parallel
