#include "core/lang/tree.h"

namespace linnet::lang {

std::optional<Ident> Tree::AsName(ExprId id) const {
  const NameExpr* name = try_as<NameExpr>(id);
  if (name == nullptr) return std::nullopt;
  return Ident{name->name, expr(id).span};
}

std::optional<Ident> Tree::AsName(TypeNodeId id) const {
  const NamedTypeExpr* named = try_as<NamedTypeExpr>(id);
  if (named == nullptr || named->path.size != 1 || !named->args.empty()) {
    return std::nullopt;
  }
  return list(named->path)[0];
}

void Tree::Reserve(size_t num_tokens) {
  // About what the standard library comes to.
  exprs_.reserve(num_tokens / 3);
  types_.reserve(num_tokens / 16);
  Parts<NameExpr>().reserve(num_tokens / 4);
  Parts<ExprId>().reserve(num_tokens / 16);
  Parts<ComponentNode>().reserve(num_tokens / 8);
}

Tree::Mark Tree::mark() const {
  return std::apply(
      [this](const auto&... vectors) {
        return Mark{exprs_.items().size(), types_.items().size(),
                    stmts_.items().size(), patterns_.items().size(),
                    items_.items().size(), vectors.size()...};
      },
      parts_);
}

void Tree::CutBack(const Mark& mark) {
  const auto cut = [](auto& vector, size_t size) {
    vector.erase(vector.begin() + static_cast<std::ptrdiff_t>(size),
                 vector.end());
  };
  size_t next = 0;
  cut(exprs_.items(), mark[next++]);
  cut(types_.items(), mark[next++]);
  cut(stmts_.items(), mark[next++]);
  cut(patterns_.items(), mark[next++]);
  cut(items_.items(), mark[next++]);
  std::apply([&](auto&... vectors) { (cut(vectors, mark[next++]), ...); },
             parts_);
}

}  // namespace linnet::lang
