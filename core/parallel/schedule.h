// What a pipeline's stage holds beside one micro-batch (analysis.md section
// 11), as changes of the timeline of one.

#ifndef LINNET_CORE_PARALLEL_SCHEDULE_H_
#define LINNET_CORE_PARALLEL_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/timeline.h"
#include "core/parallel/order.h"
#include "core/parallel/split.h"
#include "core/training/moments.h"
#include "core/training/step_model.h"

namespace linnet::parallel {

// One device of a running pipeline.
struct StagePlace {
  int64_t device = 0;
  PipelineShape shape;
  std::vector<Chunk> chunks;  // Of the device's graph, shape.chunks of them.

  bool ends() const { return device + 1 == shape.devices; }
  std::vector<graph::ObjectId> received() const;  // By all chunks.
};

// An inference step: the received and sent values of the other micro-batches,
// (n - 1) x (received + sent), stay to the end. The last device ends with all
// results beside their join: a moment more, with n x received + 2 n x sent of
// the last chunk.
void HoldMicrobatches(const StagePlace& place, const graph::Graph& graph,
                      expr::Pool& pool, graph::Timeline* timeline);

// A training step of `model` with the moments of `moments`, before the
// optimizer's; all sums are over the chunks.
//   activations    for every micro-batch that FindHeldStates() counts, of a
//                  chunk: the activations and inputs in memory at the end of
//                  its forward pass; between its backward pass and that of its
//                  weights, those at the end of its backward pass. In each pass
//                  of a chunk the largest sum of the states that it may find
//   communication  received values of the micro-batches that are not held, n x
//                  sent floats (not on the last stage), and the received floats
//                  (not on the first)
//   gradients      but under gpipe all of them from the start
//   gathered       split weights are whole throughout, and the largest gradient
//                  is whole during the backward pass
// Under zero-bubble what a chunk keeps for its backward pass, and the gradients
// of what its trained weights made, stay to the end of that pass.
void HoldTraining(const StagePlace& place, const training::StepModel& model,
                  const training::Moments& moments, expr::Pool& pool,
                  graph::Timeline* timeline);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_SCHEDULE_H_
