// Tensor operations as steps of the graph.

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/trace/interpreter.h"

namespace linnet::trace {
namespace {

using ir::OpKind;

// The step kind of an elementwise or creating operation.
graph::StepKind StepKindOf(OpKind kind) {
  switch (kind) {
    case OpKind::kAdd:
      return graph::StepKind::kAdd;
    case OpKind::kSub:
      return graph::StepKind::kSub;
    case OpKind::kMul:
      return graph::StepKind::kMul;
    case OpKind::kDiv:
      return graph::StepKind::kDiv;
    case OpKind::kRem:
      return graph::StepKind::kRem;
    case OpKind::kMin:
      return graph::StepKind::kMin;
    case OpKind::kMax:
      return graph::StepKind::kMax;
    case OpKind::kCompare:
      return graph::StepKind::kCompare;
    case OpKind::kAnd:
      return graph::StepKind::kAnd;
    case OpKind::kOr:
      return graph::StepKind::kOr;
    case OpKind::kBitAnd:
      return graph::StepKind::kBitAnd;
    case OpKind::kBitOr:
      return graph::StepKind::kBitOr;
    case OpKind::kBitXor:
      return graph::StepKind::kBitXor;
    case OpKind::kShl:
      return graph::StepKind::kShl;
    case OpKind::kShr:
      return graph::StepKind::kShr;
    case OpKind::kNot:
      return graph::StepKind::kNot;
    case OpKind::kNeg:
      return graph::StepKind::kNeg;
    case OpKind::kAbs:
      return graph::StepKind::kAbs;
    case OpKind::kExp:
      return graph::StepKind::kExp;
    case OpKind::kLog:
      return graph::StepKind::kLog;
    case OpKind::kSqrt:
      return graph::StepKind::kSqrt;
    case OpKind::kRsqrt:
      return graph::StepKind::kRsqrt;
    case OpKind::kSin:
      return graph::StepKind::kSin;
    case OpKind::kCos:
      return graph::StepKind::kCos;
    case OpKind::kTanh:
      return graph::StepKind::kTanh;
    case OpKind::kCast:
      return graph::StepKind::kCast;
    case OpKind::kSelect:
      return graph::StepKind::kSelect;
    case OpKind::kReshape:
      return graph::StepKind::kReshape;
    case OpKind::kBroadcast:
      return graph::StepKind::kBroadcast;
    case OpKind::kPermute:
      return graph::StepKind::kPermute;
    case OpKind::kSlice:
      return graph::StepKind::kSlice;
    case OpKind::kConcat:
      return graph::StepKind::kConcat;
    case OpKind::kFill:
      return graph::StepKind::kFill;
    case OpKind::kIota:
      return graph::StepKind::kIota;
    case OpKind::kElement:
      return graph::StepKind::kElement;
    case OpKind::kReduce:
      return graph::StepKind::kReduce;
    default:
      return graph::StepKind::kComprehension;
  }
}

// Whether the operation does arithmetic on every element of its result.
bool CostsArithmetic(OpKind kind) {
  switch (kind) {
    case OpKind::kCast:
    case OpKind::kConcat:
    case OpKind::kFill:
    case OpKind::kIota:
      return false;
    default:
      return true;
  }
}

bool IsAttention(const library::NativeImplementation& native) {
  return native.kernel == library::NativeKernel::kAttention;
}

bool IsCollective(const library::NativeImplementation& native) {
  return native.kernel == library::NativeKernel::kAllReduce ||
         native.kernel == library::NativeKernel::kAllGather ||
         native.kernel == library::NativeKernel::kShared;
}

// The op's own name: `linear` of `std.nn.linear::linear`.
absl::string_view OpLabel(absl::string_view qualified) {
  const size_t colon = qualified.rfind(':');
  return colon == absl::string_view::npos ? qualified
                                          : qualified.substr(colon + 1);
}

}  // namespace

const Layout& Interpreter::layout(graph::ObjectId object) const {
  static const Layout kContiguous = Layout::Contiguous();
  const auto it = layouts_.find(object);
  return it == layouts_.end() ? kContiguous : it->second;
}

graph::ObjectId Interpreter::NewObject(const ConcreteType& type,
                                       graph::ObjectId view_of, Layout layout) {
  graph::ObjectSpec spec;
  spec.shape = type.shape;
  spec.dtype = type.dtype;
  spec.view_of = view_of;
  const graph::ObjectId object = builder_->AddObject(spec);
  if (!layout.contiguous()) layouts_.emplace(object, std::move(layout));
  return object;
}

void Interpreter::AddStep(const Frame& frame, graph::StepKind kind,
                          absl::string_view label,
                          absl::Span<const graph::ObjectId> inputs,
                          absl::Span<const graph::ObjectId> outputs,
                          expr::Expr flops, absl::string_view native) {
  graph::StepSpec spec;
  spec.kind = kind;
  spec.label = label;
  spec.inputs = inputs;
  spec.outputs = outputs;
  spec.scope = frame.scope;
  spec.native = native;
  spec.flops = flops.valid() ? flops : pool_->Zero();
  builder_->AddStep(spec);
}

// The tensors of a value, inside options and tuples too, in order.
void Interpreter::CollectObjects(const Value& value,
                                 std::vector<graph::ObjectId>* objects) const {
  if (value.is_object()) objects->push_back(value.object());
  if (value.kind != ValueKind::kSome && value.kind != ValueKind::kTuple) return;
  for (int32_t i = 0; i < value.count; ++i) {
    CollectObjects(parts_[static_cast<size_t>(value.index + i)], objects);
  }
}

void Interpreter::ScalarArithmetic(Frame& frame, const ir::Operation& op) {
  const auto operands = frame.function->operands_of(op);
  expr::Expr number;
  const auto known = [&](size_t i) { return frame[operands[i]].number; };
  if (operands.size() == 2 && known(0).valid() && known(1).valid()) {
    switch (op.kind) {
      case OpKind::kAdd:
        number = pool_->Add(known(0), known(1));
        break;
      case OpKind::kSub:
        number = pool_->Sub(known(0), known(1));
        break;
      case OpKind::kMul:
        number = pool_->Mul(known(0), known(1));
        break;
      case OpKind::kDiv:
        number = pool_->FloorDiv(known(0), known(1));
        break;
      default:
        break;
    }
  } else if (op.kind == OpKind::kCast && known(0).valid() &&
             IsInteger(frame.instance->type(op.first_result).dtype)) {
    number = known(0);
  }
  frame[op.first_result] =
      Value::Scalar(number.valid() ? number : expr::Expr());
}

absl::Status Interpreter::RunArithmetic(Frame& frame, const ir::Operation& op) {
  const ConcreteType& type = frame.instance->type(op.first_result);
  const auto operands = frame.function->operands_of(op);
  if (op.kind == OpKind::kCast && frame[operands[0]].is_tensor() &&
      frame.instance->type(operands[0]).dtype == type.dtype) {
    frame[op.first_result] = frame[operands[0]];
    return absl::OkStatus();
  }
  const expr::Expr flops =
      CostsArithmetic(op.kind) ? type.elements : pool_->Zero();
  if (counting()) {
    NoteReads(frame, op);
    AddFlops(flops);
    if (type.is_tensor) {
      frame[op.first_result] = Value::Local();
    } else {
      ScalarArithmetic(frame, op);
    }
    return absl::OkStatus();
  }
  if (!type.is_tensor) {
    ScalarArithmetic(frame, op);
    return absl::OkStatus();
  }
  std::vector<graph::ObjectId> inputs;
  for (ir::ValueId operand : operands) {
    CollectObjects(frame[operand], &inputs);
  }
  graph::StepKind kind = StepKindOf(op.kind);
  // A tensor times or over a scalar: autograd keeps nothing for it.
  if ((op.kind == OpKind::kMul && inputs.size() == 1 &&
       operands[0] != operands[1]) ||
      (op.kind == OpKind::kDiv && !frame[operands[1]].is_tensor())) {
    kind = graph::StepKind::kScale;
  }
  const graph::ObjectId object = NewObject(type, {}, Layout::Contiguous());
  AddStep(frame, kind, ir::OpName(op.kind), inputs, {object}, flops);
  frame[op.first_result] = Value::Tensor(object);
  return absl::OkStatus();
}

absl::Status Interpreter::RunLayout(Frame& frame, const ir::Operation& op) {
  const ConcreteType& type = frame.instance->type(op.first_result);
  const Value operand = frame[frame.function->operands_of(op)[0]];
  if (counting()) {
    NoteReads(frame, op);
    frame[op.first_result] = type.is_tensor ? Value::Local() : Value::Scalar();
    return absl::OkStatus();
  }
  if (!operand.is_object() || !type.is_tensor) {
    // A scalar, before or after: no memory of its own.
    if (!operand.is_object() && type.is_tensor) {
      const graph::ObjectId made = NewObject(type, {}, Layout::Contiguous());
      AddStep(frame, StepKindOf(op.kind), ir::OpName(op.kind), {}, {made}, {});
      frame[op.first_result] = Value::Tensor(made);
    } else {
      frame[op.first_result] = Value::Scalar();
    }
    return absl::OkStatus();
  }
  const graph::ObjectId source = operand.object();
  const Layout from = layout(source);
  Layout to = Layout::None();
  bool copies = false;
  absl::string_view label = ir::OpName(op.kind);
  switch (op.kind) {
    case OpKind::kReshape:
      copies = !from.contiguous();
      if (copies) label = "reshape (copy)";
      to = Layout::Contiguous();
      break;
    case OpKind::kPermute:
      to = from.Permuted(frame.function->data_of(op).ints);
      break;
    case OpKind::kSlice:
      to = from.Sliced(frame.function->data_of(op).slices);
      break;
    default:  // A broadcast.
      break;
  }
  const graph::ObjectId object =
      NewObject(type, copies ? graph::ObjectId() : source, std::move(to));
  AddStep(frame, StepKindOf(op.kind), label, {source}, {object}, {});
  frame[op.first_result] = Value::Tensor(object);
  return absl::OkStatus();
}

absl::Status Interpreter::RunIndexed(Frame& frame, const ir::Operation& op) {
  const ConcreteType& type = frame.instance->type(op.first_result);
  if (op.kind == OpKind::kElement) {
    NoteReads(frame, op);
    frame[op.first_result] = Value::Scalar();
    return absl::OkStatus();
  }
  Count body;
  LINNET_RETURN_IF_ERROR(
      CountRegion(frame, frame.function->region(op, 0), &body));
  expr::Expr each = body.flops;
  if (op.kind == OpKind::kReduce) each = pool_->Add(each, pool_->One());
  const expr::Expr flops =
      pool_->Mul(DomainSize(frame, frame.function->data_of(op)), each);
  if (counting()) {
    AddFlops(flops);
    count_->reads.insert(count_->reads.end(), body.reads.begin(),
                         body.reads.end());
    frame[op.first_result] = type.is_tensor ? Value::Local() : Value::Scalar();
    return absl::OkStatus();
  }
  if (!type.is_tensor) {
    // A reduction to a scalar: a step only when it reads memory.
    if (!body.reads.empty()) {
      AddStep(frame, StepKindOf(op.kind), ir::OpName(op.kind), body.reads, {},
              flops);
    }
    frame[op.first_result] = Value::Scalar();
    return absl::OkStatus();
  }
  const graph::ObjectId object = NewObject(type, {}, Layout::Contiguous());
  AddStep(frame, StepKindOf(op.kind), ir::OpName(op.kind), body.reads, {object},
          flops);
  frame[op.first_result] = Value::Tensor(object);
  return absl::OkStatus();
}

// A cache write updates the state it is given in place when the program reads
// that state's value nowhere else.
bool Interpreter::WritesInPlace(Frame& frame, const ir::Operation& op,
                                const library::NativeImplementation& native) {
  if (native.kernel != library::NativeKernel::kCacheWrite) return false;
  const ir::ValueId cache = frame.function->operands_of(op)[0];
  const Value& value = frame[cache];
  return value.is_object() &&
         builder_->object(builder_->owner(value.object())).persistent &&
         frame.instance->UseCount(cache) == 1;
}

Value Interpreter::NativeResult(Frame& frame, const ir::Operation& op,
                                Instance& callee, const Value& first,
                                const lang::Type& type) {
  const library::NativeImplementation& native = *callee.native();
  const ConcreteType concrete = frame.instance->environment().Type(type);
  if (!concrete.is_tensor) return Value::Scalar();
  graph::ObjectId view_of;
  Layout to = Layout::Contiguous();
  if (IsCollective(native) && request_.processes <= 1 && first.is_object()) {
    // One process has nothing to exchange.
    view_of = first.object();
    to = layout(view_of);
  } else if (WritesInPlace(frame, op, native)) {
    view_of = first.object();
  } else if (IsAttention(native) && concrete.shape.size() == 4) {
    // In memory [batch, position, head, width].
    to = Layout::Of({0, 2, 1, 3});
  }
  return Value::Tensor(NewObject(concrete, view_of, std::move(to)));
}

absl::Status Interpreter::RunNative(Frame& frame, const ir::Operation& op,
                                    Instance& callee) {
  const auto operands = frame.function->operands_of(op);
  std::vector<graph::ObjectId> inputs;
  for (ir::ValueId operand : operands) {
    CollectObjects(frame[operand], &inputs);
  }
  expr::Expr flops;
  LINNET_RETURN_IF_ERROR(FlopsOf(callee, &flops));
  const Value first = operands.empty() ? Value::Scalar() : frame[operands[0]];
  const lang::TypeTable& types = *instances_->program().source->types;
  std::vector<graph::ObjectId> outputs;
  if (op.num_results > 0) {
    const lang::Type& type =
        types.get(frame.function->value_types[op.first_result]);
    Value result;
    if (type.kind == lang::TypeKind::kTuple) {
      Values parts;
      for (lang::TypeId element : type.elements) {
        parts.push_back(
            NativeResult(frame, op, callee, first, types.get(element)));
      }
      result = Pack(parts);
    } else {
      result = NativeResult(frame, op, callee, first, type);
    }
    CollectObjects(result, &outputs);
    frame[op.first_result] = result;
  }
  AddStep(frame, graph::StepKind::kNative,
          OpLabel(callee.decl().qualified_name), inputs, outputs, flops,
          callee.native()->name);
  return absl::OkStatus();
}

}  // namespace linnet::trace
