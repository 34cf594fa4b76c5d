// The functions of the prelude (language.md section 6.8).

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

TypeId Checker::CallPrelude(ExprId e, Prelude prelude) {
  PreludeCall call{
      e,       &tree().as<CallExpr>(e),
      prelude, Quote(tree().as<NameExpr>(tree().as<CallExpr>(e).callee).name),
      {},      {},
      {}};
  call.info.kind = CallKind::kPrelude;
  call.info.prelude = prelude;
  TypeId result;
  switch (prelude) {
    case Prelude::kCast:
      result = CallCast(call);
      break;
    case Prelude::kExp:
    case Prelude::kLog:
    case Prelude::kSqrt:
    case Prelude::kRsqrt:
    case Prelude::kSin:
    case Prelude::kCos:
    case Prelude::kTanh:
      result = CallFloatUnary(call);
      break;
    case Prelude::kAbs:
      result = CallAbs(call);
      break;
    case Prelude::kMin:
    case Prelude::kMax:
      result = CallMinMax(call);
      break;
    case Prelude::kShl:
    case Prelude::kShr:
      result = CallShift(call);
      break;
    case Prelude::kSelect:
      result = CallSelect(call);
      break;
    case Prelude::kReshape:
      result = CallReshape(call);
      break;
    case Prelude::kPermute:
      result = CallPermute(call);
      break;
    case Prelude::kBroadcastTo:
      result = CallBroadcastTo(call);
      break;
    case Prelude::kConcat:
      result = CallConcat(call);
      break;
    case Prelude::kIota:
      result = CallIota(call);
      break;
    case Prelude::kFill:
      result = CallFill(call);
      break;
    case Prelude::kCumsum:
      result = CallCumsum(call);
      break;
    default:
      result = Fail(Code::kE2104, span(e),
                    absl::StrCat(call.name, " can only be used in a kernel"));
      break;
  }
  if (is_error(result)) return result;
  for (size_t i = 0; i < call.info.args.size(); ++i) {
    call.info.written_order.push_back(static_cast<int32_t>(i));
  }
  return AddCall(e, std::move(call.info), result);
}

// Sorts the arguments out; only `axis` has a name.
bool Checker::TakeArguments(PreludeCall& call, size_t min, size_t max) {
  const bool wants_axis =
      call.prelude == Prelude::kConcat || call.prelude == Prelude::kCumsum;
  bool fine = true;
  for (const ArgNode& arg : tree().list(call.node->args)) {
    if (!arg.name.valid()) {
      call.args.push_back(arg.value);
    } else if (wants_axis && names_.text(arg.name.name) == "axis" &&
               !call.axis.valid()) {
      call.axis = arg.value;
    } else {
      Error(
          Code::kE2102, arg.span,
          absl::StrCat(call.name, " has no parameter ", Quote(arg.name.name)));
      fine = false;
    }
  }
  if (fine && (call.args.size() < min || call.args.size() > max)) {
    Error(Code::kE2102, span(call.expr),
          absl::StrCat(
              call.name, " takes ",
              max > 8 ? absl::StrCat("at least ", min) : absl::StrCat(min),
              min == 1 && max == 1 ? " argument" : " arguments", ", not ",
              call.args.size()));
    fine = false;
  }
  if (fine && wants_axis && !call.axis.valid()) {
    Error(Code::kE2102, span(call.expr),
          absl::StrCat(call.name, " needs `axis = …`"));
    fine = false;
  }
  const bool takes_generic = call.prelude == Prelude::kCast ||
                             call.prelude == Prelude::kIota ||
                             call.prelude == Prelude::kFill;
  if (fine && call.node->generics.size > (takes_generic ? 1 : 0)) {
    Error(
        Code::kE2111, span(call.expr),
        absl::StrCat(call.name, takes_generic ? " takes one generic argument"
                                              : " takes no generic arguments"));
    fine = false;
  }
  if (!fine) InferArguments(*call.node);
  return fine;
}

