#include "core/lang/tree_text.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace linnet::lang {
namespace {

constexpr absl::string_view kUnaryOps[] = {"!", "-", "+"};
constexpr absl::string_view kBinaryOps[] = {"||", "&&", "==", "!=", "<", "<=",
                                            ">",  ">=", "|",  "^",  "&", "+",
                                            "-",  "*",  "/",  "%"};
constexpr absl::string_view kReductions[] = {"sum", "prod", "max",
                                             "min", "any",  "all"};
constexpr absl::string_view kStores[] = {"store", "atomic_add", "atomic_max",
                                         "atomic_min"};
constexpr absl::string_view kKinds[] = {"Dim",     "Shape",   "DType",
                                        "Numeric", "Integer", "Float"};
constexpr absl::string_view kMembers[] = {"param", "buffer", "state", "sub"};
constexpr absl::string_view kItems[] = {
    "const", "type", "struct", "enum", "fn", "op", "entry", "kernel", "block"};

template <size_t kSize, typename Enum>
absl::string_view TextOf(const absl::string_view (&texts)[kSize], Enum value) {
  return texts[static_cast<size_t>(value)];
}

class Writer {
 public:
  Writer(const Tree& tree, const NameTable& names)
      : tree_(tree), names_(names) {}

  std::string File() const {
    std::string out;
    if (!tree_.module_path.empty()) {
      absl::StrAppend(&out, "module ", Path(tree_.module_path), "\n");
    }
    for (const UseNode& use : tree_.list(tree_.uses)) {
      absl::StrAppend(&out, Use(use), "\n");
    }
    for (const ItemId item : tree_.list(tree_.items)) {
      absl::StrAppend(&out, Item(item), "\n");
    }
    return out;
  }

  std::string Expr(ExprId id) const {
    switch (tree_.expr(id).kind) {
      case ExprKind::kInt: {
        const auto& e = tree_.as<IntExpr>(id);
        return e.exceeds_i64 ? "too-large" : absl::StrCat(e.value);
      }
      case ExprKind::kFloat:
        return Float(tree_.as<FloatExpr>(id).value);
      case ExprKind::kBool:
        return tree_.as<BoolExpr>(id).value ? "true" : "false";
      case ExprKind::kString:
        return "string";
      case ExprKind::kName:
        return Name(tree_.as<NameExpr>(id).name);
      case ExprKind::kMember: {
        const auto& e = tree_.as<MemberExpr>(id);
        return absl::StrCat("(. ", Expr(e.base), " ", Name(e.name), ")");
      }
      case ExprKind::kCall:
        return Call(tree_.as<CallExpr>(id));
      case ExprKind::kIndex:
        return Index(tree_.as<IndexExpr>(id));
      case ExprKind::kUnary: {
        const auto& e = tree_.as<UnaryExpr>(id);
        return absl::StrCat("(", TextOf(kUnaryOps, e.op), " ", Expr(e.operand),
                            ")");
      }
      case ExprKind::kBinary: {
        const auto& e = tree_.as<BinaryExpr>(id);
        return absl::StrCat("(", TextOf(kBinaryOps, e.op), " ", Expr(e.left),
                            " ", Expr(e.right), ")");
      }
      case ExprKind::kShape:
        return absl::StrCat("[", Exprs(tree_.as<ShapeExpr>(id).elements), "]");
      case ExprKind::kTuple:
        return absl::StrCat("(tuple ", Exprs(tree_.as<TupleExpr>(id).elements),
                            ")");
      case ExprKind::kSome:
        return absl::StrCat("(some ", Expr(tree_.as<SomeExpr>(id).value), ")");
      case ExprKind::kNone:
        return "none";
      case ExprKind::kIf: {
        const auto& e = tree_.as<IfExpr>(id);
        return absl::StrCat("(if ", Expr(e.condition), " ", Expr(e.then_value),
                            " ", Expr(e.else_value), ")");
      }
      case ExprKind::kMatch:
        return Match(tree_.as<MatchExpr>(id));
      case ExprKind::kFor: {
        const auto& e = tree_.as<ForExpr>(id);
        return absl::StrCat("(for ", Name(e.variable), " ", Expr(e.start), " ",
                            Expr(e.stop), " ", Body(e.body), ")");
      }
      case ExprKind::kReduction:
        return Reduction(tree_.as<ReductionExpr>(id));
    }
    return "";
  }

