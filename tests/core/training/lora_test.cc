// Adapters beside the linear layers of small graphs.

#include "core/training/lora.h"

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph_builder.h"
#include "core/training/gradient_flow.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::training {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kModel[] =
    "in x 3x4:bf16; param layers.0.q_proj.weight 6x4:bf16;"
    "param layers.0.norm 6:bf16; param head.weight 2x6:bf16;"
    "q 3x6:bf16 = linear(x, layers.0.q_proj.weight) @ layers.0;"
    "v in q 18:bf16 = reshape(q) @ layers.0;"
    "n 3x6:bf16 = mul(q, layers.0.norm) @ layers.0;"
    "y 3x2:bf16 = linear(n, head.weight); out y; out v";

Adapted Adapt(absl::string_view text, const Lora& lora) {
  auto adapted = AddAdapters(*TrainingGraphReader().Read(text), lora);
  EXPECT_TRUE(adapted.ok()) << adapted.status();
  const absl::Status verified = graph::VerifyGraph(*adapted->graph);
  EXPECT_TRUE(verified.ok()) << verified;
  return *std::move(adapted);
}

std::vector<std::string> Labels(const graph::Graph& graph) {
  std::vector<std::string> labels;
  for (const graph::Step& step : graph.steps()) {
    labels.emplace_back(graph.text(step.label));
  }
  return labels;
}

const graph::Object* Parameter(const graph::Graph& graph,
                               absl::string_view path) {
  for (const graph::Object& object : graph.objects()) {
    if (graph.text(object.path) == path) return &object;
  }
  return nullptr;
}

TEST(LoraTest, AdaptersFollowTheirLayer) {
  Lora lora;
  lora.rank = 2;
  const Adapted adapted = Adapt(kModel, lora);
  EXPECT_EQ(adapted.adapters, 1);  // The head lies in no array.
  EXPECT_THAT(Labels(*adapted.graph),
              ElementsAre("linear", "cast", "linear", "linear", "mul", "add",
                          "cast", "reshape", "mul", "linear"));
  const graph::Object* a =
      Parameter(*adapted.graph, "layers.0.q_proj.lora_A.weight");
  const graph::Object* b =
      Parameter(*adapted.graph, "layers.0.q_proj.lora_B.weight");
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(a->bytes.constant(), 2 * 4 * 4);  // rank x inputs in f32.
  EXPECT_EQ(b->bytes.constant(), 6 * 2 * 4);  // outputs x rank.
  // cast: 3 x 4 f32; products: 3 x 2 and 3 x 6 f32; scaled and summed: 3 x 6
  // f32; back in bf16.
  std::vector<int64_t> bytes;
  for (int32_t s = 1; s < 7; ++s) {
    const auto outputs = adapted.graph->outputs(graph::StepId{s});
    bytes.push_back(adapted.graph->object(outputs[0]).bytes.constant());
    EXPECT_EQ(adapted.graph->text(adapted.graph->step(graph::StepId{s}).scope),
              "layers.0");
  }
  EXPECT_THAT(bytes, ElementsAre(48, 24, 72, 72, 72, 36));
}

TEST(LoraTest, ReadersAndViewsSeeTheSum) {
  const Adapted adapted = Adapt(kModel, {});
  const graph::Graph& graph = *adapted.graph;
  const graph::ObjectId sum = graph.outputs(graph::StepId{6})[0];
  EXPECT_EQ(graph.inputs(graph::StepId{7})[0], sum);  // reshape
  EXPECT_EQ(graph.inputs(graph::StepId{8})[0], sum);  // mul
  EXPECT_EQ(graph.object(graph.results()[1]).owner, sum);
}

TEST(LoraTest, AdaptersOfTheSameDTypeNeedNoCasts) {
  Lora lora;
  lora.dtype = DType::kBF16;
  EXPECT_THAT(Labels(*Adapt(kModel, lora).graph),
              ElementsAre("linear", "linear", "linear", "mul", "add", "reshape",
                          "mul", "linear"));
}

TEST(LoraTest, TargetsAreNamedByTheirPathOrItsEnd) {
  EXPECT_TRUE(NamesLayer("layers.0.attention.q_proj", "q_proj"));
  EXPECT_TRUE(NamesLayer("layers.0.attention.q_proj", "attention.*"));
  EXPECT_TRUE(NamesLayer("head", "head"));
  EXPECT_FALSE(NamesLayer("layers.0.attention.xq_proj", "q_proj"));
  Lora lora;
  lora.targets = {"head"};
  const Adapted adapted = Adapt(kModel, lora);
  EXPECT_EQ(adapted.adapters, 1);
  EXPECT_NE(Parameter(*adapted.graph, "head.lora_A.weight"), nullptr);
}

TEST(LoraTest, ALayerThatRunsTwiceHasOneAdapter) {
  const Adapted adapted = Adapt(
      "in x 3x4; param layers.0.w.weight 4x4; a 3x4 = linear(x, "
      "layers.0.w.weight); b 3x4 = linear(a, layers.0.w.weight); out b",
      {});
  EXPECT_EQ(adapted.adapters, 1);
  EXPECT_EQ(adapted.graph->num_steps(), 2 * 5);
}

TEST(LoraTest, PackedWeightsByHand) {
  expr::Pool pool;
  // 100 elements: 50 bytes, 2 blocks, 16 code words.
  EXPECT_EQ(PackedBytes(BaseFormat::kNf4, pool.Constant(100), pool).constant(),
            50 + 2 * 4 + 64);
  // 64 x 257 elements: 257 scales of a byte, two f32 scales of those.
  EXPECT_EQ(PackedBytes(BaseFormat::kNf4Double, pool.Constant(64 * 257), pool)
                .constant(),
            32 * 257 + 257 + 2 * 4 + 64 + 1024 + 4);
  Lora lora;
  lora.base = BaseFormat::kNf4;
  const Adapted adapted = Adapt(kModel, lora);
  EXPECT_EQ(adapted.packed, 1);
  const graph::Object* base =
      Parameter(*adapted.graph, "layers.0.q_proj.weight");
  EXPECT_TRUE(graph::IsPacked(*base));
  EXPECT_EQ(base->bytes.constant(), 12 + 4 + 64);
  EXPECT_FALSE(graph::IsPacked(*Parameter(*adapted.graph, "head.weight")));
  EXPECT_FALSE(graph::IsPacked(*Parameter(*adapted.graph, "layers.0.norm")));
}

TEST(LoraTest, GradientsReachTheAdaptersAlone) {
  const Adapted adapted = Adapt(kModel, {});
  const std::string patterns[] = {"*.lora_A.weight", "*.lora_B.weight"};
  const GradientFlow flow(*adapted.graph, patterns);
  EXPECT_EQ(flow.num_trained(), 2);
  // The frozen product of the input; and its cast.
  EXPECT_FALSE(flow.differentiable(0));
  EXPECT_FALSE(flow.differentiable(1));
  for (int32_t s = 2; s < adapted.graph->num_steps(); ++s) {
    EXPECT_TRUE(flow.differentiable(s)) << s;
  }
}

}  // namespace
}  // namespace linnet::training
