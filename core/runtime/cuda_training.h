// The part of the model of generated PyTorch code that a training step uses.

#ifndef LINNET_CORE_RUNTIME_CUDA_TRAINING_H_
#define LINNET_CORE_RUNTIME_CUDA_TRAINING_H_

#include "core/expr/expr.h"
#include "core/library/native_kernel.h"
#include "core/runtime/backend.h"
#include "core/runtime/saved_tensors.h"
#include "core/runtime/step_reader.h"

namespace linnet::runtime {

// The rows that a chunked loss takes at once, in terms of the step's sizes.
struct LossBlocks {
  expr::Expr rows;    // Rows of one block.
  expr::Expr logits;  // Elements of its logits.
  expr::Expr next;    // Elements of the logits of the block after it.
  expr::Expr weight;  // Elements of the head.
};
// REQUIRES: the step has at least two inputs, both of at least rank 2.
LossBlocks BlocksOfLoss(const StepReader& step);

// The log-sum-exp in f32 of every query row, and a boolean mask turned into a
// bias of the query's dtype.
expr::Expr AttentionExtra(const StepReader& step);

// The chunked losses with gradients; `kernel` is one of the two.
Workspace LossTrainingWorkspace(library::NativeKernel kernel, Pass pass,
                                const StepReader& step);

SavedTensors CudaSaved(library::NativeKernel kernel, const StepReader& step,
                       CarriesGradient carries);

}  // namespace linnet::runtime

#endif  // LINNET_CORE_RUNTIME_CUDA_TRAINING_H_
