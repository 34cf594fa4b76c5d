// Index notation (language.md section 6.5) and slices (6.6).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

TypeId Checker::InferIndex(ExprId e) {
  const IndexExpr& index = tree().as<IndexExpr>(e);
  skip_index_ = tree().expr(index.base).kind == ExprKind::kName;
  const TypeId base = InferAny(index.base);
  skip_index_ = false;
  const Type& t = type(base);
  if (t.kind == TypeKind::kArray) return InferArrayElement(e, t);
  if (t.kind != TypeKind::kTensor) {
    SilenceIndices(index);
    if (t.kind == TypeKind::kError) return base;
    Diagnostic& report =
        Error(Code::kE2104, span(index.base),
              absl::StrCat("`", Text(base), "` cannot be indexed"));
    if (t.kind == TypeKind::kOptional) {
      report.Help("look into the optional with `match`");
    }
    return types_.error();
  }
  bool plain = ctx_->index_depth > 0;
  for (const ComponentNode& component : tree().list(index.components)) {
    plain &= component.kind == ComponentKind::kExpr ||
             component.kind == ComponentKind::kPack;
  }
  const int errors = diagnostics_.num_errors();
  const TypeId result = plain ? InferElement(e, t) : InferSlice(e, t);
  if (diagnostics_.num_errors() > errors) SilenceIndices(index);
  return result;
}

// After an error: the indices named here count as used.
void Checker::SilenceIndices(const IndexExpr& index) {
  for (const ComponentNode& component : tree().list(index.components)) {
    NameId name = component.pack.name;
    if (component.kind == ComponentKind::kExpr) {
      const NameExpr* plain = tree().try_as<NameExpr>(component.expr);
      if (plain == nullptr) continue;
      name = plain->name;
    } else if (component.kind != ComponentKind::kPack) {
      continue;
    }
    const Found found = Lookup(name);
    if (found.kind != FoundKind::kLocal) continue;
    Binding& binding = ctx_->bindings[static_cast<size_t>(found.index)];
    binding.used = true;
    if (binding.kind != LocalKind::kIndex) continue;
    IndexVar& var = ctx_->index_vars[static_cast<size_t>(binding.index_var)];
    if (!var.bound) var.silent = true;
  }
}

TypeId Checker::InferArrayElement(ExprId e, const Type& array) {
  const IndexExpr& index = tree().as<IndexExpr>(e);
  const absl::Span<const ComponentNode> components =
      tree().list(index.components);
  if (components.size() != 1 || components[0].kind != ComponentKind::kExpr) {
    return Fail(Code::kE3104, span(e),
                "an array of blocks takes exactly one constant index");
  }
  const TypeId position = Infer(components[0].expr);
  if (is_error(position)) return position;
  const expr::Expr at = info(components[0].expr).dim;
  if (kind(position) != TypeKind::kCompileInt || !at.is_constant()) {
    return Fail(Code::kE3104, span(components[0].expr),
                "an array of blocks takes exactly one constant index");
  }
  if (!CheckInBounds(at, {array.count, {}}, span(components[0].expr))) {
    return types_.error();
  }
  // The place must exist for certain: the array may be empty otherwise.
  IndexInfo result;
  result.mode = IndexMode::kArray;
  result.position = at.constant();
  info(e).detail = static_cast<int32_t>(module_info().indexes.size());
  module_info().indexes.push_back(std::move(result));
  return array.elements[0];
}

bool Checker::CheckInBounds(expr::Expr position, const Unit& unit, Span where) {
  const std::optional<int64_t> high = facts().High(position);
  if (high.has_value() && *high < 0) {
    Error(Code::kE2209, where,
          absl::StrCat("the position `", position.ToString(), "` is negative"))
        .Help("positions count from 0; there are no negative ones");
    return false;
  }
  if (!unit.is_pack() && facts().Prove(Relation::kGe, position, unit.dim)) {
    Error(
        Code::kE2209, where,
        absl::StrCat("the position `", position.ToString(),
                     "` is outside of the extent `", unit.dim.ToString(), "`"));
    return false;
  }
  return true;
}

bool Checker::BindDomain(IndexVar& var, Shape domain, Span where) {
  if (!var.bound) {
    var.bound = true;
    var.domain = std::move(domain);
    var.bound_at = where;
    return true;
  }
  if (var.silent || SameShape(facts(), var.domain, domain)) return true;
  Error(Code::kE2201, where,
        absl::StrCat("the index ", Quote(var.name), " runs over ",
                     Text(var.domain), " and over ", Text(domain),
                     ", which are not known to be equal"))
      .Relate(var.bound_at, "its first use");
  var.silent = true;
  return false;
}

