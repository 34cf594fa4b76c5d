// The checker's state and its passes; private to core/lang. check.h is the way
// in. One file per subject:
//   check_collect.cc   what modules declare and import
//   check_decl.cc      generics, `where`, members, signatures
//   check_name.cc      lookup of names
//   check_types.cc     types as written; check_generic.cc generic arguments
//   check_expr.cc      expressions; check_operator.cc the operators
//   check_literal.cc   what literals become
//   check_call.cc      calls; check_struct.cc construction of structs
//   check_prelude.cc, check_prelude_shape.cc   the prelude's functions
//   check_index.cc     index notation; check_slice.cc slices
//   check_match.cc     if, match and patterns
//   check_stmt.cc      bodies; check_loop.cc loops
//   check_program.cc   recursion, state flags, warnings
//
// Declarations are elaborated on demand (Ensure…), each in a Context of its
// own, so that their order in the source does not matter.

#ifndef LINNET_CORE_LANG_CHECKER_H_
#define LINNET_CORE_LANG_CHECKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "core/expr/pool.h"
#include "core/lang/diagnostic.h"
#include "core/lang/infer.h"
#include "core/lang/module.h"
#include "core/lang/program.h"
#include "core/lang/shape_proof.h"
#include "core/lang/tree.h"
#include "core/lang/type.h"

namespace linnet::lang {

enum class DeclKind : uint8_t {
  kNone,
  kFailed,  // A failed import: silent.
  kConst,
  kAlias,
  kStruct,
  kEnum,
  kFunction,
  kBlock,
  kModule,
};

// An item or import as a scope knows it.
struct Decl {
  DeclKind kind = DeclKind::kNone;
  int32_t id = -1;  // ConstId, … by kind; an index for aliases.
  bool is_public = false;
  Span span;            // Of the name in its declaration.
  int32_t import = -1;  // In ModuleScope::imports.
};

struct ImportEntry {
  NameId name;
  Span span;
  bool used = false;
};

struct ModuleScope {
  absl::flat_hash_map<NameId, Decl> decls;
  std::vector<ImportEntry> imports;
  std::vector<ModuleId> targets;  // Per `use`.
  bool is_standard = false;
};

enum class Stage : uint8_t { kNew, kOpen, kDone };

// Where a declaration stands.
struct Place {
  ModuleId module;
  BlockId block;  // Innermost enclosing one.
  ItemId item;
};

struct ConstState {
  Place place;
  Stage stage = Stage::kNew;
  expr::Expr dim;
};
struct AliasState {
  Place place;
  NameId name;
  Stage stage = Stage::kNew;
  std::vector<Generic> generics;  // The enclosing blocks' first.
  size_t num_outer = 0;
  TypeId type;
};
struct StructState {
  Place place;
  Stage header = Stage::kNew;
  size_t num_outer = 0;
};
struct BlockState {
  Place place;
  Stage header = Stage::kNew;  // Generics and `where`.
  absl::flat_hash_map<NameId, int32_t> members;
  absl::flat_hash_map<NameId, Decl> decls;  // Methods and nested items.
  std::unique_ptr<ShapeFacts> facts;
  std::vector<bool> used;  // Per member.
};
struct FunctionState {
  Place place;
  std::unique_ptr<ShapeFacts> facts;
  std::vector<FunctionId> callees;
  std::vector<Span> call_spans;
};

enum class LocalKind : uint8_t { kParam, kLet, kVar, kLoop, kIndex };

struct Binding {
  NameId name;
  LocalId local;
  LocalKind kind = LocalKind::kLet;
  TypeId type;
  expr::Expr dim;          // Of a symbolic compile-time integer.
  int32_t index_var = -1;  // kIndex: in Context::index_vars.
  int32_t previous = -1;   // The binding of the name that this one shadows.
  bool used = false;
  Span span;
};

struct IndexVar {
  NameId name;
  bool is_pack = false;
  LocalId local;
  bool bound = false;
  bool silent = false;  // Its use was in error.
  Shape domain;
  Span span;
  Span bound_at;
};

// Where names are looked up and facts come from.
struct Context {
  ModuleId module;
  BlockId block;
  FunctionId function;
  absl::Span<const Generic> generics;  // Outer blocks' first.
  const ShapeFacts* facts = nullptr;
  bool in_where = false;  // Divisors are not checked.
  bool in_alias = false;  // Blocks' `where` are proved at the use.
  std::vector<Binding> bindings;
  absl::flat_hash_map<NameId, int32_t> heads;
  std::vector<IndexVar> index_vars;
  int32_t index_depth = 0;  // Open index scopes.
  int32_t loop_depth = 0;
  int32_t num_locals = 0;
  TypeId result;                           // What `return` gives.
  absl::flat_hash_set<NameId> undeclared;  // Reported already.
};

enum class FoundKind : uint8_t {
  kNothing,
  kLocal,    // index in Context::bindings
  kGeneric,  // index in Context::generics
  kMember,   // index in Block::members of `block`
  kDecl,
  kPreludeDType,
  kPreludeFunction,
  kUnimplemented,  // pad, gather, scatter
  kTensorWord,
};
struct Found {
  FoundKind kind = FoundKind::kNothing;
  int32_t index = -1;
  BlockId block;
  Decl decl;
  DType dtype = DType::kBool;
  Prelude prelude = Prelude::kCast;
};

class Checker {
 public:
  Checker(Program* program, IdMap<ModuleId, LoadedModule> modules,
          DiagnosticList* diagnostics);
  // Fills the program in.
  void Run();

