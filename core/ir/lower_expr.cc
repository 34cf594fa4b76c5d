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

ReduceKind ReduceKindOf(lang::ReductionKind kind) {
  switch (kind) {
    case lang::ReductionKind::kSum:
      return ReduceKind::kSum;
    case lang::ReductionKind::kProd:
      return ReduceKind::kProd;
    case lang::ReductionKind::kMax:
      return ReduceKind::kMax;
    case lang::ReductionKind::kMin:
      return ReduceKind::kMin;
    case lang::ReductionKind::kAny:
      return ReduceKind::kAny;
    case lang::ReductionKind::kAll:
      return ReduceKind::kAll;
  }
  return ReduceKind::kSum;
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

ValueId FunctionLowering::LowerIf(const lang::IfExpr& branch, TypeId type) {
  const ValueId condition = Lower(branch.condition);
  OpExtra extra;
  extra.num_regions = 2;
  extra.first_region = builder_.NewRegions(2);
  RegionId region = extra.first_region;
  for (ExprId value : {branch.then_value, branch.else_value}) {
    InRegion(region, [&] {
      const ValueId result = Lower(value, type);
      EmitPlain(OpKind::kYield, {result});
    });
    region = RegionId{region.index + 1};
  }
  return Emit(OpKind::kIf, {condition}, type, std::move(extra));
}

ValueId FunctionLowering::LowerMatch(ExprId id, TypeId type) {
  const lang::MatchExpr& match = tree().as<lang::MatchExpr>(id);
  const lang::MatchInfo& arms =
      module().matches[static_cast<size_t>(info(id).detail)];
  const ValueId subject = Lower(match.scrutinee);
  return arms.is_enum ? LowerEnumMatch(match, arms, subject, type)
                      : LowerOptionMatch(match, arms, subject, type);
}

ValueId FunctionLowering::LowerOptionMatch(const lang::MatchExpr& match,
                                           const lang::MatchInfo& arms,
                                           ValueId subject, TypeId type) {
  const auto nodes = tree().list(match.arms);
  OpExtra extra;
  extra.num_regions = 2;
  extra.first_region = builder_.NewRegions(2);
  for (int32_t which : {0, 1}) {  // some, none
    const RegionId region{extra.first_region.index + which};
    ValueId inside;
    if (which == 0) {
      inside = builder_.NewArg(region, TypeOf(subject).elements[0]);
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (arms.arms[i] != which && arms.arms[i] >= 0) continue;
      InRegion(region, [&] {
        if (arms.arms[i] < 0) {
          if (arms.bound[i].valid()) locals_[arms.bound[i]] = subject;
        } else if (which == 0) {
          BindPattern(nodes[i].pattern, inside);
        }
        const ValueId value = Lower(nodes[i].value, type);
        EmitPlain(OpKind::kYield, {value});
      });
      break;
    }
  }
  return Emit(OpKind::kOptionMatch, {subject}, type, std::move(extra));
}

ValueId FunctionLowering::LowerEnumMatch(const lang::MatchExpr& match,
                                         const lang::MatchInfo& arms,
                                         ValueId subject, TypeId type) {
  const auto nodes = tree().list(match.arms);
  OpExtra extra;
  extra.num_regions = static_cast<int32_t>(nodes.size());
  extra.first_region = builder_.NewRegions(extra.num_regions);
  extra.data.emplace();
  extra.data->ints = arms.arms;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const RegionId region{extra.first_region.index + static_cast<int32_t>(i)};
    InRegion(region, [&] {
      if (arms.bound[i].valid()) locals_[arms.bound[i]] = subject;
      const ValueId value = Lower(nodes[i].value, type);
      EmitPlain(OpKind::kYield, {value});
    });
  }
  return Emit(OpKind::kEnumMatch, {subject}, type, std::move(extra));
}

