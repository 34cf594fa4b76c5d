// Several devices through the front door.

#include "core/planner/pipeline.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/planner/planner.h"
#include "core/runtime/cuda.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing_support::FullText;

Config TinyLlama() {
  Config config;
  config.model.name = "tinyllama-1.1b-chat";
  config.entry = "forward";
  config.batch = 8;
  config.context = 2048;
  return config;
}

Config TinyLlamaStep(int64_t context) {
  Config config;
  config.model.name = "tinyllama-1.1b-chat";
  config.entry = "loss_packed";
  config.context = context;
  config.training.emplace();
  return config;
}

Report AnalyzeOrFail(const Config& config) {
  const auto prepared = Prepare(config);
  if (!prepared.ok()) {
    ADD_FAILURE() << FullText(prepared.status());
    return {};
  }
  auto report = (*prepared)->Analyze(config);
  if (!report.ok()) {
    ADD_FAILURE() << FullText(report.status());
    return {};
  }
  return *std::move(report);
}

std::string ErrorOf(const Config& config) {
  const auto prepared = Prepare(config);
  if (!prepared.ok()) return FullText(prepared.status());
  const auto report = (*prepared)->Analyze(config);
  return report.ok() ? "" : FullText(report.status());
}

int64_t BytesOf(const Report& report, const std::string& name) {
  for (const Component& part : report.components) {
    if (part.name == name) return part.bytes.value_or(-1);
  }
  return 0;
}

// The peaks of the source's throughput listing (expected.json), to the digit.
TEST(PipelineTest, PeaksOfTheReference) {
  struct Row {
    int64_t context, stages, microbatches;
    std::string peak;
  };
  const Row rows[] = {{8192, 2, 8, "8.29 GiB"},
                      {2048, 1, 0, "11.48 GiB"},
                      {16384, 4, 16, "6.20 GiB"}};
  for (const Row& row : rows) {
    Config config = TinyLlamaStep(row.context);
    config.parallel.pipeline = row.stages;
    config.parallel.microbatches = row.microbatches;
    EXPECT_EQ(FormatBytes(AnalyzeOrFail(config).expected_peak_bytes), row.peak);
  }
}

TEST(PipelineTest, StagesTogetherHoldEveryParameterOnce) {
  for (const std::string name :
       {"tinyllama-1.1b-chat", "qwen2.5-0.5b-instruct", "gpt2"}) {
    Config config = TinyLlama();
    config.model.name = name;
    config.batch = 12;
    config.context = 64;
    const Report whole = AnalyzeOrFail(config);
    for (const int64_t stages : {2, 3, 4}) {
      SCOPED_TRACE(absl::StrCat(name, " on ", stages));
      config.parallel.pipeline = stages;
      const auto prepared = Prepare(config);
      ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
      const auto& pipeline = static_cast<const PreparedPipeline&>(**prepared);
      const auto of = pipeline.ForMicrobatch(config);
      ASSERT_TRUE(of.ok()) << of.status();
      std::map<std::string, int64_t> weights;
      int64_t held = 0, caches = 0;
      for (size_t i = 0; i < pipeline.num_stages(); ++i) {
        const graph::Graph& graph = pipeline.stage(i).graph();
        for (const graph::Object& object : graph.objects()) {
          if (object.category != graph::Category::kParameters) continue;
          weights[std::string(graph.text(object.path))] =
              object.bytes.constant();
          held += object.bytes.constant();
        }
        const auto report = pipeline.stage(i).Analyze(*of);
        ASSERT_TRUE(report.ok()) << report.status();
        caches += BytesOf(*report, "KV cache");
      }
      int64_t once = 0;
      for (const auto& [path, bytes] : weights) once += bytes;
      // The last stage has a tied head of its own, or the embedding once more
      // where that is what the model multiplies by.
      const int64_t tied =
          weights.contains("lm_head.weight") && name != "tinyllama-1.1b-chat"
              ? weights["lm_head.weight"]
              : 0;
      EXPECT_EQ(once - tied, BytesOf(whole, "Weights"));
      EXPECT_EQ(held - once, name == "gpt2" ? int64_t{50257} * 768 * 4 : 0);
      EXPECT_EQ(caches, BytesOf(whole, "KV cache"));
    }
  }
}

