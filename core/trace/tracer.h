// One entry of a program, executed abstractly and once, as a graph (analysis.md
// section 3). Calls are followed, static loops unrolled; each library call is
// one native step or its own body.

#ifndef LINNET_CORE_TRACE_TRACER_H_
#define LINNET_CORE_TRACE_TRACER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/ir/ir.h"
#include "core/lang/program.h"
#include "core/library/native_kernel.h"
#include "core/trace/block_tree.h"
#include "core/trace/concrete.h"

namespace linnet::trace {

struct TraceLimits {
  int32_t max_steps = 1'000'000;
  int32_t max_objects = 2'000'000;
  int32_t max_call_depth = 256;
  // Loop rounds, calls and operations looked at, in all: bounds the time of a
  // trace whose loops make no step.
  int64_t max_operations = 50'000'000;
  TreeLimits tree;
};

struct TraceRequest {
  // A module-level entry, or a method of `root`.
  lang::FunctionId entry;
  lang::BlockId root;  // Invalid for a module-level entry.
  // Aligned with the generics of the root block and of the entry (for a method,
  // the block's come first in both).
  ConcreteArgs root_args;
  ConcreteArgs entry_args;
  // The symbols in them, in the order in which sizes are given later.
  std::vector<expr::SymbolId> roles;
  Weights weights;
  library::Numerics numerics = library::Numerics::kFast;
  // Of a program split by its `Shards` generic: 1 runs collectives as views.
  int64_t processes = 1;
  TraceLimits limits;
  // Polled now and then; true stops the trace with CANCELLED.
  std::function<bool()> stop;
};

// One `where` clause of the root block or the entry, over the roles.
struct TracedConstraint {
  lang::Relation relation = lang::Relation::kEq;
  expr::Expr left, right;
  std::string text;  // As written.
};

// The calls of one library op.
struct LibraryCall {
  lang::FunctionId op;
  std::string name;  // `std.nn.linear::linear`
  int64_t count = 0;
  // What it runs with; null: its body is followed.
  const library::NativeImplementation* native = nullptr;
  std::string first_scope;  // Path of the block that calls it first.
};

struct Trace {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<TracedConstraint> constraints;
  std::vector<std::pair<std::string, std::string>> ties;  // Path, owner.
  std::vector<std::string> warnings;
  // In the order of their first call; calls inside native ones are not made.
  std::vector<LibraryCall> library_calls;
};

// The states that some method writes with the result of a `std.nn.cache`
// operation, as (block, member): KV caches (analysis.md section 8).
absl::flat_hash_set<std::pair<lang::BlockId, int32_t>> FindCaches(
    const ir::Program& program);

// Traces. `pool` made every expression of the request; it is built on and then
// belongs to the graph.
//   InvalidArgument: structure that depends on a free symbol (naming it), a
//     size that overflows 64 bits or is negative by construction.
//   ResourceExhausted: a limit, by name.
//   Cancelled: `stop`.
absl::StatusOr<Trace> TraceEntry(const ir::Program& program,
                                 const TraceRequest& request,
                                 std::shared_ptr<expr::Pool> pool);

}  // namespace linnet::trace

#endif  // LINNET_CORE_TRACE_TRACER_H_
