#include "core/training/gradient_flow.h"

#include "absl/algorithm/container.h"
#include "core/base/glob.h"
#include "core/graph/kinds.h"
#include "core/training/paths.h"

namespace linnet::training {
namespace {

using graph::ObjectId;
using graph::Step;
using graph::StepId;

// A parameter or another path of one.
bool IsFloatParameter(const graph::Object& object) {
  return object.category == graph::Category::kParameters &&
         object.path.valid() && !object.producer.valid() &&
         IsFloat(object.dtype);
}

bool PassesGradients(const graph::Graph& graph, const Step& step) {
  switch (graph::ClassOf(step.kind)) {
    case graph::StepClass::kComparison:
    case graph::StepClass::kLogic:
    case graph::StepClass::kShift:
    case graph::StepClass::kCreate:
      return false;
    default:
      break;
  }
  const auto outputs = graph.outputs(step);
  return outputs.empty() || absl::c_any_of(outputs, [&](ObjectId output) {
           return IsFloat(graph.object(output).dtype);
         });
}

}  // namespace

GradientFlow::GradientFlow(const graph::Graph& graph,
                           absl::Span<const std::string> trainable,
                           absl::Span<const ObjectId> received)
    : carries_(static_cast<size_t>(graph.num_objects())),
      trained_(static_cast<size_t>(graph.num_objects())),
      differentiable_(static_cast<size_t>(graph.num_steps())) {
  for (const graph::Object& object : graph.objects()) {
    if (!IsFloatParameter(object)) continue;
    const absl::string_view path = graph.text(object.path);
    if (trainable.empty() ||
        absl::c_any_of(trainable, [&](const std::string& pattern) {
          return MatchesGlob(path, pattern);
        })) {
      trained_[static_cast<size_t>(object.owner.index)] = true;
    }
  }
  for (int32_t i = 0; i < graph.num_objects(); ++i) {
    const graph::Object& object = graph.object(ObjectId{i});
    const auto index = static_cast<size_t>(i);
    carries_[index] = IsFloatParameter(object) && trained(object.owner);
    num_trained_ += trained_[index];
  }
  for (ObjectId id : received) {
    carries_[static_cast<size_t>(id.index)] = IsFloat(graph.object(id).dtype);
  }
  for (int32_t i = 0; i < graph.num_steps(); ++i) {
    const Step& step = graph.step(StepId{i});
    if (!PassesGradients(graph, step) ||
        absl::c_none_of(graph.inputs(step),
                        [&](ObjectId input) { return carries(input); })) {
      continue;
    }
    differentiable_[static_cast<size_t>(i)] = true;
    ++num_differentiable_;
    for (ObjectId output : graph.outputs(step)) {
      if (IsFloat(graph.object(output).dtype)) {
        carries_[static_cast<size_t>(output.index)] = true;
      }
    }
  }
}

std::vector<absl::string_view> FloatParameterPaths(const graph::Graph& graph) {
  std::vector<absl::string_view> paths;
  for (const graph::Object& object : graph.objects()) {
    if (IsFloatParameter(object)) paths.push_back(graph.text(object.path));
  }
  return paths;
}

}  // namespace linnet::training
