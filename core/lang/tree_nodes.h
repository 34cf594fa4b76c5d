// The parts of each kind of syntax node; see tree.h for how they are reached.
//
// A struct with `Is` belongs to the kinds that it accepts. Ids and idents are
// valid unless a comment says when they are not.

#ifndef LINNET_CORE_LANG_TREE_NODES_H_
#define LINNET_CORE_LANG_TREE_NODES_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "core/base/id.h"
#include "core/lang/name_table.h"
#include "core/lang/source.h"

namespace linnet::lang {

struct ExprTag;
struct TypeNodeTag;
struct StmtTag;
struct PatternTag;
struct ItemTag;
using ExprId = Id<ExprTag>;
using TypeNodeId = Id<TypeNodeTag>;
using StmtId = Id<StmtTag>;
using PatternId = Id<PatternTag>;
using ItemId = Id<ItemTag>;

// Consecutive elements of a vector of the tree: tree.list(…).
template <typename T>
struct NodeList {
  int32_t begin = 0;
  int32_t size = 0;

  bool empty() const { return size == 0; }
};

// A name where it is written.
struct Ident {
  NameId name;
  Span span;

  bool valid() const { return name.valid(); }
};

// -- Types
// ----------------------------------------------------------------------

enum class TypeExprKind : uint8_t {
  kNamed,
  kTensor,
  kTuple,
  kArray,
  kOptional
};

struct TypeNode {
  TypeExprKind kind;
  Span span;
  int32_t parts;
};

// `f32` and `4` of `Foo<f32, 4>`: exactly one of the two is valid. What can be
// read as a type is kept as a type, so a name or path alone (`N`, `sizes.N`) is
// one whatever it denotes: the checker resolves it either way. `[A, B]`, `4`
// and `H / N` are expressions.
struct GenericArgNode {
  TypeNodeId type;
  ExprId expr;
  Span span;
};

// `a.b.Name<…>`. Names of dtypes are ordinary names here.
struct NamedTypeExpr {
  NodeList<Ident> path;
  NodeList<GenericArgNode> args;  // Empty without `<…>`.

  static constexpr bool Is(TypeExprKind k) { return k == TypeExprKind::kNamed; }
};
// A unit of a tensor's shape: a dimension or, written `*S`, a pack.
struct UnitNode {
  ExprId dim;  // Invalid for a pack.
  Ident pack;  // Invalid for a dimension.
  Span span;
};
struct TensorTypeExpr {
  NodeList<UnitNode> units;  // At least one.
  TypeNodeId element;        // A kNamed node.

  static constexpr bool Is(TypeExprKind k) {
    return k == TypeExprKind::kTensor;
  }
};
struct TupleTypeExpr {
  NodeList<TypeNodeId> elements;  // At least two.

  static constexpr bool Is(TypeExprKind k) { return k == TypeExprKind::kTuple; }
};
struct ArrayTypeExpr {
  TypeNodeId element;
  ExprId count;

  static constexpr bool Is(TypeExprKind k) { return k == TypeExprKind::kArray; }
};
struct OptionalTypeExpr {
  TypeNodeId inner;

  static constexpr bool Is(TypeExprKind k) {
    return k == TypeExprKind::kOptional;
  }
};

// -- Patterns
// -------------------------------------------------------------------

enum class PatternKind : uint8_t { kName, kTuple, kSome, kNone };

struct PatternNode {
  PatternKind kind;
  Span span;
  int32_t parts;
};

// A name; `_` is one too, and binds nothing. In an arm over an enum it may turn
// out to be a variant.
struct NamePattern {
  Ident name;

  static constexpr bool Is(PatternKind k) { return k == PatternKind::kName; }
};
struct TuplePattern {
  NodeList<PatternId> elements;  // At least two: `(a)` is just `a`.

  static constexpr bool Is(PatternKind k) { return k == PatternKind::kTuple; }
};
struct SomePattern {
  PatternId inner;

