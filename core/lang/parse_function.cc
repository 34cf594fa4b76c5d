// fn, op, entry and kernel.

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/lang/parser_impl.h"

namespace linnet::lang {

ItemId Parser::ParseFunction(ItemKind kind, bool is_public, size_t first) {
  const absl::string_view keyword = source_.text(HereSpan());
  Advance();
  FunctionItem fn;
  const Ident name = ExpectName(absl::StrCat("the name of the ", keyword));
  if (!name.valid() || !ParseFunctionHeader(kind, &fn)) return {};
  fn.header = SpanFrom(first);
  in_kernel_ = kind == ItemKind::kKernel;
  const bool ok = ParseBody(&fn.body, &fn.body_end);
  in_kernel_ = false;
  if (!ok || !ParseGrad(kind, &fn)) return {};
  return tree_.AddItem(kind, is_public, name, SpanFrom(first), fn);
}

bool Parser::ParseFunctionHeader(ItemKind kind, FunctionItem* fn) {
  if (!ParseGenerics(&fn->generics) || !ParseParams(&fn->params)) return false;
  switch (kind) {
    case ItemKind::kKernel:
      if (!ParseKernelHeader(fn)) return false;
      break;
    case ItemKind::kOp:
      if (!ParseOpResult(fn)) return false;
      break;
    default:
      if (Accept(TokenKind::kArrow)) {
        fn->result = ParseType();
        if (!fn->result.valid()) return false;
      }
  }
  return ParseWhere(&fn->where);
}

bool Parser::ParseParams(NodeList<ParamNode>* params) {
  if (!Expect(TokenKind::kLeftParen)) return false;
  Elements<ParamNode> parsed;
  if (!ParseList(TokenKind::kRightParen, &parsed,
                 [this](ParamNode* param) { return ParseParam(param); })) {
    return false;
  }
  *params = tree_.AddList<ParamNode>(parsed);
  return true;
}

bool Parser::ParseParam(ParamNode* param) {
  const size_t first = at_;
  param->name = ExpectName("the name of a parameter");
  if (!param->name.valid() || !Expect(TokenKind::kColon)) return false;
  param->type = ParseType();
  if (!param->type.valid()) return false;
  if (Accept(TokenKind::kEquals)) {
    param->default_value = ParseExpr();
    if (!param->default_value.valid()) return false;
  }
  param->span = SpanFrom(first);
  return true;
}

// The result type and the kernel of an op.
bool Parser::ParseOpResult(FunctionItem* fn) {
  if (!At(TokenKind::kArrow)) {
    FailWith(absl::StrCat("expected `->`, found ", FoundText()),
             "an op always has a result");
    return false;
  }
  Advance();
  fn->result = ParseType();
  if (!fn->result.valid()) return false;
  if (!Accept(TokenKind::kKernel)) return true;
  fn->kernel = ExpectName("the name of a kernel");
  if (!fn->kernel.valid()) return false;
  return !Accept(TokenKind::kLess) || ParseGenericArgs(&fn->kernel_args);
}

// From the `->` of a kernel to its last option.
bool Parser::ParseKernelHeader(FunctionItem* fn) {
  if (!Expect(TokenKind::kArrow)) return false;
  Elements<FieldNode> results;
  const auto parse_result = [this](FieldNode* field) {
    return ParseField(field);
  };
  if (!Accept(TokenKind::kLeftParen)) {
    if (!ParseField(&results.emplace_back())) return false;
  } else if (At(TokenKind::kRightParen)) {
    Fail("the name of a result");
    return false;
  } else if (!ParseList(TokenKind::kRightParen, &results, parse_result)) {
    return false;
  }
  fn->kernel_results = tree_.AddList<FieldNode>(results);
  if (!AtName(words_.grid)) {
    Fail("`grid`");
    return false;
  }
  Advance();
  if (!Expect(TokenKind::kLeftParen)) return false;
  Elements<ExprId> grid;
  const auto parse_extent = [this](ExprId* expr) {
    *expr = ParseExpr();
    return expr->valid();
  };
  if (At(TokenKind::kRightParen)) {
    Fail("an expression");
    return false;
  }
  if (!ParseList(TokenKind::kRightParen, &grid, parse_extent)) return false;
  fn->grid = tree_.AddList<ExprId>(grid);
  while (AtName(words_.warps) || AtName(words_.stages)) {
    if (!ParseKernelOption(fn)) return false;
  }
  return true;
}

bool Parser::ParseKernelOption(FunctionItem* fn) {
  ExprId& option = AtName(words_.warps) ? fn->warps : fn->stages;
  if (option.valid()) {
    Report(Code::kE1101, HereSpan(),
           absl::StrCat("`", source_.text(HereSpan()), "` is given twice"));
  }
  Advance();
  if (!Expect(TokenKind::kLeftParen)) return false;
  option = ParseExpr();
  return option.valid() && Expect(TokenKind::kRightParen);
}

bool Parser::ParseGrad(ItemKind kind, FunctionItem* fn) {
  if (!AtName(words_.grad)) return true;
  if (kind != ItemKind::kOp) {
    Report(Code::kE1101, HereSpan(), "only an `op` can have a `grad` clause");
  }
  Advance();
  if (!Expect(TokenKind::kLeftParen)) return false;
  const Ident result = ExpectName("a name for the result");
  if (!result.valid() || !Expect(TokenKind::kComma)) return false;
  const Ident incoming = ExpectName("a name for the incoming gradient");
  if (!incoming.valid()) return false;
  Accept(TokenKind::kComma);
  if (!Expect(TokenKind::kRightParen)) return false;
  NodeList<StmtId> body;
  Span end;
  if (!ParseBody(&body, &end)) return false;
  if (kind != ItemKind::kOp) return true;
  fn->grad_result = result;
  fn->grad_incoming = incoming;
  fn->grad_body = body;
  fn->grad_end = end;
  return true;
}

}  // namespace linnet::lang
