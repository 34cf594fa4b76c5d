// Training steps of small graphs, worked out by hand. Tensors have 4 elements
// of f32 where nothing else is said, so 16 bytes; moments are listed in order.

#include "core/training/timeline.h"

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/expr/evaluator.h"
#include "core/graph/plain_walk.h"
#include "core/runtime/backend.h"
#include "core/training/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::training {
namespace {

using graph::Category;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using Bytes = std::vector<int64_t>;

struct Step {
  std::shared_ptr<const graph::Graph> graph;
  std::shared_ptr<expr::Pool> pool;
  std::unique_ptr<StepModel> model;
  std::unique_ptr<Plan> plan;

  // The bytes of a category at each moment, with every role 1.
  Bytes Of(Category category) const {
    Bytes bytes(static_cast<size_t>(plan->timeline.moments));
    for (const graph::Interval& interval : plan->timeline.intervals) {
      if (interval.category != category) continue;
      EXPECT_LE(interval.begin, interval.end);
      for (int64_t m = interval.begin; m <= interval.end; ++m) {
        bytes[static_cast<size_t>(m)] += ValueOf(interval.bytes);
      }
    }
    return bytes;
  }
  int64_t ValueOf(expr::Expr e) const {
    absl::flat_hash_map<expr::SymbolId, int64_t> ones;
    for (expr::SymbolId role : graph->roles()) ones[role] = 1;
    const expr::Value value = expr::Evaluate(e, ones);
    EXPECT_TRUE(value.ok());
    return value.value;
  }
};

Step Train(absl::string_view text, absl::string_view policy = "none",
           const Options& options = {}) {
  Step step;
  step.graph = TrainingGraphReader().Read(text);
  step.pool = std::make_shared<expr::Pool>(step.graph->shared_pool());
  step.model = std::make_unique<StepModel>(
      step.graph, *runtime::FindBackend("cuda"), options, *step.pool);
  auto plan = MakePlan(*step.model, ParsePolicy(policy), step.pool);
  EXPECT_TRUE(plan.ok()) << plan.status();
  step.plan = std::make_unique<Plan>(*std::move(plan));
  return step;
}

TEST(TimelineTest, ChainKeepsWhatItsBackwardReads) {
  // Forward 0 1 2, backward 2' 1' 0', optimizer.
  const Step step =
      Train("in x 4; param w 1; a 4 = mul(x, w); b 4 = exp(a); reduce(b)");
  // a until exp has run; b, the output of exp and what reduce keeps, until 1'.
  EXPECT_THAT(step.Of(Category::kActivations),
              ElementsAre(16, 32, 16, 16, 16, 0, 0));
  // The gradient of b from 2' to 1', of a from 1' to 0'.
  EXPECT_THAT(step.Of(Category::kBackwardTemporaries),
              ElementsAre(0, 0, 0, 16, 32, 16, 0));
  EXPECT_THAT(step.Of(Category::kGradients), ElementsAre(0, 0, 0, 0, 0, 4, 4));
  EXPECT_THAT(step.Of(Category::kInputs),
              ElementsAre(16, 16, 16, 16, 16, 16, 16));
}

TEST(TimelineTest, SquaresAreKeptAndScaledTensorsAreNot) {
  const Step square = Train(
      "in x 4; param w 4; a 4 = add(x, w); b 4 = mul(a); c 4 = neg(b);"
      "reduce(c)");
  // a until mul's backward, the sixth moment; c until that of reduce.
  EXPECT_THAT(square.Of(Category::kActivations),
              ElementsAre(16, 32, 48, 32, 32, 16, 16, 0, 0));
  const Step scaled = Train(
      "in x 4; param w 4; a 4 = add(x, w); b 4 = scale(a); c 4 = neg(b);"
      "reduce(c)");
  EXPECT_THAT(scaled.Of(Category::kActivations),
              ElementsAre(16, 32, 32, 16, 16, 0, 0, 0, 0));
}

TEST(TimelineTest, AKeptViewKeepsItsStorage) {
  const Step step = Train(
      "in x 4; param w 4; a 4 = add(x, w); v in a 2x2 = reshape(a);"
      "b 2x2 = sin(v); reduce(b)");
  // 0 1 2 3 | 3' 2' 1' 0' | optimizer: a is kept by sin until 2', b until 3'.
  EXPECT_THAT(step.Of(Category::kActivations),
              ElementsAre(16, 16, 32, 32, 32, 16, 0, 0, 0));
  // One gradient for a and its view: from the backward of sin to that of add.
  EXPECT_THAT(step.Of(Category::kBackwardTemporaries),
              ElementsAre(0, 0, 0, 0, 16, 32, 16, 16, 0));
}

TEST(TimelineTest, OutputsStayAndTheirGradientsComeFirst) {
  const Step step =
      Train("in x 4; param w 4; a 4 = mul(x, w); b 4 = neg(a); out b");
  EXPECT_THAT(step.Of(Category::kActivations), ElementsAre(16, 32, 16, 16, 16));
  EXPECT_THAT(step.Of(Category::kBackwardTemporaries),
              ElementsAre(0, 0, 32, 16, 0));
}

TEST(TimelineTest, NothingIsKeptWhereNoGradientFlows) {
  Options options;
  options.trainable = {"w"};
  const Step step = Train(
      "in x 4; param w 4; param frozen 4; a 4 = mul(x, frozen); b 4 = exp(a);"
      "c 4:bool = compare(b, w); d 4 = mul(b, w); reduce(d)",
      "none", options);
  EXPECT_FALSE(step.model->flow().differentiable(0));
  EXPECT_FALSE(step.model->flow().differentiable(2));
  EXPECT_EQ(step.model->flow().num_differentiable(), 2);
  // 0 1 2 3 4 | 4' 3' 2' 1' 0' | optimizer. b is the factor that the gradient
  // of w is made of, d what reduce keeps; exp keeps nothing, c is a boolean.
  EXPECT_THAT(step.Of(Category::kActivations),
              ElementsAre(16, 32, 20, 32, 32, 32, 16, 0, 0, 0, 0));
  EXPECT_THAT(step.Of(Category::kGradients),
              ElementsAre(0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16));
  // Of d alone: b carries none.
  EXPECT_THAT(step.Of(Category::kBackwardTemporaries),
              ElementsAre(0, 0, 0, 0, 0, 16, 16, 0, 0, 0, 0));
}

TEST(TimelineTest, ATiedParameterHasOneGradient) {
  // Trained by its other name; read first by the table's name, last by that of
  // the head, whose backward comes first.
  Options options;
  options.trainable = {"head.*"};
  const Step step = Train(
      "in x 4; param table.w 4; tie head.w table.w; a 4 = mul(x, table.w);"
      "b 4 = neg(a); c 4 = mul(b, head.w); reduce(c)",
      "none", options);
  EXPECT_EQ(step.model->totals().parameters, 1);
  EXPECT_EQ(step.model->totals().trained, 1);
  EXPECT_EQ(step.ValueOf(step.model->totals().bytes.states), 2 * 16);
  EXPECT_THAT(step.Of(Category::kGradients),
              ElementsAre(0, 0, 0, 0, 0, 16, 16, 16, 16));
}

TEST(TimelineTest, AParameterReadThroughAViewHasItsGradientFromThere) {
  const Step step = Train(
      "in x 4; param w 2x2; v in w 4 = permute(w); a 4 = mul(x, v); reduce(a)");
  EXPECT_THAT(step.Of(Category::kGradients),
              ElementsAre(0, 0, 0, 0, 16, 16, 16));
}

constexpr char kTwoLayers[] =
    "in x 4; param layers.0.w 1; param layers.1.w 1;"
    "a 4 = mul(x, layers.0.w) @ layers.0; b 4 = exp(a) @ layers.0;"
    "c 4 = mul(b, layers.1.w) @ layers.1; d 4 = add(c, a) @ layers.1;"
    "reduce(d)";

TEST(TimelineTest, RegionsThatReadEachOtherKeepWhatTheyRead) {
  // 0 1 2 3 4 | 4' | 2 3 again 3' 2' | 0 1 again 1' 0' | optimizer.
  const Step step = Train(kTwoLayers, "block");
  ASSERT_EQ(step.plan->moments.regions().size(), 2u);
  //   a  0 to 2', the end of the backward of the layer that reads it; 10, 11
  //   b  1 to 2'; again from 11 to 1', for exp keeps it
  //   c  2 and 3; 6 and 7
  //   d  3 to 4', for reduce keeps it; again at 7
  EXPECT_THAT(
      step.Of(Category::kActivations),
      ElementsAre(16, 32, 48, 64, 48, 48, 48, 64, 32, 32, 16, 32, 16, 0, 0));
  //   d 4' to 3'; c 3' to 2'; b 2' to 1'; a 3' to 0'
  EXPECT_THAT(
      step.Of(Category::kBackwardTemporaries),
      ElementsAre(0, 0, 0, 0, 0, 16, 16, 16, 48, 48, 32, 32, 32, 16, 0));
  EXPECT_THAT(step.Of(Category::kGradients),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 8, 8));
  EXPECT_EQ(step.ValueOf(step.plan->recomputed_flops), 400);
  EXPECT_EQ(step.ValueOf(step.plan->forward_flops), 500);
}

