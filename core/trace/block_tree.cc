#include "core/trace/block_tree.h"

#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace linnet::trace {

// Builds one tree. Blocks of equal arguments share their resolved member types.
class TreeMaker {
 public:
  TreeMaker(
      const lang::Program& program, const Weights& weights,
      const absl::flat_hash_set<std::pair<lang::BlockId, int32_t>>& caches,
      const TreeLimits& limits, expr::Pool* pool, graph::GraphBuilder* builder)
      : program_(program),
        caches_(caches),
        limits_(limits),
        pool_(pool),
        builder_(builder) {
    for (const std::string& path : weights.present) Declare(path);
    for (const auto& [path, tensor] : weights.bindings) {
      Declare(path);
      tensor_of_.emplace(path, tensor);
    }
    explicit_.insert(weights.present.begin(), weights.present.end());
  }

  absl::StatusOr<BlockTree> Run(lang::BlockId root, ConcreteArgs args) {
    LINNET_RETURN_IF_ERROR(AddNode(root, std::move(args), "", 0).status());
    for (const std::string& path : explicit_) {
      if (!used_.contains(path)) tree_.unused_present_.push_back(path);
    }
    return std::move(tree_);
  }

 private:
  struct MemberTypes {
    std::unique_ptr<Environment> environment;
    std::vector<ConcreteType> tensors;  // Per member; for tensors only.
  };
  using Key = std::pair<lang::BlockId, ConcreteArgs>;

  // Marks a path and everything above it as present.
  void Declare(absl::string_view path) {
    while (present_.insert(std::string(path)).second) {
      const size_t dot = path.rfind('.');
      if (dot == absl::string_view::npos) break;
      path = path.substr(0, dot);
    }
  }

  const MemberTypes& TypesOf(lang::BlockId block, const ConcreteArgs& args) {
    std::unique_ptr<MemberTypes>& types = types_[Key(block, args)];
    if (types != nullptr) return *types;
    const lang::Block& decl = program_.blocks[block];
    types = std::make_unique<MemberTypes>();
    types->environment =
        std::make_unique<Environment>(decl.generics, args, pool_);
    for (const lang::Member& member : decl.members) {
      types->tensors.push_back(
          types->environment->Type(Inner(program_.types->get(member.type))));
    }
    return *types;
  }

  // The type inside an optional one.
  const lang::Type& Inner(const lang::Type& type) const {
    return type.kind == lang::TypeKind::kOptional
               ? program_.types->get(type.elements[0])
               : type;
  }

  absl::StatusOr<int32_t> AddNode(lang::BlockId block, ConcreteArgs args,
                                  std::string path, int32_t depth) {
    const int32_t index = tree_.size();
    if (index >= limits_.max_nodes || depth > limits_.max_depth) {
      return absl::ResourceExhaustedError(
          index >= limits_.max_nodes
              ? absl::StrCat("the model has more than ", limits_.max_nodes,
                             " blocks (max_blocks)")
              : absl::StrCat("blocks are nested more than ", limits_.max_depth,
                             " deep at `", path, "` (max_block_depth)"));
    }
    const MemberTypes& types = TypesOf(block, args);
    tree_.nodes_.push_back({block, path, std::move(args), {}});
    const lang::Block& decl = program_.blocks[block];
    std::vector<MemberValue> members;
    members.reserve(decl.members.size());
    for (size_t i = 0; i < decl.members.size(); ++i) {
      const lang::Member& member = decl.members[i];
      const absl::string_view name = program_.name(member.name);
      const std::string member_path =
          path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
      LINNET_ASSIGN_OR_RETURN(
          MemberValue value,
          AddMember(block, static_cast<int32_t>(i), types, member_path, depth));
      members.push_back(value);
    }
    tree_.nodes_[static_cast<size_t>(index)].members = std::move(members);
    return index;
  }

  absl::StatusOr<MemberValue> AddMember(lang::BlockId block, int32_t index,
                                        const MemberTypes& types,
                                        const std::string& path,
                                        int32_t depth) {
    const lang::Member& member =
        program_.blocks[block].members[static_cast<size_t>(index)];
    const lang::Type& declared = program_.types->get(member.type);
    MemberValue value;
    value.optional = declared.kind == lang::TypeKind::kOptional;
    if (value.optional) {
      if (!present_.contains(path)) return value;
      used_.insert(path);
    }
    const lang::Type& type = Inner(declared);
    if (type.kind == lang::TypeKind::kBlock) {
      value.kind = MemberValue::Kind::kBlock;
      LINNET_ASSIGN_OR_RETURN(
          value.node,
          AddNode(lang::BlockId{type.decl}, types.environment->Args(type.args),
                  path, depth + 1));
      return value;
    }
    if (type.kind == lang::TypeKind::kArray) {
      return AddArray(type, types, path, depth);
    }
    value.kind = MemberValue::Kind::kTensor;
    LINNET_ASSIGN_OR_RETURN(
        value.object,
        AddTensor(member.kind, caches_.contains({block, index}),
                  types.tensors[static_cast<size_t>(index)], path));
    return value;
  }

