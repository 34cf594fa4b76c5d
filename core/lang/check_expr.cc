// Expressions: names, members and the simple forms; agreement with an expected
// type.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/nearest.h"
#include "core/lang/checker.h"
#include "core/lang/type_text.h"

namespace linnet::lang {

std::string Checker::Quote(NameId name) const {
  return absl::StrCat("`", names_.text(name), "`");
}
std::string Checker::Text(TypeId id) const { return TypeText(program_, id); }
std::string Checker::Text(const Shape& shape) const {
  return ShapeText(program_, shape);
}
std::string Checker::Text(DTypeRef dtype) const {
  return DTypeText(program_, dtype);
}

bool Checker::IsBlockLike(TypeId id) const {
  const Type& t = type(id);
  switch (t.kind) {
    case TypeKind::kBlock:
    case TypeKind::kArray:
      return true;
    case TypeKind::kOptional:
      return IsBlockLike(t.elements[0]);
    default:
      return false;
  }
}

TypeId Checker::Infer(ExprId e) {
  const TypeId result = InferAny(e);
  const TypeKind k = kind(result);
  absl::string_view problem;
  Code code = Code::kE2104;
  if (k == TypeKind::kUnit) {
    code = Code::kE2101;
    problem = "a function without a result gives no value";
  } else if (k == TypeKind::kShape) {
    problem = "a shape is only an argument, not a value";
  } else if (IsBlockLike(result)) {
    problem =
        "a block is not a value: only its members and methods can be used";
  } else {
    return result;
  }
  Error(code, span(e), std::string(problem));
  return info(e).type = types_.error();
}

TypeId Checker::InferAny(ExprId e) {
  TypeId result = types_.error();
  if (EnterLevel(span(e))) result = InferNode(e);
  --depth_;
  info(e).type = result;
  return result;
}

TypeId Checker::InferNode(ExprId e) {
  switch (tree().expr(e).kind) {
    case ExprKind::kInt: {
      const IntExpr& literal = tree().as<IntExpr>(e);
      if (literal.exceeds_i64) {
        return Fail(Code::kE2105, span(e), "the integer exceeds 64 bits");
      }
      info(e).dim = pool_.Constant(literal.value);
      return types_.compile_int();
    }
    case ExprKind::kFloat:
      return types_.float_literal();
    case ExprKind::kBool:
      return types_.Scalar(DTypeRef::Of(DType::kBool));
    case ExprKind::kString:
      return Fail(Code::kE2104, span(e), "a string is not a value");
    case ExprKind::kName:
      return InferName(e);
    case ExprKind::kMember:
      return InferMember(e);
    case ExprKind::kCall:
      return InferCall(e);
    case ExprKind::kIndex:
      return InferIndex(e);
    case ExprKind::kUnary:
      return InferUnary(e);
    case ExprKind::kBinary:
      return InferBinary(e);
    case ExprKind::kShape:
      return InferShape(e);
    case ExprKind::kTuple:
      return InferTuple(e);
    case ExprKind::kSome: {
      const TypeId inner = Infer(tree().as<SomeExpr>(e).value);
      return is_error(inner) ? inner : Bounded(types_.Optional(inner), span(e));
    }
    case ExprKind::kNone:
      return types_.none();
    case ExprKind::kIf:
      return InferIf(e);
    case ExprKind::kMatch:
      return InferMatch(e);
    case ExprKind::kFor:
      return Fail(Code::kE2104, span(e),
                  "a `for` with `yield` can only be the whole value of a "
                  "`let`, `var`, assignment or `return`");
    case ExprKind::kReduction:
      return InferReduction(e);
  }
  return types_.error();
}

TypeId Checker::InferLocal(ExprId e, Binding& binding) {
  binding.used = true;
  ExprInfo& node = info(e);
  node.ref = RefKind::kLocal;
  node.target = binding.local.index;
  if (binding.kind == LocalKind::kIndex) {
    IndexVar& var = ctx_->index_vars[static_cast<size_t>(binding.index_var)];
    if (!var.bound) var.silent = true;
    Diagnostic& report =
        Error(Code::kE3104, span(e),
              absl::StrCat("the index ", Quote(binding.name),
                           " stands outside of an element access"));
    const std::string extent =
        var.bound && var.domain.size() == 1 && !var.domain[0].is_pack()
            ? var.domain[0].dim.ToString()
            : "N";
    report.Help(absl::StrCat("the position as a number is `iota(", extent, ")[",
                             names_.text(binding.name), "]`"));
    return types_.error();
  }
  node.dim = binding.dim;
  return binding.type;
}

TypeId Checker::InferName(ExprId e) {
  const NameId name = tree().as<NameExpr>(e).name;
  const bool is_base = std::exchange(skip_index_, false);
  const Found found = is_base ? LookupValue(name) : Lookup(name);
  switch (found.kind) {
    case FoundKind::kNothing:
      return ReportUndeclared(name, span(e));
    case FoundKind::kLocal:
      return InferLocal(e, ctx_->bindings[static_cast<size_t>(found.index)]);
    case FoundKind::kGeneric: {
      const Generic& generic = ctx_->generics[static_cast<size_t>(found.index)];
      if (generic.kind != GenericKind::kDim) {
        return Fail(Code::kE1208, span(e),
                    absl::StrCat("the generic ", Quote(name), " is ",
                                 generic.pack.valid() ? "a shape pack"
                                                      : "an element type",
                                 ", not a value"));
      }
      info(e).ref = RefKind::kDimGeneric;
      info(e).dim = generic.dim;
      return types_.compile_int();
    }
    case FoundKind::kMember:
      return InferMemberName(e, found);
    case FoundKind::kDecl:
      if (found.decl.kind == DeclKind::kConst) {
        return InferConst(e, ConstId{found.decl.id});
      }
      return ReportWrongKind(found.decl, name, span(e), "a value");
    case FoundKind::kPreludeFunction:
    case FoundKind::kUnimplemented:
      return Fail(Code::kE1208, span(e),
                  absl::StrCat(Quote(name), " is a function, not a value"));
    case FoundKind::kPreludeDType:
    case FoundKind::kTensorWord:
      return Fail(Code::kE1208, span(e),
                  absl::StrCat(Quote(name), " is a type, not a value"));
  }
  return types_.error();
}

TypeId Checker::InferMemberName(ExprId e, const Found& found) {
  const Member& member =
      program_.blocks[found.block].members[static_cast<size_t>(found.index)];
  blocks_[found.block].used[static_cast<size_t>(found.index)] = true;
  if (!ctx_->function.valid()) {
    return Fail(Code::kE1208, span(e),
                absl::StrCat("the member ", Quote(member.name),
                             " can only be read in a method"));
  }
  if (found.block != ctx_->block) {
    return Fail(Code::kE2190, span(e),
                absl::StrCat("the member ", Quote(member.name),
                             " of an outer block cannot be reached from a "
                             "nested one"));
  }
  if (member.kind == MemberKind::kState) {
    program_.functions[ctx_->function].reads_state = true;
  }
  info(e).ref = RefKind::kMember;
  info(e).target = found.index;
  return member.type;
}

TypeId Checker::InferConst(ExprId e, ConstId id) {
  EnsureConst(id);
  info(e).ref = RefKind::kConst;
  info(e).target = id.index;
  info(e).dim = consts_[id].dim;
  return program_.constants[id].type;
}

TypeId Checker::InferMember(ExprId e) {
  const MemberExpr& member = tree().as<MemberExpr>(e);
  Decl decl;
  if (TryDecl(e, &decl)) {
    if (decl.kind == DeclKind::kConst) return InferConst(e, ConstId{decl.id});
    return ReportWrongKind(decl, member.name.name, member.name.span, "a value");
  }
  if (TryDecl(member.base, &decl)) {
    if (decl.kind == DeclKind::kEnum) {
      return InferVariant(e, EnumId{decl.id}, member.name);
    }
    if (decl.kind != DeclKind::kConst) {
      return ReportWrongKind(decl, member.name.name, span(member.base),
                             "something with members");
    }
  }
  const TypeId base = InferAny(member.base);
  switch (kind(base)) {
    case TypeKind::kError:
      return base;
    case TypeKind::kBlock:
      return InferBlockMember(e, base, member.name);
    case TypeKind::kStruct:
      return InferField(e, base, member.name);
    default:
      break;
  }
  Diagnostic& report = Error(Code::kE2107, member.name.span,
                             absl::StrCat("`", Text(base), "` has no member ",
                                          Quote(member.name.name)));
  if (kind(base) == TypeKind::kOptional) {
    report.Help("look into the optional with `match`");
  }
  return types_.error();
}

TypeId Checker::InferVariant(ExprId e, EnumId id, Ident name) {
  const Enum& entry = program_.enums[id];
  for (size_t i = 0; i < entry.variants.size(); ++i) {
    if (entry.variants[i] != name.name) continue;
    info(e).ref = RefKind::kEnumVariant;
    info(e).target = static_cast<int32_t>(i);
    Type result;
    result.kind = TypeKind::kEnum;
    result.decl = id.index;
    return types_.Intern(std::move(result));
  }
  Diagnostic& report =
      Error(Code::kE2107, name.span,
            absl::StrCat("the enum ", Quote(entry.name), " has no variant ",
                         Quote(name.name)));
  std::vector<absl::string_view> known;
  for (const NameId variant : entry.variants) {
    known.push_back(names_.text(variant));
  }
  for (const std::string& near :
       NearestNames(names_.text(name.name), known, 1)) {
    report.Help(absl::StrCat("did you mean `", near, "`?"));
  }
  return types_.error();
}

TypeId Checker::InferBlockMember(ExprId e, TypeId base, Ident name) {
  const BlockId id{type(base).decl};
  BlockState& state = blocks_[id];
  const Block& block = program_.blocks[id];
  const auto it = state.members.find(name.name);
  if (it == state.members.end()) {
    const auto decl = state.decls.find(name.name);
    if (decl != state.decls.end()) {
      return ReportWrongKind(decl->second, name.name, name.span, "a value");
    }
    Diagnostic& report =
        Error(Code::kE2107, name.span,
              absl::StrCat("the block ", Quote(block.name), " has no member ",
                           Quote(name.name)));
    std::vector<absl::string_view> known;
    for (const Member& member : block.members) {
      known.push_back(names_.text(member.name));
    }
    for (const std::string& near :
         NearestNames(names_.text(name.name), known, 1)) {
      report.Help(absl::StrCat("did you mean `", near, "`?"));
    }
    return types_.error();
  }
  const auto index = static_cast<size_t>(it->second);
  state.used[index] = true;
  const Member& member = block.members[index];
  if (member.kind == MemberKind::kState && ctx_->function.valid()) {
    program_.functions[ctx_->function].reads_state = true;
  }
  info(e).ref = RefKind::kMember;
  info(e).target = it->second;
  TypeId& result = member_types_[{base, it->second}];
  if (!result.valid()) {
    Inference inference(&program_, &facts(), block.generics);
    for (size_t i = 0; i < block.generics.size(); ++i) {
      inference.Bind(i, type(base).args[i]);
    }
    result = inference.Apply(member.type);
  }
  return result;
}

TypeId Checker::InferField(ExprId e, TypeId base, Ident name) {
  const StructId id{type(base).decl};
  const Struct& entry = program_.structs[id];
  for (size_t i = 0; i < entry.fields.size(); ++i) {
    if (entry.fields[i] != name.name) continue;
    info(e).ref = RefKind::kField;
    info(e).target = static_cast<int32_t>(i);
    Inference inference(&program_, &facts(), entry.generics);
    for (size_t j = 0; j < entry.generics.size(); ++j) {
      inference.Bind(j, type(base).args[j]);
    }
    return inference.Apply(entry.field_types[i]);
  }
  Diagnostic& report = Error(Code::kE2107, name.span,
                             absl::StrCat("the struct ", Quote(entry.name),
                                          " has no field ", Quote(name.name)));
  std::vector<absl::string_view> known;
  for (const NameId field : entry.fields) known.push_back(names_.text(field));
  for (const std::string& near :
       NearestNames(names_.text(name.name), known, 1)) {
    report.Help(absl::StrCat("did you mean `", near, "`?"));
  }
  return types_.error();
}

TypeId Checker::InferShape(ExprId e) {
  Type result;
  result.kind = TypeKind::kShape;
  bool failed = false;
  for (const ExprId element : tree().list(tree().as<ShapeExpr>(e).elements)) {
    const expr::Expr dim = ReadDim(element);
    failed |= !dim.valid();
    result.shape.push_back({dim, {}});
  }
  return failed ? types_.error() : types_.Intern(std::move(result));
}

TypeId Checker::InferTuple(ExprId e) {
  std::vector<TypeId> elements;
  bool failed = false;
  for (const ExprId element : tree().list(tree().as<TupleExpr>(e).elements)) {
    elements.push_back(Infer(element));
    failed |= is_error(elements.back());
  }
  if (failed) return types_.error();
  return Bounded(types_.Tuple(std::move(elements)), span(e));
}

Agreement Checker::Agree(TypeId expected, TypeId found) {
  if (expected == found) return Agreement::kYes;
  return Inference(&program_, &facts(), {}).Unify(expected, found);
}

// Goes into optionals and tuples to the parts that disagree.
void Checker::NarrowMismatch(TypeId* expected, TypeId* found) {
  while (kind(*expected) == kind(*found)) {
    const Type& want = type(*expected);
    const Type& have = type(*found);
    if ((want.kind != TypeKind::kOptional && want.kind != TypeKind::kTuple) ||
        want.elements.size() != have.elements.size()) {
      return;
    }
    size_t i = 0;
    while (i < want.elements.size() &&
           Agree(want.elements[i], have.elements[i]) == Agreement::kYes) {
      ++i;
    }
    if (i == want.elements.size()) return;
    *expected = want.elements[i];
    *found = have.elements[i];
  }
}

void Checker::ReportMismatch(Span where, absl::string_view what,
                             TypeId expected, TypeId found, Agreement agreement,
                             Code shape_code) {
  const bool assigned = shape_code == Code::kE2109;
  const std::string label = absl::StrCat("expected `", Text(expected),
                                         "`, found `", Text(found), "`");
  NarrowMismatch(&expected, &found);
  const Type& want = type(expected);
  const Type& have = type(found);
  const bool tensors =
      want.kind == TypeKind::kTensor && have.kind == TypeKind::kTensor;
  if (tensors && want.dtype == have.dtype) {
    Error(shape_code, where,
          absl::StrCat(what, " has the shape ", Text(want.shape),
                       ", but this has ", Text(have.shape)))
        .Label(label);
    return;
  }
  if (want.kind == have.kind && (tensors || want.kind == TypeKind::kScalar)) {
    const Code code = assigned  ? Code::kE2109
                      : tensors ? Code::kE2103
                                : Code::kE2101;
    Error(code, where,
          absl::StrCat(what, " has the dtype `", Text(want.dtype),
                       "`, but this has `", Text(have.dtype), "`"))
        .Label(label)
        .Help(absl::StrCat("convert with `cast<", Text(want.dtype), ">(…)`"));
    return;
  }
  const Code code = assigned ? Code::kE2109 : Code::kE2101;
  if (agreement == Agreement::kWrap) {
    Error(code, where,
          absl::StrCat(what, " is optional (`", Text(expected),
                       "`), but this is a bare `", Text(found), "`"))
        .Help("wrap it in `some(…)`");
    return;
  }
  Diagnostic& report =
      Error(code, where,
            absl::StrCat(what, " has the type `", Text(expected),
                         "`, but this is `", Text(found), "`"));
  if (have.kind == TypeKind::kOptional) {
    report.Help("take the value out with `match`");
  }
}

bool Checker::Coerce(ExprId e, TypeId expected, absl::string_view what,
                     Code shape_code) {
  const TypeId found = Infer(e);
  if (is_error(found) || is_error(expected)) return false;
  const Agreement agreement = Agree(expected, found);
  if (agreement != Agreement::kYes) {
    ReportMismatch(span(e), what, expected, found, agreement, shape_code);
    return false;
  }
  return Adopt(e, expected);
}

}  // namespace linnet::lang