TEST(TimelineTest, APatternChecksOnlyItsBlocks) {
  // 0 1 2 3 4 | 4' 3' 2' | 0 1 again 1' 0' | optimizer.
  const Step step = Train(kTwoLayers, "layers.0");
  ASSERT_EQ(step.plan->moments.regions().size(), 1u);
  //   a  0 to 3; 8 and 9.  b  1 to 2', kept by mul; again 9 to 1'
  //   c  2 and 3.  d  3 to 4'
  EXPECT_THAT(step.Of(Category::kActivations),
              ElementsAre(16, 32, 48, 64, 32, 32, 16, 16, 16, 32, 16, 0, 0));
}

TEST(TimelineTest, ARegionWithoutGradientsIsNotRunAgain) {
  Options options;
  options.trainable = {"layers.1.*"};
  const Step step = Train(kTwoLayers, "block", options);
  ASSERT_EQ(step.plan->moments.regions().size(), 1u);
  EXPECT_EQ(step.plan->moments.regions()[0].block, "layers.1");
}

TEST(TimelineTest, ExtraBytesOfARegionComeWithItsRecomputation) {
  const std::string norm =
      "in x 3x4; param layers.0.w 4; a 3x4 = torch.rms_norm(x, layers.0.w) @ "
      "layers.0; reduce(a)";
  // 4 bytes for each of 3 rows, and the 48 of the input normalized.
  const Step kept = Train(norm);
  EXPECT_THAT(kept.Of(Category::kActivations),
              ElementsAre(48 + 60, 48 + 60, 48 + 60, 60, 0));
  const Step again = Train(norm, "block");
  EXPECT_THAT(again.Of(Category::kActivations),
              ElementsAre(48, 48, 48, 48 + 60, 60, 0));
}

