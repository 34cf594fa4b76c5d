// Makes a Graph, in program order.

#ifndef LINNET_CORE_GRAPH_GRAPH_BUILDER_H_
#define LINNET_CORE_GRAPH_GRAPH_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/dtype.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"

namespace linnet::graph {

// What AddObject() takes. Texts and spans are copied.
struct ObjectSpec {
  absl::string_view name = {};
  absl::string_view path = {};
  Category category = Category::kActivations;
  absl::Span<const expr::Expr> shape = {};
  DType dtype = DType::kF32;
  // The object whose storage this one shares, when it is a view, written in
  // place or tied. The owner follows; the category is then the owner's.
  ObjectId view_of = {};
  bool persistent = false;  // A view of a persistent object is not persistent.
  // What it takes when that is not elements times dtype: of a parameter in a
  // packed format, of a tensor that several processes hold parts of.
  expr::Expr packed_bytes = {};
};

struct StepSpec {
  StepKind kind = StepKind::kNative;
  absl::string_view label = {};
  absl::Span<const ObjectId> inputs = {};  // Repeats are dropped.
  absl::Span<const ObjectId> outputs = {};
  absl::string_view scope = {};
  absl::string_view native = {};
  expr::Expr flops = {};  // A default one means 0.
};

// For copies of a graph. What an object was added as, but for the storage that
// it shares or packs; what a step was, with other inputs and outputs.
ObjectSpec SpecOf(const Graph& graph, ObjectId id);
StepSpec SpecOf(const Graph& graph, const Step& step,
                absl::Span<const ObjectId> inputs,
                absl::Span<const ObjectId> outputs);

class GraphBuilder {
 public:
  // `pool` makes every size of the graph; the caller goes on using it until
  // Build(). `roles` are the symbols that stay free.
  GraphBuilder(std::shared_ptr<expr::Pool> pool,
               absl::Span<const expr::SymbolId> roles);

  // Adds an object; its bytes are the product of its shape times its dtype.
  // REQUIRES: view_of, when valid, was added before.
  ObjectId AddObject(const ObjectSpec& spec);

  // Adds the next step and makes it the producer of its outputs.
  // REQUIRES: all objects were added before; no output has a producer, is an
  // entry input or persistent.
  StepId AddStep(const StepSpec& spec);

  void MarkInput(ObjectId id);   // Category kInputs; its owner is itself.
  void MarkResult(ObjectId id);  // Views and persistent objects too.
  // `state` now holds `value`, to the end of the entry. Nothing is recorded
  // when the storage of `value` is that of `state`.
  void WriteState(ObjectId state, ObjectId value);

  const expr::Pool& pool() const { return *pool_; }
  const Object& object(ObjectId id) const { return graph_->objects_[id]; }
  absl::Span<const expr::Expr> shape(ObjectId id) const {
    return graph_->shape(id);
  }
  ObjectId owner(ObjectId id) const { return object(id).owner; }
  int32_t num_steps() const { return graph_->num_steps(); }
  int32_t num_objects() const { return graph_->num_objects(); }
  // What AddObject() computes for a view or not: elements times dtype.
  expr::Expr full_bytes(ObjectId id) const { return object(id).full_bytes; }

  // The graph; the builder is spent, and so is the pool: it must not be built
  // on any more (extend it instead). Fails with InvalidArgument when a size
  // does not fit 64 bits, divides by zero, or uses a symbol that is not a role;
  // the message names the object or step.
  absl::StatusOr<std::shared_ptr<const Graph>> Build();

 private:
  StringId InternText(absl::string_view text);
  absl::Status CheckSize(expr::Expr e, absl::string_view what) const;

  std::shared_ptr<expr::Pool> pool_;
  std::shared_ptr<Graph> graph_;
  absl::flat_hash_map<std::string, StringId> strings_;
};

// Whether the tables of a graph agree with each other: every id in range, each
// object made before it is read, owners that own themselves, producers and
// outputs that match. Internal names the first fault. By code that Build()
// does not use.
absl::Status VerifyGraph(const Graph& graph);

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_GRAPH_BUILDER_H_
