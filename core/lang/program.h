// A checked program: every module that a root file reaches, with what the
// checker found out about each declaration and expression. Lowering (core/ir)
// reads it together with the trees; nothing later looks at source text.
//
// Immutable once checked, so safe to share between threads.

#ifndef LINNET_CORE_LANG_PROGRAM_H_
#define LINNET_CORE_LANG_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/expr/expr.h"
#include "core/lang/source.h"
#include "core/lang/tree.h"
#include "core/lang/type.h"

namespace linnet::lang {

struct ModuleTag;
struct FunctionTag;
struct ConstTag;
struct LocalTag;
using ModuleId = Id<ModuleTag>;
using FunctionId = Id<FunctionTag>;
using ConstId = Id<ConstTag>;
// A local of one function: a parameter, pattern name, `let`, `var`, loop
// variable or index variable. Numbered per function (`Function::num_locals`);
// a shadowing declaration is another local. Assigning a `var` keeps its local.
using LocalId = Id<LocalTag>;

struct Generic {
  NameId name;
  GenericKind kind = GenericKind::kDim;
  // kDim: the symbol as an expression. kShape: the element count of the pack.
  expr::Expr dim;
  PackId pack;       // kShape
  DTypeVarId dtype;  // The other kinds.
  // May mention earlier generics of the same list.
  std::optional<GenericArg> default_value;
  Span span;

  // The generic itself as an argument (what it is bound to inside its body).
  GenericArg AsArg() const;
};

enum class Relation : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

// One `where` clause.
struct Constraint {
  Relation relation = Relation::kEq;
  expr::Expr left;
  expr::Expr right;
  std::string text;  // As written, for messages.
  Span span;
};

struct Member {
  NameId name;
  MemberKind kind = MemberKind::kParam;
  TypeId type;  // In terms of the block's generics.
  Span span;
};

struct Block {
  NameId name;
  ModuleId module;
  BlockId outer;  // Invalid at module level.
  bool is_public = false;
  // The outer blocks' generics first, then its own; a block type's arguments
  // are in this order.
  std::vector<Generic> generics;
  int32_t num_outer_generics = 0;
  std::vector<Constraint> where;
  std::vector<Member> members;
  std::vector<FunctionId> methods;
  Span span;
};

struct Struct {
  NameId name;
  ModuleId module;
  std::vector<Generic> generics;
  std::vector<NameId> fields;
  std::vector<TypeId> field_types;
};

struct Enum {
  NameId name;
  ModuleId module;
  std::vector<NameId> variants;
};

struct Param {
  NameId name;
  TypeId type;
  LocalId local;
  ExprId default_value;  // Invalid when required; in the function's module.
  Span span;
};

enum class FunctionKind : uint8_t { kFn, kOp, kEntry, kKernel };

struct Function {
  NameId name;
  std::string qualified_name;  // `std.nn.linear::Linear.forward`
  ModuleId module;
  BlockId block;  // The block whose method it is; invalid for others.
  FunctionKind kind = FunctionKind::kFn;
  bool is_public = false;
  // The block's generics first, then its own; call bindings have this order.
  std::vector<Generic> generics;
  int32_t num_block_generics = 0;
  std::vector<Param> params;
  TypeId result;  // The unit type when there is none.
  // Its own clauses; the blocks' are in their `where`.
  std::vector<Constraint> where;
  std::vector<StmtId> body;  // In the module's tree.
  // `grad(y, dy) { … }` of an op.
  bool has_grad = false;
  LocalId grad_result, grad_incoming;
  std::vector<StmtId> grad_body;
  // `kernel name<args>` of an op: the kernel's qualified name.
  std::string kernel;
  std::vector<GenericArg> kernel_args;
  int32_t num_locals = 0;
  bool reads_state = false;   // Itself or anything that it calls.
  bool writes_state = false;  // The same.
  Span span;
};

struct Constant {
  NameId name;
  ModuleId module;
  // kCompileInt or kFloatLit when it was declared without a type.
  TypeId type;
  ExprId init;
};

// What an expression that is a name or a member path denotes.
enum class RefKind : uint8_t {
  kNone,         // Not a name: look at the expression's own kind.
  kLocal,        // target = LocalId: a value, or an index variable.
  kDimGeneric,   // A Dim generic as a value; `dim` holds it.
  kConst,        // target = ConstId.
  kMember,       // target = index in Block::members; of `self` for a bare
                 // name, of the base expression for `base.name`.
  kField,        // target = field number of the base's struct.
  kEnumVariant,  // target = variant number; the type says of which enum.
};

// How `t[…]` is lowered (section 9.3).
enum class IndexMode : uint8_t {
  kElement,  // tensor.element: one scalar; all components positions.
  kSlice,    // One slice; positions are squeezed ranges of length 1.
  kGather,   // A runtime position with a tensor result: a comprehension over
             // the kept axes, then a slice when `needs_slice`.
  kArray,    // A block array's element; `position`.
};

struct SliceAxis {
  expr::Expr start, stop, step;  // stop is already clamped to the extent.
  bool squeezed = false;         // An integer position: the axis is dropped.
  bool whole = false;            // The axis is kept as it is.
  Unit unit;                     // The axis sliced.

