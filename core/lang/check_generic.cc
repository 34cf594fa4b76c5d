// Generic arguments as written, and the `where` of what they are given to
// (language.md sections 4.2, 4.3 and 5.6).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"
#include "core/lang/type_text.h"

namespace linnet::lang {

absl::string_view Checker::WantedText(GenericKind kind) {
  switch (kind) {
    case GenericKind::kDim:
      return "a dimension";
    case GenericKind::kShape:
      return "a shape";
    default:
      return "an element type";
  }
}

// A name or path that was read as a type but stands for a dimension.
expr::Expr Checker::DimOfPath(TypeNodeId node) {
  const NamedTypeExpr* named = tree().try_as<NamedTypeExpr>(node);
  if (named == nullptr || !named->args.empty()) return {};
  const absl::Span<const Ident> path = tree().list(named->path);
  Decl decl;
  if (path.size() == 1) {
    const Found found = Lookup(path[0].name);
    if (found.kind == FoundKind::kLocal) {
      Binding& binding = ctx_->bindings[static_cast<size_t>(found.index)];
      binding.used = true;
      return binding.dim;
    }
    if (found.kind == FoundKind::kGeneric) {
      const Generic& generic = ctx_->generics[static_cast<size_t>(found.index)];
      return generic.kind == GenericKind::kDim ? generic.dim : expr::Expr();
    }
    if (found.kind != FoundKind::kDecl) return {};
    decl = found.decl;
  } else {
    decl = ResolvePath(path);
  }
  if (decl.kind != DeclKind::kConst) return {};
  EnsureConst(ConstId{decl.id});
  return consts_[ConstId{decl.id}].dim;
}

std::optional<GenericArg> Checker::ReadShapeArg(const GenericArgNode& node) {
  if (node.type.valid()) {
    if (const std::optional<Ident> name = tree().AsName(node.type)) {
      const Found found = Lookup(name->name);
      if (found.kind == FoundKind::kGeneric &&
          ctx_->generics[static_cast<size_t>(found.index)].pack.valid()) {
        return ctx_->generics[static_cast<size_t>(found.index)].AsArg();
      }
      if (found.kind == FoundKind::kNothing) {
        ReportUndeclared(name->name, name->span);
        return std::nullopt;
      }
    }
  } else if (tree().expr(node.expr).kind == ExprKind::kShape) {
    const TypeId id = InferAny(node.expr);
    if (is_error(id)) return std::nullopt;
    return GenericArg::ShapeOf(type(id).shape);
  }
  Error(Code::kE2111, node.span,
        "a shape is wanted here: a pack, or dimensions in brackets");
  return std::nullopt;
}

// Silent when nothing fits: the caller reports what is wanted.
std::optional<GenericArg> Checker::ReadDimArg(const GenericArgNode& node) {
  if (node.expr.valid() && tree().expr(node.expr).kind != ExprKind::kShape) {
    const expr::Expr dim = ReadDim(node.expr);
    if (!dim.valid()) return std::nullopt;
    return GenericArg::Dim(dim);
  }
  if (!node.type.valid()) return std::nullopt;
  const expr::Expr dim = DimOfPath(node.type);
  if (dim.valid()) return GenericArg::Dim(dim);
  const std::optional<Ident> name = tree().AsName(node.type);
  if (!name.has_value()) return std::nullopt;
  const Found found = Lookup(name->name);
  if (found.kind == FoundKind::kNothing) {
    ReportUndeclared(name->name, name->span);
  } else if (found.kind == FoundKind::kLocal &&
             !is_error(ctx_->bindings[static_cast<size_t>(found.index)].type)) {
    Error(Code::kE2123, name->span,
          absl::StrCat(Quote(name->name), " is not a compile-time integer"));
  }
  return std::nullopt;
}

std::optional<GenericArg> Checker::ReadDTypeArg(const GenericArgNode& node) {
  if (!node.type.valid() ||
      tree().type(node.type).kind != TypeExprKind::kNamed) {
    return std::nullopt;
  }
  const NamedTypeExpr& named = tree().as<NamedTypeExpr>(node.type);
  const Found found = Lookup(tree().list(named.path)[0].name);
  const bool is_dim =
      found.kind == FoundKind::kLocal ||
      (found.kind == FoundKind::kGeneric &&
       !ctx_->generics[static_cast<size_t>(found.index)].dtype.valid());
  if (is_dim) return std::nullopt;
  const TypeId id = ReadTypeNode(node.type);
  if (kind(id) != TypeKind::kScalar) return std::nullopt;
  return GenericArg::DTypeOf(type(id).dtype);
}

// Whether what the argument names is in error already.
bool Checker::NamesFailure(const GenericArgNode& node) {
  if (!node.type.valid()) return false;
  const NamedTypeExpr* named = tree().try_as<NamedTypeExpr>(node.type);
  if (named == nullptr) return false;
  const NameId name = tree().list(named->path)[0].name;
  if (ctx_->undeclared.contains(name)) return true;
  const Found found = Lookup(name);
  if (found.kind == FoundKind::kLocal) {
    return is_error(ctx_->bindings[static_cast<size_t>(found.index)].type);
  }
  if (found.kind != FoundKind::kDecl) return false;
  switch (found.decl.kind) {
    case DeclKind::kFailed:
      return true;
    case DeclKind::kConst:
      return is_error(program_.constants[ConstId{found.decl.id}].type);
    case DeclKind::kAlias:
      return is_error(aliases_[static_cast<size_t>(found.decl.id)].type);
    default:
      return false;
  }
}

std::optional<GenericArg> Checker::ReadGenericArg(const GenericArgNode& node,
                                                  const Generic& generic) {
  if (generic.kind == GenericKind::kShape) return ReadShapeArg(node);
  const int errors = diagnostics_.num_errors();
  std::optional<GenericArg> arg =
      generic.kind == GenericKind::kDim ? ReadDimArg(node) : ReadDTypeArg(node);
  if (!arg.has_value() && diagnostics_.num_errors() == errors &&
      !NamesFailure(node)) {
    Error(Code::kE2111, node.span,
          absl::StrCat("the generic ", Quote(generic.name), " wants ",
                       WantedText(generic.kind)));
  }
  return arg;
}

bool Checker::BindExplicit(Inference& inference, absl::string_view what,
                           absl::Span<const Generic> generics, size_t num_outer,
                           NodeList<GenericArgNode> nodes, Span where) {
  const absl::Span<const GenericArgNode> args = tree().list(nodes);
  if (args.size() > generics.size() - num_outer) {
    Error(Code::kE2111, where,
          absl::StrCat(what, " takes at most ", generics.size() - num_outer,
                       " generic arguments, not ", args.size()));
    return false;
  }
  bool fine = true;
  for (size_t i = 0; i < args.size(); ++i) {
    std::optional<GenericArg> arg =
        ReadGenericArg(args[i], generics[num_outer + i]);
    if (!arg.has_value()) {
      fine = false;
    } else {
      inference.Bind(num_outer + i, *std::move(arg));
    }
  }
  return fine;
}

std::optional<std::vector<GenericArg>> Checker::ReadTypeArgs(
    absl::string_view what, absl::Span<const Generic> generics,
    size_t num_outer, NodeList<GenericArgNode> nodes, Span where) {
  Inference inference(&program_, &facts(), generics);
  // Inside the outer block its generics stand for themselves.
  for (size_t i = 0; i < num_outer; ++i) {
    inference.Bind(i, generics[i].AsArg());
  }
  if (!BindExplicit(inference, what, generics, num_outer, nodes, where)) {
    return std::nullopt;
  }
  if (const std::optional<size_t> open = inference.ApplyDefaults()) {
    Error(Code::kE2111, where,
          absl::StrCat(what, " needs an argument for the generic ",
                       Quote(generics[*open].name)));
    return std::nullopt;
  }
  std::vector<GenericArg> args = inference.TakeArgs();
  if (!CheckClasses(generics, args, where)) return std::nullopt;
  return args;
}

bool Checker::CheckClasses(absl::Span<const Generic> generics,
                           absl::Span<const GenericArg> args, Span where) {
  bool fine = true;
  for (size_t i = 0; i < generics.size(); ++i) {
    if (generics[i].dtype.valid() && args[i].kind == GenericArg::Kind::kDType) {
      fine &= RequireClass(args[i].dtype, generics[i].kind, where,
                           Quote(generics[i].name));
    }
  }
  return fine;
}

void Checker::ProveBlockConstraints(TypeId id, Span where) {
  const Type& t = type(id);
  if (ctx_->in_alias) return;
  if (t.kind == TypeKind::kOptional || t.kind == TypeKind::kArray) {
    ProveBlockConstraints(t.elements[0], where);
  }
  if (t.kind != TypeKind::kBlock) return;
  const Block& block = program_.blocks[BlockId{t.decl}];
  if (block.where.empty()) return;
  Inference inference(&program_, &facts(), block.generics);
  for (size_t i = 0; i < t.args.size(); ++i) inference.Bind(i, t.args[i]);
  ProveConstraints(Quote(block.name), block.where, inference.substitution(),
                   where);
}

void Checker::ProveConstraints(absl::string_view what,
                               absl::Span<const Constraint> constraints,
                               const Substitution& substitution, Span where) {
  for (const Constraint& constraint : constraints) {
    const expr::Expr left = SubstituteDim(constraint.left, substitution, pool_);
    const expr::Expr right =
        SubstituteDim(constraint.right, substitution, pool_);
    if (facts().Prove(constraint.relation, left, right)) continue;
    const std::string needed =
        absl::StrCat(left.ToString(), " ", RelationText(constraint.relation),
                     " ", right.ToString());
    Diagnostic& report =
        Error(Code::kE2206, where,
              absl::StrCat(what, " requires `", constraint.text,
                           "`, which does not follow here"));
    report.Relate(constraint.span, "required here");
    report.Note(absl::StrCat("with the arguments given it is `", needed, "`"));
    if (!left.is_constant() || !right.is_constant()) {
      report.Help(absl::StrCat("state it with `where ", needed, "`"));
    }
  }
}

}  // namespace linnet::lang
