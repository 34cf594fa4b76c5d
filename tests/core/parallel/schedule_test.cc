// Timelines of stages, worked out by hand: tensors of 4 f32 elements, 16 bytes.

#include "core/parallel/schedule.h"

#include <memory>
#include <string>
#include <vector>

#include "core/graph/liveness.h"
#include "core/parallel/split.h"
#include "core/runtime/backend.h"
#include "core/training/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::parallel {
namespace {

using graph::Category;
using ::testing::ElementsAre;
using Bytes = std::vector<int64_t>;

Bytes Of(const graph::Timeline& timeline, Category category) {
  Bytes bytes(static_cast<size_t>(timeline.moments));
  for (const graph::Interval& interval : timeline.intervals) {
    if (interval.category != category) continue;
    for (int64_t m = interval.begin; m <= interval.end; ++m) {
      bytes[static_cast<size_t>(m)] += interval.bytes.constant();
    }
  }
  return bytes;
}

// Two stages: a.w and b.w.
constexpr char kModel[] =
    "in x 4; param a.w 4; param b.w 2; p 4 = mul(x, a.w); q 4 = exp(p);"
    "r 2 = mul(q, b.w); s 2 = exp(r)";

struct Cut {
  StageGraph graph;
  StagePlace place;
};

Cut Stage(const std::string& text, int64_t index, int64_t microbatches,
          Schedule schedule = Schedule::k1F1B) {
  const auto graph = training::TrainingGraphReader().Read(text);
  const size_t starts[] = {0, 1};
  auto stages = SplitGraph(*graph, FindUnits(*graph), starts, 2);
  EXPECT_TRUE(stages.ok()) << stages.status();
  Cut cut;
  cut.graph = std::move((*stages)[static_cast<size_t>(index)]);
  cut.place = {index, {schedule, 2, 1, microbatches}, cut.graph.chunks};
  return cut;
}

Bytes Inference(int64_t index, int64_t microbatches) {
  const Cut cut = Stage(std::string(kModel) + "; out s", index, microbatches);
  graph::Timeline timeline = graph::ComputeLiveness(*cut.graph.graph);
  expr::Pool pool(cut.graph.graph->shared_pool());
  HoldMicrobatches(cut.place, *cut.graph.graph, pool, &timeline);
  Bytes all = Of(timeline, Category::kActivations);
  const Bytes inputs = Of(timeline, Category::kInputs);
  for (size_t i = 0; i < all.size(); ++i) all[i] += inputs[i];
  return all;
}

TEST(ScheduleTest, InferenceKeepsWhatOthersSentAndReceived) {
  // One micro-batch of the first stage: x, p, then q beside them.
  EXPECT_THAT(Inference(0, 1), ElementsAre(32, 48));
  // Three others' q of 16 bytes.
  EXPECT_THAT(Inference(0, 4), ElementsAre(32 + 48, 48 + 48));
  // Of the last: q of 16 and r, s of 8; three others' q and s; and at the end
  // four q, four s and their join.
  EXPECT_THAT(Inference(1, 4), ElementsAre(24 + 72, 32 + 72, 64 + 2 * 32));
}

training::Plan Training(const Cut& cut, std::shared_ptr<expr::Pool> pool,
                        std::unique_ptr<training::StepModel>* model,
                        const training::Options& options) {
  *model = std::make_unique<training::StepModel>(
      cut.graph.graph, *runtime::FindBackend("cuda"), options, *pool,
      cut.place.received());
  auto plan = training::MakePlan(
      **model, training::ParsePolicy("none"), pool,
      [&](const training::Moments& moments, graph::Timeline* timeline) {
        HoldTraining(cut.place, **model, moments, *pool, timeline);
      });
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

// A timeline, and the pool that its sizes live in.
struct Owned {
  std::shared_ptr<expr::Pool> pool;
  graph::Timeline timeline;
};

Owned TrainingOf(int64_t index, int64_t microbatches, Schedule schedule,
                 const training::Options& options = {}) {
  const Cut cut =
      Stage(std::string(kModel) + "; reduce(s)", index, microbatches, schedule);
  auto pool = std::make_shared<expr::Pool>(cut.graph.graph->shared_pool());
  std::unique_ptr<training::StepModel> model;
  return {pool, Training(cut, pool, &model, options).timeline};
}

TEST(ScheduleTest, FirstStageOfATrainingStep) {
  // Steps mul exp | exp' mul' | optimizer. One micro-batch keeps p until exp
  // has run and q, a result, to the end; x is an input.
  const Owned one = TrainingOf(0, 1, Schedule::k1F1B);
  EXPECT_THAT(Of(one.timeline, Category::kActivations),
              ElementsAre(16, 32, 16, 16, 16));
  // Of four, two are in flight: p, q and x once more, before the optimizer.
  const Owned four = TrainingOf(0, 4, Schedule::k1F1B);
  EXPECT_THAT(Of(four.timeline, Category::kActivations),
              ElementsAre(16 + 48, 32 + 48, 16 + 48, 16 + 48, 16));
  // Four q come back as gradients.
  EXPECT_THAT(Of(four.timeline, Category::kCommunication),
              ElementsAre(64, 64, 64, 64, 0));
  // Gradients add up from the first micro-batch on.
  EXPECT_THAT(Of(four.timeline, Category::kGradients),
              ElementsAre(16, 16, 16, 16, 16));
  const Owned all = TrainingOf(0, 4, Schedule::kGPipe);
  EXPECT_THAT(Of(all.timeline, Category::kActivations),
              ElementsAre(16 + 144, 32 + 144, 16 + 144, 16 + 144, 16));
  EXPECT_THAT(Of(all.timeline, Category::kGradients),
              ElementsAre(0, 0, 0, 16, 16));
}

TEST(ScheduleTest, LastStageOfATrainingStep) {
  // Steps mul exp reduce | reduce' exp' mul' | optimizer; one in flight. Three
  // q are received and wait, and one gradient of q goes back.
  const Owned four = TrainingOf(1, 4, Schedule::k1F1B);
  EXPECT_THAT(Of(four.timeline, Category::kCommunication),
              ElementsAre(64, 64, 64, 64, 64, 64, 0));
  // The gradient of what was received flows through mul: q is kept for b.w, and
  // b.w is trained.
  EXPECT_THAT(Of(four.timeline, Category::kGradients),
              ElementsAre(8, 8, 8, 8, 8, 8, 8));
}

TEST(ScheduleTest, SplitWeightsStayWhole) {
  training::Options options;
  options.shards = 2;
  const Owned stage = TrainingOf(0, 2, Schedule::k1F1B, options);
  // a.w of 16 bytes throughout, its gradient in f32 during the backward; two q
  // come back.
  EXPECT_THAT(Of(stage.timeline, Category::kCommunication),
              ElementsAre(16 + 32, 16 + 32, 32 + 32, 32 + 32, 0));
}

// Four units on two devices, two stages on each; device 0 has a and c.
Owned Interleaved(int64_t device, int64_t microbatches) {
  const auto graph = training::TrainingGraphReader().Read(
      "in x 4; param a.w 4; param b.w 4; param c.w 4; param d.w 4;"
      "p 4 = mul(x, a.w); q 4 = mul(p, b.w); r 4 = mul(q, c.w);"
      "s 4 = mul(r, d.w); reduce(s)");
  const size_t starts[] = {0, 1, 2, 3};
  auto graphs = SplitGraph(*graph, FindUnits(*graph), starts, 2);
  EXPECT_TRUE(graphs.ok()) << graphs.status();
  Cut cut;
  cut.graph = std::move((*graphs)[static_cast<size_t>(device)]);
  cut.place = {device,
               {Schedule::kInterleaved1F1B, 2, 2, microbatches},
               cut.graph.chunks};
  auto pool = std::make_shared<expr::Pool>(cut.graph.graph->shared_pool());
  std::unique_ptr<training::StepModel> model;
  return {pool, Training(cut, pool, &model, {}).timeline};
}

TEST(ScheduleTest, InterleavedHoldsOtherMicrobatchesOfEachChunk) {
  // Device 0 runs mul (a), mul (c), mul' (c), mul' (a) and the optimizer; of
  // two micro-batches all four forward passes come first. A micro-batch leaves
  // x and p in the first chunk, q and r in the second. Beside the second one
  // running: forward a: one of a; forward and backward c: one of both; backward
  // a: one of a, for c has gone back by then.
  const Owned two = Interleaved(0, 2);
  EXPECT_THAT(Of(two.timeline, Category::kActivations),
              ElementsAre(16 + 32, 32 + 64, 32 + 64, 32 + 32, 32));
  // Two p and two r come back as gradients and one of q goes; the other q has
  // its buffer while the second chunk does not hold it.
  EXPECT_THAT(Of(two.timeline, Category::kCommunication),
              ElementsAre(80 + 16, 80, 80, 80 + 16, 0));
  // The gradient of r while c runs backward, of p while a does.
  EXPECT_THAT(Of(two.timeline, Category::kBackwardTemporaries),
              ElementsAre(0, 0, 16, 16, 0));
}

TEST(ScheduleTest, ZeroBubbleKeepsMicrobatchesForTheirWeights) {
  // The last device: mul exp reduce | reduce' exp' mul' | optimizer, weights
  // one micro-batch behind. One that waits for that keeps q of 16, s of 8 and
  // the gradient of r, of 8. The one that runs has r to exp, and s to the end
  // of its backward pass.
  const Owned last = TrainingOf(1, 4, Schedule::kZeroBubble);
  EXPECT_THAT(Of(last.timeline, Category::kActivations),
              ElementsAre(8 + 32, 16 + 32, 8 + 32, 8 + 32, 8 + 32, 8 + 32, 0));
  // Two q wait to be received, and the gradient of one goes back.
  EXPECT_THAT(Of(last.timeline, Category::kCommunication),
              ElementsAre(48, 48, 48, 48, 48, 48, 0));
  // On the first device weights follow at once: it is as under 1F1B.
  EXPECT_THAT(Of(TrainingOf(0, 4, Schedule::kZeroBubble).timeline,
                 Category::kActivations),
              ElementsAre(16 + 48, 32 + 48, 16 + 48, 16 + 48, 16));
}

}  // namespace
}  // namespace linnet::parallel
