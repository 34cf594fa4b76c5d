// Runs the operations of one entry: see tracer.h for what a trace is.
//
// The same code runs in two modes. When it *records*, tensor operations become
// steps and objects of the graph. When it *counts* (inside index notation, and
// for the FLOPs of a native call), no step is made: operations add up per
// element, every call is entered, and tensors of the graph that are read are
// noted.

#ifndef LINNET_CORE_TRACE_INTERPRETER_H_
#define LINNET_CORE_TRACE_INTERPRETER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/expr/pool.h"
#include "core/graph/graph_builder.h"
#include "core/ir/ir.h"
#include "core/trace/block_tree.h"
#include "core/trace/instance.h"
#include "core/trace/layout.h"
#include "core/trace/tracer.h"
#include "core/trace/value.h"

namespace linnet::trace {

class Interpreter {
 public:
  // All arguments must outlive it. `tree` may be null (no root block).
  Interpreter(const TraceRequest& request, Instances* instances,
              const BlockTree* tree, expr::Pool* pool,
              graph::GraphBuilder* builder);

  // Runs the body of `entry` on `args` (the root node first for a method) and
  // appends the results: the tensors of tuples and structs one by one.
  absl::Status RunEntry(Instance& entry, absl::Span<const Value> args,
                        std::vector<Value>* results);

  std::vector<std::string> TakeWarnings() { return std::move(warnings_); }
  std::vector<LibraryCall> TakeLibraryCalls() {
    return std::move(library_calls_);
  }

 private:
  // One call in progress. Values of enclosing regions stay visible.
  struct Frame {
    Instance* instance;
    const ir::Function* function;
    absl::Span<Value> values;
    absl::string_view scope;

    Value& operator[](ir::ValueId id) {
      return values[static_cast<size_t>(id.index)];
    }
  };
  // Where counting puts its findings.
  struct Count {
    expr::Expr flops;
    std::vector<graph::ObjectId> reads;
  };

  // --- control flow (interpreter.cc)
  absl::Status RunRegion(Frame& frame, ir::RegionId region, Values* yields);
  absl::Status RunOp(Frame& frame, ir::OpId id, const ir::Operation& op);
  absl::Status RunStructural(Frame& frame, const ir::Operation& op);
  static void SetResults(Frame& frame, const ir::Operation& op,
                         absl::Span<const Value> values);
  absl::Status RunMatch(Frame& frame, const ir::Operation& op);
  absl::Status RunIf(Frame& frame, const ir::Operation& op);
  absl::Status RunAll(Frame& frame, const ir::Operation& op);
  absl::Status RunStaticFor(Frame& frame, const ir::Operation& op);
  absl::Status RunRange(Frame& frame, const ir::Operation& op);
  absl::Status RunRound(Frame& frame, const ir::Operation& op, Value element,
                        Values* carried);
  absl::Status RunWhile(Frame& frame, const ir::Operation& op);
  absl::Status RunCall(Frame& frame, ir::OpId id, const ir::Operation& op);
  absl::Status Enter(Instance& callee, absl::Span<const Value> args,
                     absl::string_view scope, Value* result);
  absl::Status KnownInteger(const Value& value, absl::string_view what,
                            int64_t* number) const;
  absl::Status Tick();
  void NoteLibraryCall(const Instance& callee, absl::string_view scope);
  void StateRead(Frame& frame, const ir::Operation& op);
  void StateWrite(Frame& frame, const ir::Operation& op);
  Value MemberOf(const Value& block, int64_t member);
  Value Pack(absl::Span<const Value> parts);

  // --- steps (tensor_ops.cc)
  absl::Status RunArithmetic(Frame& frame, const ir::Operation& op);
  void ScalarArithmetic(Frame& frame, const ir::Operation& op);
  absl::Status RunLayout(Frame& frame, const ir::Operation& op);
  absl::Status RunIndexed(Frame& frame, const ir::Operation& op);
  absl::Status RunNative(Frame& frame, const ir::Operation& op,
                         Instance& callee);
  Value NativeResult(Frame& frame, const ir::Operation& op, Instance& callee,
                     const Value& first, const lang::Type& type);
  bool WritesInPlace(Frame& frame, const ir::Operation& op,
                     const library::NativeImplementation& native);
  graph::ObjectId NewObject(const ConcreteType& type, graph::ObjectId view_of,
                            Layout layout);
  void AddStep(const Frame& frame, graph::StepKind kind,
               absl::string_view label,
               absl::Span<const graph::ObjectId> inputs,
               absl::Span<const graph::ObjectId> outputs, expr::Expr flops,
               absl::string_view native = {});
  void CollectObjects(const Value& value,
                      std::vector<graph::ObjectId>* objects) const;
  const Layout& layout(graph::ObjectId object) const;

  // --- counting (count.cc)
  bool counting() const { return count_ != nullptr; }
  void NoteReads(Frame& frame, const ir::Operation& op);
  void AddFlops(expr::Expr flops);
  // Counts one evaluation of a region's body.
  absl::Status CountRegion(Frame& frame, ir::RegionId region, Count* count);
  expr::Expr DomainSize(const Frame& frame, const ir::OpData& data);
  absl::Status FlopsOf(Instance& callee, expr::Expr* flops);

  const TraceRequest& request_;
  Instances* const instances_;
  const BlockTree* const tree_;
  expr::Pool* const pool_;
  graph::GraphBuilder* const builder_;
  // Of the tensors that are not contiguous.
  absl::flat_hash_map<graph::ObjectId, Layout> layouts_;
  std::vector<Value> parts_;  // Of tuples and options.
  // What each state holds now, where it was written.
  absl::flat_hash_map<graph::ObjectId, graph::ObjectId> held_;
  Count* count_ = nullptr;  // Null: recording.
  int32_t depth_ = 0;
  int64_t operations_ = 0;
  std::vector<LibraryCall> library_calls_;
  absl::flat_hash_map<lang::FunctionId, size_t> library_call_of_;
  std::vector<std::string> warnings_;
  absl::flat_hash_set<std::string> warned_;
};

}  // namespace linnet::trace

#endif  // LINNET_CORE_TRACE_INTERPRETER_H_