TEST(TimelineTest, WorkspaceOfTheLossIsThatOfItsPass) {
  // 3 rows of 4, 5 words: 15 logits. Without gradients 8 * 15; with them
  // 8 * 15 + 8 * 20. What is kept: hidden states of 48, a head of 4 * 20.
  const std::string loss =
      "in x 3x4; in t 3:i64; in s 3; param w 4; param head 5x4;"
      "h 3x4 = mul(x, w); linnet.linear_cross_entropy(h, head, t, s)";
  const Step step = Train(loss);
  EXPECT_THAT(step.Of(Category::kWorkspace), ElementsAre(0, 280, 0, 0, 0));
  EXPECT_THAT(step.Of(Category::kActivations),
              ElementsAre(48, 48 + 128, 128, 0, 0));
  Options options;
  options.trainable = {"w"};
  const Step last = Train(
      "in x 3x4; in t 3:i64; in s 3; param w 4; param head 5x4;"
      "linnet.linear_cross_entropy(x, head, t, s); h 3x4 = mul(x, w); "
      "reduce(h)",
      "none", options);
  EXPECT_EQ(last.Of(Category::kWorkspace)[0], 120);
  // Its backward makes both gradients: 8 * 15 + 8 * 20, 4 * 20 and 48.
  const Step probabilities = Train(
      "in x 3x4; in t 3:i64; param w 4; param head 5x4; h 3x4 = mul(x, w);"
      "p 3 = linnet.linear_token_log_probs(h, head, t); out p");
  EXPECT_THAT(probabilities.Of(Category::kWorkspace),
              ElementsAre(0, 120, 408, 0, 0));
}

