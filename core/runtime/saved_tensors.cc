#include "core/runtime/saved_tensors.h"

#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "core/runtime/backend.h"

namespace linnet::runtime {
namespace {

using graph::ObjectId;
using graph::StepKind;

void Keep(absl::Span<const ObjectId> objects, SavedTensors* saved) {
  for (ObjectId object : objects) {
    if (!absl::c_linear_search(saved->objects, object)) {
      saved->objects.push_back(object);
    }
  }
}

// The inputs that the gradient of another input is made of.
void KeepFactors(absl::Span<const ObjectId> inputs, CarriesGradient carries,
                 SavedTensors* saved) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (i != j && carries(inputs[j])) {
        Keep({&inputs[i], 1}, saved);
        break;
      }
    }
  }
}

}  // namespace

SavedTensors SavedByUnknownKernel(const graph::Graph& graph,
                                  const graph::Step& step) {
  SavedTensors saved;
  saved.confidence = Confidence::kUnknown;
  Keep(graph.inputs(step), &saved);
  Keep(graph.outputs(step), &saved);
  return saved;
}

SavedTensors SavedByArithmetic(const graph::Graph& graph,
                               const graph::Step& step,
                               CarriesGradient carries) {
  SavedTensors saved;
  const absl::Span<const ObjectId> inputs = graph.inputs(step);
  const absl::Span<const ObjectId> outputs = graph.outputs(step);
  switch (step.kind) {
    case StepKind::kAdd:
    case StepKind::kSub:
    case StepKind::kNeg:
    case StepKind::kCast:
    case StepKind::kScale:
    case StepKind::kReshape:
    case StepKind::kPermute:
    case StepKind::kBroadcast:
    case StepKind::kSlice:
    case StepKind::kConcat:
      break;
    case StepKind::kExp:
    case StepKind::kSqrt:
    case StepKind::kRsqrt:
    case StepKind::kTanh:
      Keep(outputs, &saved);
      break;
    case StepKind::kReduce:
      Keep(inputs, &saved);
      Keep(outputs, &saved);
      break;
    case StepKind::kMul:
    case StepKind::kComprehension:
      // Of one input, a square or any function of it.
      if (inputs.size() > 1) {
        KeepFactors(inputs, carries, &saved);
      } else {
        Keep(inputs, &saved);
      }
      break;
    case StepKind::kDiv:
      // A scalar over a tensor has the denominator as its only input.
      Keep(inputs.last(1), &saved);
      if (carries(inputs.back())) Keep(inputs, &saved);
      break;
    case StepKind::kSelect:
      // Known at compile time, the condition is no tensor.
      if (graph.object(inputs[0]).dtype == DType::kBool) {
        Keep(inputs.first(1), &saved);
      }
      break;
    default:
      Keep(inputs, &saved);
  }
  return saved;
}

SavedTensors SavedByStep(const Backend& backend, const graph::Graph& graph,
                         const graph::Step& step, CarriesGradient carries,
                         expr::Pool& pool) {
  return step.kind == StepKind::kNative
             ? backend.Saved(graph, step, carries, pool)
             : SavedByArithmetic(graph, step, carries);
}

}  // namespace linnet::runtime
