#include "core/runtime/kv_cache.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace linnet::runtime {

std::string KvLayout::Text() const {
  std::string text = block_size
                         ? absl::StrCat("pages of ", *block_size, " tokens")
                         : "contiguous";
  if (dtype) absl::StrAppend(&text, ", stored as ", DTypeName(*dtype));
  return text;
}

expr::Expr CacheBytes(const graph::Graph& graph, const graph::Object& object,
                      const KvLayout& layout, expr::Pool& pool) {
  const absl::Span<const expr::Expr> shape = graph.shape(object);
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
