// The calls of a step as the generated code makes them: what each one does, in
// sizes that a time follows from (analysis.md section 13).

#ifndef LINNET_CORE_COST_OPERATION_H_
#define LINNET_CORE_COST_OPERATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/dtype.h"
#include "core/device/profile.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/training/gradient_flow.h"

namespace linnet::cost {

// Sizes, where a kind has them, are in the order given. Bytes read count each
// input once, a view its own elements but no more than what it is a view of;
// bytes written are those of outputs that own their storage.
enum class Work : uint8_t {
  kView,
  kKernel,         // bytes; elements of the largest output, of the least input
  kProduct,        // FLOPs; bytes; rows; n; k
  kAttention,      // FLOPs; bytes; queries; head width; bytes of keys, values
  kNorm,           // bytes written
  kGather,         // bytes written; of the table
  kCacheWrite,     // bytes of the update
  kLoss,           // rows; rows of a block; vocabulary; width
  kTokenLogProbs,  // the same
  kExperts,        // FLOPs; bytes
  kUnmeasured,     // FLOPs; bytes
  // Over processes: bytes.
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kShared,
};
inline constexpr size_t kMaxSizes = 5;

// How an attention is masked.
enum class Mask : uint8_t { kNone, kCausal, kMasked };

// What does not depend on sizes. Equal ones of equal sizes cost the same.
struct Operation {
  Work work = Work::kView;
  DType dtype = DType::kF32;  // That the rate goes by.
  bool strided = false;       // Of an input.
  bool batched = false;       // The right operand of a product.
  bool transposed = false;    // The weight of a product, in memory.
  bool trained = false;       // Reads a weight that gets a gradient.
  // Autograd runs it backward.
  bool differentiable = false;
  Mask mask = Mask::kNone;
  device::HostCall call = device::HostCall::kElementwise;  // Of kKernel.
  uint8_t write = 0;  // Of kCacheWrite: index_copy, index_put, its token form.
  uint8_t views = 0;  // That the call makes beside.
  std::array<expr::Expr, kMaxSizes> sizes;

  friend bool operator==(const Operation&, const Operation&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Operation& of) {
    h = H::combine(std::move(h), of.work, of.dtype, of.strided, of.batched,
                   of.transposed, of.trained, of.differentiable, of.mask,
                   of.call, of.write, of.views);
    for (const expr::Expr& size : of.sizes) h = H::combine(std::move(h), size);
    return h;
  }
};

// Which rules count where ours differ from the reference's (docs/time.md).
enum class Rules : uint8_t { kOwn, kReference };

struct Call {
  graph::StepId step;  // The first one, of several that run as one.
  Operation operation;
};

struct CallSettings {
  int64_t processes = 1;  // That run the program together.
  // Of a training step; null: no gradients.
  const training::GradientFlow* flow = nullptr;
  // Linear products of one input by several weights run as one product.
  bool joins_products = false;
};

// The calls of `graph`, in order. Left out is what the generated code computes
// once per shape: steps that depend on neither an input nor a parameter, buffer
// or state. `pool` extends the graph's.
std::vector<Call> FindCalls(const graph::Graph& graph,
                            const CallSettings& settings, expr::Pool& pool);

}  // namespace linnet::cost

#endif  // LINNET_CORE_COST_OPERATION_H_