TEST(TimelineTest, SharesOfWeightsAreGatheredWhileTheirBlockRuns) {
  Options options;
  options.shards = 2;
  const Step step =
      Train(std::string("param head.w 6:bf16;") + kTwoLayers, "none", options);
  // 12 bytes of the head throughout; a layer's 4 while it runs.
  EXPECT_THAT(step.Of(Category::kCommunication),
              ElementsAre(16, 16, 16, 16, 12, 12, 16, 16, 16, 16, 12));
  const Step again = Train(kTwoLayers, "block", options);
  EXPECT_THAT(again.Of(Category::kCommunication),
              ElementsAre(4, 4, 4, 4, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 0));
}

TEST(TimelineTest, SharesRoundUp) {
  struct Row {
    const char* name;
    DType dtype;
    bool trained;
    std::optional<DType> master, gradient;
    int64_t shards;
    Bytes want;  // Weight, master, gradient, states, gathered; 7 elements.
  };
  const Row rows[] = {
      {"f32", DType::kF32, true, {}, {}, 1, {28, 0, 28, 56, 0}},
      {"bf16", DType::kBF16, true, {}, {}, 1, {14, 0, 14, 28, 0}},
      {"master", DType::kBF16, true, DType::kF32, {}, 1, {14, 28, 28, 56, 0}},
      {"same master",
       DType::kF32,
       true,
       DType::kF32,
       {},
       1,
       {28, 0, 28, 56, 0}},
      {"gradient",
       DType::kBF16,
       true,
       DType::kF32,
       DType::kBF16,
       1,
       {14, 28, 14, 56, 0}},
      {"frozen", DType::kBF16, false, DType::kF32, {}, 1, {14, 0, 0, 0, 0}},
      {"split", DType::kBF16, true, {}, {}, 2, {16, 0, 16, 32, 14}},
      {"split master",
       DType::kBF16,
       true,
       DType::kBF16,
       {},
       2,
       {8, 0, 8, 16, 14}},
      {"split gradient",
       DType::kBF16,
       true,
       {},
       DType::kBF16,
       2,
       {16, 0, 8, 32, 14}},
      {"split frozen", DType::kBF16, false, {}, {}, 2, {8, 0, 0, 0, 14}},
      {"more than elements", DType::kBF16, true, {}, {}, 100, {4, 0, 4, 8, 14}},
  };
  for (const Row& row : rows) {
    expr::Pool pool;
    Options options;
    options.master_dtype = row.master;
    options.gradient_dtype = row.gradient;
    options.shards = row.shards;
    const expr::Expr shape[] = {pool.Constant(7)};
    const ParameterBytes bytes =
        BytesOfParameter(shape, row.dtype, row.trained, options, pool);
    EXPECT_THAT((Bytes{bytes.weight.constant(), bytes.master.constant(),
                       bytes.gradient.constant(), bytes.states.constant(),
                       bytes.gathered.constant()}),
                ElementsAreArray(row.want))
        << row.name;
  }
}

