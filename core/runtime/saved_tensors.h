// What autograd keeps of a step until the step's backward has run (analysis.md
// sections 7 and 9): for a native step as its kernel does, for the others by
// their arithmetic.

#ifndef LINNET_CORE_RUNTIME_SAVED_TENSORS_H_
#define LINNET_CORE_RUNTIME_SAVED_TENSORS_H_

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "core/base/confidence.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"

namespace linnet::runtime {

class Backend;

// Whether a tensor carries a gradient.
using CarriesGradient = absl::FunctionRef<bool(graph::ObjectId)>;

struct SavedTensors {
  // Inputs and outputs of the step, each at most once.
  absl::InlinedVector<graph::ObjectId, 4> objects;
  // Bytes beside them; invalid: none.
  expr::Expr extra;
  // kUnknown: nothing models the kernel, and all that it reads and makes is
  // assumed to be kept.
  Confidence confidence = Confidence::kModeled;

  bool known() const { return confidence != Confidence::kUnknown; }
};

// Every input and output of a step that nothing models.
SavedTensors SavedByUnknownKernel(const graph::Graph& graph,
                                  const graph::Step& step);

// What a step of a kind other than kNative keeps:
//   sums, negation, casts, scaling, layouts   nothing
//   exp, sqrt, rsqrt, tanh                    its output
//   a reduction                               inputs and outputs
//   a product, a comprehension, of several    an input when another one carries
//                                             a gradient
//   a division                                its denominator, and its
//                                             numerator when the denominator
//                                             carries a gradient
//   select                                    its condition
//   anything else                             its inputs
SavedTensors SavedByArithmetic(const graph::Graph& graph,
                               const graph::Step& step,
                               CarriesGradient carries);

// What `step` keeps; a native one as `backend` says. `pool` is an extension of
// the graph's. REQUIRES: the step is differentiable.
SavedTensors SavedByStep(const Backend& backend, const graph::Graph& graph,
                         const graph::Step& step, CarriesGradient carries,
                         expr::Pool& pool);

}  // namespace linnet::runtime

#endif  // LINNET_CORE_RUNTIME_SAVED_TENSORS_H_
