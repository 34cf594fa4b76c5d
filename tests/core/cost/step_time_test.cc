// Costs of calls and steps, worked out by hand with a profile of round numbers.

#include "core/cost/step_time.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/cost/call_cost.h"
#include "core/training/gradient_flow.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::cost {
namespace {

using ::testing::ElementsAre;

// Host calls take powers of two, so that a sum tells which were counted.
device::Profile Round() {
  device::Profile profile;
  profile.peak_bf16 = profile.peak_f16 = 1000;
  profile.peak_f32 = 100;
  profile.products_bf16 = {{2, 2, 1000}};
  profile.products_f32 = {{2, 2, 100}};
  for (const bool causal : {true, false}) {
    for (const bool backward : {false, true}) {
      profile.attention.push_back(
          {causal, backward, false, 64, causal ? 50.0 : 20.0});
      profile.attention.push_back(
          {causal, backward, true, 64, causal ? 5.0 : 2.0});
    }
  }
  profile.bandwidth = 100;
  profile.elementwise = 80;
  profile.broadcast = 40;
  profile.skinny = 50;
  profile.decode = 10;
  profile.link = 20;
  profile.latency = 0.5;
  profile.reduce = 100000;
  profile.kernel = 0.25;
  profile.strided_kernel = 0.75;
  profile.dispatch = 7;
  for (size_t i = 0; i < device::kNumHostCalls; ++i) {
    profile.host[i] = static_cast<double>(int64_t{1} << i);
  }
  return profile;
}

double Host(device::HostCall call) { return Round().host_seconds(call); }

struct Made {
  std::shared_ptr<const graph::Graph> graph;
  std::shared_ptr<expr::Pool> pool;
  std::vector<Call> calls;
};

Made Find(absl::string_view text, CallSettings settings = {}) {
  Made made;
  made.graph = training::TrainingGraphReader().Read(text);
  made.pool = std::make_shared<expr::Pool>(made.graph->shared_pool());
  made.calls = FindCalls(*made.graph, settings, *made.pool);
  return made;
}

CallCost Cost(const Made& made, size_t call, int64_t processes = 1) {
  std::vector<int64_t> sizes;
  for (const expr::Expr& size : made.calls[call].operation.sizes) {
    sizes.push_back(size.valid() ? size.constant() : 0);
  }
  return CostOf(made.calls[call].operation, sizes, processes, Round());
}

std::vector<std::string> Labels(const Made& made) {
  std::vector<std::string> labels;
  for (const Call& call : made.calls) {
    labels.emplace_back(made.graph->text(made.graph->step(call.step).label));
  }
  return labels;
}

TEST(CallTest, WhatShapesAloneDecideIsLeftOut) {
  const Made made = Find(
      "in x 4; param w 4; t 4 = iota(); u 4 = sin(t); y 4 = mul(x, u);"
      "z 4 = exp(w); out y; out z");
  EXPECT_THAT(Labels(made), ElementsAre("mul", "exp"));
}

TEST(CallTest, KernelsMoveWhatTheyReadAndWrite) {
  const Made made = Find(
      "in x 10; in r 5x2; in s 2; y 10 = exp(x); z 5x2 = mul(r, s);"
      "p in r 2x5 = permute(r); q 2x5 = neg(p); c 10:bf16 = cast(x);"
      "j 20 = concat(x, y); out z; out q; out c; out j");
  // 40 bytes in and out at 80; 88 with a broadcast operand at 40.
  EXPECT_DOUBLE_EQ(Cost(made, 0).forward.memory, 1.0);
  EXPECT_DOUBLE_EQ(Cost(made, 1).forward.memory, 88.0 / 40);
  EXPECT_EQ(Cost(made, 2).forward.device(), 0);
  EXPECT_EQ(Cost(made, 2).forward.host, Host(device::HostCall::kView));
  // A strided operand goes at the broadcast rate as well.
  EXPECT_DOUBLE_EQ(Cost(made, 3).forward.memory, 80.0 / 40);
  EXPECT_DOUBLE_EQ(Cost(made, 4).forward.memory, 60.0 / 80);
  EXPECT_EQ(Cost(made, 4).forward.host, Host(device::HostCall::kCast));
  // The least input is smaller than what is made of it.
  EXPECT_DOUBLE_EQ(Cost(made, 5).forward.memory, 160.0 / 40);
  EXPECT_EQ(Cost(made, 5).forward.host, Host(device::HostCall::kJoin));
}

TEST(CallTest, SmallKernelsTakeTheirFloor) {
  const Made made = Find(
      "in x 1; y 1 = exp(x); b in x 2 = broadcast(x);"
      "z 2 = neg(b); out z");
  EXPECT_EQ(Cost(made, 0).forward.memory, 0.25);
  // Reading a broadcast tensor takes no more than its source.
  EXPECT_EQ(Cost(made, 2).forward.memory, 0.75);
  EXPECT_EQ(made.calls[2].operation.sizes[0].constant(), 4 + 8);
}

TEST(CallTest, ProductsAreBoundByTheirRateOrBytes) {
  // 100 FLOPs each, as the reader of these graphs has it.
  const Made few = Find(
      "in x 3x2; param w 2x2; y 3x2 = "
      "torch.nn.functional.linear(x, w); out y");
  // 24 + 16 + 24 bytes at the rate of few rows, 50: longer than 100 / 100.
  EXPECT_EQ(Cost(few, 0).forward.compute, 0);
  EXPECT_DOUBLE_EQ(Cost(few, 0).forward.memory, 64.0 / 50);
  const Made many = Find(
      "in x 100x1; param w 1x1; y 100x1 = "
      "torch.nn.functional.linear(x, w); out y");
  // At n = k = 1 a quarter of the rate of 2 x 2.
  EXPECT_EQ(many.calls[0].operation.dtype, DType::kF32);
  EXPECT_DOUBLE_EQ(Cost(many, 0).forward.memory, 804.0 / 100);
  const Made fast = Find(
      "in x 100x1:bf16; param w 1x1:bf16; y 100x1:bf16 = "
      "torch.nn.functional.linear(x, w); out y");
  EXPECT_DOUBLE_EQ(Cost(fast, 0).forward.memory, 402.0 / 100);
}

TEST(CallTest, TransposedWeightsAreTold) {
  const Made made = Find(
      "in x 100x2; param w 2x3; param u 3x2; v in w 3x2 = permute(w);"
      "y 100x3 = torch.nn.functional.linear(x, v);"
      "z 100x3 = torch.nn.functional.linear(x, u); out y; out z");
  ASSERT_EQ(made.calls.size(), 3u);
  EXPECT_TRUE(made.calls[1].operation.transposed);
  EXPECT_FALSE(made.calls[2].operation.transposed);
  device::Profile slow = Round();
  slow.transposed_f32 = {{2, 2, 0.5}};
  std::vector<int64_t> sizes;
  for (const expr::Expr& size : made.calls[1].operation.sizes) {
    sizes.push_back(size.constant());
  }
  // 100 FLOPs at half a FLOP per second.
  EXPECT_EQ(CostOf(made.calls[1].operation, sizes, 1, slow).forward.compute,
            200);
  EXPECT_EQ(Cost(made, 1).forward.compute, 0);
}

TEST(CallTest, TheReferenceCountsNoKernelsOfAnIndex) {
  const Made made = Find(
      "in c 10x4; in u 2x4; in p 2:i64;"
      "w in c 10x4 = torch.Tensor.index_put(c, u, p); out w");
  const std::vector<int64_t> sizes = {32};
  const auto memory = [&](Rules rules) {
    return CostOf(made.calls[0].operation, sizes, 1, Round(), rules)
        .forward.memory;
  };
  EXPECT_DOUBLE_EQ(memory(Rules::kReference), 64.0 / 80);
  EXPECT_DOUBLE_EQ(memory(Rules::kOwn), 64.0 / 80 + 2 * 0.25);
}

TEST(CallTest, ProductsOfOneInputAreJoined) {
  constexpr char kText[] =
      "in x 3x2; param a 2x2; param b 4x2; param c 2x2; param d 2;"
      "p 3x2 = torch.nn.functional.linear(x, a);"
      "q 3x4 = torch.nn.functional.linear(x, b);"
      "r 3x2 = torch.nn.functional.linear(x, c, d);"
      "s 3x2 = torch.nn.functional.linear(x, a);"
      "t 3x2 = exp(p); out q; out r; out s; out t";
  const Made apart = Find(kText);
  EXPECT_EQ(apart.calls.size(), 5u);
  CallSettings settings;
  settings.joins_products = true;
  const Made joined = Find(kText, settings);
  // One with a bias, and one by the same weight again, stay as they are.
  ASSERT_EQ(joined.calls.size(), 4u);
  const Operation& all = joined.calls[0].operation;
  EXPECT_EQ(all.sizes[0].constant(), 200);
  // x once; two weights and two results.
  EXPECT_EQ(all.sizes[1].constant(), 24 + 16 + 24 + 32 + 48);
  EXPECT_EQ(all.sizes[3].constant(), 6);
  EXPECT_EQ(
      Cost(joined, 0).forward.host,
      Host(device::HostCall::kProduct) + 2 * Host(device::HostCall::kView));
  // Their parts are strided.
  EXPECT_TRUE(joined.calls[3].operation.strided);
  EXPECT_FALSE(apart.calls[4].operation.strided);
}

constexpr char kAttention[] =
    "torch.nn.functional.scaled_dot_product_attention";

TEST(CallTest, AttentionGoesByItsMask) {
  const std::string text = absl::StrCat(
      "in q 1x4x64; in k 1x4x64; in v 1x4x64; in m 4x4:bool;"
      "i 4:i64 = iota(); c 4x4:bool = torch.tril(i);"
      "a 1x4x64 = ",
      kAttention,
      "(q, k, v);"
      "b 1x4x64 = ",
      kAttention,
      "(q, k, v, c);"
      "d 1x4x64 = ",
      kAttention,
      "(q, k, v, m);"
      "e 1x4x64 = ",
      kAttention,
      "(input dtype)(q, k, v, m);"
      "out a; out b; out d; out e");
  const Made made = Find(text);
  ASSERT_EQ(made.calls.size(), 4u);
  // 100 FLOPs in f32: none and causal at 5, half of them when causal; under a
  // mask at 2. Bytes: four of 1,024 at 100 take longer, but for the last.
  EXPECT_EQ(made.calls[0].operation.mask, Mask::kNone);
  EXPECT_EQ(made.calls[1].operation.mask, Mask::kCausal);
  EXPECT_EQ(made.calls[2].operation.mask, Mask::kMasked);
  EXPECT_DOUBLE_EQ(Cost(made, 0).forward.memory, 40.96);
  EXPECT_DOUBLE_EQ(Cost(made, 2).forward.compute, 50.0);
  EXPECT_EQ(Cost(made, 2).forward.host, Host(device::HostCall::kAttention));
}

TEST(CallTest, OneQueryReadsItsCache) {
  const Made made =
      Find(absl::StrCat("in q 2x1x4; in k 2x8x4; in v 2x8x4; in m 2x1x8:bool;"
                        "a 2x1x4 = ",
                        kAttention, "(q, k, v, m); out a"));
  // 512 bytes of keys and values at 10.
  EXPECT_DOUBLE_EQ(Cost(made, 0).forward.memory, 51.2);
  using device::HostCall;
  EXPECT_EQ(Cost(made, 0).forward.host,
            4 * Host(HostCall::kView) + 2 * Host(HostCall::kBatched) +
                2 * Host(HostCall::kCast) + 2 * Host(HostCall::kElementwise) +
                Host(HostCall::kMask) + Host(HostCall::kReduction));
}

TEST(CallTest, NormsAndGathersAndWrites) {
  const Made made = Find(
      "in x 10x4; param n 4; param e 9x4; in t 5:i64; in c 10x4; in u 2x4;"
      "in p 2:i64; y 10x4 = torch.rms_norm(x, n);"
      "g 5x4 = torch.nn.functional.embedding(t, e);"
      "w in c 10x4 = torch.Tensor.index_copy(c, u, p); out y; out g; out w");
  // 320 bytes at 80, then at 40.
  EXPECT_DOUBLE_EQ(Cost(made, 0).forward.memory, 4.0 + 8.0);
  EXPECT_DOUBLE_EQ(Cost(made, 1).forward.memory, 160.0 / 80);
  // The index is cast; 32 bytes are read and written.
  EXPECT_DOUBLE_EQ(Cost(made, 2).forward.memory, 0.25 + 64.0 / 80);
  using device::HostCall;
  EXPECT_EQ(
      Cost(made, 2).forward.host,
      Host(HostCall::kWrite) + Host(HostCall::kView) + Host(HostCall::kCast));
}

TEST(CallTest, ALossGoesBlockByBlock) {
  constexpr char kText[] =
      "in h 4x2; param w 3x2; in t 4:i64; in f 4;"
      "linnet.linear_cross_entropy(h, w, t, f)";
  const Made plain = Find(kText);
  // 2 x 4 x 3 x 2 FLOPs at 100; 12 logits of 16 bytes at 80.
  EXPECT_DOUBLE_EQ(Cost(plain, 0).forward.compute, 48.0 / 100);
  EXPECT_DOUBLE_EQ(Cost(plain, 0).forward.memory, 192.0 / 80);
  const auto graph = training::TrainingGraphReader().Read(kText);
  const training::GradientFlow flow(*graph, {});
  CallSettings settings;
  settings.flow = &flow;
  const Made step = Find(kText, settings);
  ASSERT_TRUE(step.calls[0].operation.differentiable);
  EXPECT_DOUBLE_EQ(Cost(step, 0).forward.compute, 3 * 48.0 / 100);
  EXPECT_DOUBLE_EQ(Cost(step, 0).forward.memory, (12 * 46 + 6 * 20.0) / 80);
  using device::HostCall;
  EXPECT_EQ(Cost(step, 0).forward.host,
            3 * Host(HostCall::kProduct) + 11 * Host(HostCall::kElementwise));
  EXPECT_EQ(Cost(step, 0).backward.device(), 0);
}

TEST(CallTest, CollectivesGoOverTheLink) {
  constexpr char kText[] =
      "in x 10; y 10 = torch.distributed.all_reduce(x);"
      "z 20 = torch.distributed.all_gather(y); out z";
  EXPECT_TRUE(Find(kText).calls.empty());  // On one process nothing runs.
  CallSettings settings;
  settings.processes = 2;
  const Made made = Find(kText, settings);
  ASSERT_EQ(made.calls.size(), 2u);
  EXPECT_DOUBLE_EQ(Cost(made, 0, 2).forward.communication, 0.5 + 40.0 / 20);
  EXPECT_DOUBLE_EQ(Cost(made, 1, 2).forward.communication, 0.5 + 40.0 / 20);
  EXPECT_EQ(Cost(made, 1, 2).forward.host, 7);
  EXPECT_EQ(Cost(made, 0, 2).forward.host,
            100000 - Host(device::HostCall::kElementwise));
}

TEST(CallTest, BackwardIsTwiceTheForward) {
  constexpr char kText[] =
      "in x 4; in m 4; param w 4; y 4 = mul(x, w); z 4 = exp(m);"
      "s 4 = add(y, z); reduce(s)";
  const auto graph = training::TrainingGraphReader().Read(kText);
  const training::GradientFlow flow(*graph, {});
  CallSettings settings;
  settings.flow = &flow;
  const Made made = Find(kText, settings);
  EXPECT_EQ(Cost(made, 0).backward.memory, 2 * Cost(made, 0).forward.memory);
  EXPECT_EQ(Cost(made, 0).backward.host, Host(device::HostCall::kBackward));
  // Of an input no gradient is wanted.
  EXPECT_EQ(Cost(made, 1).backward.device(), 0);
  EXPECT_EQ(Cost(made, 1).backward.host, 0);
}

StepTime TimeOf(absl::string_view text, bool compiled) {
  const auto graph = training::TrainingGraphReader().Read(text);
  expr::Pool pool(graph->shared_pool());
  const auto model = StepTimeModel::Build(*graph, {}, pool);
  EXPECT_TRUE(model.ok()) << model.status();
  StepTimeModel::Run run;
  run.compiled = compiled;
  const auto time = model->Evaluate({}, Round(), run);
  EXPECT_TRUE(time.ok()) << time.status();
  return *time;
}

TEST(StepTimeTest, TheDeviceWaitsForTheHost) {
  // exp of 800 bytes takes the device 20 seconds, the host 2 to issue; two
  // views 1 each; neg of 8 bytes a quarter, the host 2.
  constexpr char kText[] =
      "in x 200; in s 1; y 200 = exp(x); v in s 1 = reshape(s);"
      "a 1 = neg(v); b 1 = neg(a); out y; out b";
  // Host: 2, 3, 5, 7. Device: 2 + 20 = 22, 22, 22.25, 22.5.
  const StepTime time = TimeOf(kText, false);
  EXPECT_DOUBLE_EQ(time.pass.seconds, 22.5);
  EXPECT_DOUBLE_EQ(time.pass.waiting(), 2.0);
  EXPECT_DOUBLE_EQ(TimeOf(kText, true).pass.seconds, 20.5);
  // Small kernels alone wait for each call.
  EXPECT_DOUBLE_EQ(
      TimeOf("in s 1; a 1 = neg(s); b 1 = exp(a); out b", false).pass.seconds,
      4.25);
}

TEST(StepTimeTest, CallsOfOneKindAreCountedTogether) {
  const auto graph = training::TrainingGraphReader().Read(
      "in x 200; a 200 = exp(x); b 200 = exp(a); c 200 = exp(b);"
      "d 1 = reduce(c); out d");
  expr::Pool pool(graph->shared_pool());
  const auto model = StepTimeModel::Build(*graph, {}, pool);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->num_calls(), 4u);
  const auto calls = model->Calls({}, Round());
  ASSERT_TRUE(calls.ok()) << calls.status();
  ASSERT_EQ(calls->size(), 2u);
  EXPECT_EQ((*calls)[0].calls, 3);
  EXPECT_DOUBLE_EQ((*calls)[0].forward.memory, 60.0);
}

}  // namespace
}  // namespace linnet::cost
