#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/ir/lower_function.h"
#include "core/lang/binding.h"

namespace linnet::ir {

using lang::TypeId;

ValueId FunctionLowering::LowerCall(lang::ExprId id, TypeId type) {
  const lang::CallInfo& call =
      module().calls[static_cast<size_t>(info(id).detail)];
  switch (call.kind) {
    case lang::CallKind::kFunction:
      return LowerFunctionCall(call, type);
    case lang::CallKind::kStruct:
      return LowerStruct(call, type);
    case lang::CallKind::kPrelude:
      return LowerPrelude(call, type);
  }
  return {};
}

ValueId FunctionLowering::LowerFunctionCall(const lang::CallInfo& call,
                                            TypeId type) {
  const lang::Function& callee = program_.functions[call.callee];
  OpExtra extra;
  extra.data.emplace();
  extra.data->callee = call.callee;
  extra.data->bindings = call.bindings;
  if (context_.substitution != nullptr) {
    for (lang::GenericArg& binding : extra.data->bindings) {
      binding = lang::SubstituteArg(binding, *context_.substitution, pool_);
    }
  }
  std::vector<ValueId> operands;
  const size_t first = callee.block.valid() ? 1 : 0;
  operands.resize(first + callee.params.size());
  if (callee.block.valid()) {
    operands[0] = call.receiver.valid() ? Lower(call.receiver) : self_;
  }
  for (int32_t position : call.written_order) {
    const size_t i = static_cast<size_t>(position);
    operands[first + i] = Lower(call.args[i]);
  }
  for (size_t i = 0; i < callee.params.size(); ++i) {
    if (i < call.args.size() && call.args[i].valid()) continue;
    operands[first + i] = LowerDefault(callee, i, extra.data->bindings);
  }
  const OpKind kind = callee.kind == lang::FunctionKind::kOp
                          ? OpKind::kSemanticCall
                          : OpKind::kCall;
  return Emit(kind, operands, type, std::move(extra));
}

ValueId FunctionLowering::LowerDefault(
    const lang::Function& callee, size_t param,
    absl::Span<const lang::GenericArg> bindings) {
  const lang::Substitution substitution =
      lang::BindGenerics(callee.generics, bindings, pool_);
  const Context outer =
      std::exchange(context_, Context{callee.module, &substitution});
  const ValueId value = Lower(callee.params[param].default_value,
                              Apply(callee.params[param].type));
  context_ = outer;
  return value;
}

ValueId FunctionLowering::LowerStruct(const lang::CallInfo& call, TypeId type) {
  std::vector<ValueId> fields(call.args.size());
  for (int32_t position : call.written_order) {
    const size_t i = static_cast<size_t>(position);
    fields[i] = Lower(call.args[i]);
  }
  return Emit(OpKind::kStructMake, fields, type);
}

namespace {

// The operation of a prelude function that is one with its operands alone.
OpKind KindOf(lang::Prelude prelude) {
  switch (prelude) {
    case lang::Prelude::kCast:
      return OpKind::kCast;
    case lang::Prelude::kExp:
      return OpKind::kExp;
    case lang::Prelude::kLog:
      return OpKind::kLog;
    case lang::Prelude::kSqrt:
      return OpKind::kSqrt;
    case lang::Prelude::kRsqrt:
      return OpKind::kRsqrt;
    case lang::Prelude::kSin:
      return OpKind::kSin;
    case lang::Prelude::kCos:
      return OpKind::kCos;
    case lang::Prelude::kTanh:
      return OpKind::kTanh;
    case lang::Prelude::kAbs:
      return OpKind::kAbs;
    case lang::Prelude::kMin:
      return OpKind::kMin;
    case lang::Prelude::kMax:
      return OpKind::kMax;
    case lang::Prelude::kShl:
      return OpKind::kShl;
    case lang::Prelude::kShr:
      return OpKind::kShr;
    case lang::Prelude::kSelect:
      return OpKind::kSelect;
    case lang::Prelude::kReshape:
      return OpKind::kReshape;
    case lang::Prelude::kPermute:
      return OpKind::kPermute;
    case lang::Prelude::kBroadcastTo:
      return OpKind::kBroadcast;
    case lang::Prelude::kConcat:
      return OpKind::kConcat;
    case lang::Prelude::kIota:
      return OpKind::kIota;
    case lang::Prelude::kFill:
      return OpKind::kFill;
    case lang::Prelude::kCumsum:
      return OpKind::kCumsum;
    case lang::Prelude::kProgramId:
    case lang::Prelude::kLoad:
    case lang::Prelude::kStore:
    case lang::Prelude::kAtomicAdd:
    case lang::Prelude::kAtomicMax:
    case lang::Prelude::kAtomicMin:
      break;
  }
  LINNET_CHECK(false) << "kernels are not lowered, and the checker rejects "
                         "their calls elsewhere";
  return OpKind::kCast;
}

}  // namespace

ValueId FunctionLowering::LowerPrelude(const lang::CallInfo& call,
                                       TypeId type) {
  const OpKind kind = KindOf(call.prelude);
  // A literal operand takes the result's dtype, but for a cast's.
  const TypeId element =
      kind == OpKind::kCast ? TypeId{} : types_.Scalar(types_.get(type).dtype);
  std::vector<ValueId> operands;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const bool is_condition = kind == OpKind::kSelect && i == 0;
    operands.push_back(Lower(call.args[i], is_condition ? TypeId{} : element));
  }
  OpExtra extra;
  if (kind == OpKind::kPermute) {
    extra.data.emplace();
    for (int64_t axis : call.ints) {
      extra.data->ints.push_back(static_cast<int32_t>(axis));
    }
  } else if (kind == OpKind::kConcat || kind == OpKind::kCumsum) {
    extra.integer = call.ints[0];
  }
  return Emit(kind, operands, type, std::move(extra));
}

}  // namespace linnet::ir
