// Step times through the front door.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/planner/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::FullText;

const device::Profile& ProfileOf(absl::string_view name) {
  for (const device::Device& each : device::Devices()) {
    if (each.name == name) return each.profile;
  }
  ADD_FAILURE() << "no device " << name;
  return device::Devices()[0].profile;
}

Config ConfigOf(const char* model, const char* entry) {
  Config config;
  config.model.name = model;
  config.entry = entry;
  return config;
}

StepTime TimeOrFail(const Config& config, TimeQuery query = {}) {
  if (query.profile == nullptr) query.profile = &ProfileOf("h100-80gb");
  const auto prepared = Prepare(config);
  if (!prepared.ok()) {
    ADD_FAILURE() << FullText(prepared.status());
    return {};
  }
  auto time = (*prepared)->Time(config, query);
  if (!time.ok()) {
    ADD_FAILURE() << FullText(time.status());
    return {};
  }
  return *std::move(time);
}

// A calculation by hand with the shipped profile and the rules of analysis.md,
// by others, in milliseconds.
TEST(StepTimeTest, AgreesWithACalculationByHand) {
  struct Row {
    const char *model, *entry;
    int64_t batch, context, cache;
    bool training;
    double milliseconds;
  };
  const Row rows[] = {
      {"llama-3.1-8b-instruct", "forward", 1, 8192, 0, false, 262.3},
      {"tinyllama-1.1b-chat", "forward", 8, 2048, 0, false, 91.7},
      {"qwen2.5-0.5b-instruct", "forward", 4, 4096, 0, false, 57.7},
      {"llama-3.1-8b-instruct", "decode_rows", 16, 0, 8192, false, 16.7},
      {"llama-3.1-8b-instruct", "decode_rows", 32, 0, 4096, false, 16.7},
      {"tinyllama-1.1b-chat", "loss_packed", 0, 8192, 0, true, 351.0},
      {"qwen2.5-0.5b-instruct", "loss_packed", 0, 8192, 0, true, 201.2},
  };
  for (const Row& row : rows) {
    Config config = ConfigOf(row.model, row.entry);
    if (row.batch > 0) config.batch = row.batch;
    if (row.context > 0) config.context = row.context;
    if (row.cache > 0) config.cache_len = row.cache;
    if (row.training) config.training.emplace();
    const StepTime time = TimeOrFail(config);
    EXPECT_NEAR(time.seconds * 1e3, row.milliseconds, 0.02 * row.milliseconds)
        << row.model << " " << row.entry;
  }
}

TEST(StepTimeTest, PartsAddUp) {
  Config step = ConfigOf("tinyllama-1.1b-chat", "loss_packed");
  step.context = 8192;
  step.training.emplace();
  Config split = step;
  split.training->shards = 2;
  Config pipeline = step;
  pipeline.parallel.pipeline = 4;
  pipeline.parallel.microbatches = 8;
  Config decode = ConfigOf("llama-3.1-8b-instruct", "decode");
  decode.batch = 1;
  decode.cache_len = 512;
  decode.parallel.tensor = 2;
  for (const Config& config : {step, split, pipeline, decode}) {
    const StepTime time = TimeOrFail(config);
    EXPECT_NEAR(time.compute + time.memory + time.communication + time.host +
                    time.bubble,
                time.seconds, 1e-9 * time.seconds);
    EXPECT_GT(time.seconds, 0);
  }
  EXPECT_EQ(TimeOrFail(step).limit, "compute");
  EXPECT_EQ(TimeOrFail(decode).limit, "host");
  EXPECT_GT(TimeOrFail(split).communication, 0);
  EXPECT_EQ(TimeOrFail(step).tokens, 8192);
  EXPECT_EQ(TimeOrFail(pipeline).tokens, 8192);
}

// With compiled calls a step of small kernels takes the device's time alone.
TEST(StepTimeTest, CompiledStepsDoNotWait) {
  Config decode = ConfigOf("llama-3.1-8b-instruct", "decode");
  decode.batch = 1;
  decode.cache_len = 512;
  const StepTime eager = TimeOrFail(decode);
  decode.compiled = true;
  const StepTime compiled = TimeOrFail(decode);
  EXPECT_NEAR(compiled.host, 0, 1e-12);
  EXPECT_NEAR(compiled.seconds, eager.memory + eager.compute, 1e-12);
  EXPECT_GT(eager.host, 0);
}

TEST(StepTimeTest, SchedulesIdleLess) {
  Config config = ConfigOf("tinyllama-1.1b-chat", "loss_packed");
  config.context = 8192;
  config.training.emplace();
  config.parallel.pipeline = 4;
  config.parallel.microbatches = 8;
  const StepTime plain = TimeOrFail(config);
  // Three slots of eleven are spent waiting.
  EXPECT_NEAR(plain.bubble / (plain.seconds - 0.0), 3.0 / 11, 0.02);
  config.parallel.schedule = "gpipe";
  EXPECT_EQ(TimeOrFail(config).seconds, plain.seconds);
  config.parallel.schedule = "zero-bubble";
  EXPECT_LT(TimeOrFail(config).bubble, plain.bubble);
  config.parallel.schedule = "interleaved-1f1b";
  const StepTime interleaved = TimeOrFail(config);
  EXPECT_LT(interleaved.bubble, 0.7 * plain.bubble);
}

