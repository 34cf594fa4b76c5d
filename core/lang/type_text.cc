#include "core/lang/type_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/base/dtype.h"

namespace linnet::lang {
namespace {

std::string UnitsText(const Program& program, const Shape& shape) {
  return absl::StrJoin(shape, ", ", [&](std::string* out, const Unit& unit) {
    absl::StrAppend(out, UnitText(program, unit));
  });
}

std::string DeclText(const Program& program, NameId name,
                     const std::vector<GenericArg>& args) {
  std::string text(program.name(name));
  if (args.empty()) return text;
  absl::StrAppend(&text, "<");
  absl::StrAppend(
      &text,
      absl::StrJoin(args, ", ", [&](std::string* out, const GenericArg& arg) {
        absl::StrAppend(out, ArgText(program, arg));
      }));
  return absl::StrCat(text, ">");
}

std::string TupleText(const Program& program, const Type& type) {
  return absl::StrCat("(",
                      absl::StrJoin(type.elements, ", ",
                                    [&](std::string* out, TypeId element) {
                                      absl::StrAppend(
                                          out, TypeText(program, element));
                                    }),
                      ")");
}

}  // namespace

std::string UnitText(const Program& program, const Unit& unit) {
  if (!unit.is_pack()) return unit.dim.ToString();
  return absl::StrCat("*", program.name(program.packs[unit.pack]));
}

std::string ShapeText(const Program& program, const Shape& shape) {
  return absl::StrCat("[", UnitsText(program, shape), "]");
}

std::string DTypeText(const Program& program, DTypeRef dtype) {
  if (dtype.is_var()) {
    return std::string(program.name(program.dtype_vars[dtype.var].name));
  }
  return std::string(DTypeName(dtype.dtype));
}

std::string ArgText(const Program& program, const GenericArg& arg) {
  switch (arg.kind) {
    case GenericArg::Kind::kDim:
      return arg.dim.ToString();
    case GenericArg::Kind::kDType:
      return DTypeText(program, arg.dtype);
    case GenericArg::Kind::kShape:
      return ShapeText(program, arg.shape);
  }
  return "";
}

std::string TypeText(const Program& program, TypeId id) {
  if (!id.valid()) return "<unknown>";
  const Type& type = program.types->get(id);
  switch (type.kind) {
    case TypeKind::kError:
      return "<error>";
    case TypeKind::kUnit:
      return "nothing";
    case TypeKind::kScalar:
      return DTypeText(program, type.dtype);
    case TypeKind::kTensor:
      return absl::StrCat("Tensor[", UnitsText(program, type.shape), "; ",
                          DTypeText(program, type.dtype), "]");
    case TypeKind::kOptional:
      return absl::StrCat(TypeText(program, type.elements[0]), "?");
    case TypeKind::kTuple:
      return TupleText(program, type);
    case TypeKind::kArray:
      return absl::StrCat("[", TypeText(program, type.elements[0]), "; ",
                          type.count.ToString(), "]");
    case TypeKind::kStruct:
      return DeclText(program, program.structs[StructId{type.decl}].name,
                      type.args);
    case TypeKind::kEnum:
      return DeclText(program, program.enums[EnumId{type.decl}].name,
                      type.args);
    case TypeKind::kBlock:
      return DeclText(program, program.blocks[BlockId{type.decl}].name,
                      type.args);
    case TypeKind::kShape:
      return absl::StrCat("the shape ", ShapeText(program, type.shape));
    case TypeKind::kCompileInt:
      return "a compile-time integer";
    case TypeKind::kFloatLit:
      return "a float literal";
    case TypeKind::kNone:
      return "none";
  }
  return "";
}

absl::string_view RelationText(Relation relation) {
  switch (relation) {
    case Relation::kEq:
      return "==";
    case Relation::kNe:
      return "!=";
    case Relation::kLt:
      return "<";
    case Relation::kLe:
      return "<=";
    case Relation::kGt:
      return ">";
    case Relation::kGe:
      return ">=";
  }
  return "";
}

}  // namespace linnet::lang
