#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/ir/lower_function.h"

namespace linnet::ir {

using lang::ExprId;
using lang::ExprKind;
using lang::RefKind;
using lang::TypeId;
using lang::TypeKind;

// Types.

TypeId FunctionLowering::Apply(TypeId type) const {
  if (context_.substitution == nullptr) return type;
  return types_.Substitute(type, *context_.substitution, pool_);
}

bool FunctionLowering::IsContextual(TypeId type) const {
  return !type.valid() || type == types_.compile_int() ||
         type == types_.float_literal() || type == types_.none();
}

TypeId FunctionLowering::TypeOf(ExprId id, TypeId want) const {
  const TypeId type = Apply(info(id).type);
  if (!IsContextual(type)) return type;
  if (!IsContextual(want)) return want;
  return type == types_.float_literal() ? f64_ : i64_;
}

TypeId FunctionLowering::Scalar(DType dtype) const {
  return types_.Scalar(lang::DTypeRef::Of(dtype));
}

// Emitting.

ValueId FunctionLowering::Emit(OpKind kind, absl::Span<const ValueId> operands,
                               TypeId type, OpExtra extra) {
  --budget_.ops_left;
  return builder_.EmitOne(kind, operands, type, std::move(extra));
}

void FunctionLowering::EmitPlain(OpKind kind,
                                 absl::Span<const ValueId> operands,
                                 OpExtra extra) {
  --budget_.ops_left;
  builder_.Emit(kind, operands, {}, std::move(extra));
}

ValueId FunctionLowering::EmitDim(expr::Expr dim) {
  OpExtra extra;
  extra.data.emplace();
  extra.data->dim =
      context_.substitution == nullptr
          ? dim
          : lang::SubstituteDim(dim, *context_.substitution, pool_);
  return Emit(OpKind::kConstDim, {}, i64_, std::move(extra));
}

void FunctionLowering::InRegion(RegionId region,
                                absl::FunctionRef<void()> body) {
  const RegionId outer = builder_.region();
  builder_.set_region(region);
  body();
  builder_.set_region(outer);
}

// Expressions.

ValueId FunctionLowering::Lower(ExprId id, TypeId want) {
  const TypeId type = in_dim_ ? i64_ : TypeOf(id, want);
  budget_.depth_exceeded |= depth_ >= budget_.max_depth;
  if (budget_.ops_left < 0 || budget_.depth_exceeded) {
    return builder_.EmitOne(OpKind::kConstInt, {}, type);
  }
  ++depth_;
  ValueId value;
  if (!in_dim_ && IsSymbolic(id)) {
    in_dim_ = true;
    value = LowerKind(id, i64_);
    in_dim_ = false;
    value = ConvertDim(value, type);
  } else {
    value = LowerKind(id, type);
  }
  --depth_;
  return value;
}

bool FunctionLowering::IsSymbolic(ExprId id) const {
  const lang::ExprInfo& expression = info(id);
  if (!expression.dim.valid()) return false;
  switch (expression.ref) {
    case RefKind::kDimGeneric:
      return true;
    case RefKind::kLocal:  // `let half = H / 2`
      return true;
    case RefKind::kNone:
      break;
    default:
      return false;
  }
  switch (tree().expr(id).kind) {
    case ExprKind::kUnary:
      return IsSymbolic(tree().as<lang::UnaryExpr>(id).operand);
    case ExprKind::kBinary: {
      const lang::BinaryExpr& binary = tree().as<lang::BinaryExpr>(id);
      return IsSymbolic(binary.left) || IsSymbolic(binary.right);
    }
    case ExprKind::kCall: {
      for (const lang::ArgNode& arg :
           tree().list(tree().as<lang::CallExpr>(id).args)) {
        if (IsSymbolic(arg.value)) return true;
      }
      return false;
    }
    default:
      return false;
  }
}

ValueId FunctionLowering::ConvertDim(ValueId value, TypeId type) {
  const lang::Type& have = TypeOf(value);
  const lang::Type& wanted = types_.get(type);
  const bool is_other_integer =
      wanted.kind == TypeKind::kScalar && !wanted.dtype.is_var() &&
      IsInteger(wanted.dtype.dtype) && have.dtype != wanted.dtype;
  return is_other_integer ? Emit(OpKind::kCast, {value}, type) : value;
}

ValueId FunctionLowering::LowerKind(ExprId id, TypeId type) {
  switch (tree().expr(id).kind) {
    case ExprKind::kInt:
      return LowerNumber(tree().as<lang::IntExpr>(id).value, type);
    case ExprKind::kFloat: {
      OpExtra extra;
      extra.data.emplace();
      extra.data->real = tree().as<lang::FloatExpr>(id).value;
      return Emit(OpKind::kConstFloat, {}, type, std::move(extra));
    }
    case ExprKind::kBool: {
      OpExtra extra;
      extra.integer = tree().as<lang::BoolExpr>(id).value ? 1 : 0;
      return Emit(OpKind::kConstBool, {}, type, std::move(extra));
    }
    case ExprKind::kName:
    case ExprKind::kMember:
      return LowerReference(id, type);
    case ExprKind::kCall:
      return LowerCall(id, type);
    case ExprKind::kIndex:
      return LowerIndex(id, type);
    case ExprKind::kUnary:
      return LowerUnary(tree().as<lang::UnaryExpr>(id), type);
    case ExprKind::kBinary:
      return LowerBinary(tree().as<lang::BinaryExpr>(id), type);
    case ExprKind::kTuple: {
      const auto elements =
          tree().list(tree().as<lang::TupleExpr>(id).elements);
      const lang::Type& tuple = types_.get(type);
      std::vector<ValueId> values;
      for (size_t i = 0; i < elements.size(); ++i) {
        values.push_back(Lower(elements[i], i < tuple.elements.size()
                                                ? tuple.elements[i]
                                                : TypeId{}));
      }
      return Emit(OpKind::kTupleMake, values, type);
    }
    case ExprKind::kSome: {
      const lang::Type& optional = types_.get(type);
      const ValueId value =
          Lower(tree().as<lang::SomeExpr>(id).value,
                optional.elements.empty() ? TypeId{} : optional.elements[0]);
      return Emit(OpKind::kOptionSome, {value}, type);
    }
    case ExprKind::kNone:
      return Emit(OpKind::kOptionNone, {}, type);
    case ExprKind::kIf:
      return LowerIf(tree().as<lang::IfExpr>(id), type);
    case ExprKind::kMatch:
      return LowerMatch(id, type);
    case ExprKind::kFor:
      return LowerScan(id);
    case ExprKind::kReduction:
      return LowerReduction(id, type);
    case ExprKind::kString:
    case ExprKind::kShape:
      break;
  }
  LINNET_CHECK(false) << "the checker rejects strings, and shape literals are "
                         "no values but attributes of the calls around them";
  return {};
}

ValueId FunctionLowering::LowerNumber(int64_t value, TypeId type) {
  const lang::DTypeRef dtype = types_.get(type).dtype;
  OpExtra extra;
  if (!dtype.is_var() && IsFloat(dtype.dtype)) {
    extra.data.emplace();
    extra.data->real = static_cast<double>(value);
    return Emit(OpKind::kConstFloat, {}, type, std::move(extra));
  }
  extra.integer = value;
  return Emit(OpKind::kConstInt, {}, type, std::move(extra));
}

ValueId FunctionLowering::LowerReference(ExprId id, TypeId type) {
  const lang::ExprInfo& reference = info(id);
  switch (reference.ref) {
    case RefKind::kLocal:
      return locals_[lang::LocalId{reference.target}];
    case RefKind::kDimGeneric:
      return EmitDim(reference.dim);
    case RefKind::kConst:
      return LowerConstant(lang::ConstId{reference.target}, type);
    case RefKind::kMember:
      return LowerMember(id, reference.target, type);
    case RefKind::kField: {
      const ValueId base = Lower(tree().as<lang::MemberExpr>(id).base);
      OpExtra extra;
      extra.integer = reference.target;
      return Emit(OpKind::kStructGet, {base}, type, std::move(extra));
    }
    case RefKind::kEnumVariant: {
      OpExtra extra;
      extra.integer = reference.target;
      return Emit(OpKind::kEnumConst, {}, type, std::move(extra));
    }
    case RefKind::kNone:
      break;
  }
  LINNET_CHECK(false) << "the checker resolves every name that is a value";
  return {};
}

ValueId FunctionLowering::LowerConstant(lang::ConstId id, TypeId type) {
  const lang::Constant& constant = program_.constants[id];
  const Context outer = std::exchange(context_, Context{constant.module, {}});
  const ValueId value = Lower(constant.init, type);
  context_ = outer;
  return value;
}

ValueId FunctionLowering::LowerMember(ExprId id, int32_t member, TypeId type) {
  const auto* path = tree().try_as<lang::MemberExpr>(id);
  const ValueId base = path == nullptr ? self_ : Lower(path->base);
  const lang::Block& block = program_.blocks[lang::BlockId{TypeOf(base).decl}];
  OpExtra extra;
  extra.integer = member;
  OpKind kind = OpKind::kBlockParam;
  switch (block.members[static_cast<size_t>(member)].kind) {
    case lang::MemberKind::kParam:
    case lang::MemberKind::kBuffer:
      break;
    case lang::MemberKind::kSub:
      kind = OpKind::kBlockSub;
      break;
    case lang::MemberKind::kState:
      kind = OpKind::kStateRead;
      break;
  }
  return Emit(kind, {base}, type, std::move(extra));
}

ValueId FunctionLowering::LowerUnary(const lang::UnaryExpr& unary,
                                     TypeId type) {
  const ValueId value = Lower(unary.operand, type);
  switch (unary.op) {
    case lang::UnaryOp::kPlus:
      return value;
    case lang::UnaryOp::kNegate:
      return Emit(OpKind::kNeg, {value}, type);
    case lang::UnaryOp::kNot:
      return Emit(OpKind::kNot, {value}, type);
  }
  return value;
}

namespace {

OpKind KindOf(lang::BinaryOp op) {
  switch (op) {
    case lang::BinaryOp::kOr:
      return OpKind::kOr;
    case lang::BinaryOp::kAnd:
      return OpKind::kAnd;
    case lang::BinaryOp::kEq:
    case lang::BinaryOp::kNe:
    case lang::BinaryOp::kLt:
    case lang::BinaryOp::kLe:
    case lang::BinaryOp::kGt:
    case lang::BinaryOp::kGe:
      return OpKind::kCompare;
    case lang::BinaryOp::kBitOr:
      return OpKind::kBitOr;
    case lang::BinaryOp::kBitXor:
      return OpKind::kBitXor;
    case lang::BinaryOp::kBitAnd:
      return OpKind::kBitAnd;
    case lang::BinaryOp::kAdd:
      return OpKind::kAdd;
    case lang::BinaryOp::kSub:
      return OpKind::kSub;
    case lang::BinaryOp::kMul:
      return OpKind::kMul;
    case lang::BinaryOp::kDiv:
      return OpKind::kDiv;
    case lang::BinaryOp::kMod:
      return OpKind::kRem;
  }
  return OpKind::kAdd;
}

lang::Relation RelationOf(lang::BinaryOp op) {
  switch (op) {
    case lang::BinaryOp::kNe:
      return lang::Relation::kNe;
    case lang::BinaryOp::kLt:
      return lang::Relation::kLt;
    case lang::BinaryOp::kLe:
      return lang::Relation::kLe;
    case lang::BinaryOp::kGt:
      return lang::Relation::kGt;
    case lang::BinaryOp::kGe:
      return lang::Relation::kGe;
    default:
      return lang::Relation::kEq;
  }
}

}  // namespace

ValueId FunctionLowering::LowerBinary(const lang::BinaryExpr& binary,
                                      TypeId type) {
  // What a side without a dtype of its own takes.
  TypeId want = types_.Scalar(types_.get(type).dtype);
  if (lang::IsComparison(binary.op)) {
    want = TypeId{};
    for (ExprId side : {binary.left, binary.right}) {
      const TypeId other = Apply(info(side).type);
      if (IsContextual(other)) continue;
      const lang::Type& known = types_.get(other);
      if (known.kind != TypeKind::kEnum) want = types_.Scalar(known.dtype);
    }
  }
  const ValueId left = Lower(binary.left, want);
  const ValueId right = Lower(binary.right, want);
  OpExtra extra;
  const OpKind kind = KindOf(binary.op);
  if (kind == OpKind::kCompare) {
    extra.integer = static_cast<int64_t>(RelationOf(binary.op));
  }
  return Emit(kind, {left, right}, type, std::move(extra));
}

}  // namespace linnet::ir