  static constexpr bool Is(PatternKind k) { return k == PatternKind::kSome; }
};
struct NonePattern {
  static constexpr bool Is(PatternKind k) { return k == PatternKind::kNone; }
};

// -- Expressions
// ----------------------------------------------------------------

enum class ExprKind : uint8_t {
  kInt,
  kFloat,
  kBool,
  kString,
  kName,
  kMember,
  kCall,
  kIndex,
  kUnary,
  kBinary,
  kShape,
  kTuple,
  kSome,
  kNone,
  kIf,
  kMatch,
  kFor,
  kReduction,
};

struct ExprNode {
  ExprKind kind;
  bool parenthesized;
  Span span;  // With the parentheses.
  int32_t parts;
};

struct IntExpr {
  int64_t value;     // 0 when it has no value.
  bool exceeds_i64;  // Above the i64 maximum: E2105 where it is used.

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kInt; }
};
struct FloatExpr {
  double value;  // Infinity when it exceeds f64.

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kFloat; }
};
struct BoolExpr {
  bool value;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kBool; }
};
// Legal syntax, never a value: E2104.
struct StringExpr {
  static constexpr bool Is(ExprKind k) { return k == ExprKind::kString; }
};
struct NameExpr {
  NameId name;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kName; }
};
// `base.name`: a member, field, method, enum variant or item of a module.
struct MemberExpr {
  ExprId base;
  Ident name;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kMember; }
};
// One argument of a call: `value` or `name = value`.
struct ArgNode {
  Ident name;  // Invalid for a positional one.
  ExprId value;
  Span span;
};
struct CallExpr {
  ExprId callee;  // Any expression; with generic arguments a name or path.
  NodeList<GenericArgNode> generics;  // Empty without `<…>`.
  NodeList<ArgNode> args;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kCall; }
};
enum class ComponentKind : uint8_t {
  kExpr,      // `expr`
  kPack,      // `*pack`
  kEllipsis,  // `...`
  kSlice,     // `start:stop:step`, each of which may be left out
};
struct ComponentNode {
  ComponentKind kind = ComponentKind::kExpr;
  ExprId expr;
  Ident pack;
  ExprId start, stop, step;  // Invalid where left out.
  Span span;
};
struct IndexExpr {
  ExprId base;
  NodeList<ComponentNode> components;  // At least one.

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kIndex; }
};
enum class UnaryOp : uint8_t { kNot, kNegate, kPlus };
struct UnaryExpr {
  UnaryOp op;
  ExprId operand;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kUnary; }
};
enum class BinaryOp : uint8_t {
  kOr,  // ||
  kAnd,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kBitOr,
  kBitXor,
  kBitAnd,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
};
constexpr bool IsComparison(BinaryOp op) {
  return op >= BinaryOp::kEq && op <= BinaryOp::kGe;
}
struct BinaryExpr {
  BinaryOp op;
  Span op_span;
  ExprId left;
  ExprId right;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kBinary; }
};
// `[A, B]`; may be empty.
struct ShapeExpr {
  NodeList<ExprId> elements;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kShape; }
};
struct TupleExpr {
  NodeList<ExprId> elements;  // At least two.

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kTuple; }
};
struct SomeExpr {
  ExprId value;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kSome; }
};
struct NoneExpr {
  static constexpr bool Is(ExprKind k) { return k == ExprKind::kNone; }
};
struct IfExpr {
  ExprId condition;
  ExprId then_value;
  ExprId else_value;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kIf; }
};
struct ArmNode {
  PatternId pattern;  // Not a tuple at its head.
  ExprId value;
  Span span;
};
struct MatchExpr {
  ExprId scrutinee;
  NodeList<ArmNode> arms;  // At least one.

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kMatch; }
};
// `for variable in start..stop { … }` as a value.
struct ForExpr {
  Ident variable;
  ExprId start;
  ExprId stop;
  NodeList<StmtId> body;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kFor; }
};
enum class ReductionKind : uint8_t { kSum, kProd, kMax, kMin, kAny, kAll };
struct ReductionExpr {
  ReductionKind op;
  TypeNodeId type;  // Of `sum<f32>[…]`; invalid without one.
  NodeList<Ident> indices;
  ExprId body;

