// What a training step of a graph consists of, whatever is checkpointed: which
// tensors are kept for the backward pass, what its kernels take, and what its
// parameters bring with them.

#ifndef LINNET_CORE_TRAINING_STEP_MODEL_H_
#define LINNET_CORE_TRAINING_STEP_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/runtime/backend.h"
#include "core/runtime/saved_tensors.h"
#include "core/training/gradient_flow.h"
#include "core/training/options.h"

namespace linnet::training {

// What one parameter that owns storage takes on one process; 0 where it takes
// nothing.
struct ParameterBytes {
  expr::Expr weight;    // Between steps: all of it, or the process's part.
  expr::Expr master;    // The copy that the optimizer updates.
  expr::Expr gradient;  // From its first backward to the optimizer step.
  expr::Expr states;    // Of the optimizer.
  expr::Expr gathered;  // The whole weight beside its part, while it is used.
  expr::Expr summed;  // The whole gradient beside its part, until it is split.
  expr::Expr update;  // While the optimizer updates it.
};

// Of a parameter of this shape.
//   trained     weight  master            gradient       states
//   whole       as is   in master dtype,  in gradient    n x in the dtype
//                       when it differs   dtype, else    updated
//                                         that updated
//   a part      in the dtype updated: the master dtype or else f32; master none
// A part has ceil(elements / shards) elements; an untrained one keeps its
// dtype. In ZeRO stage 1 the weight and its gradient stay whole, and a part is
// of the master weight and the states alone; in stage 2 the gradient is split
// too, once every reader of the weight has added to it.
ParameterBytes BytesOfParameter(absl::Span<const expr::Expr> shape, DType dtype,
                                bool trained, const Options& options,
                                expr::Pool& pool);

// Bytes that a step's kernels take beside what is counted elsewhere; 0 when
// nothing or not known.
struct StepWorkspace {
  expr::Expr plain;     // Forward, while no gradients are wanted.
  expr::Expr forward;   // Forward, with gradients.
  expr::Expr backward;  // 0 for a step that is not differentiable.
};

// Calls of one kernel that the backend does not describe.
struct Unmodeled {
  enum class What : uint8_t { kWorkspace, kSaved } what = What::kWorkspace;
  std::string label, native;
  int64_t calls = 0;
};

class StepModel {
 public:
  // Sums over the parameters.
  struct Totals {
    ParameterBytes bytes;         // `update`: of the parameter that takes most.
    expr::Expr largest_gradient;  // A whole one.
    int32_t parameters = 0;       // That own storage.
    int32_t trained = 0;
    int32_t masters = 0;
  };

  // `pool` extends the graph's and makes every expression here. Cost: a few
  // operations of the pool per step.
  // `received`: inputs that get gradients, as a pipeline's stage has them.
  StepModel(std::shared_ptr<const graph::Graph> graph,
            const runtime::Backend& backend, Options options, expr::Pool& pool,
            absl::Span<const graph::ObjectId> received = {});

  const graph::Graph& graph() const { return *graph_; }
  const std::shared_ptr<const graph::Graph>& shared_graph() const {
    return graph_;
  }
  const Options& options() const { return options_; }
  const GradientFlow& flow() const { return flow_; }
  const Totals& totals() const { return totals_; }
  // By step; nothing for those that are not differentiable.
  const runtime::SavedTensors& saved(int32_t step) const {
    return saved_[static_cast<size_t>(step)];
  }
  const StepWorkspace& workspace(int32_t step) const {
    return workspaces_[static_cast<size_t>(step)];
  }
  // REQUIRES: `parameter` is one and owns its storage.
  const ParameterBytes& parameter(graph::ObjectId parameter) const {
    return parameters_[static_cast<size_t>(
        parameter_of_[static_cast<size_t>(parameter.index)])];
  }
  bool is_parameter(graph::ObjectId object) const {
    return parameter_of_[static_cast<size_t>(object.index)] >= 0;
  }
  const std::vector<Unmodeled>& unmodeled() const { return unmodeled_; }

 private:
  void AddParameters(expr::Pool& pool);
  void AddStep(int32_t step, const runtime::Backend& backend, expr::Pool& pool);
  void CountUnmodeled(Unmodeled::What what, const graph::Step& step);

  std::shared_ptr<const graph::Graph> graph_;
  Options options_;
  GradientFlow flow_;
  Totals totals_;
  std::vector<runtime::SavedTensors> saved_;
  std::vector<StepWorkspace> workspaces_;
  std::vector<int32_t> parameter_of_;  // By object; -1 for others.
  std::vector<ParameterBytes> parameters_;
  std::vector<Unmodeled> unmodeled_;
};

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_STEP_MODEL_H_
