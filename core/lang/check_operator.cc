// Operators (language.md sections 4.6 and 6.1).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {
namespace {

bool IsLiteral(TypeKind kind) {
  return kind == TypeKind::kCompileInt || kind == TypeKind::kFloatLit;
}

bool IsBitwise(BinaryOp op) {
  return op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr ||
         op == BinaryOp::kBitXor;
}

absl::string_view OpText(BinaryOp op) {
  constexpr absl::string_view kTexts[] = {"||", "&&", "==", "!=", "<", "<=",
                                          ">",  ">=", "|",  "^",  "&", "+",
                                          "-",  "*",  "/",  "%"};
  return kTexts[static_cast<size_t>(op)];
}

}  // namespace

bool Checker::InClass(DTypeRef dtype, GenericKind wanted) const {
  if (dtype.is_var()) {
    const GenericKind declared = program_.dtype_vars[dtype.var].kind;
    return wanted == GenericKind::kDType || declared == wanted ||
           (wanted == GenericKind::kNumeric &&
            (declared == GenericKind::kInteger ||
             declared == GenericKind::kFloat));
  }
  switch (wanted) {
    case GenericKind::kNumeric:
      return IsNumeric(dtype.dtype);
    case GenericKind::kInteger:
      return IsInteger(dtype.dtype);
    case GenericKind::kFloat:
      return IsFloat(dtype.dtype);
    default:
      return true;
  }
}

bool Checker::RequireClass(DTypeRef dtype, GenericKind wanted, Span where,
                           absl::string_view what) {
  if (InClass(dtype, wanted)) return true;
  absl::string_view text = wanted == GenericKind::kNumeric   ? "Numeric"
                           : wanted == GenericKind::kInteger ? "Integer"
                                                             : "Float";
  Error(Code::kE2112, where,
        absl::StrCat(what, " is of the class `", text, "`, which `",
                     Text(dtype), "` is not in"));
  return false;
}

TypeId Checker::InferUnary(ExprId e) {
  const UnaryExpr& unary = tree().as<UnaryExpr>(e);
  const TypeId operand = Infer(unary.operand);
  if (is_error(operand)) return operand;
  const Type& t = type(operand);
  if (unary.op == UnaryOp::kNot) {
    if (t.kind == TypeKind::kScalar && t.dtype == DTypeRef::Of(DType::kBool)) {
      return operand;
    }
    return Fail(
        Code::kE2116, span(e),
        absl::StrCat("`!` takes a scalar `bool`, not `", Text(operand), "`"));
  }
  if (t.kind == TypeKind::kCompileInt) {
    const expr::Expr dim = info(unary.operand).dim;
    info(e).dim = unary.op == UnaryOp::kNegate ? pool_.Negate(dim) : dim;
    return operand;
  }
  if (t.kind == TypeKind::kFloatLit) return operand;
  const bool fits =
      (t.kind == TypeKind::kScalar || t.kind == TypeKind::kTensor) &&
      InClass(t.dtype, GenericKind::kNumeric);
  if (fits) return operand;
  return Fail(Code::kE2104, span(e),
              absl::StrCat("`", unary.op == UnaryOp::kNegate ? "-" : "+",
                           "` is not defined for `", Text(operand), "`"));
}

TypeId Checker::InferLogic(ExprId e, const BinaryExpr& binary) {
  const TypeId boolean = types_.Scalar(DTypeRef::Of(DType::kBool));
  const TypeId sides[] = {Infer(binary.left), Infer(binary.right)};
  for (const TypeId side : sides) {
    if (is_error(side)) return side;
    if (side == boolean) continue;
    Diagnostic& report = Error(
        Code::kE2116, span(e),
        absl::StrCat("`", OpText(binary.op), "` takes scalars of `bool`, not `",
                     Text(side), "`"));
    if (kind(side) == TypeKind::kTensor) {
      report.Help(absl::StrCat("for tensors use `",
                               binary.op == BinaryOp::kAnd ? "&" : "|", "`"));
    }
    return types_.error();
  }
  return boolean;
}

expr::Expr Checker::DivideCompileInts(const BinaryExpr& binary, expr::Expr a,
                                      expr::Expr b) {
  if (!ctx_->in_where && !facts().Prove(Relation::kGt, b, pool_.Zero())) {
    Error(Code::kE2205, span(binary.right),
          absl::StrCat("the divisor `", b.ToString(),
                       "` is not known to be positive"))
        .Help(absl::StrCat("add `where ", b.ToString(), " > 0`"));
    return {};
  }
  return binary.op == BinaryOp::kDiv ? pool_.FloorDiv(a, b) : pool_.Mod(a, b);
}

expr::Expr Checker::BitwiseConstants(const BinaryExpr& binary, expr::Expr a,
                                     expr::Expr b) {
  if (!a.is_constant() || !b.is_constant()) {
    Error(Code::kE2123, binary.op_span,
          absl::StrCat("`", OpText(binary.op),
                       "` of compile-time integers needs constants"));
    return {};
  }
  const int64_t x = a.constant();
  const int64_t y = b.constant();
  switch (binary.op) {
    case BinaryOp::kBitAnd:
      return pool_.Constant(x & y);
    case BinaryOp::kBitOr:
      return pool_.Constant(x | y);
    default:
      return pool_.Constant(x ^ y);
  }
}

