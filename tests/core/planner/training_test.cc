// Training through the front door: settings, errors, several policies.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/graph/plain_walk.h"
#include "core/planner/planner.h"
#include "core/planner/prepared.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::ConfigOf;
using testing_support::FullText;
using testing_support::PrepareOrFail;

// A perceptron of two layers with a loss, and entries that return none.
constexpr char kModel[] = R"(module t
use std.nn.linear::{Linear}

pub block Layer<H: Dim, T: Float> {
  sub proj: Linear<H, H, T>
  pub fn forward<N: Dim>(x: Tensor[N, H; T]) -> Tensor[N, H; T] {
    return tanh(proj.forward(x))
  }
}

pub block Model<H: Dim = 8, T: Float = f32> {
  sub layers: [Layer<H, T>; 2]
  param scale: Tensor[H; T]
  pub entry forward<B: Dim>(x: Tensor[B, H; T]) -> Tensor[B, H; T] {
    var y = x
    static for layer in layers { y = layer.forward(y) }
    return y * scale
  }
  pub entry loss<B: Dim>(x: Tensor[B, H; T]) -> T {
    let y = forward(x)
    return sum[i, j] y[i, j] * y[i, j]
  }
  pub entry untrained<B: Dim>(x: Tensor[B, H; T]) -> T {
    return sum[i, j] x[i, j]
  }
}
)";

Config TrainingOf(absl::string_view source) {
  Config config = ConfigOf(source);
  config.entry = "loss";
  config.batch = 4;
  config.training.emplace();
  return config;
}

TEST(TrainingTest, PartsAreThoseOfTheOptions) {
  struct Row {
    std::string name;
    TrainingConfig training;
    std::vector<std::string> want;  // "NAME BYTES" of what is persistent.
  };
  // Two layers of 8 x 8 and 8 more: 136 f32 elements.
  std::vector<Row> rows(5);
  rows[0] = {"sgd", {}, {"Weights 544"}};
  rows[0].training.optimizer = "sgd";
  rows[1] = {"adamw", {}, {"Weights 544", "Optimizer states (adamw) 1088"}};
  rows[2] = {"momentum",
             {},
             {"Weights 544", "Master weights 1088",
              "Optimizer states (sgd-momentum) 1088"}};
  rows[2].training.optimizer = "sgd-momentum";
  rows[2].training.master_dtype = "f64";
  rows[3] = {"trainable", {}, {"Weights 544", "Optimizer states (adamw) 512"}};
  rows[3].training.trainable = {"layers.0.*"};
  // 32, 32 and 4 elements of each of two.
  rows[4] = {"shards", {}, {"Weights 272", "Optimizer states (adamw) 544"}};
  rows[4].training.shards = 2;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Config config = TrainingOf(kModel);
    config.training = row.training;
    const auto prepared = PrepareOrFail(config);
    ASSERT_NE(prepared, nullptr);
    const auto report = prepared->Analyze(config);
    ASSERT_TRUE(report.ok()) << report.status();
    std::vector<std::string> parts;
    int64_t sum = 0;
    for (const Component& part : report->components) {
      sum += part.bytes.value_or(0);
      if (part.category == "parameters" || part.category == "master_weights" ||
          part.category == "optimizer_states") {
        parts.push_back(absl::StrCat(part.name, " ", *part.bytes));
      }
    }
    EXPECT_THAT(parts, ::testing::ElementsAreArray(row.want));
    EXPECT_EQ(sum, report->expected_peak_bytes);
    EXPECT_LE(report->graph_peak_bytes, report->expected_peak_bytes);
    EXPECT_EQ(report->naive_bytes, 0);
  }
}