// A position that is a value: an integer, not just the name of an index.
bool Checker::CheckPosition(const ComponentNode& component, const Unit& unit,
                            bool* runtime) {
  const TypeId id = Infer(component.expr);
  if (is_error(id)) return false;
  if (unit.is_pack()) {
    Error(Code::kE3106, component.span,
          absl::StrCat("the axes `", Text(Shape{unit}),
                       "` of a pack are addressed by a pack index only"));
    return false;
  }
  if (kind(id) == TypeKind::kCompileInt) {
    const expr::Expr at = info(component.expr).dim;
    *runtime = false;
    return CheckInBounds(at, unit, component.span);
  }
  *runtime = true;
  if (kind(id) == TypeKind::kScalar &&
      InClass(type(id).dtype, GenericKind::kInteger)) {
    return true;
  }
  Error(Code::kE3104, component.span,
        absl::StrCat("a position is an integer, not `", Text(id), "`"));
  return false;
}

bool Checker::CheckPlainComponent(const ComponentNode& component,
                                  const Unit& unit) {
  if (const NameExpr* name = tree().try_as<NameExpr>(component.expr)) {
    const Found found = Lookup(name->name);
    if (found.kind == FoundKind::kNothing) {
      if (!ctx_->undeclared.insert(name->name).second) return false;
      Error(Code::kE3101, component.span,
            absl::StrCat("the index ", Quote(name->name),
                         " is neither an output of the definition nor "
                         "reduced"))
          .Help(absl::StrCat("nothing is summed implicitly: write `sum[",
                             names_.text(name->name), "] …` to sum over it"));
      return false;
    }
    if (found.kind == FoundKind::kLocal &&
        ctx_->bindings[static_cast<size_t>(found.index)].kind ==
            LocalKind::kIndex) {
      Binding& binding = ctx_->bindings[static_cast<size_t>(found.index)];
      binding.used = true;
      IndexVar& var = ctx_->index_vars[static_cast<size_t>(binding.index_var)];
      if (var.is_pack || unit.is_pack()) {
        Error(Code::kE3106, component.span,
              var.is_pack
                  ? absl::StrCat(Quote(var.name), " is a pack index: write `*",
                                 names_.text(var.name), "`")
                  : absl::StrCat("the plain index ", Quote(var.name),
                                 " cannot run over the pack ",
                                 Text(Shape{unit})));
        return false;
      }
      ExprInfo& node = info(component.expr);
      node.ref = RefKind::kLocal;
      node.target = binding.local.index;
      node.type = types_.Scalar(DTypeRef::Of(DType::kI64));
      return BindDomain(var, Shape{unit}, component.span);
    }
  }
  bool runtime = false;
  if (!CheckPosition(component, unit, &runtime)) return false;
  return Adopt(component.expr, types_.Scalar(DTypeRef::Of(DType::kI64)));
}

bool Checker::CheckPackComponent(const ComponentNode& component,
                                 const Shape& units, LocalId* local) {
  const Ident pack = component.pack;
  const Found found = Lookup(pack.name);
  if (found.kind == FoundKind::kLocal) {
    Binding& binding = ctx_->bindings[static_cast<size_t>(found.index)];
    binding.used = true;
    if (binding.kind == LocalKind::kIndex) {
      IndexVar& var = ctx_->index_vars[static_cast<size_t>(binding.index_var)];
      if (!var.is_pack) {
        Error(Code::kE3106, component.span,
              absl::StrCat("the index ", Quote(var.name),
                           " is not a pack: write it without `*`"));
        return false;
      }
      *local = binding.local;
      return BindDomain(var, units, component.span);
    }
  }
  if (!ctx_->undeclared.insert(pack.name).second) return false;
  Error(Code::kE3101, component.span,
        absl::StrCat("the pack index ", Quote(pack.name),
                     " is not an output of the definition"))
      .Help("nothing is summed implicitly");
  return false;
}

TypeId Checker::InferElement(ExprId e, const Type& tensor) {
  const absl::Span<const ComponentNode> components =
      tree().list(tree().as<IndexExpr>(e).components);
  const Shape& shape = tensor.shape;
  size_t packs = 0;
  for (const ComponentNode& component : components) {
    packs += component.kind == ComponentKind::kPack ? 1 : 0;
  }
  if (packs > 1) {
    return Fail(Code::kE3106, span(e),
                "an access takes at most one pack index");
  }
  const size_t plain = components.size() - packs;
  if (packs == 0 ? plain != shape.size() : plain > shape.size()) {
    return Fail(
        Code::kE2204, span(e),
        absl::StrCat("the tensor has the shape ", Text(shape), ", so it takes ",
                     shape.size(), shape.size() == 1 ? " index" : " indices",
                     ", not ", components.size()));
  }
  IndexInfo result;
  result.mode = IndexMode::kElement;
  bool fine = true;
  size_t axis = 0;
  for (const ComponentNode& component : components) {
    LocalId local;
    if (component.kind == ComponentKind::kPack) {
      const size_t covered = shape.size() - plain;
      const auto first = shape.begin() + static_cast<std::ptrdiff_t>(axis);
      fine &= CheckPackComponent(
          component, Shape(first, first + static_cast<std::ptrdiff_t>(covered)),
          &local);
      axis += covered;
    } else {
      fine &= CheckPlainComponent(component, shape[axis]);
      ++axis;
    }
    result.positions.push_back(component.expr);
    result.packs.push_back(local);
  }
  if (!fine) return types_.error();
  info(e).detail = static_cast<int32_t>(module_info().indexes.size());
  module_info().indexes.push_back(std::move(result));
  return types_.Scalar(tensor.dtype);
}

