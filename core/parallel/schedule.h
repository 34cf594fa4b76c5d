// What a pipeline's stage holds beside one micro-batch (analysis.md section
// 11), as changes of the timeline of one.

#ifndef LINNET_CORE_PARALLEL_SCHEDULE_H_
#define LINNET_CORE_PARALLEL_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/timeline.h"
#include "core/training/moments.h"
#include "core/training/step_model.h"

namespace linnet::parallel {

enum class Schedule : uint8_t {
  k1F1B,   // Backward as soon as it can run.
  kGPipe,  // All of the forward, then all of the backward.
};

// "1f1b" or "gpipe".
absl::string_view ScheduleName(Schedule schedule);
std::optional<Schedule> ParseSchedule(absl::string_view name);
std::vector<absl::string_view> ScheduleNames();

// One stage of a running pipeline.
struct StagePlace {
  int64_t index = 0, stages = 1;
  int64_t microbatches = 1;
  Schedule schedule = Schedule::k1F1B;
  // Of the stage's graph.
  std::vector<graph::ObjectId> received, sent;

  bool first() const { return index == 0; }
  bool last() const { return index + 1 == stages; }
  // Micro-batches whose activations a training step holds at once: all of them
  // under gpipe; under 1f1b one per stage from this to the last.
  int64_t in_flight() const;
};

// An inference step: the received and sent values of the other micro-batches,
// (n - 1) x (received + sent), stay to the end. The last stage ends with all
// results beside their join: a moment more, with n x received + 2 n x sent.
void HoldMicrobatches(const StagePlace& place, const graph::Graph& graph,
                      expr::Pool& pool, graph::Timeline* timeline);

// A training step of `model` with the moments of `moments`, before the
// optimizer's:
//   activations    (in flight - 1) x the activations and inputs in memory at
//   the
//                  last step of the forward pass
//   communication  (n - in flight) x received, n x sent floats (not on the last
//                  stage), and the received floats (not on the first)
//   gradients      under 1f1b all of them from the start
//   gathered       split weights are whole throughout, and the largest gradient
//                  is whole during the backward pass
void HoldTraining(const StagePlace& place, const training::StepModel& model,
                  const training::Moments& moments, expr::Pool& pool,
                  graph::Timeline* timeline);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_SCHEDULE_H_
