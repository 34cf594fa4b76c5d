#include "core/parallel/schedule.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"

namespace linnet::parallel {
namespace {

using expr::Expr;
using graph::Category;
using graph::ObjectId;

constexpr std::array<absl::string_view, 2> kSchedules = {"1f1b", "gpipe"};

Expr BytesOf(const std::vector<ObjectId>& values, const graph::Graph& graph,
             bool floats_only, expr::Pool& pool) {
  Expr sum = pool.Zero();
  for (ObjectId id : values) {
    const graph::Object& object = graph.object(id);
    if (floats_only && !IsFloat(object.dtype)) continue;
    sum = pool.Add(sum, object.full_bytes);
  }
  return sum;
}

Expr Times(int64_t factor, Expr e, expr::Pool& pool) {
  return pool.Mul(pool.Constant(factor), e);
}

void AddInterval(Expr bytes, int64_t begin, int64_t end, Category category,
                 graph::Timeline* timeline) {
  if (bytes.is_zero() || begin > end) return;
  timeline->intervals.push_back({bytes, begin, end, category, {}, {}});
}

}  // namespace

absl::string_view ScheduleName(Schedule schedule) {
  return kSchedules[static_cast<size_t>(schedule)];
}

std::optional<Schedule> ParseSchedule(absl::string_view name) {
  for (size_t i = 0; i < kSchedules.size(); ++i) {
    if (kSchedules[i] == name) return static_cast<Schedule>(i);
  }
  return std::nullopt;
}

std::vector<absl::string_view> ScheduleNames() {
  return {kSchedules.begin(), kSchedules.end()};
}

int64_t StagePlace::in_flight() const {
  return schedule == Schedule::kGPipe ? microbatches
                                      : std::min(stages - index, microbatches);
}

void HoldMicrobatches(const StagePlace& place, const graph::Graph& graph,
                      expr::Pool& pool, graph::Timeline* timeline) {
  const Expr received = BytesOf(place.received, graph, false, pool);
  const Expr sent = BytesOf(place.sent, graph, false, pool);
  const int64_t n = place.microbatches;
  AddInterval(Times(n - 1, pool.Add(received, sent), pool), 0,
              timeline->moments - 1, Category::kActivations, timeline);
  if (!place.last() || place.stages == 1) return;
  AddInterval(pool.Add(Times(n, received, pool), Times(2 * n, sent, pool)),
              timeline->moments, timeline->moments, Category::kActivations,
              timeline);
  ++timeline->moments;
}

void HoldTraining(const StagePlace& place, const training::StepModel& model,
                  const training::Moments& moments, expr::Pool& pool,
                  graph::Timeline* timeline) {
  const graph::Graph& graph = model.graph();
  const int64_t begin = moments.first_backward();
  const int64_t before_optimizer = moments.optimizer() - 1;
  Expr at_end = pool.Zero();
  for (const graph::Interval& interval : timeline->intervals) {
    const bool counts = interval.category == Category::kActivations ||
                        interval.category == Category::kInputs;
    if (counts && interval.begin < begin && interval.end >= begin - 1) {
      at_end = pool.Add(at_end, interval.bytes);
    }
  }
  if (place.schedule == Schedule::k1F1B) {
    for (graph::Interval& interval : timeline->intervals) {
      if (interval.category == Category::kGradients) interval.begin = 0;
    }
  }
  if (model.options().splits_parameters()) {
    std::erase_if(timeline->intervals, [](const graph::Interval& interval) {
      return interval.category == Category::kCommunication;
    });
    AddInterval(model.totals().bytes.gathered, 0, before_optimizer,
                Category::kCommunication, timeline);
    AddInterval(model.totals().largest_gradient, begin, before_optimizer,
                Category::kCommunication, timeline);
  }
  const int64_t n = place.microbatches, held = place.in_flight();
  AddInterval(Times(held - 1, at_end, pool), 0, before_optimizer,
              Category::kActivations, timeline);
  Expr buffers =
      Times(n - held, BytesOf(place.received, graph, false, pool), pool);
  if (!place.last()) {
    buffers = pool.Add(buffers,
                       Times(n, BytesOf(place.sent, graph, true, pool), pool));
  }
  if (!place.first()) {
    buffers = pool.Add(buffers, BytesOf(place.received, graph, true, pool));
  }
  AddInterval(buffers, 0, before_optimizer, Category::kCommunication, timeline);
}

}  // namespace linnet::parallel