size_t Checker::OpenIndexScope(absl::Span<const IndexVarNode> indices) {
  const size_t mark = ctx_->index_vars.size();
  ++ctx_->index_depth;
  for (const IndexVarNode& index : indices) {
    for (size_t i = mark; i < ctx_->index_vars.size(); ++i) {
      if (ctx_->index_vars[i].name == index.name.name) {
        Error(Code::kE3105, index.name.span,
              absl::StrCat("the index ", Quote(index.name.name),
                           " is listed twice"));
        break;
      }
    }
    IndexVar var;
    var.name = index.name.name;
    var.is_pack = index.is_pack;
    var.span = index.name.span;
    var.local = Bind(index.name, LocalKind::kIndex, types_.error());
    if (var.local.valid()) {
      ctx_->bindings.back().index_var =
          static_cast<int32_t>(ctx_->index_vars.size());
    }
    ctx_->index_vars.push_back(std::move(var));
  }
  return mark;
}

std::vector<IndexVar> Checker::CloseIndexScope(size_t mark, Code unbound,
                                               bool silent) {
  --ctx_->index_depth;
  std::vector<IndexVar> vars(
      std::make_move_iterator(ctx_->index_vars.begin() +
                              static_cast<std::ptrdiff_t>(mark)),
      std::make_move_iterator(ctx_->index_vars.end()));
  ctx_->index_vars.resize(mark);
  for (const IndexVar& var : vars) {
    if (var.bound || var.silent || silent) continue;
    Error(unbound, var.span,
          unbound == Code::kE3102
              ? absl::StrCat("the reduction index ", Quote(var.name),
                             " indexes nothing")
              : absl::StrCat("the output index ", Quote(var.name),
                             " indexes nothing, so its extent is not known"));
  }
  return vars;
}

TypeId Checker::InferReduction(ExprId e) {
  const ReductionExpr& reduction = tree().as<ReductionExpr>(e);
  std::optional<DTypeRef> annotated;
  if (reduction.type.valid()) annotated = ReadDType(reduction.type);
  std::vector<IndexVarNode> indices;
  for (const Ident& index : tree().list(reduction.indices)) {
    indices.push_back({index, false});
  }
  const size_t scope = OpenScope();
  const int errors = diagnostics_.num_errors();
  const size_t mark = OpenIndexScope(indices);
  const TypeId body = Infer(reduction.body);
  const std::vector<IndexVar> vars = CloseIndexScope(
      mark, Code::kE3102,
      diagnostics_.num_errors() > errors || kind(body) != TypeKind::kScalar);
  CloseScope(scope);
  if (is_error(body)) return body;
  if (diagnostics_.num_errors() > errors) return types_.error();
  if (kind(body) != TypeKind::kScalar) {
    return Fail(Code::kE3104, span(reduction.body),
                absl::StrCat("the body of a reduction is a scalar with a "
                             "dtype, not `",
                             Text(body), "`"));
  }
  const DTypeRef dtype = type(body).dtype;
  const bool logical = reduction.op == ReductionKind::kAny ||
                       reduction.op == ReductionKind::kAll;
  if (logical ? dtype != DTypeRef::Of(DType::kBool)
              : !InClass(dtype, GenericKind::kNumeric)) {
    return Fail(Code::kE2104, span(reduction.body),
                absl::StrCat("this reduction is defined for ",
                             logical ? "`bool`" : "numbers", ", not `",
                             Text(dtype), "`"));
  }
  if (annotated.has_value() && *annotated != dtype) {
    Error(Code::kE2103, span(reduction.body),
          absl::StrCat("the reduction accumulates in `", Text(*annotated),
                       "`, but its body has the dtype `", Text(dtype), "`"))
        .Help(absl::StrCat("convert the body with `cast<", Text(*annotated),
                           ">(…)`"));
    return types_.error();
  }
  ReductionInfo result;
  for (const IndexVar& var : vars) {
    result.indices.push_back(var.local);
    result.domains.push_back(var.domain[0]);
  }
  info(e).detail = static_cast<int32_t>(module_info().reductions.size());
  module_info().reductions.push_back(std::move(result));
  return body;
}
}  // namespace linnet::lang
