// The functions of the prelude that make and change shapes (language.md section
// 6.8).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

std::optional<Shape> Checker::TakeShape(ExprId e) {
  if (tree().expr(e).kind != ExprKind::kShape) {
    const TypeId id = InferAny(e);
    if (!is_error(id)) {
      Error(Code::kE2104, span(e),
            "a shape is wanted here: dimensions in brackets");
    }
    return std::nullopt;
  }
  const TypeId id = InferAny(e);
  if (is_error(id)) return std::nullopt;
  return type(id).shape;
}

TypeId Checker::CallReshape(PreludeCall& call) {
  if (!TakeArguments(call, 2, 2)) return types_.error();
  const Type* tensor = TakeTensor(call, call.args[0]);
  std::optional<Shape> target = TakeShape(call.args[1]);
  if (tensor == nullptr || !target.has_value()) return types_.error();
  call.info.args = {call.args[0]};
  const expr::Expr from = ElementCount(tensor->shape, pool_);
  const expr::Expr to = ElementCount(*target, pool_);
  if (!SameDim(facts(), from, to)) {
    return Fail(
        Code::kE2203, span(call.expr),
        absl::StrCat("reshaping ", Text(tensor->shape), " to ", Text(*target),
                     " is not known to keep the number of elements, "
                     "`",
                     from.ToString(), "` and `", to.ToString(), "`"));
  }
  return TensorOrScalar(*std::move(target), tensor->dtype);
}

TypeId Checker::CallPermute(PreludeCall& call) {
  if (!TakeArguments(call, 2, 2)) return types_.error();
  const Type* tensor = TakeTensor(call, call.args[0]);
  const Span where = span(call.args[1]);
  if (tree().expr(call.args[1]).kind != ExprKind::kShape) {
    InferAny(call.args[1]);
    return Fail(Code::kE2104, where, "the axes are given in brackets");
  }
  const std::optional<Shape> axes = TakeShape(call.args[1]);
  if (tensor == nullptr || !axes.has_value()) return types_.error();
  call.info.args = {call.args[0]};
  const size_t rank = tensor->shape.size();
  for (const Unit& unit : tensor->shape) {
    if (unit.is_pack()) {
      return Fail(
          Code::kE2210, span(call.expr),
          absl::StrCat("the rank of ", Text(tensor->shape), " is not known"));
    }
  }
  std::vector<bool> seen(rank, false);
  Shape result;
  bool fine = axes->size() == rank;
  for (size_t i = 0; fine && i < rank; ++i) {
    const expr::Expr axis = (*axes)[i].dim;
    fine = axis.is_constant() && axis.constant() >= 0 &&
           axis.constant() < static_cast<int64_t>(rank) &&
           !seen[static_cast<size_t>(axis.constant())];
    if (!fine) break;
    const auto at = static_cast<size_t>(axis.constant());
    seen[at] = true;
    call.info.ints.push_back(axis.constant());
    result.push_back(tensor->shape[at]);
  }
  if (!fine) {
    return Fail(Code::kE2210, where,
                absl::StrCat("the axes must be each of 0 to ",
                             static_cast<int64_t>(rank) - 1, " once"));
  }
  return TensorOrScalar(std::move(result), tensor->dtype);
}

TypeId Checker::CallBroadcastTo(PreludeCall& call) {
  if (!TakeArguments(call, 2, 2)) return types_.error();
  const TypeId arg = Infer(call.args[0]);
  std::optional<Shape> target = TakeShape(call.args[1]);
  if (is_error(arg) || !target.has_value()) return types_.error();
  const TypeId settled = Settle(call.args[0]);
  const Type& tensor = type(settled);
  if (tensor.kind != TypeKind::kTensor && tensor.kind != TypeKind::kScalar) {
    return is_error(settled)
               ? settled
               : Fail(Code::kE2104, span(call.args[0]),
                      absl::StrCat("`broadcast_to` takes a tensor, not `",
                                   Text(settled), "`"));
  }
  call.info.args = {call.args[0]};
  const Shape& shape = tensor.shape;
  bool fine = shape.size() <= target->size();
  const size_t extra = fine ? target->size() - shape.size() : 0;
  for (size_t i = 0; fine && i < shape.size(); ++i) {
    const Unit& to = (*target)[extra + i];
    fine = SameUnit(facts(), shape[i], to) ||
           (!shape[i].is_pack() && SameDim(facts(), shape[i].dim, pool_.One()));
  }
  if (!fine) {
    return Fail(Code::kE2207, span(call.expr),
                absl::StrCat("the shape ", Text(shape),
                             " cannot be broadcast to ", Text(*target)));
  }
  return TensorOrScalar(*std::move(target), tensor.dtype);
}

// The position of `axis = …` in a shape, checked; `ints` gets it as written.
std::optional<int64_t> Checker::TakeAxis(PreludeCall& call,
                                         const Shape& shape) {
  const TypeId id = Infer(call.axis);
  if (is_error(id)) return std::nullopt;
  const expr::Expr axis = info(call.axis).dim;
  if (kind(id) != TypeKind::kCompileInt || !axis.is_constant()) {
    Error(Code::kE2123, span(call.axis), "the axis must be a constant");
    return std::nullopt;
  }
  const int64_t written = axis.constant();
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t at = written < 0 ? rank + written : written;
  if (at < 0 || at >= rank) {
    Error(Code::kE2210, span(call.axis),
          absl::StrCat("there is no axis ", written, " in ", Text(shape)));
    return std::nullopt;
  }
  // No pack may stand between the axis and the side it is counted from.
  const int64_t first = written < 0 ? at : 0;
  const int64_t last = written < 0 ? rank - 1 : at;
  for (int64_t i = first; i <= last; ++i) {
    if (!shape[static_cast<size_t>(i)].is_pack()) continue;
    Diagnostic& report =
        Error(Code::kE2210, span(call.axis),
              absl::StrCat("axis ", written, " of ", Text(shape),
                           " cannot be counted past a pack"));
    if (written >= 0) report.Help("count from the end with a negative axis");
    return std::nullopt;
  }
  call.info.ints = {written};
  return at;
}

