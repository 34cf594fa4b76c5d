// Arithmetic and reads of index-notation bodies, and FLOPs of native calls.

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"
#include "core/trace/interpreter.h"

namespace linnet::trace {

void Interpreter::AddFlops(expr::Expr flops) {
  count_->flops = pool_->Add(count_->flops, flops);
}

// Notes every tensor of the graph among the operands.
void Interpreter::NoteReads(Frame& frame, const ir::Operation& op) {
  if (!counting()) return;
  for (ir::ValueId operand : frame.function->operands_of(op)) {
    const Value& value = frame[operand];
    if (!value.is_object()) continue;
    const graph::ObjectId object = value.object();
    std::vector<graph::ObjectId>& reads = count_->reads;
    if (std::find(reads.begin(), reads.end(), object) == reads.end()) {
      reads.push_back(object);
    }
  }
}

absl::Status Interpreter::CountRegion(Frame& frame, ir::RegionId region,
                                      Count* count) {
  count->flops = pool_->Zero();
  // Index variables are numbers that nothing knows.
  for (ir::ValueId arg : frame.function->regions[region].args) {
    frame[arg] = Value::Scalar();
  }
  Count* const outer = std::exchange(count_, count);
  Values yields;
  const absl::Status status = RunRegion(frame, region, &yields);
  count_ = outer;
  return status;
}

expr::Expr Interpreter::DomainSize(const Frame& frame, const ir::OpData& data) {
  expr::Expr size = pool_->One();
  for (const lang::Shape& domain : data.domains) {
    size = pool_->Mul(size, frame.instance->environment().ElementCount(domain));
  }
  return size;
}

absl::Status Interpreter::FlopsOf(Instance& callee, expr::Expr* flops) {
  if (!callee.flops.valid()) {
    const ir::Function& function = callee.body();
    const lang::TypeTable& types = *instances_->program().source->types;
    Values args;
    for (ir::ValueId arg : function.regions[function.body].args) {
      const lang::Type& type = types.get(function.value_types[arg]);
      if (type.kind == lang::TypeKind::kOptional) {
        args.push_back(Value::Absent());
      } else {
        args.push_back(callee.type(arg).is_tensor ? Value::Local()
                                                  : Value::Scalar());
      }
    }
    Count count;
    count.flops = pool_->Zero();
    Count* const outer = std::exchange(count_, &count);
    Value result;
    const absl::Status status = Enter(callee, args, "", &result);
    count_ = outer;
    LINNET_RETURN_IF_ERROR(status);
    callee.flops = count.flops;
  }
  *flops = callee.flops;
  return absl::OkStatus();
}

}  // namespace linnet::trace
