// Internal to lowering: one function on its way to core IR.

#ifndef LINNET_CORE_IR_LOWER_FUNCTION_H_
#define LINNET_CORE_IR_LOWER_FUNCTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "core/expr/pool.h"
#include "core/ir/builder.h"
#include "core/ir/ir.h"
#include "core/ir/lower.h"
#include "core/lang/program.h"
#include "core/lang/tree.h"
#include "core/lang/type.h"

namespace linnet::ir {

// How much of the limits is used up. Past them, expressions become placeholders
// of the right type, so that lowering ends soon and the caller can report it.
struct LowerBudget {
  int64_t ops_left = 0;
  int32_t max_depth = 0;
  bool depth_exceeded = false;
};

class FunctionLowering {
 public:
  FunctionLowering(const lang::Program& program, lang::FunctionId id,
                   LowerBudget* budget);

  Function Run();

 private:
  using StmtList = absl::Span<const lang::StmtId>;

  // A piece of source being lowered: the body of the function itself, or a
  // constant or default of another module, in terms of the function's generics.
  struct Context {
    lang::ModuleId module;
    const lang::Substitution* substitution = nullptr;
  };

  const lang::ModuleInfo& module() const {
    return program_.modules[context_.module];
  }
  const lang::Tree& tree() const { return module().tree; }
  const lang::ExprInfo& info(lang::ExprId id) const {
    return module().exprs[id];
  }

  // -- Types -----------------------------------------------------------------
  lang::TypeId Apply(lang::TypeId type) const;
  bool IsContextual(lang::TypeId type) const;
  // The type of an expression; `want` where it is a literal without one, and
  // i64, f64 without either.
  lang::TypeId TypeOf(lang::ExprId id, lang::TypeId want) const;
  const lang::Type& TypeOf(ValueId value) const {
    return types_.get(function_.value_types[value]);
  }
  lang::TypeId Scalar(DType dtype) const;

  // -- Emitting --------------------------------------------------------------
  ValueId Emit(OpKind kind, absl::Span<const ValueId> operands,
               lang::TypeId type, OpExtra extra = {});
  void EmitPlain(OpKind kind, absl::Span<const ValueId> operands,
                 OpExtra extra = {});
  ValueId EmitDim(expr::Expr dim);
  // Runs `body` with `region` as the current region.
  void InRegion(RegionId region, absl::FunctionRef<void()> body);

  // -- Statements (lower_statement.cc) ---------------------------------------
  void LowerBody(StmtList body, lang::TypeId result);
  void LowerStatement(lang::StmtId id);
  void LowerAssignment(lang::StmtId id);
  void LowerComprehension(lang::StmtId id);
  void LowerStaticFor(lang::StmtId id);
  void LowerFor(lang::StmtId id);
  void LowerWhile(lang::StmtId id);
  ValueId LowerScan(lang::ExprId id);
  void BindPattern(lang::PatternId id, ValueId value);

  // Locals assigned in `body` that exist already, by first assignment.
  std::vector<lang::LocalId> CarriedBy(StmtList body);
  void CollectAssigned(StmtList body, std::vector<lang::LocalId>& assigned);
  std::vector<ValueId> CurrentValues(const std::vector<lang::LocalId>& locals);
  std::vector<lang::TypeId> TypesOf(const std::vector<ValueId>& values) const;
  // New arguments of the current region that stand for `carried`.
  void TakeCarried(const std::vector<lang::LocalId>& carried,
                   absl::Span<const lang::TypeId> types);
  // Lowers a loop's body in its one region: `bind` gets the leading argument.
  RegionId LowerLoopRegion(lang::TypeId leading, StmtList body,
                           const std::vector<lang::LocalId>& carried,
                           absl::Span<const lang::TypeId> types,
                           absl::FunctionRef<void(ValueId)> bind);
  void TakeResults(OpId op, const std::vector<lang::LocalId>& carried);
  // A range's bounds and then the carried values.
  std::vector<ValueId> RangeOperands(lang::ExprId start, lang::ExprId stop,
                                     const std::vector<lang::LocalId>& carried);

  // -- Expressions (lower_expr.cc, lower_call.cc) ----------------------------
  // `want`: the type that the context gives to a literal; may be invalid.
  ValueId Lower(lang::ExprId id, lang::TypeId want = {});
  ValueId LowerKind(lang::ExprId id, lang::TypeId type);
  ValueId LowerNumber(int64_t value, lang::TypeId type);
  ValueId LowerReference(lang::ExprId id, lang::TypeId type);
  ValueId LowerConstant(lang::ConstId id, lang::TypeId type);
  ValueId LowerMember(lang::ExprId id, int32_t member, lang::TypeId type);
  ValueId LowerUnary(const lang::UnaryExpr& unary, lang::TypeId type);
  ValueId LowerBinary(const lang::BinaryExpr& binary, lang::TypeId type);
  ValueId LowerIf(const lang::IfExpr& branch, lang::TypeId type);
  ValueId LowerMatch(lang::ExprId id, lang::TypeId type);
  ValueId LowerOptionMatch(const lang::MatchExpr& match,
                           const lang::MatchInfo& arms, ValueId subject,
                           lang::TypeId type);
  ValueId LowerEnumMatch(const lang::MatchExpr& match,
                         const lang::MatchInfo& arms, ValueId subject,
                         lang::TypeId type);
  ValueId LowerReduction(lang::ExprId id, lang::TypeId type);
  ValueId LowerIndex(lang::ExprId id, lang::TypeId type);
  ValueId LowerGather(const lang::IndexInfo& index, ValueId base,
                      lang::TypeId type);
  ValueId LowerSlice(const lang::IndexInfo& index, ValueId base,
                     lang::TypeId type);

  ValueId LowerCall(lang::ExprId id, lang::TypeId type);
  ValueId LowerFunctionCall(const lang::CallInfo& call, lang::TypeId type);
  ValueId LowerStruct(const lang::CallInfo& call, lang::TypeId type);
  ValueId LowerPrelude(const lang::CallInfo& call, lang::TypeId type);
  ValueId LowerDefault(const lang::Function& callee, size_t param,
                       absl::Span<const lang::GenericArg> bindings);

  // Whether a compile-time integer has a symbol in it, so that it is computed
  // as an i64 whatever the context.
  bool IsSymbolic(lang::ExprId id) const;
  // An i64 where `type` is wanted: cast to another integer dtype, else as is.
  ValueId ConvertDim(ValueId value, lang::TypeId type);

  const lang::Program& program_;
  const lang::Function& source_;
  lang::TypeTable& types_;
  expr::Pool& pool_;
  LowerBudget& budget_;
  Function function_;
  Builder builder_;
  Context context_;
  ValueId self_;
  IdMap<lang::LocalId, ValueId> locals_;  // Their current values.
  lang::TypeId result_;  // Of the body being lowered; invalid in `grad`.
  lang::TypeId i64_, f64_;
  int32_t depth_ = 0;
  bool in_dim_ = false;  // Inside a symbolic compile-time integer: all is i64.
};

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_LOWER_FUNCTION_H_