TEST(PipelineTest, ReportsTheStageThatNeedsMost) {
  Config config = TinyLlama();
  config.parallel.pipeline = 2;
  config.parallel.microbatches = 4;
  const Report report = AnalyzeOrFail(config);
  ASSERT_EQ(report.devices.size(), 2u);
  EXPECT_EQ(report.devices[0].holds, "embedding, layers.0-10");
  EXPECT_EQ(report.devices[1].holds, "layers.11-21, norm, lm_head");
  EXPECT_GT(report.devices[1].expected_peak_bytes,
            report.devices[0].expected_peak_bytes);
  EXPECT_EQ(report.expected_peak_bytes, report.devices[1].expected_peak_bytes);
  // Four micro-batches of 2 x 2048 rows of 32,000 logits, and their join.
  EXPECT_THAT(report.peak_at,
              HasSubstr("all micro-batches are joined, of stage 1"));
  const int64_t logits = int64_t{8} * 2048 * 32000 * 2;
  const int64_t received = int64_t{8} * 2048 * 2048 * 2;
  EXPECT_EQ(BytesOf(report, "Peak activations"), 2 * logits + received);
  EXPECT_EQ(report.config.batch, 8);
  EXPECT_EQ(report.components[0].device, "stage 1");
  const auto summary = (*Prepare(config))->Summarize(config);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->expected_peak_bytes, report.expected_peak_bytes);
}

TEST(PipelineTest, ProcessesHoldTheirGroupsAndChannels) {
  Config config = TinyLlama();
  config.batch = 6;
  config.parallel.pipeline = 3;
  config.parallel.tensor = 2;
  const auto prepared = Prepare(config);
  ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
  const auto& pipeline = static_cast<const PreparedPipeline&>(**prepared);
  const auto of = pipeline.ForMicrobatch(config);
  ASSERT_TRUE(of.ok()) << of.status();
  const int64_t channels[] = {runtime::kSendBytes, runtime::kBothWaysBytes,
                              runtime::kReceiveBytes};
  for (size_t i = 0; i < 3; ++i) {
    const auto report = pipeline.stage(i).Analyze(*of);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(BytesOf(*report, "Point-to-point channels"), channels[i]);
    // The tensor split's, the pipeline's and that of all processes.
    EXPECT_EQ(BytesOf(*report, "NCCL communicator"),
              runtime::kNcclKernelsBytes + 3 * runtime::kCommunicatorBytes);
  }
  Config step = TinyLlamaStep(4096);
  step.parallel.pipeline = 2;
  step.training->shards = 2;
  const Report report = AnalyzeOrFail(step);
  EXPECT_EQ(BytesOf(report, "Point-to-point channels"),
            runtime::kBothWaysBytes);
  EXPECT_EQ(BytesOf(report, "NCCL communicator"),
            runtime::kNcclKernelsBytes + 2 * runtime::kCommunicatorBytes);
}

TEST(TensorParallelTest, AProcessHoldsItsPart) {
  Config config = TinyLlama();
  config.entry = "decode_rows";
  const Report one = AnalyzeOrFail(config);
  config.parallel.tensor = 2;
  const Report two = AnalyzeOrFail(config);
  EXPECT_EQ(2 * BytesOf(two, "KV cache"), BytesOf(one, "KV cache"));
  EXPECT_LT(BytesOf(two, "Weights"), BytesOf(one, "Weights"));
  EXPECT_GT(2 * BytesOf(two, "Weights"), BytesOf(one, "Weights"));
  EXPECT_EQ(BytesOf(two, "NCCL communicator"),
            runtime::kNcclKernelsBytes + runtime::kCommunicatorBytes);
  EXPECT_EQ(BytesOf(two, "All-reduce buffers"), runtime::kAllReduceBytes);
  // The same as binding the generic.
  config.parallel.tensor = 1;
  config.bindings = {{"Shards", "2"}};
  EXPECT_EQ(AnalyzeOrFail(config).expected_peak_bytes, two.expected_peak_bytes);
}

TEST(TensorParallelTest, OtherModelsAreSplitByRules) {
  Config config;
  config.model.name = "gpt2";
  config.entry = "forward";
  config.batch = 8;
  config.context = 512;
  config.parallel.tensor = 2;
  const Report report = AnalyzeOrFail(config);
  EXPECT_THAT(report.assumptions, Contains(HasSubstr("split as DTensors are")));
  EXPECT_EQ(BytesOf(report, "Point-to-point channels"),
            runtime::kExchangeBytes);
  EXPECT_EQ(report.confidence, Confidence::kEstimated);
}