TEST(TimelineTest, KernelsWithoutModelAreAssumedToKeepAll) {
  const Step step = Train(
      "in x 4; param w 4; a 4 = mul(x, w); b 4 = some.kernel(a); c 4 = neg(b);"
      "d 4 = some.kernel(c); reduce(d)");
  ASSERT_EQ(step.model->unmodeled().size(), 2u);
  for (const Unmodeled& kernel : step.model->unmodeled()) {
    EXPECT_EQ(kernel.native, "some.kernel");
    EXPECT_EQ(kernel.calls, 2);
  }
  EXPECT_FALSE(step.model->saved(1).known());
  EXPECT_EQ(step.model->saved(1).objects.size(), 2u);
}

TEST(MomentsTest, EveryMomentHasItsPlace) {
  const Step step = Train(kTwoLayers, "layers.1");
  const Moments& moments = step.plan->moments;
  const std::pair<Part, int32_t> want[] = {
      {Part::kForward, 0},   {Part::kForward, 1},   {Part::kForward, 2},
      {Part::kForward, 3},   {Part::kForward, 4},   {Part::kBackward, 4},
      {Part::kRecompute, 2}, {Part::kRecompute, 3}, {Part::kBackward, 3},
      {Part::kBackward, 2},  {Part::kBackward, 1},  {Part::kBackward, 0},
      {Part::kOptimizer, -1}};
  ASSERT_EQ(moments.count(), static_cast<int64_t>(std::size(want)));
  for (int64_t m = 0; m < moments.count(); ++m) {
    const auto& [part, s] = want[m];
    const Place place = moments.At(m);
    EXPECT_EQ(place.part, part) << m;
    EXPECT_EQ(place.step, s) << m;
    if (part == Part::kForward) {
      EXPECT_EQ(moments.forward(s), m);
    }
    if (part == Part::kRecompute) {
      EXPECT_EQ(moments.recompute(s), m);
    }
    if (part == Part::kBackward) {
      EXPECT_EQ(moments.backward(s), m);
    }
  }
}

TEST(MomentsTest, RegionsAreRunsOfOneBlock) {
  const Step step = Train(
      "in x 4; param w 4; a 4 = mul(x, w) @ layers.0.a; b 4 = neg(a) @ "
      "layers.0.b; c 4 = neg(b); d 4 = neg(c) @ layers.0; e 4 = neg(d) @ "
      "layers.1.a; f 4 = neg(e) @ layers.10; reduce(f)");
  const auto regions = [&](const char* policy) {
    std::string text;
    for (const Region& region :
         FindRegions(*step.graph, step.model->flow(), ParsePolicy(policy))) {
      text += region.block + " " + std::to_string(region.first) + "-" +
              std::to_string(region.last) + ";";
    }
    return text;
  };
  EXPECT_EQ(regions("none"), "");
  EXPECT_EQ(regions("block"),
            "layers.0 0-1;layers.0 3-3;layers.1 4-4;layers.10 5-5;");
  EXPECT_EQ(regions("layers.*.a"), "layers.0.a 0-0;layers.1.a 4-4;");
  EXPECT_EQ(regions("layers.?"), "layers.0 0-1;layers.0 3-3;layers.1 4-4;");
  EXPECT_EQ(regions("nothing"), "");
  EXPECT_THAT(BlockPatterns(*step.graph),
              ElementsAre("layers.*", "layers.*.a", "layers.*.b"));
}

// What must be in memory of the activations at a moment, asked of every object
// and every moment after it: the rules of timeline.h in another form.
class NeededActivations {
 public:
  explicit NeededActivations(const Step& step)
      : graph_(*step.graph),
        model_(*step.model),
        moments_(step.plan->moments) {}

  int Copies(graph::ObjectId owner, int64_t moment) const {
    const int32_t made = graph_.object(owner).producer.index;
    const int32_t home = moments_.region_of(made);
    int copies = 0;
    for (int64_t later = moment; later < moments_.count(); ++later) {
      if (moment >= moments_.forward(made) && Uses(owner, home, later, false)) {
        ++copies;
        break;
      }
    }
    for (int64_t later = moment; later < moments_.count(); ++later) {
      if (home >= 0 && moment >= moments_.recompute(made) &&
          Uses(owner, home, later, true)) {
        ++copies;
        break;
      }
    }
    return copies;
  }

