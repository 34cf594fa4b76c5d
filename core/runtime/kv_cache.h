// How a runtime stores KV caches (analysis.md section 8).

#ifndef LINNET_CORE_RUNTIME_KV_CACHE_H_
#define LINNET_CORE_RUNTIME_KV_CACHE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/confidence.h"
#include "core/base/dtype.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"

namespace linnet::runtime {

// Caches of layers that attend to their last positions only.
struct CacheWindow {
  std::string states;     // A pattern over the paths of states.
  int64_t positions = 0;  // At least 1.
};

struct KvLayout {
  // Stored in another element type than declared.
  std::optional<DType> dtype;
  // Positions of one page; empty: one contiguous tensor as declared.
  std::optional<int64_t> block_size;
  // A rolling layout keeps no more positions of a cache than its window; the
  // first pattern that matches counts.
  bool rolling = false;
  std::vector<CacheWindow> windows;

  bool as_declared() const { return !dtype && !block_size && !rolling; }
  Confidence confidence() const {
    return as_declared() ? Confidence::kExact : Confidence::kModeled;
  }
  // "contiguous", "pages of 16 tokens, stored as i8".
  std::string Text() const;
};

// The window of a cache, whether `layout` is rolling or not; empty: its layer
// attends to all positions, as far as known.
std::optional<int64_t> WindowOf(const graph::Graph& graph,
                                const graph::Object& object,
                                const KvLayout& layout);

// Bytes of the cache `object` under `layout`. Tokens are the product of axes 0
// (rows) and 2 (positions); a page holds `block_size` of them with all other
// axes. A state of another rank than 4 has no pages and no window, and stays
// contiguous.
// `pool` is an extension of the graph's.
expr::Expr CacheBytes(const graph::Graph& graph, const graph::Object& object,
                      const KvLayout& layout, expr::Pool& pool);

}  // namespace linnet::runtime

#endif  // LINNET_CORE_RUNTIME_KV_CACHE_H_