  static constexpr bool Is(ExprKind k) { return k == ExprKind::kReduction; }
};

// -- Statements
// -----------------------------------------------------------------

enum class StmtKind : uint8_t {
  kComprehension,
  kLet,
  kVar,
  kAssign,
  kReturn,
  kStaticFor,
  kFor,
  kWhile,
  kYield,
  kStore,
};

struct StmtNode {
  StmtKind kind;
  Span span;
  int32_t parts;
};

struct IndexVarNode {
  Ident name;
  bool is_pack;  // Written `*s`.
};
// `let name[i, *s] = value`
struct ComprehensionStmt {
  Ident name;
  NodeList<IndexVarNode> indices;  // At least one.
  ExprId value;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kComprehension; }
};
struct LetStmt {
  PatternId pattern;
  TypeNodeId type;  // Invalid without an annotation.
  ExprId value;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kLet; }
};
struct VarStmt {
  Ident name;
  TypeNodeId type;  // Invalid without an annotation.
  ExprId value;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kVar; }
};
// `name = value`: a `var` or a state.
struct AssignStmt {
  Ident target;
  ExprId value;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kAssign; }
};
struct ReturnStmt {
  ExprId value;  // Invalid without one.

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kReturn; }
};
struct StaticForStmt {
  PatternId pattern;
  ExprId start;  // The array, when `stop` is invalid.
  ExprId stop;
  NodeList<StmtId> body;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kStaticFor; }
};
struct ForStmt {
  Ident variable;
  ExprId start;
  ExprId stop;
  NodeList<StmtId> body;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kFor; }
};
struct WhileStmt {
  ExprId condition;
  NodeList<StmtId> body;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kWhile; }
};
struct YieldStmt {
  ExprId value;

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kYield; }
};
enum class StoreWord : uint8_t { kStore, kAtomicAdd, kAtomicMax, kAtomicMin };
struct StoreStmt {
  StoreWord word;
  NodeList<ExprId> args;  // Two or three.

  static constexpr bool Is(StmtKind k) { return k == StmtKind::kStore; }
};

// -- Items
// ----------------------------------------------------------------------

enum class ItemKind : uint8_t {
  kConst,
  kAlias,
  kStruct,
  kEnum,
  kFn,
  kOp,
  kEntry,
  kKernel,
  kBlock,
};

struct ItemNode {
  ItemKind kind;
  bool is_public;
  Ident name;
  Span span;
  int32_t parts;
};

enum class GenericKind : uint8_t {
  kDim,
  kShape,
  kDType,
  kNumeric,
  kInteger,
  kFloat
};
struct GenericNode {
  Ident name;
  bool is_pack;  // Written with `*`.
  GenericKind kind;
  bool has_default;
  GenericArgNode default_value;  // When has_default.
  Span span;
};
struct ParamNode {
  Ident name;
  TypeNodeId type;
  ExprId default_value;  // Invalid without one.
  Span span;
};
// A struct's field or a kernel's result.
struct FieldNode {
  Ident name;
  TypeNodeId type;
  Span span;
};
enum class MemberKind : uint8_t { kParam, kBuffer, kState, kSub };
struct MemberNode {
  MemberKind kind;
  Ident name;
  TypeNodeId type;
  ExprId default_value;  // Invalid without one; never on a buffer or state.
  Span span;
};

struct ConstItem {
  TypeNodeId type;  // Invalid without an annotation.
  ExprId value;

  static constexpr bool Is(ItemKind k) { return k == ItemKind::kConst; }
};
struct AliasItem {
  NodeList<GenericNode> generics;
  TypeNodeId type;

  static constexpr bool Is(ItemKind k) { return k == ItemKind::kAlias; }
};
struct StructItem {
  NodeList<GenericNode> generics;
  NodeList<FieldNode> fields;

  static constexpr bool Is(ItemKind k) { return k == ItemKind::kStruct; }
};
struct EnumItem {
  NodeList<GenericNode> generics;
  NodeList<Ident> variants;

