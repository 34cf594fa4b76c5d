// The operands of one native step, read as sizes.

#ifndef LINNET_CORE_RUNTIME_STEP_READER_H_
#define LINNET_CORE_RUNTIME_STEP_READER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "core/base/dtype.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/library/native_kernel.h"

namespace linnet::runtime {

// What a native step is; kOther for any other.
inline library::NativeKernel KernelOf(const graph::Graph& graph,
                                      const graph::Step& step) {
  const library::NativeImplementation* native =
      step.kind == graph::StepKind::kNative
          ? library::FindNative(graph.text(step.native))
          : nullptr;
  return native == nullptr ? library::NativeKernel::kOther : native->kernel;
}

// Refers to its arguments, which must outlive it. `pool` is an extension of the
// graph's.
class StepReader {
 public:
  StepReader(const graph::Graph& graph, const graph::Step& step,
             expr::Pool& pool)
      : graph_(graph), step_(step), pool_(pool), inputs_(graph.inputs(step)) {}

  size_t num_inputs() const { return inputs_.size(); }
  graph::ObjectId input(size_t i) const { return inputs_[i]; }
  absl::Span<const graph::ObjectId> inputs() const { return inputs_; }
  absl::Span<const graph::ObjectId> outputs() const {
    return graph_.outputs(step_);
  }

  // The size of axis `axis` of input `input`, counted from the last axis.
  expr::Expr FromLast(size_t input, size_t axis) const {
    const auto shape = graph_.shape(inputs_[input]);
    return shape[shape.size() - 1 - axis];
  }
  // Elements of an input without its last axis.
  expr::Expr Rows(size_t input) const {
    const auto shape = graph_.shape(inputs_[input]);
    return pool_.Product(shape.subspan(0, shape.size() - 1));
  }
  expr::Expr Elements(graph::ObjectId object) const {
    return pool_.Product(graph_.shape(object));
  }
  int64_t ElementBytes(size_t input) const {
    return DTypeBytes(graph_.object(inputs_[input]).dtype);
  }
  expr::Expr Times(int64_t factor, expr::Expr e) const {
    return pool_.Mul(pool_.Constant(factor), e);
  }

  const graph::Graph& graph() const { return graph_; }
  const graph::Step& step() const { return step_; }
  expr::Pool& pool() const { return pool_; }

 private:
  const graph::Graph& graph_;
  const graph::Step& step_;
  expr::Pool& pool_;
  const absl::Span<const graph::ObjectId> inputs_;
};

}  // namespace linnet::runtime

#endif  // LINNET_CORE_RUNTIME_STEP_READER_H_