 private:
  // -- check_decl.cc ---------------------------------------------------------
  void CollectModule(ModuleId module);
  void CollectItem(ModuleId module, BlockId block, ItemId item);
  Decl AddDeclaration(ModuleId module, BlockId block, ItemId item);
  Decl AddFunction(const Place& place, const ItemNode& node);
  Decl AddBlock(const Place& place, const ItemNode& node);
  void CollectMembers(BlockId block);
  void CollectImports(ModuleId module);
  void ImportName(ModuleId module, ModuleId target, Ident name, Ident alias);
  void DeclareInModule(ModuleId module, NameId name, const Decl& decl);
  bool RejectPreludeName(Ident ident);
  void EnsureConst(ConstId id);
  void EnsureAlias(int32_t alias);
  void EnsureStructHeader(StructId id);
  void EnsureBlockHeader(BlockId id);
  void ReadStructFields(StructId id);
  void ReadBlockMembers(BlockId id);
  void CheckMemberType(const MemberNode& node, TypeId type);
  void ReadSignature(FunctionId id);
  void ReadKernelHeader(FunctionId id);
  void CheckKernelUse(FunctionId id);
  void ReadGenerics(NodeList<GenericNode> nodes, std::vector<Generic>& out);
  std::optional<GenericArg> ReadDefault(const GenericNode& node,
                                        const Generic& generic);
  void ReadWhere(NodeList<ExprId> clauses, std::vector<Constraint>& out,
                 ShapeFacts& facts);
  TypeId ReadSignatureType(TypeNodeId node);
  std::vector<std::vector<size_t>> PartsOfDeclarations() const;
  void CheckContainment();
  void ReportContainment(size_t declaration);
  Context ContextOf(const Place& place);

  // -- check_name.cc ---------------------------------------------------------
  Found Lookup(NameId name);
  Found LookupValue(NameId name);  // As the base of an access: no index.
  Found LookupFrom(int32_t binding, NameId name);
  void MarkUsed(const Decl& decl);
  // The declaration that a name or path of modules denotes. False: it is a
  // value (or unknown). Reports what is missing or private in a module.
  bool TryDecl(ExprId e, Decl* decl);
  Decl FindInModule(ModuleId module, Ident name);
  TypeId ReportUndeclared(NameId name, Span span);
  TypeId ReportWrongKind(const Decl& decl, NameId name, Span span,
                         absl::string_view wanted);
  std::vector<absl::string_view> VisibleNames() const;
  LocalId NewLocal() { return LocalId{ctx_->num_locals++}; }
  // Binds `name` unless it is `_`.
  LocalId Bind(Ident name, LocalKind kind, TypeId type, expr::Expr dim = {});
  size_t OpenScope() const { return ctx_->bindings.size(); }
  void CloseScope(size_t mark);

