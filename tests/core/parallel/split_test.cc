// Graphs cut into stages, worked out by hand.

#include "core/parallel/split.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/graph_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::parallel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<StageGraph> Split(absl::string_view text,
                              const std::vector<size_t>& starts,
                              int64_t devices = 0) {
  const auto graph = training::TrainingGraphReader().Read(text);
  const auto units = FindUnits(*graph);
  auto stages =
      SplitGraph(*graph, units, starts,
                 devices > 0 ? devices : static_cast<int64_t>(starts.size()));
  EXPECT_TRUE(stages.ok()) << stages.status();
  for (const StageGraph& stage : *stages) {
    const absl::Status verified = graph::VerifyGraph(*stage.graph);
    EXPECT_TRUE(verified.ok()) << verified;
  }
  return *std::move(stages);
}

std::vector<std::string> Labels(const StageGraph& stage) {
  std::vector<std::string> labels;
  for (const graph::Step& step : stage.graph->steps()) {
    labels.emplace_back(stage.graph->text(step.label));
  }
  return labels;
}

std::vector<std::string> Parameters(const StageGraph& stage) {
  std::vector<std::string> paths;
  for (const graph::Object& object : stage.graph->objects()) {
    if (object.category == graph::Category::kParameters) {
      paths.emplace_back(stage.graph->text(object.path));
    }
  }
  return paths;
}

std::vector<int64_t> Bytes(const StageGraph& stage,
                           const std::vector<graph::ObjectId>& values) {
  std::vector<int64_t> bytes;
  for (const graph::ObjectId id : values) {
    bytes.push_back(stage.graph->object(id).full_bytes.constant());
  }
  return bytes;
}

TEST(SplitTest, StepsRunWhereTheirWeightsAre) {
  const auto stages = Split(
      "in x 4; param a.w 4; param b.w 2; param c.w 1;"
      "p 4 = mul(x, a.w); q 2 = mul(p, b.w); r 1 = mul(q, c.w); out r",
      {0, 2});
  EXPECT_THAT(Labels(stages[0]), ElementsAre("mul", "mul"));
  EXPECT_THAT(Labels(stages[1]), ElementsAre("mul"));
  EXPECT_EQ(stages[0].holds, "a, b");
  EXPECT_EQ(stages[1].holds, "c");
  EXPECT_THAT(Parameters(stages[0]), ElementsAre("a.w", "b.w"));
  EXPECT_TRUE(stages[0].chunks[0].received.empty());
  EXPECT_THAT(Bytes(stages[0], stages[0].chunks[0].sent), ElementsAre(8));
  EXPECT_THAT(Bytes(stages[1], stages[1].chunks[0].received), ElementsAre(8));
  EXPECT_THAT(Bytes(stages[1], stages[1].chunks[0].sent), ElementsAre(4));
  EXPECT_THAT(stages[1].graph->results(),
              ElementsAre(stages[1].chunks[0].sent[0]));
}

TEST(SplitTest, ValuesPassThroughTheStagesBetween) {
  const auto stages = Split(
      "in x 4; param a.w 4; param b.w 2; param c.w 4;"
      "p 4 = mul(x, a.w); q 2 = mul(p, b.w); r 4 = mul(q, c.w);"
      "s 4 = add(r, p); out s",
      {0, 1, 2});
  EXPECT_THAT(Bytes(stages[0], stages[0].chunks[0].sent), ElementsAre(16));
  EXPECT_THAT(Bytes(stages[1], stages[1].chunks[0].received), ElementsAre(16));
  EXPECT_THAT(Bytes(stages[1], stages[1].chunks[0].sent), ElementsAre(16, 8));
  EXPECT_THAT(Bytes(stages[2], stages[2].chunks[0].received),
              ElementsAre(16, 8));
  EXPECT_THAT(Labels(stages[2]), ElementsAre("mul", "add"));
}

TEST(SplitTest, WhatInputsDecideIsRepeated) {
  const auto stages = Split(
      "in x 4; in m 4; param a.w 4; param b.w 4; t 4 = exp(m); u 4 = neg(t);"
      "p 4 = mul(x, a.w); q 4 = mul(p, u); r 4 = mul(q, b.w);"
      "s 4 = mul(r, u); out s",
      {0, 1});
  EXPECT_THAT(Labels(stages[0]), ElementsAre("exp", "neg", "mul", "mul"));
  EXPECT_THAT(Labels(stages[1]), ElementsAre("exp", "neg", "mul", "mul"));
  EXPECT_THAT(Bytes(stages[0], stages[0].chunks[0].sent), ElementsAre(16));
}

TEST(SplitTest, ResultsBelongToTheLastStage) {
  const auto stages = Split(
      "in x 4; param a.w 4; param b.w 2; p 4 = mul(x, a.w);"
      "q 2 = mul(p, b.w); out p; out q",
      {0, 1});
  EXPECT_THAT(Bytes(stages[1], stages[1].chunks[0].sent), ElementsAre(16, 8));
  EXPECT_EQ(stages[1].chunks[0].received.size(), 1u);
}

