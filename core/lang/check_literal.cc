// What literals and compile-time integers become (language.md section 4.5).

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {
namespace {

struct IntRange {
  int64_t low;
  int64_t high;
};

// Of the integers; a constant never exceeds i64.
IntRange RangeOf(DType dtype) {
  const bool is_signed = ClassOf(dtype) == DTypeClass::kSigned;
  const int64_t bits = DTypeBytes(dtype) * 8;
  if (bits == 64) {
    return {is_signed ? std::numeric_limits<int64_t>::min() : 0,
            std::numeric_limits<int64_t>::max()};
  }
  if (!is_signed) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

double LargestFinite(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 65504.0;
    case DType::kBF16:
      return 3.3895313892515355e38;
    case DType::kF32:
      return 3.4028234663852886e38;
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace

bool Checker::IsContextual(TypeId id) const {
  const Type& t = type(id);
  switch (t.kind) {
    case TypeKind::kCompileInt:
    case TypeKind::kFloatLit:
    case TypeKind::kNone:
      return true;
    case TypeKind::kOptional:
    case TypeKind::kTuple:
      for (const TypeId element : t.elements) {
        if (IsContextual(element)) return true;
      }
      return false;
    default:
      return false;
  }
}

std::optional<double> Checker::FloatValue(ExprId e) const {
  const ExprNode& node = tree().expr(e);
  switch (node.kind) {
    case ExprKind::kFloat:
      return tree().as<FloatExpr>(e).value;
    case ExprKind::kInt:
      return static_cast<double>(tree().as<IntExpr>(e).value);
    case ExprKind::kUnary: {
      const UnaryExpr& unary = tree().as<UnaryExpr>(e);
      const std::optional<double> value = FloatValue(unary.operand);
      if (!value.has_value()) return value;
      return unary.op == UnaryOp::kNegate ? -*value : *value;
    }
    case ExprKind::kBinary: {
      const BinaryExpr& binary = tree().as<BinaryExpr>(e);
      const std::optional<double> a = FloatValue(binary.left);
      const std::optional<double> b = FloatValue(binary.right);
      if (!a.has_value() || !b.has_value()) return std::nullopt;
      switch (binary.op) {
        case BinaryOp::kAdd:
          return *a + *b;
        case BinaryOp::kSub:
          return *a - *b;
        case BinaryOp::kMul:
          return *a * *b;
        case BinaryOp::kDiv:
          return *b == 0 ? std::nullopt : std::optional<double>(*a / *b);
        default:
          return std::nullopt;
      }
    }
    default:
      return std::nullopt;
  }
}

bool Checker::CheckIntRange(ExprId e, DTypeRef dtype) {
  const expr::Expr dim = program_.modules[ctx_->module].exprs[e].dim;
  if (dtype.is_var() || !dim.valid() || !dim.is_constant()) return true;
  if (!IsInteger(dtype.dtype)) return true;
  const IntRange range = RangeOf(dtype.dtype);
  if (dim.constant() >= range.low && dim.constant() <= range.high) return true;
  Error(Code::kE2105, span(e),
        absl::StrCat(dim.constant(), " does not fit `", Text(dtype),
                     "`, which holds ", range.low, " to ", range.high));
  return false;
}

bool Checker::CheckFloatRange(ExprId e, DType dtype) {
  const std::optional<double> value = FloatValue(e);
  if (!value.has_value() || std::fabs(*value) <= LargestFinite(dtype)) {
    return true;
  }
  Error(Code::kE2105, span(e),
        absl::StrCat("the number exceeds the largest finite `",
                     DTypeName(dtype), "`, ", LargestFinite(dtype)));
  return false;
}

// Whether the literal (or compile-time integer) `e` may become a `target`.
bool Checker::CheckLiteral(ExprId e, TypeId target) {
  const Type& t = type(target);
  if (t.kind != TypeKind::kScalar) {
    ReportMismatch(span(e), "this place", target, info(e).type,
                   Agreement::kOtherType, Code::kE2101);
    return false;
  }
  const bool is_float = kind(info(e).type) == TypeKind::kFloatLit;
  const GenericKind wanted =
      is_float ? GenericKind::kFloat : GenericKind::kNumeric;
  if (!InClass(t.dtype, wanted)) {
    Error(Code::kE2104, span(e),
          absl::StrCat(is_float ? "a float literal" : "an integer",
                       " cannot become `", Text(t.dtype), "`"));
    return false;
  }
  if (!is_float) return CheckIntRange(e, t.dtype);
  return t.dtype.is_var() || CheckFloatRange(e, t.dtype.dtype);
}

bool Checker::Adopt(ExprId e, TypeId target) {
  const TypeId current = info(e).type;
  if (!current.valid() || !IsContextual(current) || is_error(target)) {
    return true;
  }
  const TypeKind k = kind(current);
  if ((k == TypeKind::kCompileInt || k == TypeKind::kFloatLit) &&
      !CheckLiteral(e, target)) {
    info(e).type = types_.error();
    return false;
  }
  return AdoptNode(e, target);
}

// Passes the type down to where it is taken; the whole was checked.
bool Checker::AdoptNode(ExprId e, TypeId target) {
  const TypeId current = info(e).type;
  if (!current.valid() || !IsContextual(current)) return true;
  info(e).type = target;
  bool fine = true;
  switch (tree().expr(e).kind) {
    case ExprKind::kUnary:
      return AdoptNode(tree().as<UnaryExpr>(e).operand, target);
    case ExprKind::kBinary:
      fine &= AdoptNode(tree().as<BinaryExpr>(e).left, target);
      return AdoptNode(tree().as<BinaryExpr>(e).right, target) && fine;
    case ExprKind::kCall:
      for (const ArgNode& arg : tree().list(tree().as<CallExpr>(e).args)) {
        fine &= AdoptNode(arg.value, target);
      }
      return fine;
    case ExprKind::kIf:
      fine &= Adopt(tree().as<IfExpr>(e).then_value, target);
      return Adopt(tree().as<IfExpr>(e).else_value, target) && fine;
    case ExprKind::kMatch:
      for (const ArmNode& arm : tree().list(tree().as<MatchExpr>(e).arms)) {
        fine &= Adopt(arm.value, target);
      }
      return fine;
    case ExprKind::kSome:
      return Adopt(tree().as<SomeExpr>(e).value, type(target).elements[0]);
    case ExprKind::kTuple: {
      size_t i = 0;
      for (const ExprId element :
           tree().list(tree().as<TupleExpr>(e).elements)) {
        fine &= Adopt(element, type(target).elements[i++]);
      }
      return fine;
    }
    default:
      return true;
  }
}

TypeId Checker::Settled(TypeId id, bool* has_none) {
  const Type& t = type(id);
  switch (t.kind) {
    case TypeKind::kCompileInt:
      return types_.Scalar(DTypeRef::Of(DType::kI64));
    case TypeKind::kFloatLit:
      return types_.Scalar(DTypeRef::Of(DType::kF64));
    case TypeKind::kNone:
      *has_none = true;
      return types_.error();
    case TypeKind::kOptional:
      return types_.Optional(Settled(t.elements[0], has_none));
    case TypeKind::kTuple: {
      std::vector<TypeId> elements;
      for (const TypeId element : t.elements) {
        elements.push_back(Settled(element, has_none));
      }
      return types_.Tuple(std::move(elements));
    }
    default:
      return id;
  }
}

TypeId Checker::Settle(ExprId e) {
  const TypeId current = info(e).type;
  if (is_error(current) || !IsContextual(current)) return current;
  bool has_none = false;
  const TypeId target = Settled(current, &has_none);
  if (has_none) {
    Error(Code::kE2113, span(e), "the type of this `none` is not known")
        .Help("say the type, as in `let x: Tensor[N; f32]? = none`");
    return info(e).type = types_.error();
  }
  return Adopt(e, target) ? target : types_.error();
}

}  // namespace linnet::lang