 private:
  bool Reads(int32_t s, graph::ObjectId owner) const {
    const auto of = [&](graph::ObjectId id) {
      return graph_.object(id).owner == owner;
    };
    return absl::c_any_of(graph_.inputs(graph::StepId{s}), of) ||
           absl::c_any_of(graph_.outputs(graph::StepId{s}), of);
  }
  bool Keeps(int32_t s, graph::ObjectId owner) const {
    return model_.flow().differentiable(s) &&
           absl::c_any_of(model_.saved(s).objects, [&](graph::ObjectId id) {
             return graph_.object(id).owner == owner;
           });
  }
  // Whether `moment` needs the first copy, or the one computed again.
  bool Uses(graph::ObjectId owner, int32_t home, int64_t moment,
            bool again) const {
    const Place place = moments_.At(moment);
    if (!again && absl::c_any_of(graph_.results(), [&](graph::ObjectId id) {
          return graph_.object(id).owner == owner;
        })) {
      return true;
    }
    if (place.step < 0) return false;
    const int32_t region = moments_.region_of(place.step);
    const bool inside = region >= 0 && region == home;
    switch (place.part) {
      case Part::kForward:
        return !again && Reads(place.step, owner);
      case Part::kRecompute:
        return again && inside && Reads(place.step, owner);
      case Part::kBackward:
        if (Keeps(place.step, owner) && again == inside) return true;
        // The first step of another region that reads it is the last one to
        // run backward.
        if (again || region < 0 || inside ||
            moments_.regions()[static_cast<size_t>(region)].first !=
                place.step) {
          return false;
        }
        for (int32_t s = place.step;
             s <= moments_.regions()[static_cast<size_t>(region)].last; ++s) {
          if (Reads(s, owner)) return true;
        }
        return false;
      case Part::kOptimizer:
        break;
    }
    return false;
  }

  const graph::Graph& graph_;
  const StepModel& model_;
  const Moments& moments_;
};

TEST(TimelinePropertyTest, ActivationsAreThoseNeeded) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const std::string text = RandomTrainingText(seed);
    for (const char* policy : {"none", "block", "*.a", "layers.0*"}) {
      SCOPED_TRACE(absl::StrCat(policy, " seed ", seed, ": ", text));
      const Step step = Train(text, policy);
      const NeededActivations needed(step);
      Bytes want(static_cast<size_t>(step.plan->timeline.moments));
      for (int32_t i = 0; i < step.graph->num_objects(); ++i) {
        const graph::Object& object = step.graph->object(graph::ObjectId{i});
        if (object.owner.index != i || !object.producer.valid()) continue;
        for (size_t m = 0; m < want.size(); ++m) {
          want[m] += step.ValueOf(object.bytes) *
                     needed.Copies(graph::ObjectId{i}, static_cast<int64_t>(m));
        }
      }
      ASSERT_EQ(step.Of(Category::kActivations), want);
    }
  }
}

TEST(TimelinePropertyTest, MemoryFunctionsAreThePlainWalk) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Options options;
    options.shards = seed % 3 == 0 ? 4 : 1;
    for (const char* policy : {"none", "block", "*.b"}) {
      const Step step = Train(RandomTrainingText(seed), policy, options);
      for (const auto& [batch, tokens] :
           {std::pair<int64_t, int64_t>{1, 1}, {3, 50}, {200, 2}}) {
        const absl::flat_hash_map<expr::SymbolId, int64_t> sizes = {
            {step.graph->roles()[0], batch}, {step.graph->roles()[1], tokens}};
        const std::vector<int64_t> values = {batch, tokens};
        const graph::Timeline own = WithoutModeled(step.plan->timeline);
        const std::pair<const graph::MemoryFunction*, const graph::Timeline*>
            pairs[] = {{&*step.plan->peak, &step.plan->timeline},
                       {&*step.plan->own_peak, &own}};
        for (const auto& [function, timeline] : pairs) {
          const graph::Peak got = function->Evaluate(values);
          const graph::Peak want = graph::PlainWalk(*timeline, sizes);
          ASSERT_EQ(got.bytes, want.bytes) << policy << " seed " << seed;
          ASSERT_EQ(got.moment, want.moment) << policy << " seed " << seed;
        }
      }
    }
  }
}

