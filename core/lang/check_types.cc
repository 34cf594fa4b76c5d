// Types and generic arguments as written (language.md sections 2.2, 4.1-4.3).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

// Far above any real program, and safe for a thread's stack.
constexpr int kMaxLevels = 600;
constexpr int64_t kMaxTypeSize = 4096;

bool Checker::EnterLevel(Span where) {
  if (++depth_ <= kMaxLevels) return true;
  Error(Code::kE2190, where,
        "declarations lead from one to the next too many times here");
  return false;
}

int64_t Checker::SizeOf(TypeId id) {
  if (static_cast<size_t>(id.index) >= type_sizes_.size()) {
    type_sizes_.resize(static_cast<size_t>(types_.size()) * 2, 0);
  }
  const int64_t known = type_sizes_[static_cast<size_t>(id.index)];
  if (known > 0) return known;
  const Type& t = type(id);
  int64_t size = 1 + static_cast<int64_t>(t.shape.size());
  for (const GenericArg& arg : t.args) {
    size += 1 + static_cast<int64_t>(arg.shape.size());
  }
  for (const TypeId element : t.elements) size += SizeOf(element);
  type_sizes_[static_cast<size_t>(id.index)] = size;
  return size;
}

TypeId Checker::Bounded(TypeId id, Span where) {
  if (SizeOf(id) <= kMaxTypeSize) return id;
  return Fail(Code::kE2190, where,
              absl::StrCat("a type of more than ", kMaxTypeSize,
                           " parts is not supported"));
}

TypeId Checker::ReadType(TypeNodeId node) {
  const TypeId result = ReadTypeNode(node);
  return Bounded(result, tree().type(node).span);
}

TypeId Checker::ReadTypeNode(TypeNodeId node) {
  const TypeId result =
      EnterLevel(tree().type(node).span) ? ReadTypeKind(node) : types_.error();
  --depth_;
  return result;
}

TypeId Checker::ReadTypeKind(TypeNodeId node) {
  switch (tree().type(node).kind) {
    case TypeExprKind::kNamed:
      return ReadNamed(node);
    case TypeExprKind::kTensor:
      return ReadTensor(node);
    case TypeExprKind::kArray:
      return ReadArray(node);
    case TypeExprKind::kTuple: {
      std::vector<TypeId> elements;
      bool failed = false;
      for (const TypeNodeId element :
           tree().list(tree().as<TupleTypeExpr>(node).elements)) {
        elements.push_back(ReadSignatureType(element));
        failed |= is_error(elements.back());
      }
      return failed ? types_.error() : types_.Tuple(std::move(elements));
    }
    case TypeExprKind::kOptional: {
      const TypeId inner =
          ReadTypeNode(tree().as<OptionalTypeExpr>(node).inner);
      return is_error(inner) ? inner : types_.Optional(inner);
    }
  }
  return types_.error();
}

Decl Checker::ResolvePath(absl::Span<const Ident> path) {
  const Found found = Lookup(path[0].name);
  if (found.kind == FoundKind::kNothing) {
    ReportUndeclared(path[0].name, path[0].span);
    return Decl{.kind = DeclKind::kFailed, .span = {}};
  }
  Decl decl = found.decl;
  if (found.kind != FoundKind::kDecl) {
    Error(Code::kE1208, path[0].span,
          absl::StrCat(Quote(path[0].name), " is not a type or module"));
    return Decl{.kind = DeclKind::kFailed, .span = {}};
  }
  for (const Ident& ident : path.subspan(1)) {
    if (decl.kind == DeclKind::kFailed) return decl;
    if (decl.kind != DeclKind::kModule) {
      Error(Code::kE1208, ident.span,
            absl::StrCat("what stands before ", Quote(ident.name),
                         " is not a module"));
      return Decl{.kind = DeclKind::kFailed, .span = {}};
    }
    decl = FindInModule(ModuleId{decl.id}, ident);
  }
  return decl;
}

TypeId Checker::ReadNamed(TypeNodeId node) {
  const NamedTypeExpr& named = tree().as<NamedTypeExpr>(node);
  const absl::Span<const Ident> path = tree().list(named.path);
  const Span where = tree().type(node).span;
  if (path.size() == 1) {
    const Found found = Lookup(path[0].name);
    std::optional<DTypeRef> dtype;
    if (found.kind == FoundKind::kPreludeDType) {
      dtype = DTypeRef::Of(found.dtype);
    } else if (found.kind == FoundKind::kGeneric) {
      const Generic& generic = ctx_->generics[static_cast<size_t>(found.index)];
      if (!generic.dtype.valid()) {
        return Fail(Code::kE1208, where,
                    absl::StrCat("the generic ", Quote(generic.name), " is ",
                                 WantedText(generic.kind), ", not a type"));
      }
      dtype = DTypeRef::Of(generic.dtype);
    }
    if (dtype.has_value()) {
      if (!named.args.empty()) {
        return Fail(
            Code::kE2111, where,
            absl::StrCat(Quote(path[0].name), " takes no generic arguments"));
      }
      return types_.Scalar(*dtype);
    }
  }
  return ReadDeclType(ResolvePath(path), named, where);
}

