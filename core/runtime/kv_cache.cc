#include "core/runtime/kv_cache.h"

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "core/base/glob.h"

namespace linnet::runtime {

std::string KvLayout::Text() const {
  std::string text = block_size
                         ? absl::StrCat("pages of ", *block_size, " tokens")
                         : "contiguous";
  if (rolling) absl::StrAppend(&text, ", rolling over windows");
  if (dtype) absl::StrAppend(&text, ", stored as ", DTypeName(*dtype));
  return text;
}

std::optional<int64_t> WindowOf(const graph::Graph& graph,
                                const graph::Object& object,
                                const KvLayout& layout) {
  if (object.rank != 4) return std::nullopt;
  for (const CacheWindow& window : layout.windows) {
    if (MatchesGlob(graph.text(object.path), window.states)) {
      return window.positions;
    }
  }
  return std::nullopt;
}

expr::Expr CacheBytes(const graph::Graph& graph, const graph::Object& object,
                      const KvLayout& layout, expr::Pool& pool) {
  absl::InlinedVector<expr::Expr, 4> shape(graph.shape(object).begin(),
                                           graph.shape(object).end());
  const auto window = WindowOf(graph, object, layout);
  if (layout.rolling && window) {
    shape[2] = pool.Min(shape[2], pool.Constant(*window));
  }
  const expr::Expr element =
      pool.Constant(DTypeBytes(layout.dtype.value_or(object.dtype)));
  if (!layout.block_size || shape.size() != 4) {
    return pool.Mul(element, pool.Product(shape));
  }
  const expr::Expr page = pool.Constant(*layout.block_size);
  const expr::Expr pages = pool.CeilDiv(pool.Mul(shape[0], shape[2]), page);
  return pool.Product(
      std::vector<expr::Expr>{element, pages, page, shape[1], shape[3]});
}

}  // namespace linnet::runtime