ValueId FunctionLowering::LowerReduction(ExprId id, TypeId type) {
  const lang::ReductionExpr& reduction = tree().as<lang::ReductionExpr>(id);
  const lang::ReductionInfo& found =
      module().reductions[static_cast<size_t>(info(id).detail)];
  OpExtra extra;
  extra.integer = static_cast<int64_t>(ReduceKindOf(reduction.op));
  extra.num_regions = 1;
  extra.first_region = builder_.NewRegions(1);
  extra.data.emplace();
  extra.data->annotated = reduction.type.valid();
  for (size_t i = 0; i < found.indices.size(); ++i) {
    extra.data->domains.push_back({found.domains[i]});
    extra.data->is_pack.push_back(false);
    locals_[found.indices[i]] = builder_.NewArg(extra.first_region, i64_);
  }
  InRegion(extra.first_region, [&] {
    const ValueId value = Lower(reduction.body, type);
    EmitPlain(OpKind::kYield, {value});
  });
  return Emit(OpKind::kReduce, {}, type, std::move(extra));
}

// Indexing.

ValueId FunctionLowering::LowerIndex(ExprId id, TypeId type) {
  const lang::IndexInfo& index =
      module().indexes[static_cast<size_t>(info(id).detail)];
  const ValueId base = Lower(tree().as<lang::IndexExpr>(id).base);
  switch (index.mode) {
    case lang::IndexMode::kElement: {
      std::vector<ValueId> operands = {base};
      for (size_t i = 0; i < index.positions.size(); ++i) {
        operands.push_back(index.positions[i].valid()
                               ? Lower(index.positions[i], i64_)
                               : locals_[index.packs[i]]);
      }
      return Emit(OpKind::kElement, operands, type);
    }
    case lang::IndexMode::kSlice:
      return LowerSlice(index, base, type);
    case lang::IndexMode::kGather:
      return LowerGather(index, base, type);
    case lang::IndexMode::kArray: {
      const ValueId position = LowerNumber(index.position, i64_);
      OpExtra extra;
      extra.integer = index.position;
      return Emit(OpKind::kArrayGet, {base, position}, type, std::move(extra));
    }
  }
  return base;
}

ValueId FunctionLowering::LowerSlice(const lang::IndexInfo& index, ValueId base,
                                     TypeId type) {
  OpExtra extra;
  extra.data.emplace();
  extra.data->slices = index.axes;
  return Emit(OpKind::kSlice, {base}, type, std::move(extra));
}

// A comprehension over the kept axes, then a slice of them where needed.
ValueId FunctionLowering::LowerGather(const lang::IndexInfo& index,
                                      ValueId base, TypeId type) {
  const size_t rank = index.axes.size();
  std::vector<ValueId> positions(rank);  // Invalid for a kept axis.
  for (size_t i = 0; i < rank; ++i) {
    const lang::SliceAxis& axis = index.axes[i];
    if (!axis.squeezed) continue;
    positions[i] = index.positions[i].valid() ? Lower(index.positions[i], i64_)
                   : axis.start.is_constant()
                       ? LowerNumber(axis.start.constant(), i64_)
                       : EmitDim(axis.start);
  }
  OpExtra extra;
  extra.num_regions = 1;
  extra.first_region = builder_.NewRegions(1);
  extra.data.emplace();
  lang::Shape kept;
  std::vector<lang::SliceAxis> slices;
  for (size_t i = 0; i < rank; ++i) {
    const lang::SliceAxis& axis = index.axes[i];
    if (axis.squeezed) continue;
    kept.push_back(axis.unit);
    slices.push_back(axis);
    extra.data->domains.push_back({axis.unit});
    extra.data->is_pack.push_back(axis.unit.is_pack());
    TypeId position = i64_;
    if (axis.unit.is_pack()) {
      lang::Type shape;
      shape.kind = TypeKind::kShape;
      shape.shape = {axis.unit};
      position = types_.Intern(std::move(shape));
    }
    positions[i] = builder_.NewArg(extra.first_region, position);
  }
  const lang::DTypeRef dtype = TypeOf(base).dtype;
  InRegion(extra.first_region, [&] {
    std::vector<ValueId> operands = {base};
    operands.insert(operands.end(), positions.begin(), positions.end());
    const ValueId element =
        Emit(OpKind::kElement, operands, types_.Scalar(dtype));
    EmitPlain(OpKind::kYield, {element});
  });
  const ValueId rows = Emit(OpKind::kComprehension, {},
                            types_.Tensor(kept, dtype), std::move(extra));
  if (!index.needs_slice) return rows;
  OpExtra slice;
  slice.data.emplace();
  slice.data->slices = std::move(slices);
  return Emit(OpKind::kSlice, {rows}, type, std::move(slice));
}

}  // namespace linnet::ir