  // -- check_types.cc --------------------------------------------------------
  TypeId ReadType(TypeNodeId node);
  TypeId ReadTypeNode(TypeNodeId node);
  TypeId ReadTypeKind(TypeNodeId node);
  TypeId ReadNamed(TypeNodeId node);
  TypeId ReadDeclType(const Decl& decl, const NamedTypeExpr& named, Span span);
  TypeId ReadTensor(TypeNodeId node);
  TypeId ReadArray(TypeNodeId node);
  std::optional<DTypeRef> ReadDType(TypeNodeId node);
  Decl ResolvePath(absl::Span<const Ident> path);
  // A dimension: a compile-time integer that is not provably negative.
  expr::Expr ReadDim(ExprId e);
  expr::Expr ReadCompileInt(ExprId e, absl::string_view what);
  expr::Expr DimOfPath(TypeNodeId node);
  expr::Expr CheckedDim(expr::Expr dim, Span span);
  std::optional<GenericArg> ReadGenericArg(const GenericArgNode& node,
                                           const Generic& generic);
  std::optional<GenericArg> ReadShapeArg(const GenericArgNode& node);
  std::optional<GenericArg> ReadDimArg(const GenericArgNode& node);
  std::optional<GenericArg> ReadDTypeArg(const GenericArgNode& node);
  bool NamesFailure(const GenericArgNode& node);
  static absl::string_view WantedText(GenericKind kind);
  // The arguments of a type: all that have no default are needed.
  std::optional<std::vector<GenericArg>> ReadTypeArgs(
      absl::string_view what, absl::Span<const Generic> generics,
      size_t num_outer, NodeList<GenericArgNode> args, Span span);
  // Binds explicit arguments of a call; false after a report.
  bool BindExplicit(Inference& inference, absl::string_view what,
                    absl::Span<const Generic> generics, size_t num_outer,
                    NodeList<GenericArgNode> args, Span span);
  bool CheckClasses(absl::Span<const Generic> generics,
                    absl::Span<const GenericArg> args, Span span);
  // Those of the block in a type, if there is one.
  void ProveBlockConstraints(TypeId type, Span where);
  void ProveConstraints(absl::string_view what,
                        absl::Span<const Constraint> constraints,
                        const Substitution& substitution, Span span);

  // Counts nesting through trees and declarations; false (after a report) past
  // the limit. A tree is bounded by the parser, but constants and aliases lead
  // from one tree to the next.
  bool EnterLevel(Span where);
  // The type, or the error type (after a report) when it is too large to be
  // handled: tuples of tuples and packs of packs grow exponentially.
  TypeId Bounded(TypeId type, Span where);
  int64_t SizeOf(TypeId type);

  // -- check_expr.cc ---------------------------------------------------------
  // A value: no block, array, shape or unit. What is wrong is reported, and
  // then the type is the error type.
  TypeId Infer(ExprId e);
  TypeId InferAny(ExprId e);
  TypeId InferNode(ExprId e);
  TypeId InferName(ExprId e);
  TypeId InferLocal(ExprId e, Binding& binding);
  TypeId InferMemberName(ExprId e, const Found& found);
  TypeId InferConst(ExprId e, ConstId id);
  TypeId InferMember(ExprId e);
  TypeId InferVariant(ExprId e, EnumId id, Ident name);
  TypeId InferBlockMember(ExprId e, TypeId base, Ident name);
  TypeId InferField(ExprId e, TypeId base, Ident name);
  TypeId InferShape(ExprId e);
  TypeId InferTuple(ExprId e);
  // Infers and gives it the expected type. `what` names the place: "`x`".
  bool Coerce(ExprId e, TypeId expected, absl::string_view what,
              Code shape_code = Code::kE2202);
  void ReportMismatch(Span span, absl::string_view what, TypeId expected,
                      TypeId found, Agreement agreement, Code shape_code);
  void NarrowMismatch(TypeId* expected, TypeId* found);
  Agreement Agree(TypeId expected, TypeId found);

  // -- check_literal.cc ------------------------------------------------------
  bool IsContextual(TypeId type) const;
  // Gives an expression of a contextual type a concrete one.
  bool Adopt(ExprId e, TypeId target);
  bool AdoptNode(ExprId e, TypeId target);
  bool CheckLiteral(ExprId e, TypeId target);
  bool CheckIntRange(ExprId e, DTypeRef dtype);
  bool CheckFloatRange(ExprId e, DType dtype);
  std::optional<double> FloatValue(ExprId e) const;
  // Without context: i64, f64; E2113 for `none`.
  TypeId Settle(ExprId e);
  TypeId Settled(TypeId type, bool* has_none);

  // -- check_operator.cc -----------------------------------------------------
  TypeId InferUnary(ExprId e);
  TypeId InferBinary(ExprId e);
  TypeId InferLogic(ExprId e, const BinaryExpr& binary);
  TypeId InferCompileInts(ExprId e, const BinaryExpr& binary);
  TypeId InferLiterals(ExprId e, const BinaryExpr& binary);
  expr::Expr DivideCompileInts(const BinaryExpr& binary, expr::Expr a,
                               expr::Expr b);
  expr::Expr BitwiseConstants(const BinaryExpr& binary, expr::Expr a,
                              expr::Expr b);
  // Checks that operands combine elementwise; the result in `dtype` and the
  // broadcast shape, or nothing after a report.
  struct Elementwise {
    DTypeRef dtype;
    Shape shape;
  };
  std::optional<Elementwise> Combine(absl::Span<const ExprId> operands,
                                     Span span, absl::string_view what);
  std::optional<Shape> BroadcastOperands(absl::Span<const ExprId> operands,
                                         Span span);
  bool InClass(DTypeRef dtype, GenericKind kind) const;
  bool RequireClass(DTypeRef dtype, GenericKind kind, Span span,
                    absl::string_view what);
  TypeId TensorOrScalar(Shape shape, DTypeRef dtype) {
    return types_.Tensor(std::move(shape), dtype);
  }