TEST(TrainingTest, AdaptersAreTrainedAndTheBaseIsNot) {
  Config config = TrainingOf(kModel);
  config.training->lora.emplace();
  config.training->lora->rank = 2;
  const auto plain = PrepareOrFail(config)->Analyze(config);
  ASSERT_TRUE(plain.ok()) << plain.status();
  const auto bytes_of = [](const Report& report, absl::string_view name) {
    for (const Component& part : report.components) {
      if (part.name == name) return part.bytes.value_or(-1);
    }
    return int64_t{-1};
  };
  // 136 f32 elements, and 2 x 8 and 8 x 2 more beside each of two layers.
  EXPECT_EQ(bytes_of(*plain, "Weights"), 4 * (136 + 2 * 32));
  EXPECT_EQ(bytes_of(*plain, "Optimizer states (adamw)"), 2 * 4 * 2 * 32);

  config.training->lora->base_format = "nf4";
  const auto packed = PrepareOrFail(config)->Analyze(config);
  ASSERT_TRUE(packed.ok()) << packed.status();
  // Each 8 x 8: 32 bytes, one scale and the code.
  EXPECT_EQ(bytes_of(*packed, "Weights"), 2 * (32 + 4 + 64) + 4 * (8 + 2 * 32));
  EXPECT_THAT(
      packed->assumptions,
      Contains("adapters of rank 2 in f32 stand beside 2 linear layers, "
               "and what they stand beside is frozen; 2 frozen weights "
               "are stored as nf4"));
  // One layer's weight at a time is unpacked.
  EXPECT_EQ(bytes_of(*packed, "Backend workspace"), 4 * 64);

  config.training->lora->base_format = "plain";
  config.training->trainable = {"scale"};
  const auto both = PrepareOrFail(config)->Analyze(config);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(bytes_of(*both, "Optimizer states (adamw)"), 2 * 4 * (8 + 2 * 32));
}

TEST(TrainingTest, SeveralPoliciesGiveSeveralReports) {
  Config config = TrainingOf(kModel);
  config.training->checkpoints = {"none", "block", "layers.0.proj"};
  const auto prepared = PrepareOrFail(config);
  ASSERT_NE(prepared, nullptr);
  const auto reports = prepared->AnalyzeAll(config);
  ASSERT_TRUE(reports.ok()) << reports.status();
  ASSERT_EQ(reports->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Report& report = (*reports)[i];
    ASSERT_TRUE(report.training.has_value());
    EXPECT_EQ(report.training->checkpoint, config.training->checkpoints[i]);
    EXPECT_THAT(report.config.training->checkpoints,
                ElementsAre(config.training->checkpoints[i]));
    EXPECT_EQ(report.training->recompute.has_value(), i > 0);
  }
  // A layer is a product of 2 * 64 FLOPs per row and 8 of tanh; the rest 8 per
  // row for the scaling and (1 + 1) * 8 for the sum of squares.
  const double all = 2 * (128 + 8) + 8 + 16;
  EXPECT_DOUBLE_EQ(*(*reports)[1].training->recompute, 2 * 136 / (3 * all));
  EXPECT_DOUBLE_EQ(*(*reports)[2].training->recompute, 128 / (3 * all));
  const auto first = prepared->Analyze(config);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->training->checkpoint, "none");
}

TEST(TrainingTest, ThePeakIsPlaced) {
  Config config = TrainingOf(kModel);
  config.training->checkpoints = {"block"};
  const auto prepared = PrepareOrFail(config);
  ASSERT_NE(prepared, nullptr);
  const auto report = prepared->Analyze(config);
  ASSERT_TRUE(report.ok());
  const training::Moments& moments = prepared->training()->plan(0).moments;
  // Two products, two tanh, the scaling and the sum of squares.
  const int32_t steps = prepared->graph().num_steps();
  EXPECT_EQ(moments.count(), 2 * steps + 4 + 1);
  EXPECT_EQ(report->training->num_positions, moments.count());
  const TrainingPlans& plans = *prepared->training();
  EXPECT_EQ(plans.PlaceText(0, 0),
            absl::StrCat("the forward pass (position 0 of ", moments.count(),
                         "): linear in `layers.0.proj`"));
  EXPECT_EQ(
      plans.PlaceText(0, moments.recompute(1)),
      absl::StrCat("the backward pass (position ", moments.recompute(1), " of ",
                   moments.count(), "): tanh in `layers.0`, computed again"));
  EXPECT_EQ(
      plans.PlaceText(0, moments.backward(0)),
      absl::StrCat("the backward pass (position ", moments.backward(0), " of ",
                   moments.count(), "): linear in `layers.0.proj`"));
  EXPECT_EQ(plans.PlaceText(0, moments.optimizer()),
            absl::StrCat("the optimizer step (position ", moments.optimizer(),
                         " of ", moments.count(), ")"));
  EXPECT_EQ(plans.PlaceText(0, moments.count()), "");
}