  absl::StatusOr<MemberValue> AddArray(const lang::Type& type,
                                       const MemberTypes& types,
                                       const std::string& path, int32_t depth) {
    const expr::Expr count = types.environment->Dim(type.count);
    if (!count.is_constant()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the length of `", path, "` must be a number, but it depends on `",
          count.ToString(), "`; give that generic a value with --bind"));
    }
    if (count.constant() < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the length of `", path, "` is ", count.constant(),
                       "; it must not be negative"));
    }
    const lang::Type& element = program_.types->get(type.elements[0]);
    const ConcreteArgs args = types.environment->Args(element.args);
    MemberValue value;
    value.kind = MemberValue::Kind::kArray;
    std::vector<int32_t> nodes;
    for (int64_t i = 0; i < count.constant(); ++i) {
      LINNET_ASSIGN_OR_RETURN(const int32_t node,
                              AddNode(lang::BlockId{element.decl}, args,
                                      absl::StrCat(path, ".", i), depth + 1));
      nodes.push_back(node);
    }
    value.node = static_cast<int32_t>(tree_.arrays_.size());
    value.count = static_cast<int32_t>(nodes.size());
    tree_.arrays_.insert(tree_.arrays_.end(), nodes.begin(), nodes.end());
    return value;
  }

  absl::StatusOr<graph::ObjectId> AddTensor(lang::MemberKind kind,
                                            bool is_cache,
                                            const ConcreteType& type,
                                            const std::string& path) {
    graph::ObjectSpec spec;
    spec.path = path;
    spec.shape = type.shape;
    spec.dtype = type.dtype;
    spec.persistent = true;
    spec.category =
        kind == lang::MemberKind::kParam    ? graph::Category::kParameters
        : kind == lang::MemberKind::kBuffer ? graph::Category::kBuffers
        : is_cache                          ? graph::Category::kKvCache
                                            : graph::Category::kState;
    std::pair<graph::ObjectId, std::string>* owner = nullptr;
    if (const auto it = tensor_of_.find(path);
        it != tensor_of_.end() && kind != lang::MemberKind::kState) {
      owner = &owners_[it->second];
    }
    if (owner != nullptr && owner->first.valid()) {
      spec.view_of = owner->first;
      spec.persistent = false;
      tree_.ties_.emplace_back(path, owner->second);
    }
    const graph::ObjectId object = builder_->AddObject(spec);
    if (owner == nullptr) return object;
    if (!owner->first.valid()) {
      *owner = {object, path};
    } else if (builder_->full_bytes(object) !=
               builder_->full_bytes(owner->first)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "`", path, "` and `", owner->second,
          "` are bound to one checkpoint tensor but differ in size"));
    }
    return object;
  }

  const lang::Program& program_;
  const absl::flat_hash_set<std::pair<lang::BlockId, int32_t>>& caches_;
  const TreeLimits limits_;
  expr::Pool* const pool_;
  graph::GraphBuilder* const builder_;
  absl::flat_hash_set<std::string> present_, used_;
  std::set<std::string> explicit_;  // Ordered, so that warnings are.
  absl::flat_hash_map<std::string, std::string> tensor_of_;
  // Checkpoint tensor to the first object bound to it, and its path.
  absl::flat_hash_map<std::string, std::pair<graph::ObjectId, std::string>>
      owners_;
  absl::flat_hash_map<Key, std::unique_ptr<MemberTypes>> types_;
  BlockTree tree_;
};

absl::StatusOr<BlockTree> BlockTree::Build(
    const lang::Program& program, lang::BlockId root, ConcreteArgs args,
    const Weights& weights,
    const absl::flat_hash_set<std::pair<lang::BlockId, int32_t>>& is_cache,
    const TreeLimits& limits, expr::Pool* pool, graph::GraphBuilder* builder) {
  return TreeMaker(program, weights, is_cache, limits, pool, builder)
      .Run(root, std::move(args));
}

}  // namespace linnet::trace