  // -- check_call.cc ---------------------------------------------------------
  TypeId InferCall(ExprId e);
  TypeId CallDecl(ExprId e, const Decl& decl, NameId name);
  TypeId CallBare(ExprId e, const Found& found, NameId name);
  TypeId CallMethod(ExprId e);
  TypeId CallFunction(ExprId e, FunctionId id, TypeId receiver_type,
                      ExprId receiver);
  TypeId Construct(ExprId e, StructId id);
  bool AssignFields(ExprId e, StructId id, CallInfo& result);
  bool UnifyFields(const Struct& entry, const CallInfo& call,
                   Inference& inference);
  void InferArguments(const CallExpr& call);
  void ReportNoMethod(BlockId block, Ident name);
  size_t SlotOf(const Function& function, Ident name);
  bool AssignArguments(ExprId e, FunctionId id, CallInfo& info);
  bool UnifyArguments(const Function& function, const CallInfo& info,
                      Inference& inference);
  bool FinishInference(absl::string_view what,
                       absl::Span<const Generic> generics, Inference& inference,
                       Span span);
  TypeId AddCall(ExprId e, CallInfo info, TypeId type);
  TypeId NotCallable(ExprId e, absl::string_view what);

  // -- check_prelude.cc ------------------------------------------------------
  TypeId CallPrelude(ExprId e, Prelude prelude);
  struct PreludeCall {
    ExprId expr;
    const CallExpr* node;
    Prelude prelude;
    std::string name;          // Quoted.
    std::vector<ExprId> args;  // Positional.
    ExprId axis;               // `axis = …`
    CallInfo info;
  };
  TypeId CallCast(PreludeCall& call);
  TypeId CallFloatUnary(PreludeCall& call);
  TypeId CallAbs(PreludeCall& call);
  TypeId CallMinMax(PreludeCall& call);
  TypeId CallShift(PreludeCall& call);
  TypeId CallSelect(PreludeCall& call);
  TypeId CallReshape(PreludeCall& call);
  TypeId CallPermute(PreludeCall& call);
  TypeId CallBroadcastTo(PreludeCall& call);
  TypeId CallConcat(PreludeCall& call);
  TypeId CallIota(PreludeCall& call);
  TypeId CallFill(PreludeCall& call);
  TypeId CallCumsum(PreludeCall& call);
  bool TakeArguments(PreludeCall& call, size_t min, size_t max);
  std::optional<DTypeRef> TakeDType(PreludeCall& call);
  std::optional<Shape> TakeShape(ExprId e);
  const Type* TakeTensor(PreludeCall& call, ExprId e);
  std::optional<int64_t> TakeAxis(PreludeCall& call, const Shape& shape);

  // -- check_index.cc --------------------------------------------------------
  TypeId InferIndex(ExprId e);
  TypeId InferArrayElement(ExprId e, const Type& array);
  TypeId InferElement(ExprId e, const Type& tensor);
  bool CheckPosition(const ComponentNode& component, const Unit& unit,
                     bool* runtime);
  bool CheckPlainComponent(const ComponentNode& component, const Unit& unit);
  bool CheckPackComponent(const ComponentNode& component, const Shape& units,
                          LocalId* local);
  bool BindDomain(IndexVar& var, Shape domain, Span span);
  void SilenceIndices(const IndexExpr& index);
  TypeId InferSlice(ExprId e, const Type& tensor);
  bool AddSliceComponent(const ComponentNode& component, const Shape& shape,
                         IndexInfo& result);
  void KeepAxes(size_t count, const Shape& shape, IndexInfo& result);
  Shape FinishSlice(absl::Span<const ComponentNode> components,
                    IndexInfo& result);
  bool CheckSliceAxis(const ComponentNode& component, const Unit& unit,
                      SliceAxis* axis);
  std::optional<expr::Expr> ReadBound(ExprId e, absl::string_view what);
  std::optional<int64_t> ReadStep(ExprId e);
  expr::Expr SliceExtent(const SliceAxis& axis);
  bool CheckInBounds(expr::Expr position, const Unit& unit, Span span);
  TypeId InferReduction(ExprId e);
  size_t OpenIndexScope(absl::Span<const IndexVarNode> indices);
  // Takes the scope's variables off; reports those without a domain.
  std::vector<IndexVar> CloseIndexScope(size_t mark, Code unbound, bool silent);