TEST(StepTimeTest, ReplicasSumGradientsBesideTheStep) {
  Config config = ConfigOf("tinyllama-1.1b-chat", "loss_packed");
  config.context = 8192;
  config.training.emplace();
  const StepTime one = TimeOrFail(config);
  TimeQuery query;
  query.replicas = 4;
  const StepTime four = TimeOrFail(config, query);
  EXPECT_EQ(four.seconds, one.seconds);  // Shorter than the step.
  EXPECT_EQ(four.tokens, 4 * one.tokens);
  config.context = 16;
  config.compiled = true;
  query.replicas = 64;
  const StepTime longer = TimeOrFail(config, query);
  // 1.1e9 gradients of two bytes, 63 parts in 64 there and back.
  EXPECT_NEAR(longer.seconds, 2 * 63.0 / 64 * 2.2e9 / 286.1e9, 1e-4);
  EXPECT_EQ(longer.limit, "communication");
}

TEST(StepTimeTest, CheckpointingTakesTheForwardPassAgain) {
  Config config = ConfigOf("tinyllama-1.1b-chat", "loss_packed");
  config.context = 4096;
  config.training.emplace();
  config.training->checkpoints = {"none", "block"};
  TimeQuery query;
  const StepTime none = TimeOrFail(config, query);
  query.policy = 1;
  const StepTime block = TimeOrFail(config, query);
  EXPECT_GT(block.seconds, 1.1 * none.seconds);
  EXPECT_LT(block.seconds, 1.4 * none.seconds);
  query.policy = 2;
  query.profile = &ProfileOf("h100-80gb");
  const auto prepared = Prepare(config);
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ((*prepared)->Time(config, query).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(StepTimeTest, NamesTheMostExpensiveOperations) {
  Config config = ConfigOf("llama-3.1-8b-instruct", "forward");
  config.batch = 1;
  config.context = 8192;
  TimeQuery query;
  query.operations = 3;
  const StepTime time = TimeOrFail(config, query);
  ASSERT_EQ(time.operations.size(), 3u);
  // Gate and up run as one product.
  EXPECT_EQ(time.operations[0].label, "linear");
  EXPECT_EQ(time.operations[0].scope, "layers.0.mlp.gate");
  EXPECT_EQ(time.operations[0].calls, 32);
  EXPECT_EQ(time.operations[0].limit, "compute");
  EXPECT_GE(time.operations[0].device_seconds,
            time.operations[1].device_seconds);
}

TEST(StepTimeTest, SaysWhatNoRateIsMeasuredFor) {
  Config config = ConfigOf("gpt-oss-20b", "forward");
  config.batch = 1;
  config.context = 512;
  EXPECT_THAT(TimeOrFail(config).assumptions,
              Contains(HasSubstr("`mxfp4_linear_experts_shared`")));
  Config llama = ConfigOf("llama-3.1-8b-instruct", "forward");
  llama.batch = 1;
  llama.context = 16;
  EXPECT_THAT(TimeOrFail(llama).assumptions, ElementsAre());
}

TEST(StepTimeTest, SaysWhatItLeavesOut) {
  Config gpt2 = ConfigOf("gpt2", "forward");
  gpt2.batch = 1;
  gpt2.context = 64;
  EXPECT_THAT(TimeOrFail(gpt2).assumptions,
              Contains(HasSubstr("48 products are by weights that lie "
                                 "transposed")));
  device::Profile measured = ProfileOf("h100-80gb");
  measured.transposed_f32 = measured.products_f32;
  for (device::ProductRate& rate : measured.transposed_f32) rate.flops /= 2;
  TimeQuery query;
  query.profile = &measured;
  gpt2.batch = 8;
  gpt2.context = 1024;
  const StepTime slower = TimeOrFail(gpt2, query);
  EXPECT_THAT(slower.assumptions, ElementsAre());
  EXPECT_GT(slower.compute, 1.5 * TimeOrFail(gpt2).compute);
  gpt2.parallel.tensor = 2;
  EXPECT_THAT(TimeOrFail(gpt2).assumptions,
              Contains(HasSubstr("what DTensors send")));
}

TEST(StepTimeTest, ZeroGathersLess) {
  Config config = ConfigOf("tinyllama-1.1b-chat", "loss_packed");
  config.context = 4096;
  config.training.emplace().shards = 4;
  const StepTime full = TimeOrFail(config);
  config.training->zero_stage = 2;
  const StepTime two = TimeOrFail(config);
  EXPECT_GT(full.communication, 1.2 * two.communication);
  EXPECT_GT(two.communication, 0);
}

TEST(StepTimeTest, ReferenceRulesCanBeAskedFor) {
  Config decode = ConfigOf("llama-3.1-8b-instruct", "decode_rows");
  decode.batch = 16;
  decode.cache_len = 8192;
  TimeQuery query;
  query.reference_rules = true;
  const double less =
      TimeOrFail(decode).seconds - TimeOrFail(decode, query).seconds;
  // Two kernels for each of 64 writes.
  EXPECT_NEAR(less, 128 * 2.07e-6, 2e-5);
}

// No size of a role makes a step shorter.
TEST(StepTimePropertyTest, LargerStepsTakeNoLessTime) {
  for (const bool training : {false, true}) {
    Config config =
        ConfigOf("tinyllama-1.1b-chat", training ? "loss_packed" : "forward");
    if (training) config.training.emplace();
    config.context = 64;
    if (!training) config.batch = 1;
    const auto prepared = Prepare(config);
    ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
    TimeQuery query;
    query.profile = &ProfileOf("l4");
    double before = 0;
    for (int64_t context = 64; context <= 2048; context += 64) {
      config.context = context;
      const auto time = (*prepared)->Time(config, query);
      ASSERT_TRUE(time.ok()) << time.status();
      // At most 64 rows the bandwidth is that of few rows.
      if (context > 128) {
        EXPECT_GE(time->seconds, before) << context;
      }
      before = time->seconds;
    }
  }
}

}  // namespace
}  // namespace linnet::planner
