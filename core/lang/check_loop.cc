// Loops (language.md section 8).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

void Checker::CheckLoopBody(absl::Span<const StmtId> body) {
  ++ctx_->loop_depth;
  const size_t scope = OpenScope();
  CheckStatements(body, /*is_top=*/false);
  CloseScope(scope);
  --ctx_->loop_depth;
}

bool Checker::ReadRange(ExprId start, ExprId stop, expr::Expr* from,
                        expr::Expr* to) {
  bool fine = true;
  for (const auto& [e, out] : {std::pair(start, from), std::pair(stop, to)}) {
    const TypeId id = Infer(e);
    if (is_error(id)) {
      fine = false;
    } else if (kind(id) != TypeKind::kCompileInt) {
      Error(Code::kE2121, span(e),
            absl::StrCat("a bound of a range must be a compile-time integer, "
                         "not `",
                         Text(id), "`"));
      fine = false;
    } else {
      *out = info(e).dim;
    }
  }
  return fine;
}

void Checker::CheckStaticFor(StmtId id) {
  const StaticForStmt& loop = tree().as<StaticForStmt>(id);
  TypeId variable = types_.Scalar(DTypeRef::Of(DType::kI64));
  if (loop.stop.valid()) {
    expr::Expr start;
    expr::Expr stop;
    ReadRange(loop.start, loop.stop, &start, &stop);
    module_info().stmts[id].start = start;
    module_info().stmts[id].stop = stop;
  } else {
    const TypeId array = InferAny(loop.start);
    variable = types_.error();
    if (kind(array) == TypeKind::kArray) {
      variable = type(array).elements[0];
    } else if (!is_error(array)) {
      Error(Code::kE2121, span(loop.start),
            absl::StrCat("`static for` runs over an array of blocks or a "
                         "range, not `",
                         Text(array), "`"));
    }
    module_info().stmts[id].over_array = true;
  }
  module_info().stmts[id].type = variable;
  const size_t scope = OpenScope();
  BindPattern(loop.pattern, variable, LocalKind::kLoop);
  module_info().stmts[id].local = module_info().patterns[loop.pattern].local;
  CheckLoopBody(tree().list(loop.body));
  CloseScope(scope);
}

void Checker::CheckFor(StmtId id) {
  const ForStmt& loop = tree().as<ForStmt>(id);
  expr::Expr start;
  expr::Expr stop;
  ReadRange(loop.start, loop.stop, &start, &stop);
  const size_t scope = OpenScope();
  const TypeId i64 = types_.Scalar(DTypeRef::Of(DType::kI64));
  StmtInfo& out = module_info().stmts[id];
  out.start = start;
  out.stop = stop;
  out.type = i64;
  out.local = Bind(loop.variable, LocalKind::kLoop, i64);
  CheckLoopBody(tree().list(loop.body));
  CloseScope(scope);
}

void Checker::CheckWhile(StmtId id) {
  const WhileStmt& loop = tree().as<WhileStmt>(id);
  CheckCondition(loop.condition, "`while`");
  CheckLoopBody(tree().list(loop.body));
}

// What the yields of a scan stack up to; the error type after a report-free
// failure is left to the caller.
TypeId Checker::Stacked(TypeId yielded, expr::Expr extent) {
  const Type& t = type(yielded);
  switch (t.kind) {
    case TypeKind::kScalar:
      return types_.Tensor({{extent, {}}}, t.dtype);
    case TypeKind::kTensor: {
      Shape shape = {{extent, {}}};
      shape.insert(shape.end(), t.shape.begin(), t.shape.end());
      return types_.Tensor(std::move(shape), t.dtype);
    }
    case TypeKind::kTuple: {
      std::vector<TypeId> elements;
      for (const TypeId element : t.elements) {
        elements.push_back(Stacked(element, extent));
        if (is_error(elements.back())) return types_.error();
      }
      return types_.Tuple(std::move(elements));
    }
    default:
      return types_.error();
  }
}

TypeId Checker::InferScan(ExprId e) {
  const ForExpr& loop = tree().as<ForExpr>(e);
  ScanInfo scan;
  bool fine = ReadRange(loop.start, loop.stop, &scan.start, &scan.stop);
  const size_t scope = OpenScope();
  scan.variable = Bind(loop.variable, LocalKind::kLoop,
                       types_.Scalar(DTypeRef::Of(DType::kI64)));
  const absl::Span<const StmtId> body = tree().list(loop.body);
  const bool yields =
      !body.empty() && tree().stmt(body.back()).kind == StmtKind::kYield;
  ++ctx_->loop_depth;
  CheckStatements(yields ? body.subspan(0, body.size() - 1) : body,
                  /*is_top=*/false);
  TypeId yielded = types_.error();
  if (yields) {
    const ExprId value = tree().as<YieldStmt>(body.back()).value;
    Infer(value);
    yielded = Settle(value);
    info(value).type = yielded;
    module_info().stmts[body.back()].type = yielded;
  } else {
    Error(Code::kE2120, span(e),
          "the body of a `for` that gives a value must end with `yield`");
  }
  --ctx_->loop_depth;
  CloseScope(scope);
  if (!fine || is_error(yielded)) return types_.error();
  const expr::Expr extent =
      CheckedDim(pool_.Sub(scan.stop, scan.start), span(loop.stop));
  if (!extent.valid()) return types_.error();
  const TypeId result = Stacked(yielded, extent);
  if (is_error(result)) {
    return Fail(Code::kE2104, span(tree().as<YieldStmt>(body.back()).value),
                absl::StrCat("a `yield` gives scalars, tensors or tuples of "
                             "them, not `",
                             Text(yielded), "`"));
  }
  info(e).detail = static_cast<int32_t>(module_info().scans.size());
  module_info().scans.push_back(scan);
  return result;
}

}  // namespace linnet::lang