TEST(PipelineTest, BadInputSaysWhatWouldWork) {
  struct Row {
    std::string name;
    void (*change)(Config*);
    std::string want;
  };
  const Row rows[] = {
      {"fewer micro-batches", [](Config* c) { c->parallel.microbatches = 1; },
       "2 stages need at least 2 micro-batches"},
      {"does not divide", [](Config* c) { c->batch = 7; },
       "the batch of 7 (--batch) does not divide into 2 micro-batches; 6 and 8 "
       "do"},
      {"too small", [](Config* c) { c->batch = 1; }, "2 does"},
      {"no block", [](Config* c) { c->parallel.stages = {"layer.8"}; },
       "did you mean `layers.8`"},
      {"other number",
       [](Config* c) {
         c->parallel.stages = {"layers.8", "layers.9"};
       },
       "need the names of 1 blocks"},
      {"too many stages",
       [](Config* c) {
         c->parallel.pipeline = 64;
         c->batch = 64;
       },
       "so it cannot run on 64 stages"},
      {"schedule", [](Config* c) { c->parallel.schedule = "gpip"; },
       "there is no schedule `gpip`; did you mean `gpipe`?"},
      {"state", [](Config* c) { c->entry = "decode_rows"; },
       "a pipeline runs entries without state only"},
      {"stages of one",
       [](Config* c) {
         c->parallel.pipeline = 1;
         c->parallel.stages = {"layers.8"};
       },
       "say how many stages with --pipeline-parallel"},
      {"one virtual stage",
       [](Config* c) {
         c->parallel.schedule = "interleaved-1f1b";
         c->parallel.virtual_stages = 1;
       },
       "needs at least 2 stages per device (--virtual-stages)"},
      {"virtual stages without a schedule for them",
       [](Config* c) { c->parallel.virtual_stages = 2; },
       "`interleaved-1f1b` and `zero-bubble` run several"},
      {"uneven rounds",
       [](Config* c) {
         c->parallel.schedule = "interleaved-1f1b";
         c->parallel.microbatches = 5;
       },
       "5 micro-batches (--microbatches) must divide into 2 equal rounds; 4 "
       "and 6 do"},
      {"sequence of one process",
       [](Config* c) { c->parallel.sequence = true; },
       "say how many those are"},
      {"experts of none", [](Config* c) { c->parallel.expert = 2; },
       "runs no product of experts"},
      {"experts and tensors",
       [](Config* c) { c->parallel.expert = c->parallel.tensor = 2; },
       "--expert-parallel does not go with --tensor-parallel"},
      {"no processes", [](Config* c) { c->parallel.tensor = 0; },
       "--tensor-parallel must lie between 1 and"},
      {"generic that disagrees",
       [](Config* c) {
         c->parallel.tensor = 2;
         c->bindings = {{"Shards", "4"}};
       },
       "do not agree"},
  };
  for (const Row& row : rows) {
    Config config = TinyLlama();
    config.parallel.pipeline = 2;
    row.change(&config);
    EXPECT_THAT(ErrorOf(config), HasSubstr(row.want)) << row.name;
  }
  Config bert;
  bert.model.name = "bert-base-uncased";
  bert.batch = 2;
  bert.context = 16;
  bert.parallel.tensor = 2;
  bert.parallel.pipeline = 2;
  EXPECT_THAT(ErrorOf(bert), HasSubstr("no pipeline runs"));
  Config step = testing_support::ConfigOf(R"(module t
use std.nn.linear::{Linear}
pub block Model<H: Dim = 8, T: Float = f32> {
  sub q_proj: Linear<H, H, T>
  pub entry loss<B: Dim>(x: Tensor[B, H; T]) -> T {
    let y = q_proj.forward(x)
    return sum[i, j] y[i, j] * y[i, j]
  }
}
)");
  step.batch = 2;
  step.parallel.tensor = 2;
  step.training.emplace();
  EXPECT_THAT(ErrorOf(step), HasSubstr("no training step runs"));
}

TEST(PipelineTest, KeysTellLayoutsApart) {
  std::vector<Config> configs(10, TinyLlama());
  configs[1].parallel.tensor = 2;
  for (size_t i = 2; i < configs.size(); ++i) configs[i].parallel.pipeline = 2;
  configs[3].parallel.microbatches = 4;
  configs[4].parallel.schedule = "gpipe";
  configs[5].parallel.stages = {"layers.3"};
  configs[6].parallel.pipeline = 4;
  configs[7].parallel.virtual_stages = 2;
  configs[8].parallel.sequence = true;
  configs[9].parallel.expert = 2;
  for (size_t i = 0; i < configs.size(); ++i) {
    for (size_t j = 0; j < configs.size(); ++j) {
      EXPECT_EQ(CacheKey(configs[i]) == CacheKey(configs[j]), i == j);
    }
  }
}

