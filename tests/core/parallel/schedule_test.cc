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
  auto stages = SplitGraph(*graph, FindUnits(*graph), starts);
  EXPECT_TRUE(stages.ok()) << stages.status();
  Cut cut;
  cut.graph = std::move((*stages)[static_cast<size_t>(index)]);
  cut.place = {index,         2, microbatches, schedule, cut.graph.received,
               cut.graph.sent};
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
      cut.place.received);
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

TEST(ScheduleTest, OneFOneBHoldsAStageForEachToTheLast) {
  StagePlace place;
  place.stages = 4;
  place.microbatches = 8;
  Bytes held;
  for (place.index = 0; place.index < 4; ++place.index) {
    held.push_back(place.in_flight());
  }
  EXPECT_THAT(held, ElementsAre(4, 3, 2, 1));
  place.schedule = Schedule::kGPipe;
  EXPECT_EQ(place.in_flight(), 8);
  place.schedule = Schedule::k1F1B;
  place.index = 0;
  place.microbatches = 2;
  EXPECT_EQ(place.in_flight(), 2);
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

}  // namespace
}  // namespace linnet::parallel