  static constexpr bool Is(ItemKind k) { return k == ItemKind::kEnum; }
};
// fn, op, entry and kernel.
struct FunctionItem {
  NodeList<GenericNode> generics;
  NodeList<ParamNode> params;
  TypeNodeId result;       // Invalid without `->`, and for a kernel.
  NodeList<ExprId> where;  // Each a kBinary node with a comparison.
  NodeList<StmtId> body;
  Span header;    // Up to the body.
  Span body_end;  // The closing `}`.
  // `kernel name<args>` of an op; invalid without one.
  Ident kernel;
  NodeList<GenericArgNode> kernel_args;
  // `grad(result, incoming) { … }` of an op; invalid without one.
  Ident grad_result;
  Ident grad_incoming;
  NodeList<StmtId> grad_body;
  Span grad_end;  // The closing `}`.
  // Of a kernel.
  NodeList<FieldNode> kernel_results;
  NodeList<ExprId> grid;
  ExprId warps;   // Invalid without one.
  ExprId stages;  // The same.

  bool has_grad() const { return grad_result.valid(); }
  static constexpr bool Is(ItemKind k) {
    return k >= ItemKind::kFn && k <= ItemKind::kKernel;
  }
};
struct BlockItem {
  NodeList<GenericNode> generics;
  NodeList<ExprId> where;  // Each a kBinary node with a comparison.
  NodeList<MemberNode> members;
  NodeList<ItemId> items;

  static constexpr bool Is(ItemKind k) { return k == ItemKind::kBlock; }
};

// -- Imports
// --------------------------------------------------------------------

struct SelectorNode {
  Ident name;
  Ident alias;  // After `as`; invalid without.
};
// `use std.nn.linear::{linear as proj}`. Without selectors the module itself is
// imported under its last name.
struct UseNode {
  NodeList<Ident> path;  // With its root: a package, `std` or `crate`.
  NodeList<SelectorNode> selectors;
  Span span;
};

// Every vector of a tree that holds parts or lists.
using TreeParts = std::tuple<
    std::vector<NamedTypeExpr>, std::vector<TensorTypeExpr>,
    std::vector<TupleTypeExpr>, std::vector<ArrayTypeExpr>,
    std::vector<OptionalTypeExpr>, std::vector<NamePattern>,
    std::vector<TuplePattern>, std::vector<SomePattern>,
    std::vector<NonePattern>, std::vector<IntExpr>, std::vector<FloatExpr>,
    std::vector<BoolExpr>, std::vector<StringExpr>, std::vector<NameExpr>,
    std::vector<MemberExpr>, std::vector<CallExpr>, std::vector<IndexExpr>,
    std::vector<UnaryExpr>, std::vector<BinaryExpr>, std::vector<ShapeExpr>,
    std::vector<TupleExpr>, std::vector<SomeExpr>, std::vector<NoneExpr>,
    std::vector<IfExpr>, std::vector<MatchExpr>, std::vector<ForExpr>,
    std::vector<ReductionExpr>, std::vector<ComprehensionStmt>,
    std::vector<LetStmt>, std::vector<VarStmt>, std::vector<AssignStmt>,
    std::vector<ReturnStmt>, std::vector<StaticForStmt>, std::vector<ForStmt>,
    std::vector<WhileStmt>, std::vector<YieldStmt>, std::vector<StoreStmt>,
    std::vector<ConstItem>, std::vector<AliasItem>, std::vector<StructItem>,
    std::vector<EnumItem>, std::vector<FunctionItem>, std::vector<BlockItem>,
    std::vector<Ident>, std::vector<GenericArgNode>, std::vector<UnitNode>,
    std::vector<ArgNode>, std::vector<ComponentNode>, std::vector<ArmNode>,
    std::vector<IndexVarNode>, std::vector<GenericNode>, std::vector<ParamNode>,
    std::vector<FieldNode>, std::vector<MemberNode>, std::vector<SelectorNode>,
    std::vector<UseNode>, std::vector<ExprId>, std::vector<TypeNodeId>,
    std::vector<StmtId>, std::vector<PatternId>, std::vector<ItemId>>;

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_TREE_NODES_H_