// Under gpipe a stage holds all micro-batches. Gradients come later, which a
// stage with few activations may gain more by.
TEST(PipelinePropertyTest, GPipeHoldsNoFewerActivations) {
  for (const int64_t stages : {2, 4}) {
    for (const int64_t microbatches : {4, 8}) {
      Config config = TinyLlamaStep(4096);
      config.parallel.pipeline = stages;
      config.parallel.microbatches = microbatches;
      const Report early = AnalyzeOrFail(config);
      config.parallel.schedule = "gpipe";
      const Report late = AnalyzeOrFail(config);
      EXPECT_GT(BytesOf(late, "Saved activations"),
                BytesOf(early, "Saved activations"));
      EXPECT_GE(late.expected_peak_bytes, early.expected_peak_bytes);
    }
  }
}

// However a model is laid out, its devices together hold every weight once, and
// chunks of zero bubble hold at least what 1F1B does.
TEST(PipelinePropertyTest, SchedulesHoldTheSameWeights) {
  Config config = TinyLlamaStep(8192);
  config.parallel.pipeline = 4;
  config.parallel.microbatches = 8;
  const auto states = [](const Report& report) {
    return BytesOf(report, "Optimizer states (adamw)");
  };
  const Report plain = AnalyzeOrFail(config);
  config.parallel.schedule = "zero-bubble";
  const Report zero = AnalyzeOrFail(config);
  ASSERT_EQ(plain.devices.size(), zero.devices.size());
  for (size_t i = 0; i < plain.devices.size(); ++i) {
    EXPECT_GE(zero.devices[i].graph_peak_bytes,
              plain.devices[i].graph_peak_bytes);
    EXPECT_EQ(zero.devices[i].holds, plain.devices[i].holds);
  }
  EXPECT_GT(states(zero), 0);
  for (const char* schedule : {"interleaved-1f1b", "zero-bubble"}) {
    config.parallel.schedule = schedule;
    config.parallel.virtual_stages = 3;
    const auto prepared = Prepare(config);
    ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
    const auto& pipeline = static_cast<const PreparedPipeline&>(**prepared);
    ASSERT_EQ(pipeline.num_stages(), 4u);
    std::map<std::string, int> held;
    for (size_t i = 0; i < 4; ++i) {
      const graph::Graph& graph = pipeline.stage(i).graph();
      for (const graph::Object& object : graph.objects()) {
        if (object.category != graph::Category::kParameters) continue;
        if (object.producer.valid() || !object.path.valid()) continue;
        ++held[std::string(graph.text(object.path))];
      }
    }
    EXPECT_EQ(held.size(), 201u);  // 22 layers of 9, and 3 outside.
    for (const auto& [path, times] : held) EXPECT_EQ(times, 1) << path;
  }
}

// A residual of 8192 x 4096 bf16 is 64 MiB. Sequence parallel keeps, of the
// parts between an all-reduce and the next product, half.
TEST(SequenceParallelTest, TrainingKeepsHalfOfResiduals) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.entry = "loss_packed";
  config.context = 8192;
  config.training.emplace();
  config.parallel.tensor = 2;
  const Report whole = AnalyzeOrFail(config);
  config.parallel.sequence = true;
  const Report split = AnalyzeOrFail(config);
  const int64_t less =
      BytesOf(whole, "Saved activations") - BytesOf(split, "Saved activations");
  // Of each of 65 norms at least half of its input; what it makes is whole for
  // the products that keep it.
  EXPECT_GE(less, int64_t{64} * (32 << 20));
  EXPECT_EQ(BytesOf(whole, "Weights"), BytesOf(split, "Weights"));
  EXPECT_THAT(split.assumptions,
              Contains(HasSubstr("split by the sequence over 2 processes")));
}

// gpt-oss-20b: 24 layers with 4 split experts' weights of 5.
TEST(ExpertParallelTest, ExpertsAreSplit) {
  Config config;
  config.model.name = "gpt-oss-20b";
  config.batch = 1;
  config.context = 512;
  const Report whole = AnalyzeOrFail(config);
  config.parallel.expert = 4;
  const Report split = AnalyzeOrFail(config);
  // models.md: 10,152,345,600 bytes of experts in MXFP4; per layer and expert
  // 2 x 2,880 and 2,880 biases in bf16.
  const int64_t biases = int64_t{24} * 32 * 3 * 2880 * 2;
  EXPECT_EQ(BytesOf(whole, "Weights") - BytesOf(split, "Weights"),
            (10'152'345'600 + biases) / 4 * 3);
  EXPECT_THAT(split.assumptions, Contains(HasSubstr("rows are exchanged 48")));
}

}  // namespace
}  // namespace linnet::planner
