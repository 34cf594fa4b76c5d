// The syntax tree of one file.
//
// Nodes live in vectors of the tree and are named by typed ids. An expression,
// type, statement, pattern or item node says what it is (`kind`) and where
// (`span`); what it consists of is a struct of its own, one per kind, listed in
// tree_nodes.h:
//
//   const ExprNode& node = tree.expr(id);
//   switch (node.kind) {
//     case ExprKind::kCall: {
//       const CallExpr& call = tree.as<CallExpr>(id);
//       for (const ArgNode& arg : tree.list(call.args)) …
//
// After an error the tree holds what could be read: whole items and statements
// are left out, but every node that is there is complete (no invalid id where
// the struct does not say that one may be). Parentheses are not nodes; the
// expression inside has `parenthesized` and a span that includes them.
//
// No node lies deeper than Limits::max_depth below the file, so recursion over
// a tree is bounded.

#ifndef LINNET_CORE_LANG_TREE_H_
#define LINNET_CORE_LANG_TREE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/base/id.h"
#include "core/lang/name_table.h"
#include "core/lang/source.h"
#include "core/lang/tree_nodes.h"

namespace linnet::lang {

// Immutable once ParseFile() returns it; may be shared between threads then.
class Tree {
 public:
  // -- The file --------------------------------------------------------------
  FileId file;
  NodeList<Ident> module_path;  // Empty when the `module` line is missing.
  NodeList<UseNode> uses;
  NodeList<ItemId> items;          // At module level, in order.
  std::vector<Span> doc_comments;  // For formatters; no meaning.
  // Whether a lexical or syntax error was reported, so that parts may be left
  // out. What is missing would be reported again where it is used.
  bool has_errors = false;

  // -- Nodes -----------------------------------------------------------------
  const ExprNode& expr(ExprId id) const { return exprs_[id]; }
  const TypeNode& type(TypeNodeId id) const { return types_[id]; }
  const StmtNode& stmt(StmtId id) const { return stmts_[id]; }
  const PatternNode& pattern(PatternId id) const { return patterns_[id]; }
  const ItemNode& item(ItemId id) const { return items_[id]; }

  // Ids are 0 … n-1, children before their parents.
  int32_t num_exprs() const { return exprs_.size(); }
  int32_t num_types() const { return types_.size(); }
  int32_t num_stmts() const { return stmts_.size(); }
  int32_t num_patterns() const { return patterns_.size(); }
  int32_t num_items() const { return items_.size(); }

  // The parts of a node: as<CallExpr>(id). The node must be of that kind.
  template <typename T, typename IdType>
  const T& as(IdType id) const {
    const auto& node = Nodes<IdType>()[id];
    LINNET_CHECK(T::Is(node.kind)) << "the caller looked at the kind";
    return Parts<T>()[static_cast<size_t>(node.parts)];
  }
  // The same, or null when the node is of another kind.
  template <typename T, typename IdType>
  const T* try_as(IdType id) const {
    const auto& node = Nodes<IdType>()[id];
    if (!T::Is(node.kind)) return nullptr;
    return &Parts<T>()[static_cast<size_t>(node.parts)];
  }

  // The elements of a list in a node; good for the life of the tree.
  template <typename T>
  absl::Span<const T> list(NodeList<T> list) const {
    return absl::MakeConstSpan(Parts<T>())
        .subspan(static_cast<size_t>(list.begin),
                 static_cast<size_t>(list.size));
  }

  // The name, when the node is just that: `x`; a type without path or generic
  // arguments. This is how a generic argument `N` (parsed as a type) turns out
  // to be a dimension.
  std::optional<Ident> AsName(ExprId id) const;
  std::optional<Ident> AsName(TypeNodeId id) const;

  // -- Building: for the parser ----------------------------------------------
  template <typename T>
  ExprId AddExpr(ExprKind kind, Span span, T parts) {
    return exprs_.push_back({kind, false, span, AddParts(std::move(parts))});
  }
  template <typename T>
  TypeNodeId AddType(TypeExprKind kind, Span span, T parts) {
    return types_.push_back({kind, span, AddParts(std::move(parts))});
  }
  template <typename T>
  StmtId AddStmt(StmtKind kind, Span span, T parts) {
    return stmts_.push_back({kind, span, AddParts(std::move(parts))});
  }
  template <typename T>
  PatternId AddPattern(PatternKind kind, Span span, T parts) {
    return patterns_.push_back({kind, span, AddParts(std::move(parts))});
  }
  template <typename T>
  ItemId AddItem(ItemKind kind, bool is_public, Ident name, Span span,
                 T parts) {
    return items_.push_back(
        {kind, is_public, name, span, AddParts(std::move(parts))});
  }
  template <typename T, typename Container>
  NodeList<T> AddList(const Container& elements) {
    std::vector<T>& pool = Parts<T>();
    const NodeList<T> list{static_cast<int32_t>(pool.size()),
                           static_cast<int32_t>(elements.size())};
    pool.insert(pool.end(), elements.begin(), elements.end());
    return list;
  }
  // Makes room for the nodes of a file of so many tokens.
  void Reserve(size_t num_tokens);
  // Puts parentheses at `span` around an expression.
  void Parenthesize(ExprId id, Span span) {
    exprs_[id].parenthesized = true;
    exprs_[id].span = span;
  }

  // How large the tree is, and cutting it back to an earlier size.
  static constexpr size_t kNumParts = std::tuple_size_v<TreeParts>;
  using Mark = std::array<size_t, kNumParts + 5>;
  Mark mark() const;
  void CutBack(const Mark& mark);

 private:
  template <typename T>
  const std::vector<T>& Parts() const {
    return std::get<std::vector<T>>(parts_);
  }
  template <typename T>
  std::vector<T>& Parts() {
    return std::get<std::vector<T>>(parts_);
  }
  template <typename T>
  int32_t AddParts(T parts) {
    Parts<T>().push_back(std::move(parts));
    return static_cast<int32_t>(Parts<T>().size()) - 1;
  }
  template <typename IdType>
  const auto& Nodes() const {
    if constexpr (std::is_same_v<IdType, ExprId>) {
      return exprs_;
    } else if constexpr (std::is_same_v<IdType, TypeNodeId>) {
      return types_;
    } else if constexpr (std::is_same_v<IdType, StmtId>) {
      return stmts_;
    } else if constexpr (std::is_same_v<IdType, PatternId>) {
      return patterns_;
    } else {
      static_assert(std::is_same_v<IdType, ItemId>);
      return items_;
    }
  }

  IdMap<ExprId, ExprNode> exprs_;
  IdMap<TypeNodeId, TypeNode> types_;
  IdMap<StmtId, StmtNode> stmts_;
  IdMap<PatternId, PatternNode> patterns_;
  IdMap<ItemId, ItemNode> items_;
  TreeParts parts_;
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_TREE_H_
