// A graph made over from another one, object by object and step by step.

#ifndef LINNET_CORE_PARALLEL_GRAPH_COPY_H_
#define LINNET_CORE_PARALLEL_GRAPH_COPY_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/graph_builder.h"

namespace linnet::parallel {

// Refers to the graph that it copies, which must outlive it.
class GraphCopy {
 public:
  explicit GraphCopy(const graph::Graph& from);

  const graph::Graph& from() const { return from_; }
  expr::Pool& pool() { return *pool_; }

  // What stands for an object of the old graph; invalid before it was copied.
  graph::ObjectId now(graph::ObjectId id) const {
    return now_[static_cast<size_t>(id.index)];
  }
  void Set(graph::ObjectId id, graph::ObjectId now) {
    now_[static_cast<size_t>(id.index)] = now;
  }

  // Adds `id` as it is, or with another shape; a view, of what stands for its
  // owner.
  graph::ObjectId Copy(graph::ObjectId id);
  graph::ObjectId Copy(graph::ObjectId id, absl::Span<const expr::Expr> shape);
  // As it is, but for the bytes that it takes. REQUIRES: it is no view.
  graph::ObjectId CopyPacked(graph::ObjectId id, expr::Expr bytes);
  // All parameters, buffers, states and inputs as they are, but for those
  // that stand for something already.
  void CopyMembersAndInputs();

  // Adds a step that reads what stands for the inputs of `step` and makes what
  // stands for its outputs: copies, where nothing does yet.
  void CopyStep(const graph::Step& step);
  // Adds a step of one output that owns its storage.
  graph::ObjectId AddStep(graph::StepSpec spec,
                          absl::Span<const expr::Expr> shape, DType dtype);

  void MarkResult(graph::ObjectId now) { builder_.MarkResult(now); }
  // The graph, with the state writes of the old one.
  absl::StatusOr<std::shared_ptr<const graph::Graph>> Build();

 private:
  const graph::Graph& from_;
  std::shared_ptr<expr::Pool> pool_;
  graph::GraphBuilder builder_;
  std::vector<graph::ObjectId> now_;
};

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_GRAPH_COPY_H_