TypeId Checker::CallConcat(PreludeCall& call) {
  if (!TakeArguments(call, 2, static_cast<size_t>(-1))) return types_.error();
  std::vector<const Type*> tensors;
  bool failed = false;
  for (const ExprId arg : call.args) {
    tensors.push_back(TakeTensor(call, arg));
    failed |= tensors.back() == nullptr;
  }
  if (failed) {
    InferAny(call.axis);
    return types_.error();
  }
  call.info.args = call.args;
  const Type& first = *tensors[0];
  const std::optional<int64_t> axis = TakeAxis(call, first.shape);
  if (!axis.has_value()) return types_.error();
  const auto at = static_cast<size_t>(*axis);
  Shape result = first.shape;
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Type& other = *tensors[i];
    if (other.dtype != first.dtype) {
      Error(Code::kE2103, span(call.args[i]),
            absl::StrCat("`concat` takes tensors of one dtype, not `",
                         Text(first.dtype), "` and `", Text(other.dtype), "`"))
          .Help(
              absl::StrCat("convert with `cast<", Text(first.dtype), ">(…)`"));
      return types_.error();
    }
    bool same = other.shape.size() == first.shape.size();
    for (size_t j = 0; same && j < first.shape.size(); ++j) {
      same = j == at ? !other.shape[j].is_pack()
                     : SameUnit(facts(), first.shape[j], other.shape[j]);
    }
    if (!same) {
      return Fail(Code::kE2202, span(call.args[i]),
                  absl::StrCat("joining along axis ", call.info.ints[0],
                               " needs the other axes equal, not ",
                               Text(first.shape), " and ", Text(other.shape)));
    }
    result[at].dim = pool_.Add(result[at].dim, other.shape[at].dim);
  }
  return types_.Tensor(std::move(result), first.dtype);
}

TypeId Checker::CallIota(PreludeCall& call) {
  if (!TakeArguments(call, 1, 1)) return types_.error();
  DTypeRef dtype = DTypeRef::Of(DType::kI64);
  const expr::Expr extent = ReadDim(call.args[0]);
  if (!call.node->generics.empty()) {
    const std::optional<DTypeRef> given = TakeDType(call);
    if (!given.has_value()) return types_.error();
    dtype = *given;
    if (!RequireClass(dtype, GenericKind::kNumeric, span(call.expr),
                      "the dtype of `iota`")) {
      return types_.error();
    }
  }
  if (!extent.valid()) return types_.error();
  return types_.Tensor({{extent, {}}}, dtype);
}

TypeId Checker::CallFill(PreludeCall& call) {
  if (!TakeArguments(call, 2, 2)) return types_.error();
  std::optional<Shape> shape = TakeShape(call.args[0]);
  const ExprId value = call.args[1];
  const TypeId found = Infer(value);
  std::optional<DTypeRef> dtype;
  if (!call.node->generics.empty()) {
    dtype = TakeDType(call);
    if (!dtype.has_value()) return types_.error();
  }
  if (is_error(found) || !shape.has_value()) return types_.error();
  call.info.args = {value};
  const bool literal = kind(found) == TypeKind::kCompileInt ||
                       kind(found) == TypeKind::kFloatLit;
  if (!literal && kind(found) != TypeKind::kScalar) {
    return Fail(Code::kE2101, span(value),
                absl::StrCat("`fill` takes a scalar, not `", Text(found), "`"));
  }
  if (!dtype.has_value()) {
    if (literal) {
      return Fail(Code::kE2110, span(call.expr),
                  "the dtype of this `fill` is not known");
    }
    dtype = type(found).dtype;
  }
  const TypeId scalar = types_.Scalar(*dtype);
  if (!literal && found != scalar) {
    ReportMismatch(span(value), "the value of `fill`", scalar, found,
                   Agreement::kOtherDType, Code::kE2202);
    return types_.error();
  }
  if (!Adopt(value, scalar)) return types_.error();
  return TensorOrScalar(*std::move(shape), *dtype);
}

TypeId Checker::CallCumsum(PreludeCall& call) {
  if (!TakeArguments(call, 1, 1)) return types_.error();
  const Type* tensor = TakeTensor(call, call.args[0]);
  if (tensor == nullptr) {
    InferAny(call.axis);
    return types_.error();
  }
  call.info.args = {call.args[0]};
  if (!TakeAxis(call, tensor->shape).has_value()) return types_.error();
  if (!InClass(tensor->dtype, GenericKind::kNumeric)) {
    return Fail(Code::kE2104, span(call.expr),
                absl::StrCat("`cumsum` is not defined for `",
                             Text(tensor->dtype), "`"));
  }
  return info(call.args[0]).type;
}

}  // namespace linnet::lang