TypeId Checker::InferCompileInts(ExprId e, const BinaryExpr& binary) {
  const expr::Expr a = info(binary.left).dim;
  const expr::Expr b = info(binary.right).dim;
  expr::Expr result;
  switch (binary.op) {
    case BinaryOp::kAdd:
      result = pool_.Add(a, b);
      break;
    case BinaryOp::kSub:
      result = pool_.Sub(a, b);
      break;
    case BinaryOp::kMul:
      result = pool_.Mul(a, b);
      break;
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
      result = DivideCompileInts(binary, a, b);
      if (result == expr::Expr()) return types_.error();
      break;
    default:
      result = BitwiseConstants(binary, a, b);
      if (result == expr::Expr()) return types_.error();
      break;
  }
  if (!result.valid()) {
    return Fail(Code::kE2123, span(e),
                absl::StrCat("this integer ", expr::ErrorText(result.error())));
  }
  info(e).dim = result;
  return types_.compile_int();
}

// Both sides are literals or compile-time integers.
TypeId Checker::InferLiterals(ExprId e, const BinaryExpr& binary) {
  const bool ints = kind(info(binary.left).type) == TypeKind::kCompileInt &&
                    kind(info(binary.right).type) == TypeKind::kCompileInt;
  if (IsComparison(binary.op)) {
    const TypeId side =
        types_.Scalar(DTypeRef::Of(ints ? DType::kI64 : DType::kF64));
    Adopt(binary.left, side);
    Adopt(binary.right, side);
    return types_.Scalar(DTypeRef::Of(DType::kBool));
  }
  if (ints) return InferCompileInts(e, binary);
  if (IsBitwise(binary.op)) {
    return Fail(Code::kE2104, span(e),
                absl::StrCat("`", OpText(binary.op),
                             "` is not defined for float literals"));
  }
  return types_.float_literal();
}

TypeId Checker::InferBinary(ExprId e) {
  const BinaryExpr& binary = tree().as<BinaryExpr>(e);
  if (binary.op == BinaryOp::kOr || binary.op == BinaryOp::kAnd) {
    return InferLogic(e, binary);
  }
  const TypeId left = Infer(binary.left);
  const TypeId right = Infer(binary.right);
  if (is_error(left) || is_error(right)) return types_.error();
  if (IsLiteral(kind(left)) && IsLiteral(kind(right))) {
    return InferLiterals(e, binary);
  }
  const bool equality =
      binary.op == BinaryOp::kEq || binary.op == BinaryOp::kNe;
  const DTypeRef boolean = DTypeRef::Of(DType::kBool);
  if (equality && kind(left) == TypeKind::kEnum && left == right) {
    return types_.Scalar(boolean);
  }
  const std::string what = absl::StrCat("`", OpText(binary.op), "`");
  const ExprId operands[] = {binary.left, binary.right};
  std::optional<Elementwise> combined = Combine(operands, span(e), what);
  if (!combined.has_value()) return types_.error();
  const DTypeRef dtype = combined->dtype;
  bool fits = InClass(dtype, GenericKind::kNumeric);
  if (equality) fits = true;
  if (IsBitwise(binary.op)) {
    fits = InClass(dtype, GenericKind::kInteger) || dtype == boolean;
  }
  if (!fits) {
    return Fail(Code::kE2104, span(e),
                absl::StrCat(what, " is not defined for `", Text(dtype), "`"));
  }
  return TensorOrScalar(std::move(combined->shape),
                        IsComparison(binary.op) ? boolean : dtype);
}

std::optional<Checker::Elementwise> Checker::Combine(
    absl::Span<const ExprId> operands, Span where, absl::string_view what) {
  const Type* first = nullptr;
  for (const ExprId operand : operands) {
    const TypeId id = info(operand).type;
    const Type& t = type(id);
    if (IsLiteral(t.kind)) continue;
    if (t.kind != TypeKind::kScalar && t.kind != TypeKind::kTensor) {
      Diagnostic& report =
          Error(Code::kE2104, where,
                absl::StrCat(what, " is not defined for `", Text(id), "`"));
      if (t.kind == TypeKind::kOptional || t.kind == TypeKind::kNone) {
        report.Help("look into an optional with `match`");
      }
      return std::nullopt;
    }
    if (first == nullptr) {
      first = &t;
    } else if (t.dtype != first->dtype) {
      Error(Code::kE2103, where,
            absl::StrCat(what, " takes operands of one dtype, not `",
                         Text(first->dtype), "` and `", Text(t.dtype), "`"))
          .Help(absl::StrCat("convert one side with `cast<", Text(first->dtype),
                             ">(…)`"));
      return std::nullopt;
    }
  }
  if (first == nullptr) {
    Error(Code::kE2104, where,
          absl::StrCat(what, " of literals only has no dtype"))
        .Help("give one of them a dtype, as in `cast<f32>(1)`");
    return std::nullopt;
  }
  const TypeId scalar = types_.Scalar(first->dtype);
  for (const ExprId operand : operands) {
    if (!Adopt(operand, scalar)) return std::nullopt;
  }
  std::optional<Shape> shape = BroadcastOperands(operands, where);
  if (!shape.has_value()) return std::nullopt;
  return Elementwise{first->dtype, *std::move(shape)};
}

std::optional<Shape> Checker::BroadcastOperands(
    absl::Span<const ExprId> operands, Span where) {
  Shape result;
  for (const ExprId operand : operands) {
    const Type& t = type(info(operand).type);
    if (t.kind != TypeKind::kTensor) continue;
    std::optional<Shape> joined = BroadcastShapes(facts(), result, t.shape);
    if (!joined.has_value()) {
      Error(Code::kE2207, where,
            absl::StrCat("the shapes ", Text(result), " and ", Text(t.shape),
                         " cannot be combined"))
          .Note(
              "aligned from the right, each pair of dimensions must be "
              "provably equal or one of them 1");
      return std::nullopt;
    }
    result = *std::move(joined);
  }
  return result;
}

}  // namespace linnet::lang