TEST(TimelineTest, StagesSplitMoreAndMore) {
  // Two readers of one weight of 8 bytes over two processes; forward 0 1 2,
  // backward 2' 1' 0', optimizer.
  constexpr char kText[] =
      "in x 2; param w 2; a 2 = mul(x, w); b 2 = mul(a, w); reduce(b)";
  Options options;
  options.shards = 2;
  options.optimizer = Optimizer::kSgdMomentum;
  options.zero_stage = 1;
  const Step one = Train(kText, "none", options);
  EXPECT_THAT(one.Of(Category::kGradients), ElementsAre(0, 0, 0, 0, 8, 8, 8));
  EXPECT_EQ(one.ValueOf(one.model->totals().bytes.weight), 8);
  EXPECT_EQ(one.ValueOf(one.model->totals().bytes.states), 4);
  EXPECT_THAT(one.Of(Category::kCommunication),
              ElementsAre(0, 0, 0, 0, 0, 0, 0));

  options.zero_stage = 2;
  const Step two = Train(kText, "none", options);
  // Whole until its first reader's backward has added to it, then a part.
  EXPECT_THAT(two.Of(Category::kGradients), ElementsAre(0, 0, 0, 0, 0, 4, 4));
  const Bytes without = one.Of(Category::kBackwardTemporaries);
  Bytes with = two.Of(Category::kBackwardTemporaries);
  for (size_t m = 0; m < with.size(); ++m) with[m] -= without[m];
  EXPECT_THAT(with, ElementsAre(0, 0, 0, 0, 8, 8, 0));
  EXPECT_EQ(two.ValueOf(two.model->totals().bytes.weight), 8);

  options.zero_stage = 3;
  const Step three = Train(kText, "none", options);
  EXPECT_EQ(three.ValueOf(three.model->totals().bytes.weight), 4);
  EXPECT_THAT(three.Of(Category::kCommunication),
              ElementsAre(8, 8, 8, 8, 8, 8, 8));
}

TEST(TimelineTest, AnOptimizerThatNeedsRoomTakesItAtTheEnd) {
  Options options;
  options.optimizer = Optimizer::kAdafactor;
  const Step step = Train(
      "in x 4; param w 4; param v 4; a 4 = mul(x, w); b 4 = mul(a, v);"
      "reduce(b)",
      "none", options);
  // One parameter at a time.
  EXPECT_THAT(step.Of(Category::kWorkspace), ElementsAre(0, 0, 0, 0, 0, 0, 16));
}

TEST(TimelinePropertyTest, MoreShardsNeverRaiseWhatAProcessHolds) {
  expr::Pool pool;
  for (int64_t elements : {1, 7, 64, 1000003}) {
    for (bool trained : {false, true}) {
      std::optional<int64_t> before;
      for (int64_t shards = 2; shards < 40; ++shards) {
        Options options;
        options.shards = shards;
        const expr::Expr shape[] = {pool.Constant(elements)};
        const ParameterBytes bytes =
            BytesOfParameter(shape, DType::kBF16, trained, options, pool);
        const int64_t held = bytes.weight.constant() + bytes.master.constant() +
                             bytes.gradient.constant() +
                             bytes.states.constant();
        if (before) {
          EXPECT_LE(held, *before) << elements << "/" << shards;
        }
        before = held;
      }
    }
  }
}

}  // namespace
}  // namespace linnet::training