 private:
  // The texts of a list's elements with `separator` between them.
  template <typename T, typename Text>
  std::string Join(NodeList<T> list, absl::string_view separator,
                   Text text) const {
    std::string out;
    for (const T& element : tree_.list(list)) {
      if (!out.empty()) absl::StrAppend(&out, separator);
      absl::StrAppend(&out, text(element));
    }
    return out;
  }

  std::string Name(NameId name) const { return std::string(names_.text(name)); }
  std::string Name(Ident ident) const { return Name(ident.name); }
  std::string Path(NodeList<Ident> path) const {
    return Join(path, ".", [this](Ident ident) { return Name(ident); });
  }
  std::string Exprs(NodeList<ExprId> list,
                    absl::string_view separator = " ") const {
    return Join(list, separator, [this](ExprId id) { return Expr(id); });
  }

  static std::string Float(double value) {
    std::string text = absl::StrCat(value);
    if (text.find_first_of(".en") == text.npos) text += ".0";
    return text;
  }

  std::string Call(const CallExpr& call) const {
    std::string out = absl::StrCat("(call ", Expr(call.callee));
    if (!call.generics.empty()) absl::StrAppend(&out, Args(call.generics));
    for (const ArgNode& arg : tree_.list(call.args)) {
      absl::StrAppend(&out, " ");
      if (arg.name.valid()) absl::StrAppend(&out, Name(arg.name), "=");
      absl::StrAppend(&out, Expr(arg.value));
    }
    return out + ")";
  }

  std::string Args(NodeList<GenericArgNode> args) const {
    if (args.empty()) return "";
    return absl::StrCat(
        "<", Join(args, ", ", [this](const auto& arg) { return Arg(arg); }),
        ">");
  }
  std::string Arg(const GenericArgNode& arg) const {
    return arg.type.valid() ? Type(arg.type)
                            : absl::StrCat("#", Expr(arg.expr));
  }

  std::string Index(const IndexExpr& index) const {
    return absl::StrCat("(index ", Expr(index.base), " ",
                        Join(index.components, " ",
                             [this](const ComponentNode& component) {
                               return Component(component);
                             }),
                        ")");
  }
  std::string Component(const ComponentNode& component) const {
    const auto part = [this](ExprId id) {
      return id.valid() ? Expr(id) : std::string();
    };
    switch (component.kind) {
      case ComponentKind::kExpr:
        return Expr(component.expr);
      case ComponentKind::kPack:
        return absl::StrCat("*", Name(component.pack));
      case ComponentKind::kEllipsis:
        return "...";
      case ComponentKind::kSlice:
        break;
    }
    return absl::StrCat(part(component.start), ":", part(component.stop), ":",
                        part(component.step));
  }

  std::string Match(const MatchExpr& match) const {
    std::string out = absl::StrCat("(match ", Expr(match.scrutinee));
    for (const ArmNode& arm : tree_.list(match.arms)) {
      absl::StrAppend(&out, " (", Pattern(arm.pattern), " => ", Expr(arm.value),
                      ")");
    }
    return out + ")";
  }

  std::string Reduction(const ReductionExpr& reduction) const {
    std::string out = absl::StrCat("(", TextOf(kReductions, reduction.op));
    if (reduction.type.valid()) {
      absl::StrAppend(&out, "<", Type(reduction.type), ">");
    }
    absl::StrAppend(
        &out, " [",
        Join(reduction.indices, " ", [this](Ident i) { return Name(i); }), "] ",
        Expr(reduction.body), ")");
    return out;
  }

  std::string Type(TypeNodeId id) const {
    switch (tree_.type(id).kind) {
      case TypeExprKind::kNamed: {
        const auto& t = tree_.as<NamedTypeExpr>(id);
        return absl::StrCat(Path(t.path), Args(t.args));
      }
      case TypeExprKind::kTensor: {
        const auto& t = tree_.as<TensorTypeExpr>(id);
        return absl::StrCat(
            "Tensor[",
            Join(t.units, ", ",
                 [this](const UnitNode& unit) {
                   return unit.pack.valid() ? absl::StrCat("*", Name(unit.pack))
                                            : Expr(unit.dim);
                 }),
            "; ", Type(t.element), "]");
      }
      case TypeExprKind::kTuple:
        return absl::StrCat(
            "(",
            Join(tree_.as<TupleTypeExpr>(id).elements, ", ",
                 [this](TypeNodeId element) { return Type(element); }),
            ")");
      case TypeExprKind::kArray: {
        const auto& t = tree_.as<ArrayTypeExpr>(id);
        return absl::StrCat("[", Type(t.element), "; ", Expr(t.count), "]");
      }
      case TypeExprKind::kOptional:
        return absl::StrCat(Type(tree_.as<OptionalTypeExpr>(id).inner), "?");
    }
    return "";
  }

