// Bodies (language.md sections 7.5 and 8).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

void Checker::CheckDefaults(FunctionId id) {
  const Function& function = program_.functions[id];
  Context context = ContextOf(functions_[id].place);
  context.generics = function.generics;
  context.facts = functions_[id].facts.get();
  const Enter enter(this, &context);
  for (const Param& param : function.params) {
    if (!param.default_value.valid()) continue;
    if (is_error(param.type)) {
      Infer(param.default_value);
      continue;
    }
    Coerce(param.default_value, param.type,
           absl::StrCat("the parameter ", Quote(param.name)));
  }
}

void Checker::CheckBody(FunctionId id) {
  Function& function = program_.functions[id];
  if (function.kind == FunctionKind::kKernel) return;
  const FunctionState& state = functions_[id];
  Context context = ContextOf(state.place);
  context.function = id;
  context.generics = function.generics;
  context.facts = state.facts.get();
  context.result = function.result;
  const Enter enter(this, &context);
  for (const Param& param : function.params) {
    const LocalId local =
        Bind({param.name, param.span}, LocalKind::kParam, param.type);
    if (!local.valid()) NewLocal();  // `_` has a number all the same.
  }
  const FunctionItem& item = tree().as<FunctionItem>(state.place.item);
  const size_t scope = OpenScope();
  CheckStatements(function.body, /*is_top=*/true);
  CheckResultReturned(function.body, item.body_end, function.result,
                      function.name);
  CloseScope(scope);
  if (function.has_grad) CheckGrad(id, item);
  CloseScope(0);
  function.num_locals = context.num_locals;
}

void Checker::CheckGrad(FunctionId id, const FunctionItem& item) {
  Function& function = program_.functions[id];
  const size_t scope = OpenScope();
  RejectPreludeName(item.grad_result);
  RejectPreludeName(item.grad_incoming);
  function.grad_result =
      Bind(item.grad_result, LocalKind::kParam, function.result);
  function.grad_incoming =
      Bind(item.grad_incoming, LocalKind::kParam, function.result);
  if (!function.grad_result.valid()) function.grad_result = NewLocal();
  if (!function.grad_incoming.valid()) function.grad_incoming = NewLocal();
  std::vector<TypeId> gradients;
  for (const Param& param : function.params) {
    const Type& t = type(param.type);
    if (t.kind == TypeKind::kTensor && InClass(t.dtype, GenericKind::kFloat)) {
      gradients.push_back(param.type);
    }
  }
  ctx_->result = gradients.empty()       ? types_.unit()
                 : gradients.size() == 1 ? gradients[0]
                                         : types_.Tuple(gradients);
  CheckStatements(function.grad_body, /*is_top=*/true);
  CheckResultReturned(function.grad_body, item.grad_end, ctx_->result,
                      function.name);
  CloseScope(scope);
}

void Checker::CheckResultReturned(absl::Span<const StmtId> body, Span end,
                                  TypeId result, NameId name) {
  if (kind(result) == TypeKind::kUnit || is_error(result)) return;
  if (!body.empty() && tree().stmt(body.back()).kind == StmtKind::kReturn) {
    return;
  }
  Error(Code::kE2120, end,
        absl::StrCat(Quote(name), " must end with a `return` of its result, `",
                     Text(result), "`"));
}

void Checker::CheckStatements(absl::Span<const StmtId> body, bool is_top) {
  for (size_t i = 0; i < body.size(); ++i) {
    CheckStatement(body[i], is_top && i + 1 == body.size());
  }
}

void Checker::CheckStatement(StmtId id, bool last_of_top) {
  switch (tree().stmt(id).kind) {
    case StmtKind::kComprehension:
      CheckComprehension(id);
      return;
    case StmtKind::kLet:
      CheckLet(id);
      return;
    case StmtKind::kVar:
      CheckVar(id);
      return;
    case StmtKind::kAssign:
      CheckAssign(id);
      return;
    case StmtKind::kReturn:
      CheckReturn(id, last_of_top);
      return;
    case StmtKind::kStaticFor:
      CheckStaticFor(id);
      return;
    case StmtKind::kFor:
      CheckFor(id);
      return;
    case StmtKind::kWhile:
      CheckWhile(id);
      return;
    case StmtKind::kYield:
      Error(Code::kE2120, tree().stmt(id).span,
            "`yield` is only the last statement of a `for` that gives a "
            "value");
      Infer(tree().as<YieldStmt>(id).value);
      return;
    case StmtKind::kStore:
      Error(Code::kE2104, tree().stmt(id).span,
            "stores are statements of kernels only");
      return;
  }
}