TEST(TrainingTest, ProcessesOfATrainingStepHoldMore) {
  Config config = TrainingOf(kModel);
  config.training->shards = 4;
  const auto prepared = PrepareOrFail(config);
  ASSERT_NE(prepared, nullptr);
  const auto report = prepared->Analyze(config);
  ASSERT_TRUE(report.ok());
  std::vector<std::string> runtime;
  for (const Component& part : report->components) {
    if (part.category == "runtime") {
      runtime.push_back(absl::StrCat(part.name, " ", *part.bytes / kKiB));
    }
  }
  EXPECT_THAT(
      runtime,
      ElementsAre("CUDA context 635904", "CUDA libraries 149504",
                  "All-reduce buffers 128", "NCCL communicator 862208"));
}

TEST(TrainingTest, BadInputSaysWhatWouldWork) {
  struct Row {
    std::string name;
    void (*change)(Config*);
    std::string want;
  };
  const Row rows[] = {
      {"optimizer", [](Config* c) { c->training->optimizer = "adamv"; },
       "there is no optimizer `adamv`; did you mean `adam` or `adamw`?"},
      {"master dtype", [](Config* c) { c->training->master_dtype = "fp32"; },
       "`fp32` (--master-dtype) is no float dtype"},
      {"integer master dtype",
       [](Config* c) { c->training->master_dtype = "i32"; },
       "`i32` (--master-dtype) is no float dtype"},
      {"gradient dtype",
       [](Config* c) { c->training->gradient_dtype = "bf17"; },
       "(--gradient-dtype) is no float dtype; did you mean `bf16`"},
      {"shards", [](Config* c) { c->training->shards = 0; },
       "the number of shards must be at least 1, but is 0"},
      {"stage", [](Config* c) { c->training->zero_stage = 4; },
       "there is no ZeRO stage 4 (--zero-stage)"},
      {"a stage of one process", [](Config* c) { c->training->zero_stage = 1; },
       "say over how many with --shards"},
      {"rank",
       [](Config* c) {
         c->training->lora = LoraConfig{0, {}, "", ""};
       },
       "the rank of adapters (--lora-rank) must lie between 1 and"},
      {"adapters' target",
       [](Config* c) {
         c->training->lora.emplace();
         c->training->lora->targets = {"prj"};
       },
       "no linear layer (--lora-target) matches `prj`; did you mean `proj`?"},
      {"adapters' dtype",
       [](Config* c) {
         c->training->lora.emplace();
         c->training->lora->dtype = "i8";
       },
       "`i8` (--lora-dtype) is no float dtype"},
      {"base format",
       [](Config* c) {
         c->training->lora.emplace();
         c->training->lora->base_format = "nf5";
       },
       "there is no format `nf5` of frozen weights (--lora-base)"},
      {"trainable", [](Config* c) { c->training->trainable = {"layer.*"}; },
       "no float parameter (--trainable) matches `layer.*`; did you mean "
       "`layers.*`"},
      {"checkpoint",
       [](Config* c) {
         c->training->checkpoints = {"none", "layers.*.prj"};
       },
       "no block that the entry runs (--checkpoint) matches `layers.*.prj`; "
       "did you mean `layers.*.proj`"},
      {"policy", [](Config* c) { c->training->checkpoints = {"blocks"}; },
       "did you mean `block`"},
      {"empty policy", [](Config* c) { c->training->checkpoints = {""}; },
       "a checkpoint policy is empty"},
      {"no loss", [](Config* c) { c->entry = "forward"; },
       "training needs an entry that returns its loss, one float or one per "
       "row, but `forward` returns"},
      {"the entries that have one", [](Config* c) { c->entry = "forward"; },
       "use `loss` or `untrained`"},
      {"no gradient", [](Config* c) { c->entry = "untrained"; },
       "computes nothing from a trained parameter"},
      {"too many policies",
       [](Config* c) { c->training->checkpoints.assign(17, "none"); },
       "there are 17 checkpoint policies, more than 16"},
      {"too many patterns",
       [](Config* c) { c->training->trainable.assign(65, "*"); },
       "there are 65 patterns (--trainable), more than 64"},
      {"long pattern",
       [](Config* c) { c->training->trainable = {std::string(257, '*')}; },
       "a pattern (--trainable) is longer than 256 bytes"},
  };
  for (const Row& row : rows) {
    Config config = TrainingOf(kModel);
    row.change(&config);
    const auto prepared = Prepare(config);
    ASSERT_FALSE(prepared.ok()) << row.name;
    EXPECT_THAT(FullText(prepared.status()), HasSubstr(row.want)) << row.name;
    EXPECT_TRUE(
        prepared.status().code() == absl::StatusCode::kInvalidArgument ||
        prepared.status().code() == absl::StatusCode::kResourceExhausted)
        << row.name;
  }
}

