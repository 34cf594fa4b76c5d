// Low-rank adapters: a graph with a frozen base and small matrices beside its
// linear layers.

#ifndef LINNET_CORE_TRAINING_LORA_H_
#define LINNET_CORE_TRAINING_LORA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/training/options.h"

namespace linnet::training {

struct Adapted {
  std::shared_ptr<const graph::Graph> graph;
  int64_t adapters = 0;  // Pairs of matrices.
  int64_t packed = 0;    // Weights that are stored packed.
};

// The paths of the linear layers of `graph` whose weight is a matrix of floats,
// in the order in which they run: `layers.0.attention.q_proj`.
std::vector<std::string> LinearLayers(const graph::Graph& graph);

// Whether `pattern` names the layer: all of its path, or its last parts.
bool NamesLayer(absl::string_view layer, absl::string_view pattern);

// `graph` with A of [rank, inputs] and B of [outputs, rank] beside each linear
// layer that `lora` names, as parameters `LAYER.lora_A.weight` and
// `LAYER.lora_B.weight`. Where y = linear(x, W) stood, there is then
//   y = linear(x, W)
//   a = cast(x)             when A is of another dtype
//   h = linear(a, A)
//   z = scale(linear(h, B))
//   s = add(y, z)           in the wider dtype
//   r = cast(s)             to that of y, when it is another
// as PEFT 0.15 runs it without dropout. Weights of linear layers in block
// arrays are packed when lora.base says so.
absl::StatusOr<Adapted> AddAdapters(const graph::Graph& graph,
                                    const Lora& lora);

// What a weight of `elements` elements takes in a packed format (bitsandbytes
// 0.45): half a byte each, an f32 scale per 64 of them and 16 f32 code words;
// `nf4-double` has scales of one byte instead, an f32 scale per 256 of those,
// 256 f32 code words and an f32 offset.
expr::Expr PackedBytes(BaseFormat format, expr::Expr elements,
                       expr::Pool& pool);

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_LORA_H_
