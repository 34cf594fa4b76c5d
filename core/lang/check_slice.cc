// Slices and positions outside of index notation (language.md section 6.6).

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

std::optional<expr::Expr> Checker::ReadBound(ExprId e, absl::string_view what) {
  const TypeId id = Infer(e);
  if (is_error(id)) return std::nullopt;
  if (kind(id) != TypeKind::kCompileInt) {
    Error(Code::kE2209, span(e),
          absl::StrCat("the ", what,
                       " of a slice must be a compile-time integer, not `",
                       Text(id), "`"));
    return std::nullopt;
  }
  const expr::Expr bound = info(e).dim;
  if (!facts().Prove(Relation::kGe, bound, pool_.Zero())) {
    Error(Code::kE2209, span(e),
          absl::StrCat("the ", what, " `", bound.ToString(),
                       "` of a slice is not known to be at least 0"));
    return std::nullopt;
  }
  return bound;
}

std::optional<int64_t> Checker::ReadStep(ExprId e) {
  const TypeId id = Infer(e);
  if (is_error(id)) return std::nullopt;
  const expr::Expr step = info(e).dim;
  if (kind(id) == TypeKind::kCompileInt && step.is_constant() &&
      step.constant() >= 1) {
    return step.constant();
  }
  Error(Code::kE2209, span(e),
        "the step of a slice must be a constant of at least 1");
  return std::nullopt;
}

expr::Expr Checker::SliceExtent(const SliceAxis& axis) {
  const expr::Expr span = pool_.Add(pool_.Sub(axis.stop, axis.start),
                                    pool_.Sub(axis.step, pool_.One()));
  expr::Expr extent = facts().Simplify(pool_.FloorDiv(span, axis.step));
  if (!facts().Prove(Relation::kGe, extent, pool_.Zero())) {
    extent = pool_.Max(extent, pool_.Zero());
  }
  return extent;
}

bool Checker::CheckSliceAxis(const ComponentNode& component, const Unit& unit,
                             SliceAxis* axis) {
  axis->start = pool_.Zero();
  axis->stop = unit.dim;
  axis->step = pool_.One();
  bool fine = true;
  if (component.start.valid()) {
    const std::optional<expr::Expr> start = ReadBound(component.start, "start");
    fine &= start.has_value();
    axis->start = start.value_or(axis->start);
  }
  if (component.stop.valid()) {
    const std::optional<expr::Expr> stop = ReadBound(component.stop, "stop");
    fine &= stop.has_value();
    if (stop.has_value() && !SameDim(facts(), *stop, unit.dim)) {
      axis->stop = facts().Prove(Relation::kLe, *stop, unit.dim)
                       ? *stop
                       : facts().Simplify(pool_.Min(*stop, unit.dim));
    }
  }
  if (component.step.valid()) {
    const std::optional<int64_t> step = ReadStep(component.step);
    fine &= step.has_value();
    if (step.has_value()) axis->step = pool_.Constant(*step);
  }
  axis->whole =
      axis->start.is_zero() && axis->step.is_one() && axis->stop == unit.dim;
  return fine;
}

// One component of a slice on the next axis of `shape`.
bool Checker::AddSliceComponent(const ComponentNode& component,
                                const Shape& shape, IndexInfo& result) {
  const Unit& unit = shape[result.axes.size()];
  SliceAxis axis{pool_.Zero(), unit.dim, pool_.One(), false, false, unit};
  ExprId position;
  bool fine = true;
  if (component.kind == ComponentKind::kPack) {
    Error(Code::kE3106, component.span,
          "a pack index can only stand in an element access of index "
          "notation");
    fine = false;
  } else if (component.kind == ComponentKind::kExpr) {
    bool runtime = false;
    fine = CheckPosition(component, unit, &runtime);
    axis.squeezed = true;
    if (runtime) {
      position = component.expr;
    } else if (info(component.expr).dim.valid()) {
      axis.start = info(component.expr).dim;
      axis.stop = pool_.Add(axis.start, pool_.One());
    }
  } else if (unit.is_pack()) {
    Error(Code::kE3106, component.span,
          absl::StrCat("the axes `", Text(Shape{unit}),
                       "` of a pack cannot be sliced"))
        .Help("keep them with `...`");
    fine = false;
  } else {
    fine = CheckSliceAxis(component, unit, &axis);
  }
  result.axes.push_back(axis);
  result.positions.push_back(position);
  return fine;
}

// Keeps the next `count` axes whole.
void Checker::KeepAxes(size_t count, const Shape& shape, IndexInfo& result) {
  for (; count > 0; --count) {
    const Unit& unit = shape[result.axes.size()];
    result.axes.push_back(
        {pool_.Zero(), unit.dim, pool_.One(), false, true, unit});
    result.positions.emplace_back();
  }
}

// How the access is lowered, once its axes are known; its result shape.
Shape Checker::FinishSlice(absl::Span<const ComponentNode> components,
                           IndexInfo& result) {
  Shape kept;
  for (const SliceAxis& axis : result.axes) {
    if (axis.squeezed) continue;
    result.needs_slice |= !axis.whole;
    kept.push_back(axis.whole ? axis.unit : Unit{SliceExtent(axis), {}});
  }
  const bool any_runtime =
      std::any_of(result.positions.begin(), result.positions.end(),
                  [](ExprId position) { return position.valid(); });
  if (!any_runtime) {
    result.mode = IndexMode::kSlice;
    result.positions.clear();
    return kept;
  }
  const TypeId i64 = types_.Scalar(DTypeRef::Of(DType::kI64));
  for (const ComponentNode& component : components) {
    if (component.kind == ComponentKind::kExpr) Adopt(component.expr, i64);
  }
  result.mode = IndexMode::kGather;
  if (!kept.empty()) return kept;
  result.mode = IndexMode::kElement;
  result.axes.clear();
  result.positions.clear();
  for (const ComponentNode& component : components) {
    // `...` that covers no axis has no position.
    if (component.kind != ComponentKind::kExpr) continue;
    result.positions.push_back(component.expr);
    result.packs.emplace_back();
  }
  return kept;
}

TypeId Checker::InferSlice(ExprId e, const Type& tensor) {
  const absl::Span<const ComponentNode> components =
      tree().list(tree().as<IndexExpr>(e).components);
  const Shape& shape = tensor.shape;
  size_t ellipses = 0;
  for (const ComponentNode& component : components) {
    ellipses += component.kind == ComponentKind::kEllipsis ? 1 : 0;
  }
  const size_t written = components.size() - ellipses;
  if (ellipses > 1 || written > shape.size()) {
    return Fail(Code::kE2204, span(e),
                ellipses > 1
                    ? std::string("`...` may stand once in an access")
                    : absl::StrCat("the tensor has the shape ", Text(shape),
                                   ", so it takes at most ", shape.size(),
                                   " indices, not ", written));
  }
  IndexInfo result;
  bool fine = true;
  for (const ComponentNode& component : components) {
    if (component.kind == ComponentKind::kEllipsis) {
      KeepAxes(shape.size() - written, shape, result);
    } else {
      fine = AddSliceComponent(component, shape, result) && fine;
    }
  }
  KeepAxes(shape.size() - result.axes.size(), shape, result);
  if (!fine) return types_.error();
  Shape kept = FinishSlice(components, result);
  info(e).detail = static_cast<int32_t>(module_info().indexes.size());
  module_info().indexes.push_back(std::move(result));
  return TensorOrScalar(std::move(kept), tensor.dtype);
}

}  // namespace linnet::lang