  std::string Pattern(PatternId id) const {
    switch (tree_.pattern(id).kind) {
      case PatternKind::kName:
        return Name(tree_.as<NamePattern>(id).name);
      case PatternKind::kTuple:
        return absl::StrCat(
            "(",
            Join(tree_.as<TuplePattern>(id).elements, ", ",
                 [this](PatternId element) { return Pattern(element); }),
            ")");
      case PatternKind::kSome:
        return absl::StrCat("some(", Pattern(tree_.as<SomePattern>(id).inner),
                            ")");
      case PatternKind::kNone:
        return "none";
    }
    return "";
  }

  std::string Body(NodeList<StmtId> body) const {
    if (body.empty()) return "{ }";
    return absl::StrCat(
        "{ ", Join(body, "; ", [this](StmtId id) { return Stmt(id); }), " }");
  }

  // `: T`, when there is a type.
  std::string Annotation(TypeNodeId type) const {
    return type.valid() ? absl::StrCat(": ", Type(type)) : "";
  }

  std::string Stmt(StmtId id) const {
    switch (tree_.stmt(id).kind) {
      case StmtKind::kComprehension: {
        const auto& s = tree_.as<ComprehensionStmt>(id);
        return absl::StrCat("let ", Name(s.name), "[",
                            Join(s.indices, ", ",
                                 [this](const IndexVarNode& index) {
                                   return absl::StrCat(index.is_pack ? "*" : "",
                                                       Name(index.name));
                                 }),
                            "] = ", Expr(s.value));
      }
      case StmtKind::kLet: {
        const auto& s = tree_.as<LetStmt>(id);
        return absl::StrCat("let ", Pattern(s.pattern), Annotation(s.type),
                            " = ", Expr(s.value));
      }
      case StmtKind::kVar: {
        const auto& s = tree_.as<VarStmt>(id);
        return absl::StrCat("var ", Name(s.name), Annotation(s.type), " = ",
                            Expr(s.value));
      }
      case StmtKind::kAssign: {
        const auto& s = tree_.as<AssignStmt>(id);
        return absl::StrCat(Name(s.target), " = ", Expr(s.value));
      }
      case StmtKind::kReturn: {
        const auto& s = tree_.as<ReturnStmt>(id);
        return s.value.valid() ? absl::StrCat("return ", Expr(s.value))
                               : "return";
      }
      case StmtKind::kStaticFor: {
        const auto& s = tree_.as<StaticForStmt>(id);
        return absl::StrCat(
            "static for ", Pattern(s.pattern), " in ", Expr(s.start),
            s.stop.valid() ? absl::StrCat("..", Expr(s.stop)) : "", " ",
            Body(s.body));
      }
      case StmtKind::kFor: {
        const auto& s = tree_.as<ForStmt>(id);
        return absl::StrCat("for ", Name(s.variable), " in ", Expr(s.start),
                            "..", Expr(s.stop), " ", Body(s.body));
      }
      case StmtKind::kWhile: {
        const auto& s = tree_.as<WhileStmt>(id);
        return absl::StrCat("while ", Expr(s.condition), " ", Body(s.body));
      }
      case StmtKind::kYield:
        return absl::StrCat("yield ", Expr(tree_.as<YieldStmt>(id).value));
      case StmtKind::kStore: {
        const auto& s = tree_.as<StoreStmt>(id);
        return absl::StrCat(TextOf(kStores, s.word), "(", Exprs(s.args, ", "),
                            ")");
      }
    }
    return "";
  }

  std::string Generics(NodeList<GenericNode> generics) const {
    if (generics.empty()) return "";
    return absl::StrCat(
        "<",
        Join(generics, ", ",
             [this](const auto& generic) {
               return absl::StrCat(
                   generic.is_pack ? "*" : "", Name(generic.name), ": ",
                   TextOf(kKinds, generic.kind),
                   generic.has_default ? " = " + Arg(generic.default_value)
                                       : "");
             }),
        ">");
  }

