#include "core/runtime/cuda_training.h"

#include <cstddef>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "core/runtime/cuda.h"

namespace linnet::runtime {
namespace {

using graph::ObjectId;
using library::NativeKernel;

void Keep(ObjectId object, SavedTensors* saved) {
  if (!absl::c_linear_search(saved->objects, object)) {
    saved->objects.push_back(object);
  }
}

// Each operand of a product only when the other one carries a gradient.
void KeepOperands(const StepReader& step, CarriesGradient carries,
                  SavedTensors* saved) {
  if (step.num_inputs() == 1) {  // A tensor times itself.
    if (carries(step.input(0))) Keep(step.input(0), saved);
    return;
  }
  if (carries(step.input(1))) Keep(step.input(0), saved);
  if (carries(step.input(0))) Keep(step.input(1), saved);
}

void KeepAttention(const StepReader& step, SavedTensors* saved) {
  for (ObjectId input : step.inputs()) {
    if (step.graph().object(input).dtype != DType::kBool) Keep(input, saved);
  }
  for (ObjectId output : step.outputs()) Keep(output, saved);
  saved->extra = AttentionExtra(step);
}

// The statistics of every row; and, for the weight's gradient, the input
// normalized.
void KeepNorm(int64_t row_bytes, const StepReader& step,
              CarriesGradient carries, SavedTensors* saved) {
  const ObjectId input = step.input(0);
  Keep(input, saved);
  saved->extra = step.Times(row_bytes, step.Rows(0));
  if (step.num_inputs() < 2) return;
  Keep(step.input(1), saved);
  if (carries(step.input(1))) {
    saved->extra =
        step.pool().Add(saved->extra, step.graph().object(input).full_bytes);
  }
}

}  // namespace

LossBlocks BlocksOfLoss(const StepReader& step) {
  expr::Pool& pool = step.pool();
  const expr::Expr vocabulary = step.FromLast(1, 1);
  const expr::Expr rows = step.Rows(0);
  const expr::Expr most = pool.Max(
      pool.One(),
      pool.FloorDiv(pool.Constant(kLossBlockBytes), step.Times(4, vocabulary)));
  LossBlocks blocks;
  blocks.rows = pool.Min(rows, most);
  blocks.logits = pool.Mul(blocks.rows, vocabulary);
  blocks.next =
      pool.Mul(pool.Min(blocks.rows, pool.Sub(rows, blocks.rows)), vocabulary);
  blocks.weight = step.Elements(step.input(1));
  return blocks;
}

expr::Expr AttentionExtra(const StepReader& step) {
  expr::Expr bytes = step.Times(4, step.Rows(0));
  for (size_t i = 1; i < step.num_inputs(); ++i) {
    const ObjectId input = step.input(i);
    if (step.graph().object(input).dtype != DType::kBool) continue;
    bytes = step.pool().Add(
        bytes, step.Times(step.ElementBytes(0), step.Elements(input)));
  }
  return bytes;
}

Workspace LossTrainingWorkspace(NativeKernel kernel, Pass pass,
                                const StepReader& step) {
  expr::Pool& pool = step.pool();
  const LossBlocks blocks = BlocksOfLoss(step);
  const int64_t element = step.ElementBytes(0);
  const int64_t both = element + 4;  // In the hidden states' dtype and in f32.
  const expr::Expr logits = step.Times(both, blocks.logits);
  // A block's logits beside the head's gradient of that block.
  const expr::Expr with_weight =
      pool.Add(logits, step.Times(both, blocks.weight));
  if (kernel == NativeKernel::kLinearCrossEntropy) {
    // The gradients come with the loss.
    if (pass == Pass::kBackward) return {pool.Zero(), Confidence::kModeled};
    const expr::Expr alone = pool.Max(logits, step.Times(8, blocks.logits));
    const expr::Expr with_next = pool.Add(logits, step.Times(8, blocks.next));
    return {pool.Max(pool.Max(alone, with_weight), with_next),
            Confidence::kModeled};
  }
  const expr::Expr with_next = pool.Add(logits, step.Times(both, blocks.next));
  const expr::Expr gradients =
      pool.Add(step.Times(4, blocks.weight),
               step.graph().object(step.input(0)).full_bytes);
  return {pool.Add(pool.Max(with_next, with_weight), gradients),
          Confidence::kModeled};
}

SavedTensors CudaSaved(NativeKernel kernel, const StepReader& step,
                       CarriesGradient carries) {
  SavedTensors saved;
  // A kernel without tensors to read has nothing to keep but its outputs.
  if (step.num_inputs() == 0) kernel = NativeKernel::kOther;
  switch (kernel) {
    case NativeKernel::kLinear:
    case NativeKernel::kMatmul:
      KeepOperands(step, carries, &saved);
      break;
    case NativeKernel::kAttention:
      KeepAttention(step, &saved);
      break;
    case NativeKernel::kRmsNorm:
      KeepNorm(4, step, carries, &saved);
      break;
    case NativeKernel::kLayerNorm:
      KeepNorm(8, step, carries, &saved);
      break;
    case NativeKernel::kSoftmax:
    case NativeKernel::kSigmoid:
    case NativeKernel::kRelu:
    case NativeKernel::kTanh:
      for (ObjectId output : step.outputs()) Keep(output, &saved);
      break;
    case NativeKernel::kSilu:
    case NativeKernel::kGelu:
    case NativeKernel::kEmbedding:
    case NativeKernel::kIndexSelect:
      Keep(step.input(0), &saved);
      break;
    case NativeKernel::kMean:
    case NativeKernel::kCausalMask:
    case NativeKernel::kCacheWrite:
    case NativeKernel::kAllReduce:
    case NativeKernel::kAllGather:
    case NativeKernel::kShared:
    case NativeKernel::kReduceScatter:
    case NativeKernel::kAllToAll:
      break;
    case NativeKernel::kLinearCrossEntropy:
      if (step.num_inputs() < 2) {
        return SavedByUnknownKernel(step.graph(), step.step());
      }
      // The gradients of its operands, already: the head's in f32.
      saved.extra =
          step.pool().Add(step.graph().object(step.input(0)).full_bytes,
                          step.Times(4, step.Elements(step.input(1))));
      break;
    case NativeKernel::kLinearTokenLogProbs:
      for (size_t i = 0; i < step.num_inputs() && i < 3; ++i) {
        Keep(step.input(i), &saved);
      }
      saved.extra = step.Times(4, step.Rows(0));
      break;
    case NativeKernel::kBatchNorm:
    case NativeKernel::kExperts:
    case NativeKernel::kExpertsShared:
    case NativeKernel::kExpertsCombined:
    case NativeKernel::kOther:
      return SavedByUnknownKernel(step.graph(), step.step());
  }
  return saved;
}

}  // namespace linnet::runtime