TypeId Checker::ReadDeclType(const Decl& decl, const NamedTypeExpr& named,
                             Span where) {
  const Ident last = tree().list(named.path).back();
  const std::string what = Quote(last.name);
  Type result;
  result.decl = decl.id;
  switch (decl.kind) {
    case DeclKind::kAlias: {
      EnsureAlias(decl.id);
      const AliasState& alias = aliases_[static_cast<size_t>(decl.id)];
      if (!alias.type.valid() || is_error(alias.type)) return types_.error();
      const auto args = ReadTypeArgs(what, alias.generics, alias.num_outer,
                                     named.args, where);
      if (!args.has_value()) return types_.error();
      Inference inference(&program_, &facts(), alias.generics);
      for (size_t i = 0; i < args->size(); ++i) inference.Bind(i, (*args)[i]);
      const TypeId applied = inference.Apply(alias.type);
      ProveBlockConstraints(applied, where);
      return applied;
    }
    case DeclKind::kStruct: {
      const StructId id{decl.id};
      EnsureStructHeader(id);
      auto args = ReadTypeArgs(what, program_.structs[id].generics,
                               structs_[id].num_outer, named.args, where);
      if (!args.has_value()) return types_.error();
      result.kind = TypeKind::kStruct;
      result.args = *std::move(args);
      return types_.Intern(std::move(result));
    }
    case DeclKind::kEnum:
      if (!named.args.empty()) {
        return Fail(Code::kE2111, where,
                    absl::StrCat(what, " takes no generic arguments"));
      }
      result.kind = TypeKind::kEnum;
      return types_.Intern(std::move(result));
    case DeclKind::kBlock: {
      const BlockId id{decl.id};
      EnsureBlockHeader(id);
      const Block& block = program_.blocks[id];
      auto args = ReadTypeArgs(what, block.generics,
                               static_cast<size_t>(block.num_outer_generics),
                               named.args, where);
      if (!args.has_value()) return types_.error();
      result.kind = TypeKind::kBlock;
      result.args = *std::move(args);
      const TypeId interned = types_.Intern(std::move(result));
      ProveBlockConstraints(interned, where);
      return interned;
    }
    default:
      return ReportWrongKind(decl, last.name, last.span, "a type");
  }
}

TypeId Checker::ReadTensor(TypeNodeId node) {
  const TensorTypeExpr& tensor = tree().as<TensorTypeExpr>(node);
  Shape shape;
  bool failed = false;
  for (const UnitNode& unit : tree().list(tensor.units)) {
    if (unit.dim.valid()) {
      const expr::Expr dim = ReadDim(unit.dim);
      failed |= !dim.valid();
      shape.push_back({dim, {}});
      continue;
    }
    const Found found = Lookup(unit.pack.name);
    if (found.kind == FoundKind::kNothing) {
      ReportUndeclared(unit.pack.name, unit.pack.span);
      failed = true;
    } else if (found.kind != FoundKind::kGeneric ||
               !ctx_->generics[static_cast<size_t>(found.index)].pack.valid()) {
      Error(Code::kE1208, unit.span,
            absl::StrCat(Quote(unit.pack.name), " is not a shape pack"));
      failed = true;
    } else {
      const Generic& generic = ctx_->generics[static_cast<size_t>(found.index)];
      shape.push_back({generic.dim, generic.pack});
    }
  }
  const std::optional<DTypeRef> dtype = ReadDType(tensor.element);
  if (failed || !dtype.has_value()) return types_.error();
  return types_.Tensor(std::move(shape), *dtype);
}

std::optional<DTypeRef> Checker::ReadDType(TypeNodeId node) {
  const TypeId id = ReadTypeNode(node);
  if (is_error(id)) return std::nullopt;
  if (kind(id) == TypeKind::kScalar) return type(id).dtype;
  Error(Code::kE1208, tree().type(node).span,
        absl::StrCat("`", Text(id), "` is not an element type"));
  return std::nullopt;
}

TypeId Checker::ReadArray(TypeNodeId node) {
  const ArrayTypeExpr& array = tree().as<ArrayTypeExpr>(node);
  const TypeId element = ReadTypeNode(array.element);
  const expr::Expr count = ReadDim(array.count);
  if (is_error(element) || !count.valid()) return types_.error();
  if (kind(element) != TypeKind::kBlock) {
    return Fail(Code::kE4101, tree().type(array.element).span,
                absl::StrCat("an array has blocks as elements, not `",
                             Text(element), "`"));
  }
  Type result;
  result.kind = TypeKind::kArray;
  result.count = count;
  result.elements = {element};
  return types_.Intern(std::move(result));
}

expr::Expr Checker::ReadCompileInt(ExprId e, absl::string_view what) {
  const TypeId id = Infer(e);
  if (is_error(id)) return {};
  if (kind(id) == TypeKind::kCompileInt) {
    const expr::Expr dim = info(e).dim;
    if (dim.valid()) return dim;
    Error(Code::kE2123, span(e),
          absl::StrCat(what, " ", expr::ErrorText(dim.error())));
    return {};
  }
  Error(Code::kE2123, span(e),
        absl::StrCat(what, " must be a compile-time integer, not `", Text(id),
                     "`"))
      .Help(
          "compile-time integers are integer literals, `Dim` generics, "
          "constants without a type, and arithmetic on these");
  return {};
}

expr::Expr Checker::CheckedDim(expr::Expr dim, Span where) {
  if (!dim.valid()) return dim;
  const std::optional<int64_t> high = facts().High(dim);
  if (high.has_value() && *high < 0) {
    Error(Code::kE2208, where,
          absl::StrCat("the dimension `", dim.ToString(), "` is negative"));
    return {};
  }
  return dim;
}

expr::Expr Checker::ReadDim(ExprId e) {
  return CheckedDim(ReadCompileInt(e, "a dimension"), span(e));
}
}  // namespace linnet::lang