  std::string Default(ExprId value) const {
    return value.valid() ? " = " + Expr(value) : "";
  }
  std::string Where(NodeList<ExprId> where) const {
    return where.empty() ? "" : " where " + Exprs(where, ", ");
  }
  std::string Field(const FieldNode& field) const {
    return absl::StrCat(Name(field.name), ": ", Type(field.type));
  }

  std::string Use(const UseNode& use) const {
    std::string out = "use " + Path(use.path);
    if (use.selectors.empty()) return out;
    return absl::StrCat(out, "::{",
                        Join(use.selectors, ", ",
                             [this](const auto& selector) {
                               return Name(selector.name) +
                                      (selector.alias.valid()
                                           ? " as " + Name(selector.alias)
                                           : "");
                             }),
                        "}");
  }

  std::string Item(ItemId id) const {
    const ItemNode& item = tree_.item(id);
    const std::string head =
        absl::StrCat(item.is_public ? "pub " : "", TextOf(kItems, item.kind),
                     " ", Name(item.name));
    switch (item.kind) {
      case ItemKind::kConst: {
        const auto& i = tree_.as<ConstItem>(id);
        return absl::StrCat(head, Annotation(i.type), " = ", Expr(i.value));
      }
      case ItemKind::kAlias: {
        const auto& i = tree_.as<AliasItem>(id);
        return absl::StrCat(head, Generics(i.generics), " = ", Type(i.type));
      }
      case ItemKind::kStruct: {
        const auto& i = tree_.as<StructItem>(id);
        return absl::StrCat(
            head, Generics(i.generics), " { ",
            Join(i.fields, "; ", [this](const auto& f) { return Field(f); }),
            " }");
      }
      case ItemKind::kEnum: {
        const auto& i = tree_.as<EnumItem>(id);
        return absl::StrCat(
            head, Generics(i.generics), " { ",
            Join(i.variants, ", ", [this](Ident v) { return Name(v); }), " }");
      }
      case ItemKind::kBlock:
        return head + Block(tree_.as<BlockItem>(id));
      default:
        return head + Function(item.kind, tree_.as<FunctionItem>(id));
    }
  }

  std::string Function(ItemKind kind, const FunctionItem& fn) const {
    std::string out = absl::StrCat(Generics(fn.generics), "(",
                                   Join(fn.params, ", ",
                                        [this](const ParamNode& p) {
                                          return absl::StrCat(
                                              Name(p.name), ": ", Type(p.type),
                                              Default(p.default_value));
                                        }),
                                   ")");
    if (fn.result.valid()) absl::StrAppend(&out, " -> ", Type(fn.result));
    if (kind == ItemKind::kKernel) {
      absl::StrAppend(&out, " -> (",
                      Join(fn.kernel_results, ", ",
                           [this](const auto& f) { return Field(f); }),
                      ") grid(", Exprs(fn.grid, ", "), ")");
      if (fn.warps.valid()) {
        absl::StrAppend(&out, " warps(", Expr(fn.warps), ")");
      }
      if (fn.stages.valid()) {
        absl::StrAppend(&out, " stages(", Expr(fn.stages), ")");
      }
    }
    if (fn.kernel.valid()) {
      absl::StrAppend(&out, " kernel ", Name(fn.kernel), Args(fn.kernel_args));
    }
    absl::StrAppend(&out, Where(fn.where), " ", Body(fn.body));
    if (fn.has_grad()) {
      absl::StrAppend(&out, " grad(", Name(fn.grad_result), ", ",
                      Name(fn.grad_incoming), ") ", Body(fn.grad_body));
    }
    return out;
  }

  std::string Block(const BlockItem& block) const {
    std::string out =
        absl::StrCat(Generics(block.generics), Where(block.where), " {");
    for (const MemberNode& member : tree_.list(block.members)) {
      absl::StrAppend(&out, " ", TextOf(kMembers, member.kind), " ",
                      Name(member.name), ": ", Type(member.type),
                      Default(member.default_value), ";");
    }
    for (const ItemId item : tree_.list(block.items)) {
      absl::StrAppend(&out, " ", Item(item), ";");
    }
    return out + " }";
  }

  const Tree& tree_;
  const NameTable& names_;
};

}  // namespace

std::string TreeText(const Tree& tree, const NameTable& names) {
  return Writer(tree, names).File();
}

std::string ExprText(const Tree& tree, const NameTable& names, ExprId id) {
  return Writer(tree, names).Expr(id);
}

}  // namespace linnet::lang