TEST(TrainingTest, NothingToTrainOrToShard) {
  Config config = ConfigOf(
      "module t\npub entry loss(x: Tensor[4; f32]) -> f32 {\n"
      "  return sum[i] x[i] }");
  config.training.emplace();
  auto prepared = Prepare(config);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(FullText(prepared.status()),
            "the model has no float parameter, so there is nothing to train");
  config.training->shards = 2;
  prepared = Prepare(config);
  ASSERT_FALSE(prepared.ok());
  EXPECT_THAT(FullText(prepared.status()), HasSubstr("nothing to shard"));
}

TEST(TrainingTest, KeysTellSettingsApart) {
  std::vector<Config> configs(14, TrainingOf(kModel));
  configs[1].training.reset();
  configs[2].training->optimizer = "sgd";
  configs[3].training->master_dtype = "f32";
  configs[4].training->gradient_dtype = "f32";
  configs[5].training->trainable = {"layers.*"};
  configs[6].training->checkpoints = {"layers.*"};
  configs[7].training->shards = 2;
  configs[8].training->zero_stage = 2;
  for (size_t i = 9; i < configs.size(); ++i)
    configs[i].training->lora.emplace();
  configs[10].training->lora->rank = 4;
  configs[11].training->lora->targets = {"proj"};
  configs[12].training->lora->dtype = "bf16";
  configs[13].training->lora->base_format = "nf4";
  for (size_t i = 0; i < configs.size(); ++i) {
    for (size_t j = 0; j < configs.size(); ++j) {
      EXPECT_EQ(CacheKey(configs[i]) == CacheKey(configs[j]), i == j)
          << i << " " << j;
    }
  }
  Config larger = configs[0];
  larger.batch = 400;
  EXPECT_EQ(CacheKey(larger), CacheKey(configs[0]));
}

TEST(TrainingTest, OtherSizesAreAnotherEvaluation) {
  Config config;
  config.model.name = "tinyllama-1.1b-chat";
  config.entry = "loss_packed";
  config.context = 512;
  config.training.emplace().checkpoints = {"none", "layers.*.mlp", "block"};
  const auto prepared = PrepareOrFail(config);
  ASSERT_NE(prepared, nullptr);
  const TrainingPlans& plans = *prepared->training();
  for (int64_t context : {1, 512, 8192, 100000}) {
    std::vector<int64_t> sizes(prepared->graph().roles().size(), context);
    absl::flat_hash_map<expr::SymbolId, int64_t> values;
    for (expr::SymbolId role : prepared->graph().roles()) {
      values[role] = context;
    }
    std::vector<int64_t> saved;  // At the end of the forward pass, by policy.
    for (size_t i = 0; i < plans.num_policies(); ++i) {
      const training::Plan& plan = plans.plan(i);
      const graph::Peak got = plan.peak->Evaluate(sizes);
      const graph::Peak want = graph::PlainWalk(plan.timeline, values);
      EXPECT_EQ(got.bytes, want.bytes) << i << " at " << context;
      EXPECT_EQ(got.moment, want.moment) << i << " at " << context;
      saved.push_back(0);
      const int64_t end = plan.moments.first_backward() - 1;
      for (const graph::Interval& interval :
           graph::LiveAt(plan.timeline, end)) {
        if (interval.category == graph::Category::kActivations) {
          saved.back() += expr::Evaluate(interval.bytes, values).value;
        }
      }
    }
    // More checkpointing never raises what is saved.
    EXPECT_GE(saved[0], saved[1]) << context;
    EXPECT_GE(saved[1], saved[2]) << context;
  }
}