  friend bool operator==(const SliceAxis&, const SliceAxis&) = default;
};

struct IndexInfo {
  IndexMode mode = IndexMode::kElement;
  // One per axis of the base, after `...` and omitted axes are filled in. For
  // kGather, a runtime position has `squeezed` set and its expression in
  // `positions`.
  std::vector<SliceAxis> axes;
  // kElement: one component per written component, in order. kGather: one per
  // axis, invalid where the axis is kept or at a compile-time position.
  std::vector<ExprId> positions;
  // kElement: aligned with `positions`; the index of a component written `*s`
  // (its position has no expression), invalid for the others.
  std::vector<LocalId> packs;
  bool needs_slice = false;
  int64_t position = 0;  // kArray
};

enum class CallKind : uint8_t { kFunction, kStruct, kPrelude };

// The callable names of the prelude (section 6.8).
enum class Prelude : uint8_t {
  kCast,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kTanh,
  kAbs,
  kMin,
  kMax,
  kShl,
  kShr,
  kSelect,
  kReshape,
  kPermute,
  kBroadcastTo,
  kConcat,
  kIota,
  kFill,
  kCumsum,
  kProgramId,
  kLoad,
  kStore,
  kAtomicAdd,
  kAtomicMax,
  kAtomicMin
};

struct CallInfo {
  CallKind kind = CallKind::kFunction;
  FunctionId callee;                 // kFunction
  Prelude prelude = Prelude::kCast;  // kPrelude
  // kFunction: aligned with the callee's `generics` (a method's receiver
  // arguments first). Dimensions are in the caller's symbols.
  std::vector<GenericArg> bindings;
  // kFunction: the receiver of a method call written `x.method(…)`; invalid
  // for a bare call (then `self`, when the callee is a method).
  ExprId receiver;
  // One per parameter (kFunction) or field (kStruct) in declaration order, or
  // tensor/scalar operand (kPrelude); invalid: the default is used.
  std::vector<ExprId> args;
  // Positions in `args` in the order the arguments were written.
  std::vector<int32_t> written_order;
  // kPermute: axes; kConcat, kCumsum: one axis as written (may be negative).
  std::vector<int64_t> ints;
};

struct ReductionInfo {
  std::vector<LocalId> indices;
  std::vector<Unit> domains;  // One per index.
};

struct MatchInfo {
  bool is_enum = false;
  // Per arm: the variant number, or -1 for a catch-all (enum); 0 `some`,
  // 1 `none`, -1 catch-all (optional).
  std::vector<int32_t> arms;
  // Per arm: the local a catch-all name binds (the whole scrutinee); invalid
  // for none. `some(p)` binds through PatternInfo.
  std::vector<LocalId> bound;
};

// `for i in a..b { … }` as a value (a scan).
struct ScanInfo {
  LocalId variable;
  expr::Expr start, stop;
};

struct ExprInfo {
  // After literals took the dtype of their context. A compile-time integer in
  // value position has the scalar type it is wanted in; it stays kCompileInt
  // only where it is no value: in shapes and bounds, and in `let half = H / 2`,
  // whose uses have `ref` kLocal and the value in `dim`.
  TypeId type;
  // The value of a compile-time integer; null for other expressions.
  expr::Expr dim;
  // A value `for` has the local of its variable here (kLocal).
  RefKind ref = RefKind::kNone;
  int32_t target = -1;
  // Into the list of this kind of expression in ModuleInfo: calls, indexes,
  // reductions, matches, scans.
  int32_t detail = -1;
};

struct StmtInfo {
  // `let name[…]`, `var`, `for`, assignment to a `var`: the local.
  LocalId local;
  // Assignment to a state of `self`: index in Block::members, else -1.
  int32_t state = -1;
  // `let name[i, *s]`: its indices and their domains. A pack's domain is the
  // list of units it covers, so there is one Shape per index.
  std::vector<LocalId> indices;
  std::vector<Shape> domains;
  // The declared or inferred type of what is bound.
  TypeId type;
  // static for over an array (else over a range); range bounds.
  bool over_array = false;
  expr::Expr start, stop;
};

struct PatternInfo {
  LocalId local;  // Invalid for `_`.
};

struct ModuleInfo {
  std::string path;  // As written after `module`.
  Tree tree;
  IdMap<ExprId, ExprInfo> exprs;
  IdMap<StmtId, StmtInfo> stmts;
  IdMap<PatternId, PatternInfo> patterns;
  std::vector<CallInfo> calls;
  std::vector<IndexInfo> indexes;
  std::vector<ReductionInfo> reductions;
  std::vector<MatchInfo> matches;
  std::vector<ScanInfo> scans;
};

// What a dtype generic is called and may stand for (never kDim or kShape).
struct DTypeVar {
  NameId name;
  GenericKind kind = GenericKind::kDType;
};

struct Program {
  std::shared_ptr<NameTable> names;
  std::shared_ptr<SourceSet> sources;
  // Holds every dimension of the types below. Lowering may add to both.
  std::shared_ptr<expr::Pool> pool;
  std::shared_ptr<TypeTable> types;
  IdMap<ModuleId, ModuleInfo> modules;
  IdMap<BlockId, Block> blocks;
  IdMap<StructId, Struct> structs;
  IdMap<EnumId, Enum> enums;
  IdMap<FunctionId, Function> functions;
  IdMap<ConstId, Constant> constants;
  IdMap<PackId, NameId> packs;  // Names; every `*S: Shape` has its own.
  IdMap<DTypeVarId, DTypeVar> dtype_vars;
  ModuleId root;  // The module of the root file.

  absl::string_view name(NameId id) const;
  const ExprInfo& info(ModuleId module, ExprId expr) const {
    return modules[module].exprs[expr];
  }
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_PROGRAM_H_
