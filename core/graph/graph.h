// One entry of a program as memory objects and steps.
//
// Words. An *object* is a tensor that exists during the entry. Its *owner* is
// the object whose storage it lies in: itself, or for a view and a result
// written in place, another one, which then carries the bytes of both. An
// object is *persistent* when it is there before and after the entry (a
// parameter, a buffer, a state) and else *transient*. A *step* reads objects
// and makes others; steps are numbered in program order from 0.

#ifndef LINNET_CORE_GRAPH_GRAPH_H_
#define LINNET_CORE_GRAPH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/dtype.h"
#include "core/base/id.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/kinds.h"

namespace linnet::graph {

struct ObjectTag;
struct StepTag;
struct StringTag;
using ObjectId = Id<ObjectTag>;
using StepId = Id<StepTag>;
using StringId = Id<StringTag>;  // Invalid: the empty text.

struct Object {
  StringId name;
  StringId path;          // Of a parameter, buffer or state: "layers.0.weight".
  expr::Expr bytes;       // Of its own storage: 0 when it has another owner;
                          // of a packed parameter, as it is stored.
  expr::Expr full_bytes;  // Elements times the size of one.
  StepId producer;        // Invalid for inputs and persistent objects.
  ObjectId owner;         // Itself or the storage's owner; never a view.
  int32_t shape_begin = 0;
  uint16_t rank = 0;
  Category category = Category::kActivations;
  DType dtype = DType::kBool;
  bool persistent = false;
};

// Whether a parameter is stored in another format than its dtype's.
inline bool IsPacked(const Object& object) {
  return !object.bytes.is_zero() && object.bytes != object.full_bytes;
}

struct Step {
  StringId label;    // "linear", "mul", "reshape (copy)".
  StringId scope;    // Path of the block whose method runs it.
  StringId native;   // Name of the implementation, for kNative.
  expr::Expr flops;  // 0 when it computes nothing.
  int32_t uses_begin = 0;
  int32_t num_inputs = 0;
  int32_t num_outputs = 0;
  StepKind kind = StepKind::kNative;
};

struct StateWrite {
  ObjectId state;  // A persistent object.
  ObjectId value;  // What the state holds from then on.
};

// Immutable; made by GraphBuilder and shared as shared_ptr<const Graph>.
// Spans and texts live as long as the graph.
class Graph {
 public:
  const expr::Pool& pool() const { return *pool_; }
  const std::shared_ptr<const expr::Pool>& shared_pool() const { return pool_; }

  int32_t num_objects() const { return objects_.size(); }
  int32_t num_steps() const { return steps_.size(); }
  const Object& object(ObjectId id) const { return objects_[id]; }
  const Step& step(StepId id) const { return steps_[id]; }
  const std::vector<Object>& objects() const { return objects_.items(); }
  const std::vector<Step>& steps() const { return steps_.items(); }

  // Distinct inputs in operand order; all outputs.
  absl::Span<const ObjectId> inputs(const Step& step) const {
    return absl::MakeConstSpan(uses_).subspan(
        static_cast<size_t>(step.uses_begin),
        static_cast<size_t>(step.num_inputs));
  }
  absl::Span<const ObjectId> outputs(const Step& step) const {
    return absl::MakeConstSpan(uses_).subspan(
        static_cast<size_t>(step.uses_begin) +
            static_cast<size_t>(step.num_inputs),
        static_cast<size_t>(step.num_outputs));
  }
  absl::Span<const ObjectId> inputs(StepId id) const {
    return inputs(steps_[id]);
  }
  absl::Span<const ObjectId> outputs(StepId id) const {
    return outputs(steps_[id]);
  }
  absl::Span<const expr::Expr> shape(const Object& object) const {
    return absl::MakeConstSpan(shapes_).subspan(
        static_cast<size_t>(object.shape_begin), object.rank);
  }
  absl::Span<const expr::Expr> shape(ObjectId id) const {
    return shape(objects_[id]);
  }
  absl::string_view text(StringId id) const;

  // The entry's parameters and results that are tensors, in order. A result may
  // be any object; the same one may come twice.
  absl::Span<const ObjectId> entry_inputs() const { return entry_inputs_; }
  absl::Span<const ObjectId> results() const { return results_; }
  // What states were given, other than their own storage, in program order.
  absl::Span<const StateWrite> state_writes() const { return state_writes_; }

  // The free symbols that sizes may use, in the order in which values of them
  // are given everywhere.
  absl::Span<const expr::SymbolId> roles() const { return roles_; }

  // Whether `id` owns storage that comes and goes with the entry.
  bool IsTransientOwner(ObjectId id) const {
    const Object& object = objects_[id];
    return object.owner == id && !object.persistent;
  }

  // Memory of the graph and its pool (not of the pool's bases), in bytes.
  size_t ByteSize() const;

  // One line per input, step, state write and result, for tests and people.
  std::string Text() const;

 private:
  friend class GraphBuilder;
  Graph() = default;

  std::shared_ptr<const expr::Pool> pool_;
  IdMap<ObjectId, Object> objects_;
  IdMap<StepId, Step> steps_;
  std::vector<ObjectId> uses_;
  std::vector<expr::Expr> shapes_;
  std::vector<ObjectId> entry_inputs_;
  std::vector<ObjectId> results_;
  std::vector<StateWrite> state_writes_;
  std::vector<expr::SymbolId> roles_;
  std::string characters_;
  std::vector<uint32_t> string_ends_;
};

}  // namespace linnet::graph

#endif  // LINNET_CORE_GRAPH_GRAPH_H_