  // -- check_match.cc --------------------------------------------------------
  TypeId InferIf(ExprId e);
  TypeId InferMatch(ExprId e);
  TypeId MatchOptional(ExprId e, const MatchExpr& match, TypeId scrutinee);
  TypeId MatchEnum(ExprId e, const MatchExpr& match, TypeId scrutinee);
  TypeId JoinArms(ExprId e, absl::Span<const ExprId> arms, Code code);
  TypeId Join(TypeId a, TypeId b);
  void CheckCondition(ExprId e, absl::string_view what);
  void BindPattern(PatternId pattern, TypeId type, LocalKind kind,
                   expr::Expr dim = {});

  // -- check_stmt.cc ---------------------------------------------------------
  void CheckBody(FunctionId id);
  void CheckGrad(FunctionId id, const FunctionItem& item);
  void CheckDefaults(FunctionId id);
  void CheckStatements(absl::Span<const StmtId> body, bool is_top);
  void CheckStatement(StmtId id, bool last_of_top);
  void CheckResultReturned(absl::Span<const StmtId> body, Span end,
                           TypeId result, NameId name);
  void CheckComprehension(StmtId id);
  void CheckLet(StmtId id);
  void CheckVar(StmtId id);
  void CheckAssign(StmtId id);
  void AssignState(StmtId id, const AssignStmt& assign, const Found& found);
  void CheckReturn(StmtId id, bool allowed);
  void CheckStaticFor(StmtId id);
  void CheckFor(StmtId id);
  void CheckWhile(StmtId id);
  // A whole value: also `for … yield`.
  TypeId InferWhole(ExprId e);
  TypeId InferScan(ExprId e);
  TypeId Stacked(TypeId yielded, expr::Expr extent);
  bool ReadRange(ExprId start, ExprId stop, expr::Expr* from, expr::Expr* to);
  void CheckLoopBody(absl::Span<const StmtId> body);

  // -- check_program.cc ------------------------------------------------------
  void CheckRecursion();
  void Warn();

  // -- Helpers ---------------------------------------------------------------
  Diagnostic& Error(Code code, Span span, std::string message) {
    return diagnostics_.Report(code, span, std::move(message));
  }
  TypeId Fail(Code code, Span span, std::string message) {
    Error(code, span, std::move(message));
    return types_.error();
  }
  const Tree& tree() const { return program_.modules[ctx_->module].tree; }
  ModuleInfo& module_info() { return program_.modules[ctx_->module]; }
  ExprInfo& info(ExprId e) { return module_info().exprs[e]; }
  const Type& type(TypeId id) const { return types_.get(id); }
  TypeKind kind(TypeId id) const { return types_.get(id).kind; }
  bool is_error(TypeId id) const { return id == types_.error(); }
  Span span(ExprId e) const { return tree().expr(e).span; }
  const ShapeFacts& facts() const { return *ctx_->facts; }
  std::string Quote(NameId name) const;
  std::string Text(TypeId id) const;
  std::string Text(const Shape& shape) const;
  std::string Text(DTypeRef dtype) const;
  bool IsBlockLike(TypeId id) const;

  Program& program_;
  TypeTable& types_;
  expr::Pool& pool_;
  NameTable& names_;
  DiagnosticList& diagnostics_;
  Context* ctx_ = nullptr;
  NameId underscore_;
  ShapeFacts no_facts_;
  std::vector<Found> prelude_;  // By NameId; the first names are the prelude's.
  IdMap<ModuleId, ModuleScope> scopes_;
  IdMap<ConstId, ConstState> consts_;
  std::vector<AliasState> aliases_;
  IdMap<StructId, StructState> structs_;
  IdMap<EnumId, Place> enums_;
  IdMap<BlockId, BlockState> blocks_;
  IdMap<FunctionId, FunctionState> functions_;
  absl::flat_hash_map<std::pair<TypeId, int32_t>, TypeId> member_types_;
  std::vector<int64_t> type_sizes_;  // By TypeId; 0: not known yet.
  int depth_ = 0;
  bool skip_index_ = false;  // The next name is the base of an access.

  // Installs a context for its life.
  class Enter {
   public:
    Enter(Checker* checker, Context* context)
        : checker_(checker), previous_(checker->ctx_) {
      checker->ctx_ = context;
    }
    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;
    ~Enter() { checker_->ctx_ = previous_; }

   private:
    Checker* checker_;
    Context* previous_;
  };
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_CHECKER_H_
