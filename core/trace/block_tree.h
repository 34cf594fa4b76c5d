// The hierarchy of block instances of a root block: paths, and the objects of
// parameters, buffers and states.

#ifndef LINNET_CORE_TRACE_BLOCK_TREE_H_
#define LINNET_CORE_TRACE_BLOCK_TREE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/expr/pool.h"
#include "core/graph/graph_builder.h"
#include "core/lang/program.h"
#include "core/trace/concrete.h"

namespace linnet::trace {

// What a member of one block instance is.
struct MemberValue {
  enum class Kind : uint8_t { kTensor, kBlock, kArray, kAbsent };
  Kind kind = Kind::kAbsent;
  bool optional = false;   // Declared `T?`: reading it gives an option.
  graph::ObjectId object;  // kTensor; for a state, what it holds at first.
  int32_t node = -1;       // kBlock; kArray: its first in the tree's arrays.
  int32_t count = 0;       // kArray
};

struct BlockNode {
  lang::BlockId block;
  std::string path;  // "layers.3.mlp"; empty for the root.
  ConcreteArgs args;
  std::vector<MemberValue> members;
};

// What the weights of a model say about its hierarchy.
struct Weights {
  // Optional members that are present: a path stands for itself and for every
  // optional member above it.
  std::vector<std::string> present;
  // Parameter path to checkpoint tensor: two paths of one tensor share storage.
  std::vector<std::pair<std::string, std::string>> bindings;
};

struct TreeLimits {
  int32_t max_nodes = 200'000;
  int32_t max_depth = 64;
};

class BlockTree {
 public:
  // Makes the nodes below `root` and their objects, depth first in declaration
  // order, in `builder`. `is_cache` says which states are KV caches, as
  // (block, member).
  // InvalidArgument: an array length that is not a number (naming the symbol)
  //   or two tied parameters of different size.
  // ResourceExhausted: more nodes or deeper than `limits` allows.
  static absl::StatusOr<BlockTree> Build(
      const lang::Program& program, lang::BlockId root, ConcreteArgs args,
      const Weights& weights,
      const absl::flat_hash_set<std::pair<lang::BlockId, int32_t>>& is_cache,
      const TreeLimits& limits, expr::Pool* pool, graph::GraphBuilder* builder);

  const BlockNode& node(int32_t index) const {
    return nodes_[static_cast<size_t>(index)];
  }
  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
  // The node of element `position` of an array.
  int32_t element(const MemberValue& array, int32_t position) const {
    return arrays_[static_cast<size_t>(array.node + position)];
  }
  // Pairs of a tied path and the path that owns its storage.
  const std::vector<std::pair<std::string, std::string>>& ties() const {
    return ties_;
  }
  // Declared presence that named no optional member, for a warning.
  const std::vector<std::string>& unused_present() const {
    return unused_present_;
  }

 private:
  friend class TreeMaker;
  std::vector<BlockNode> nodes_;
  std::vector<int32_t> arrays_;  // Nodes of array elements, array by array.
  std::vector<std::pair<std::string, std::string>> ties_;
  std::vector<std::string> unused_present_;
};

}  // namespace linnet::trace

#endif  // LINNET_CORE_TRACE_BLOCK_TREE_H_