void Checker::CheckComprehension(StmtId id) {
  const ComprehensionStmt& stmt = tree().as<ComprehensionStmt>(id);
  const int errors = diagnostics_.num_errors();
  const size_t scope = OpenScope();
  const size_t mark = OpenIndexScope(tree().list(stmt.indices));
  const TypeId value = Infer(stmt.value);
  const std::vector<IndexVar> vars = CloseIndexScope(
      mark, Code::kE3103,
      diagnostics_.num_errors() > errors || kind(value) != TypeKind::kScalar);
  CloseScope(scope);
  TypeId result = types_.error();
  if (!is_error(value) && kind(value) != TypeKind::kScalar) {
    Diagnostic& report = Error(
        Code::kE3104, span(stmt.value),
        absl::StrCat("the right side of an indexed `let` is a scalar with a "
                     "dtype, not `",
                     Text(value), "`"));
    report.Help(kind(value) == TypeKind::kTensor
                    ? "index the tensor"
                    : "use `fill` for a constant tensor");
  } else if (!is_error(value) && diagnostics_.num_errors() == errors) {
    Shape shape;
    StmtInfo& out = module_info().stmts[id];
    for (const IndexVar& var : vars) {
      out.indices.push_back(var.local);
      out.domains.push_back(var.domain);
      shape.insert(shape.end(), var.domain.begin(), var.domain.end());
    }
    result = types_.Tensor(std::move(shape), type(value).dtype);
  }
  StmtInfo& out = module_info().stmts[id];
  out.type = result;
  out.local = Bind(stmt.name, LocalKind::kLet, result);
}

TypeId Checker::InferWhole(ExprId e) {
  if (tree().expr(e).kind != ExprKind::kFor) return Infer(e);
  const TypeId result = InferScan(e);
  return info(e).type = Bounded(result, span(e));
}

void Checker::CheckLet(StmtId id) {
  const LetStmt& let = tree().as<LetStmt>(id);
  const bool is_name = tree().pattern(let.pattern).kind == PatternKind::kName;
  const std::string what =
      is_name ? Quote(tree().as<NamePattern>(let.pattern).name.name)
              : std::string("the pattern");
  expr::Expr dim;
  TypeId bound = InferWhole(let.value);
  if (let.type.valid()) {
    const TypeId declared = ReadSignatureType(let.type);
    if (!is_error(declared) && !is_error(bound)) {
      const Agreement agreement = Agree(declared, bound);
      if (agreement == Agreement::kYes) {
        Adopt(let.value, declared);
      } else {
        ReportMismatch(span(let.value), what, declared, bound, agreement,
                       Code::kE2202);
      }
    }
    bound = declared;
  } else if (kind(bound) == TypeKind::kCompileInt && is_name &&
             !info(let.value).dim.is_constant()) {
    dim = info(let.value).dim;
  } else {
    bound = Settle(let.value);
  }
  module_info().stmts[id].type = bound;
  BindPattern(let.pattern, bound, LocalKind::kLet, dim);
  module_info().stmts[id].local = module_info().patterns[let.pattern].local;
}

void Checker::CheckVar(StmtId id) {
  const VarStmt& var = tree().as<VarStmt>(id);
  TypeId bound = InferWhole(var.value);
  if (var.type.valid()) {
    const TypeId declared = ReadSignatureType(var.type);
    if (!is_error(declared) && !is_error(bound)) {
      const Agreement agreement = Agree(declared, bound);
      if (agreement == Agreement::kYes) {
        Adopt(var.value, declared);
      } else {
        ReportMismatch(span(var.value), Quote(var.name.name), declared, bound,
                       agreement, Code::kE2202);
      }
    }
    bound = declared;
  } else {
    bound = Settle(var.value);
  }
  StmtInfo& out = module_info().stmts[id];
  out.type = bound;
  out.local = Bind(var.name, LocalKind::kVar, bound);
}