std::optional<DTypeRef> Checker::TakeDType(PreludeCall& call) {
  const GenericArgNode& node = tree().list(call.node->generics)[0];
  if (!node.type.valid()) {
    Error(Code::kE2111, node.span,
          absl::StrCat(call.name, " wants an element type"));
    return std::nullopt;
  }
  return ReadDType(node.type);
}

// A tensor (or scalar, of rank 0) argument.
const Type* Checker::TakeTensor(PreludeCall& call, ExprId e) {
  const TypeId id = Infer(e);
  if (is_error(id)) return nullptr;
  if (kind(id) == TypeKind::kTensor || kind(id) == TypeKind::kScalar) {
    return &type(id);
  }
  Error(Code::kE2104, span(e),
        absl::StrCat(call.name, " takes a tensor, not `", Text(id), "`"));
  return nullptr;
}

TypeId Checker::CallCast(PreludeCall& call) {
  if (!TakeArguments(call, 1, 1)) return types_.error();
  const TypeId arg = Infer(call.args[0]);
  if (call.node->generics.empty()) {
    return Fail(Code::kE2110, span(call.expr),
                "`cast` needs the dtype to convert to, as in `cast<f32>(x)`");
  }
  const std::optional<DTypeRef> dtype = TakeDType(call);
  if (is_error(arg) || !dtype.has_value()) return types_.error();
  call.info.args = call.args;
  switch (kind(arg)) {
    case TypeKind::kCompileInt:
    case TypeKind::kFloatLit:
      return is_error(Settle(call.args[0])) ? types_.error()
                                            : types_.Scalar(*dtype);
    case TypeKind::kScalar:
      return types_.Scalar(*dtype);
    case TypeKind::kTensor:
      return types_.Tensor(type(arg).shape, *dtype);
    default:
      return Fail(Code::kE2104, span(call.args[0]),
                  absl::StrCat("`cast` takes numbers and tensors, not `",
                               Text(arg), "`"));
  }
}

TypeId Checker::CallFloatUnary(PreludeCall& call) {
  if (!TakeArguments(call, 1, 1)) return types_.error();
  const TypeId arg = Infer(call.args[0]);
  if (is_error(arg)) return arg;
  call.info.args = call.args;
  const Type& t = type(arg);
  if (t.kind == TypeKind::kFloatLit) return arg;
  if ((t.kind == TypeKind::kScalar || t.kind == TypeKind::kTensor) &&
      InClass(t.dtype, GenericKind::kFloat)) {
    return arg;
  }
  return Fail(
      Code::kE2104, span(call.args[0]),
      absl::StrCat(call.name, " is defined for floats, not `", Text(arg), "`"));
}

TypeId Checker::CallAbs(PreludeCall& call) {
  if (!TakeArguments(call, 1, 1)) return types_.error();
  const TypeId arg = Infer(call.args[0]);
  if (is_error(arg)) return arg;
  call.info.args = call.args;
  const Type& t = type(arg);
  if (t.kind == TypeKind::kFloatLit) return arg;
  if (t.kind == TypeKind::kCompileInt) {
    const expr::Expr dim = info(call.args[0]).dim;
    info(call.expr).dim = pool_.Max(dim, pool_.Negate(dim));
    return arg;
  }
  if ((t.kind == TypeKind::kScalar || t.kind == TypeKind::kTensor) &&
      InClass(t.dtype, GenericKind::kNumeric)) {
    return arg;
  }
  return Fail(
      Code::kE2104, span(call.args[0]),
      absl::StrCat("`abs` is defined for numbers, not `", Text(arg), "`"));
}

