// A training step as intervals of bytes: what is in memory at each of its
// moments beside weights, master weights, optimizer states, buffers and states
// (analysis.md section 9).

#ifndef LINNET_CORE_TRAINING_TIMELINE_H_
#define LINNET_CORE_TRAINING_TIMELINE_H_

#include "core/expr/pool.h"
#include "core/graph/timeline.h"
#include "core/training/moments.h"
#include "core/training/step_model.h"

namespace linnet::training {

// The intervals, both ends included:
//   inputs        throughout; an output from its step to the end
//   activations   from their step to their last reader, to the backward of the
//                 last step that keeps them, and to the end of the backward of
//                 every other region that reads them; in a region once more,
//                 from their recomputation to the last recomputed reader or the
//                 backward of the region's own keepers
//   extra bytes   that autograd keeps: from the step, in a region from its
//                 recomputation, to its backward
//   workspace     at the step, its recomputation and its backward
//   backward temporaries  an activation's gradient: from the backward of its
//                 last differentiable reader (of an output: from the start of
//                 the backward pass) to that of its producer
//   gradients     a parameter's: from the backward of its last differentiable
//                 reader to the optimizer step
//   communication whole weights beside their parts: an array element's while
//                 its steps run forward, and again while they run backward;
//                 those outside of arrays throughout
// A view stands for the storage it lies in. `pool` made the model. Cost:
// O(objects + uses).
graph::Timeline MakeTimeline(const StepModel& model, const Moments& moments,
                             expr::Pool& pool);

// The intervals that are the program's own: without workspace and
// communication.
graph::Timeline WithoutModeled(const graph::Timeline& timeline);

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_TIMELINE_H_
