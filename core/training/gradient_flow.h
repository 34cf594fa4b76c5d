// Through which steps and tensors gradients flow.

#ifndef LINNET_CORE_TRAINING_GRADIENT_FLOW_H_
#define LINNET_CORE_TRAINING_GRADIENT_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/graph/graph.h"

namespace linnet::training {

// Words. A parameter is *trained* when it is a float one and a pattern matches
// its path, or that of a parameter tied to it. A tensor *carries* a gradient
// when it is trained or a differentiable step makes it; a step is
// *differentiable* when it reads one that carries and makes a float tensor, or
// nothing but a scalar, by other means than comparing, logic or shifting.
class GradientFlow {
 public:
  // `trainable`: patterns over parameter paths, none for every one. `received`:
  // inputs whose gradients are wanted as well; those of floats carry one.
  GradientFlow(const graph::Graph& graph,
               absl::Span<const std::string> trainable,
               absl::Span<const graph::ObjectId> received = {});

  bool carries(graph::ObjectId object) const {
    return carries_[static_cast<size_t>(object.index)];
  }
  bool differentiable(graph::StepId step) const {
    return differentiable_[static_cast<size_t>(step.index)];
  }
  bool differentiable(int32_t step) const {
    return differentiable(graph::StepId{step});
  }
  // Of the parameters that own storage.
  bool trained(graph::ObjectId parameter) const {
    return trained_[static_cast<size_t>(parameter.index)];
  }
  int32_t num_trained() const { return num_trained_; }
  int32_t num_differentiable() const { return num_differentiable_; }

 private:
  std::vector<bool> carries_;
  std::vector<bool> trained_;
  std::vector<bool> differentiable_;
  int32_t num_trained_ = 0;
  int32_t num_differentiable_ = 0;
};

// The paths of float parameters, tied ones too, in the graph's order.
std::vector<absl::string_view> FloatParameterPaths(const graph::Graph& graph);

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_GRADIENT_FLOW_H_