TEST(SplitTest, ADeviceMayHaveSeveralStages) {
  const auto devices = Split(
      "in x 4; param a.w 4; param b.w 2; param c.w 4; param d.w 1;"
      "t 4 = exp(x); p 4 = mul(t, a.w); q 2 = mul(p, b.w); r 4 = mul(q, c.w);"
      "u 4 = mul(r, t); s 1 = mul(u, d.w); out s",
      {0, 1, 2, 3}, 2);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].holds, "a, c");
  EXPECT_THAT(Parameters(devices[0]), ElementsAre("a.w", "c.w"));
  // What inputs decide is repeated in each stage.
  EXPECT_THAT(Labels(devices[0]),
              ElementsAre("exp", "mul", "exp", "mul", "mul"));
  const std::vector<Chunk>& chunks = devices[0].chunks;
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0].first_step, 0);
  EXPECT_EQ(chunks[0].num_steps, 2);
  EXPECT_EQ(chunks[1].first_step, 2);
  EXPECT_EQ(chunks[1].num_steps, 3);
  EXPECT_THAT(Bytes(devices[0], chunks[0].inputs), ElementsAre(16));
  EXPECT_TRUE(chunks[1].inputs.empty());
  EXPECT_THAT(Bytes(devices[0], chunks[0].sent), ElementsAre(16));
  EXPECT_THAT(Bytes(devices[0], chunks[1].received), ElementsAre(8));
  EXPECT_THAT(Bytes(devices[0], chunks[1].sent), ElementsAre(16));
  EXPECT_FALSE(chunks[1].last);
  EXPECT_TRUE(devices[1].chunks[1].last);
}

TEST(SplitTest, TiedWeightsAreHeldOnBothEnds) {
  const auto stages = Split(
      "in x 4; param a.w 4; param b.w 4; tie c.w a.w; p 4 = mul(x, a.w);"
      "q 4 = mul(p, b.w); r 4 = mul(q, c.w); out r",
      {0, 1});
  EXPECT_THAT(Parameters(stages[0]), ElementsAre("a.w"));
  EXPECT_THAT(Parameters(stages[1]), ElementsAre("b.w", "c.w"));
  for (const graph::Object& object : stages[1].graph->objects()) {
    if (object.path.valid()) {
      EXPECT_EQ(object.bytes.constant(), 16);
    }
  }
}

TEST(SplitTest, MembersOfTheRootAreWhereTheyAreRead) {
  const auto stages = Split(
      "in x 4; param scale 4; param a.w 4; param b.w 4; p 4 = mul(x, a.w);"
      "q 4 = mul(p, b.w); r 4 = mul(q, scale); out r",
      {0, 1});
  EXPECT_THAT(Parameters(stages[0]), ElementsAre("a.w"));
  EXPECT_THAT(Parameters(stages[1]), ElementsAre("scale", "b.w"));
}

TEST(SplitTest, AWeightOfAnotherStageIsHeldToo) {
  const auto stages = Split(
      "in x 4; param a.w 4; param b.w 4; p 4 = mul(x, a.w);"
      "q 4 = mul(p, b.w, a.w); out q",
      {0, 1});
  EXPECT_THAT(Parameters(stages[1]), ElementsAre("a.w", "b.w"));
}

TEST(SplitTest, ViewsCrossAsTheyAre) {
  const auto stages = Split(
      "in x 8; param a.w 8; param b.w 2; p 8 = mul(x, a.w);"
      "v in p 2 = slice(p); q 2 = mul(v, b.w); out q",
      {0, 1});
  // The part alone, not the storage that it lies in.
  EXPECT_THAT(Bytes(stages[1], stages[1].chunks[0].received), ElementsAre(8));
  EXPECT_EQ(
      stages[1].graph->object(stages[1].chunks[0].received[0]).bytes.constant(),
      8);
}

// Every step of the whole runs on some stage, and every parameter is held.
TEST(SplitPropertyTest, NothingIsLost) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int units = 2 + random.Int(5);
    std::string text = "in x 4;";
    for (int u = 0; u < units; ++u)
      absl::StrAppend(&text, "param l.", u, ".w 4;");
    std::vector<std::string> values = {"x"};
    for (int s = 0; s < 12; ++s) {
      const std::string from = values[random.Index(values.size())];
      const std::string name = absl::StrCat("v", s);
      absl::StrAppend(&text, name, " 4 = mul(", from, ", l.", random.Int(units),
                      ".w);");
      values.push_back(name);
    }
    for (const std::string& value : values)
      absl::StrAppend(&text, "out ", value, ";");
    const size_t cut = 1 + random.Index(static_cast<size_t>(units) - 1);
    const auto graph = training::TrainingGraphReader().Read(text);
    const auto found = FindUnits(*graph);
    const auto stages = Split(text, {0, cut});
    int64_t steps = 0;
    for (const StageGraph& stage : stages) steps += stage.graph->num_steps();
    for (size_t u = 0; u < found.size(); ++u) {
      const auto held = Parameters(stages[u < cut ? 0 : 1]);
      EXPECT_THAT(held, Contains(found[u].path + ".w")) << text;
    }
    EXPECT_EQ(steps, 12) << text;
    EXPECT_EQ(stages[1].chunks[0].sent.size(), values.size()) << text;
  }
}

TEST(SplitTest, StatesAreRefused) {
  auto pool = std::make_shared<expr::Pool>();
  graph::GraphBuilder builder(pool, {});
  const expr::Expr shape[] = {pool->Constant(4)};
  graph::ObjectSpec spec;
  spec.path = "a.cache";
  spec.category = graph::Category::kKvCache;
  spec.shape = shape;
  spec.persistent = true;
  const graph::ObjectId cache = builder.AddObject(spec);
  graph::ObjectSpec made;
  made.shape = shape;
  const graph::ObjectId out = builder.AddObject(made);
  const graph::ObjectId inputs[] = {cache}, outputs[] = {out};
  builder.AddStep({graph::StepKind::kNeg, "neg", inputs, outputs, "", "", {}});
  builder.MarkResult(out);
  const auto graph = builder.Build();
  ASSERT_TRUE(graph.ok());
  const size_t starts[] = {0};
  EXPECT_THAT(std::string(SplitGraph(**graph, FindUnits(**graph), starts, 2)
                              .status()
                              .message()),
              HasSubstr("reads or writes the state `a.cache`"));
}

}  // namespace
}  // namespace linnet::parallel