// The bytes of all categories at a position.
int64_t TotalAt(const MemoryTimeline& timeline, int64_t position) {
  int64_t total = 0;
  for (const MemoryTimeline::Category& category : timeline.categories) {
    EXPECT_EQ(static_cast<int64_t>(category.bytes.size()),
              timeline.num_positions);
    total += category.bytes[static_cast<size_t>(position)];
  }
  return total;
}

TEST(MemoryTimelineTest, OfATrainingStepAgreesWithItsReport) {
  Config config = TrainingOf(kModel);
  config.training->checkpoints = {"none", "block"};
  const auto prepared = PrepareOrFail(config);
  ASSERT_NE(prepared, nullptr);
  const auto reports = prepared->AnalyzeAll(config);
  ASSERT_TRUE(reports.ok());
  for (size_t i = 0; i < 2; ++i) {
    const auto timeline = prepared->Timeline(config, i);
    ASSERT_TRUE(timeline.ok()) << timeline.status();
    const training::Plan& plan = prepared->training()->plan(i);
    const std::vector<int64_t> sizes = {4};
    const graph::Peak peak = plan.peak->Evaluate(sizes);
    EXPECT_EQ(timeline->peak_position, peak.moment);
    EXPECT_EQ(timeline->peak_at, (*reports)[i].peak_at);
    EXPECT_EQ(TotalAt(*timeline, peak.moment), peak.bytes);
    int64_t live = 0;
    for (size_t t = 0; t < timeline->live_at_peak.size(); ++t) {
      const MemoryTimeline::Tensor& tensor = timeline->live_at_peak[t];
      live += tensor.bytes;
      if (t > 0) {
        EXPECT_LE(tensor.bytes, timeline->live_at_peak[t - 1].bytes);
      }
      if (tensor.category == "activations" && tensor.step >= 0) {
        EXPECT_FALSE(tensor.label.empty());
      }
    }
    EXPECT_EQ(live, peak.bytes);
  }
  const auto missing = prepared->Timeline(config, 2);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(FullText(missing.status()),
              HasSubstr("there is no checkpoint policy 2"));
}

TEST(MemoryTimelineTest, OfAnEntryNamesWhatIsLive) {
  Config config = ConfigOf(kModel);
  config.entry = "forward";
  config.batch = 4;
  const auto prepared = PrepareOrFail(config);
  ASSERT_NE(prepared, nullptr);
  const auto timeline = prepared->Timeline(config, 0);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_EQ(timeline->num_positions, prepared->graph().num_steps());
  // 128 bytes each: the input, the first product, and its tanh.
  EXPECT_EQ(timeline->peak_position, 1);
  EXPECT_EQ(timeline->peak_at, "step 1: tanh in `layers.0`");
  std::vector<std::string> live;
  for (const MemoryTimeline::Tensor& tensor : timeline->live_at_peak) {
    live.push_back(absl::StrCat(tensor.category, " ", tensor.bytes, " ",
                                tensor.label, " ", tensor.scope));
  }
  EXPECT_THAT(live, ::testing::UnorderedElementsAre(
                        "inputs 128  ", "activations 128 linear layers.0.proj",
                        "activations 128 tanh layers.0"));
}

TEST(TrainingTest, LogProbabilitiesAreALossToo) {
  Config config;
  config.model.name = "tinyllama-1.1b-chat";
  config.entry = "log_probs_packed";
  config.context = 512;
  config.training.emplace();
  const auto prepared = PrepareOrFail(config);
  ASSERT_NE(prepared, nullptr);
  const auto report = prepared->Analyze(config);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->training.has_value());
}

}  // namespace
}  // namespace linnet::planner