TypeId Checker::CallMinMax(PreludeCall& call) {
  if (!TakeArguments(call, 2, 2)) return types_.error();
  const TypeId a = Infer(call.args[0]);
  const TypeId b = Infer(call.args[1]);
  if (is_error(a) || is_error(b)) return types_.error();
  call.info.args = call.args;
  const auto is_literal = [&](TypeId id) {
    return kind(id) == TypeKind::kCompileInt || kind(id) == TypeKind::kFloatLit;
  };
  if (kind(a) == TypeKind::kCompileInt && kind(b) == TypeKind::kCompileInt) {
    const expr::Expr x = info(call.args[0]).dim;
    const expr::Expr y = info(call.args[1]).dim;
    info(call.expr).dim =
        call.prelude == Prelude::kMin ? pool_.Min(x, y) : pool_.Max(x, y);
    return types_.compile_int();
  }
  if (is_literal(a) && is_literal(b)) return types_.float_literal();
  std::optional<Elementwise> combined =
      Combine(call.args, span(call.expr), call.name);
  if (!combined.has_value()) return types_.error();
  if (!InClass(combined->dtype, GenericKind::kNumeric)) {
    return Fail(Code::kE2104, span(call.expr),
                absl::StrCat(call.name, " is not defined for `",
                             Text(combined->dtype), "`"));
  }
  return TensorOrScalar(std::move(combined->shape), combined->dtype);
}

TypeId Checker::CallShift(PreludeCall& call) {
  if (!TakeArguments(call, 2, 2)) return types_.error();
  const TypeId a = Infer(call.args[0]);
  const TypeId b = Infer(call.args[1]);
  if (is_error(a) || is_error(b)) return types_.error();
  call.info.args = call.args;
  if (kind(a) == TypeKind::kCompileInt && kind(b) == TypeKind::kCompileInt) {
    const expr::Expr x = info(call.args[0]).dim;
    const expr::Expr n = info(call.args[1]).dim;
    if (!x.is_constant() || !n.is_constant() || n.constant() < 0 ||
        n.constant() > 62) {
      return Fail(Code::kE2123, span(call.expr),
                  absl::StrCat(call.name,
                               " of compile-time integers needs "
                               "constants, and a count below 63"));
    }
    const expr::Expr power = pool_.Constant(int64_t{1} << n.constant());
    const expr::Expr result = call.prelude == Prelude::kShl
                                  ? pool_.Mul(x, power)
                                  : pool_.FloorDiv(x, power);
    if (!result.valid()) {
      return Fail(Code::kE2123, span(call.expr),
                  "this integer overflows 64 bits");
    }
    info(call.expr).dim = result;
    return types_.compile_int();
  }
  std::optional<Elementwise> combined =
      Combine(call.args, span(call.expr), call.name);
  if (!combined.has_value()) return types_.error();
  if (!InClass(combined->dtype, GenericKind::kInteger)) {
    return Fail(Code::kE2104, span(call.expr),
                absl::StrCat(call.name, " is defined for integers, not `",
                             Text(combined->dtype), "`"));
  }
  return TensorOrScalar(std::move(combined->shape), combined->dtype);
}

TypeId Checker::CallSelect(PreludeCall& call) {
  if (!TakeArguments(call, 3, 3)) return types_.error();
  bool failed = false;
  for (const ExprId arg : call.args) failed |= is_error(Infer(arg));
  if (failed) return types_.error();
  call.info.args = call.args;
  const Type& condition = type(info(call.args[0]).type);
  if ((condition.kind != TypeKind::kScalar &&
       condition.kind != TypeKind::kTensor) ||
      condition.dtype != DTypeRef::Of(DType::kBool)) {
    return Fail(Code::kE2114, span(call.args[0]),
                absl::StrCat("the condition of `select` must be `bool`, not `",
                             Text(info(call.args[0]).type), "`"));
  }
  const absl::Span<const ExprId> values =
      absl::MakeConstSpan(call.args).subspan(1);
  std::optional<Elementwise> combined =
      Combine(values, span(call.expr), call.name);
  if (!combined.has_value()) return types_.error();
  std::optional<Shape> shape = BroadcastOperands(call.args, span(call.expr));
  if (!shape.has_value()) return types_.error();
  return TensorOrScalar(*std::move(shape), combined->dtype);
}
}  // namespace linnet::lang
