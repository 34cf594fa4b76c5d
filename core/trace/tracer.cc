#include "core/trace/tracer.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/graph/graph_builder.h"
#include "core/trace/instance.h"
#include "core/trace/interpreter.h"

namespace linnet::trace {
namespace {

constexpr absl::string_view kCacheModule = "std.nn.cache::";

void AddConstraints(const std::vector<lang::Constraint>& where,
                    const Environment& environment,
                    std::vector<TracedConstraint>* constraints) {
  for (const lang::Constraint& clause : where) {
    constraints->push_back({clause.relation, environment.Dim(clause.left),
                            environment.Dim(clause.right), clause.text});
  }
}

// The entry's parameters as values; tensors become inputs of the graph.
std::vector<Value> MakeInputs(Instance& entry, const lang::Program& source,
                              graph::GraphBuilder* builder) {
  std::vector<Value> args;
  const ir::Function& function = entry.body();
  const std::vector<ir::ValueId>& values = function.regions[function.body].args;
  const size_t num_params = entry.decl().params.size();
  if (values.size() > num_params) args.push_back(Value::Block(0));
  for (size_t i = 0; i < num_params; ++i) {
    const ir::ValueId value = values[values.size() - num_params + i];
    const ConcreteType& type = entry.type(value);
    const lang::Type& declared = source.types->get(function.value_types[value]);
    if (declared.kind == lang::TypeKind::kOptional) {
      args.push_back(Value::Absent());
      continue;
    }
    if (!type.is_tensor) {
      args.push_back(Value::Scalar());
      continue;
    }
    graph::ObjectSpec spec;
    spec.name = source.name(entry.decl().params[i].name);
    spec.category = graph::Category::kInputs;
    spec.shape = type.shape;
    spec.dtype = type.dtype;
    const graph::ObjectId object = builder->AddObject(spec);
    builder->MarkInput(object);
    args.push_back(Value::Tensor(object));
  }
  return args;
}

}  // namespace

absl::flat_hash_set<std::pair<lang::BlockId, int32_t>> FindCaches(
    const ir::Program& program) {
  absl::flat_hash_set<std::pair<lang::BlockId, int32_t>> caches;
  for (const ir::Function& function : program.functions) {
    if (!function.id.valid()) continue;
    const lang::Function& decl = program.source->functions[function.id];
    if (!decl.block.valid()) continue;
    absl::flat_hash_set<ir::ValueId> written;  // Results of cache operations.
    for (const ir::Operation& op : function.ops) {
      if (op.kind == ir::OpKind::kSemanticCall &&
          absl::StartsWith(
              program.source->functions[function.data_of(op).callee]
                  .qualified_name,
              kCacheModule)) {
        written.insert(op.first_result);
      }
    }
    for (const ir::Operation& op : function.ops) {
      if (op.kind == ir::OpKind::kStateWrite &&
          written.contains(function.operands_of(op)[1])) {
        caches.insert({decl.block, static_cast<int32_t>(op.integer)});
      }
    }
  }
  return caches;
}

absl::StatusOr<Trace> TraceEntry(const ir::Program& program,
                                 const TraceRequest& request,
                                 std::shared_ptr<expr::Pool> pool) {
  const lang::Program& source = *program.source;
  graph::GraphBuilder builder(pool, request.roles);
  Trace trace;
  std::optional<BlockTree> tree;
  if (request.root.valid()) {
    const lang::Block& root = source.blocks[request.root];
    AddConstraints(root.where,
                   Environment(root.generics, request.root_args, pool.get()),
                   &trace.constraints);
    LINNET_ASSIGN_OR_RETURN(
        tree, BlockTree::Build(source, request.root, request.root_args,
                               request.weights, FindCaches(program),
                               request.limits.tree, pool.get(), &builder));
    trace.ties = tree->ties();
    for (const std::string& path : tree->unused_present()) {
      trace.warnings.push_back(absl::StrCat(
          "`", path, "` is declared present but is no optional member"));
    }
  }
  Instances instances(program, request.numerics, pool.get());
  Instance& entry = instances.Get(request.entry, request.entry_args);
  AddConstraints(entry.decl().where, entry.environment(), &trace.constraints);
  const std::vector<Value> args = MakeInputs(entry, source, &builder);
  Interpreter interpreter(request, &instances, tree ? &*tree : nullptr,
                          pool.get(), &builder);
  std::vector<Value> results;
  LINNET_RETURN_IF_ERROR(interpreter.RunEntry(entry, args, &results));
  for (const Value& value : results) {
    if (value.is_object()) builder.MarkResult(value.object());
  }
  for (std::string& warning : interpreter.TakeWarnings()) {
    trace.warnings.push_back(std::move(warning));
  }
  trace.library_calls = interpreter.TakeLibraryCalls();
  LINNET_ASSIGN_OR_RETURN(trace.graph, builder.Build());
  return trace;
}

}  // namespace linnet::trace