void Checker::CheckAssign(StmtId id) {
  const AssignStmt& assign = tree().as<AssignStmt>(id);
  const Ident target = assign.target;
  const Found found = Lookup(target.name);
  if (found.kind == FoundKind::kMember) return AssignState(id, assign, found);
  const TypeId value = InferWhole(assign.value);
  if (found.kind == FoundKind::kNothing) {
    ReportUndeclared(target.name, target.span);
    return;
  }
  if (found.kind == FoundKind::kDecl && found.decl.kind == DeclKind::kFailed) {
    return;
  }
  if (found.kind != FoundKind::kLocal) {
    Error(Code::kE2108, target.span,
          absl::StrCat(Quote(target.name), " cannot be assigned"));
    return;
  }
  const Binding& binding = ctx_->bindings[static_cast<size_t>(found.index)];
  if (binding.kind != LocalKind::kVar) {
    Diagnostic& report = Error(Code::kE2108, target.span,
                               absl::StrCat(Quote(target.name),
                                            " is not a `var` and cannot be "
                                            "assigned"));
    report.Relate(binding.span, "declared here");
    if (binding.kind == LocalKind::kLet) {
      report.Help("declare it with `var`, or declare a new one with `let`");
    }
    return;
  }
  StmtInfo& out = module_info().stmts[id];
  out.local = binding.local;
  out.type = binding.type;
  if (is_error(value) || is_error(binding.type)) return;
  const Agreement agreement = Agree(binding.type, value);
  if (agreement == Agreement::kYes) {
    Adopt(assign.value, binding.type);
  } else {
    ReportMismatch(span(assign.value), Quote(target.name), binding.type, value,
                   agreement, Code::kE2109);
  }
}

void Checker::AssignState(StmtId id, const AssignStmt& assign,
                          const Found& found) {
  const TypeId value = InferWhole(assign.value);
  const Member& member =
      program_.blocks[found.block].members[static_cast<size_t>(found.index)];
  if (member.kind != MemberKind::kState || found.block != ctx_->block) {
    Error(Code::kE2108, assign.target.span,
          absl::StrCat("the member ", Quote(member.name),
                       found.block != ctx_->block
                           ? " of another block cannot be assigned"
                           : " is not a state and cannot be assigned"))
        .Relate(member.span, "declared here");
    return;
  }
  blocks_[found.block].used[static_cast<size_t>(found.index)] = true;
  program_.functions[ctx_->function].writes_state = true;
  StmtInfo& out = module_info().stmts[id];
  out.state = found.index;
  out.type = member.type;
  if (is_error(value) || is_error(member.type)) return;
  const Agreement agreement = Agree(member.type, value);
  if (agreement == Agreement::kYes) {
    Adopt(assign.value, member.type);
  } else {
    ReportMismatch(span(assign.value),
                   absl::StrCat("the state ", Quote(member.name)), member.type,
                   value, agreement, Code::kE2109);
  }
}

void Checker::CheckReturn(StmtId id, bool allowed) {
  const ReturnStmt& node = tree().as<ReturnStmt>(id);
  const Span where = tree().stmt(id).span;
  if (!allowed) {
    Error(Code::kE2120, where,
          ctx_->loop_depth > 0
              ? "a `return` cannot stand in a loop"
              : "a `return` is only the last statement of a function");
  }
  const TypeId result = ctx_->result;
  const bool wants = kind(result) != TypeKind::kUnit;
  if (!node.value.valid()) {
    if (allowed && wants && !is_error(result)) {
      Error(Code::kE2120, where,
            absl::StrCat("this `return` gives no value, but the result is `",
                         Text(result), "`"));
    }
    return;
  }
  const TypeId value = InferWhole(node.value);
  if (!allowed || is_error(value) || is_error(result)) return;
  if (!wants) {
    Error(Code::kE2101, span(node.value),
          "this function declares no result to return");
    return;
  }
  const Agreement agreement = Agree(result, value);
  if (agreement == Agreement::kYes) {
    Adopt(node.value, result);
  } else {
    ReportMismatch(span(node.value), "the result", result, value, agreement,
                   Code::kE2202);
  }
}
}  // namespace linnet::lang
