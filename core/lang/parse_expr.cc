// Operators, suffixes, and the expressions that begin with a keyword.

#include "core/lang/parser_impl.h"

namespace linnet::lang {
namespace {

struct Operator {
  int level = 0;  // 0: no binary operator.
  BinaryOp op = BinaryOp::kOr;
};

constexpr int kAdditiveLevel = 8;

Operator OperatorOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kOrOr:
      return {1, BinaryOp::kOr};
    case TokenKind::kAndAnd:
      return {2, BinaryOp::kAnd};
    case TokenKind::kEqEq:
      return {3, BinaryOp::kEq};
    case TokenKind::kNotEq:
      return {3, BinaryOp::kNe};
    case TokenKind::kLess:
      return {4, BinaryOp::kLt};
    case TokenKind::kLessEq:
      return {4, BinaryOp::kLe};
    case TokenKind::kGreater:
      return {4, BinaryOp::kGt};
    case TokenKind::kGreaterEq:
      return {4, BinaryOp::kGe};
    case TokenKind::kOr:
      return {5, BinaryOp::kBitOr};
    case TokenKind::kCaret:
      return {6, BinaryOp::kBitXor};
    case TokenKind::kAnd:
      return {7, BinaryOp::kBitAnd};
    case TokenKind::kPlus:
      return {kAdditiveLevel, BinaryOp::kAdd};
    case TokenKind::kMinus:
      return {kAdditiveLevel, BinaryOp::kSub};
    case TokenKind::kStar:
      return {9, BinaryOp::kMul};
    case TokenKind::kSlash:
      return {9, BinaryOp::kDiv};
    case TokenKind::kPercent:
      return {9, BinaryOp::kMod};
    default:
      return {};
  }
}

std::optional<UnaryOp> UnaryOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kNot:
      return UnaryOp::kNot;
    case TokenKind::kMinus:
      return UnaryOp::kNegate;
    case TokenKind::kPlus:
      return UnaryOp::kPlus;
    default:
      return std::nullopt;
  }
}

}  // namespace

ExprId Parser::ParseExpr() {
  Nest nest(this);
  if (!nest.ok()) return {};
  switch (Here().kind) {
    case TokenKind::kIf:
      return ParseIf();
    case TokenKind::kMatch:
      return ParseMatch();
    case TokenKind::kFor:
      return ParseForValue();
    default:
      return ParseBinary(/*min_level=*/1);
  }
}

ExprId Parser::ParseAdditive() {
  Nest nest(this);
  if (!nest.ok()) return {};
  return ParseBinary(kAdditiveLevel);
}

bool Parser::BeginsExpr() const {
  switch (Here().kind) {
    case TokenKind::kName:
    case TokenKind::kReserved:
    case TokenKind::kInt:
    case TokenKind::kFloat:
    case TokenKind::kString:
    case TokenKind::kTrue:
    case TokenKind::kFalse:
    case TokenKind::kNone:
    case TokenKind::kSome:
    case TokenKind::kLeftParen:
    case TokenKind::kLeftBracket:
    case TokenKind::kIf:
    case TokenKind::kMatch:
    case TokenKind::kFor:
      return true;
    default:
      return UnaryOf(Here().kind).has_value();
  }
}

ExprId Parser::ParseBinary(int min_level) {
  const size_t first = at_;
  Chain chain(this);
  ExprId left = ParseUnary();
  while (left.valid()) {
    const Operator found = OperatorOf(Here().kind);
    if (found.level < min_level) break;
    BinaryExpr binary{found.op, HereSpan(), left, {}};
    if (!chain.Link()) return {};
    Advance();
    Nest nest(this);
    if (!nest.ok()) return {};
    binary.right = ParseBinary(found.level + 1);
    if (!binary.right.valid()) return {};
    left = tree_.AddExpr(ExprKind::kBinary, SpanFrom(first), binary);
  }
  return left;
}

ExprId Parser::ParseUnary() {
  const std::optional<UnaryOp> op = UnaryOf(Here().kind);
  if (!op) return ParsePostfix();
  Nest nest(this);
  if (!nest.ok()) return {};
  const size_t first = at_;
  Advance();
  if (UnaryOf(Here().kind)) {
    FailWith("two unary operators in a row",
             "put the inner one in parentheses, as in `-(-x)`");
    return {};
  }
  const ExprId operand = ParsePostfix();
  if (!operand.valid()) return {};
  return tree_.AddExpr(ExprKind::kUnary, SpanFrom(first),
                       UnaryExpr{*op, operand});
}

// -- Suffixes
// ------------------------------------------------------------------

ExprId Parser::ParsePostfix() {
  const size_t first = at_;
  Chain chain(this);
  ExprId expr = ParsePrimary();
  while (expr.valid()) {
    NodeList<GenericArgNode> generics;
    const bool call =
        At(TokenKind::kLeftParen) ||
        (At(TokenKind::kLess) && TryCallGenerics(expr, &generics));
    if (!call && !At(TokenKind::kLeftBracket) && !At(TokenKind::kDot)) break;
    if (!chain.Link()) return {};
    if (call) {
      expr = ParseCall(first, expr, generics);
    } else if (At(TokenKind::kDot)) {
      expr = ParseMemberSuffix(first, expr);
    } else {
      expr = ParseIndexSuffix(first, expr);
    }
  }
  return expr;
}

bool Parser::TryCallGenerics(ExprId callee,
                             NodeList<GenericArgNode>* generics) {
  const ExprNode& node = tree_.expr(callee);
  const bool path =
      (node.kind == ExprKind::kName || node.kind == ExprKind::kMember) &&
      !node.parenthesized;
  if (!path || HasFailed(kTryCall)) return false;
  Attempt attempt(this, kTryCall);
  Advance();
  if (!ParseGenericArgs(generics) || !At(TokenKind::kLeftParen)) return false;
  attempt.Keep();
  return true;
}

ExprId Parser::ParseMemberSuffix(size_t first, ExprId base) {
  Advance();
  const Ident name = ExpectName("a name");
  if (!name.valid()) return {};
  return tree_.AddExpr(ExprKind::kMember, SpanFrom(first),
                       MemberExpr{base, name});
}

ExprId Parser::ParseCall(size_t first, ExprId callee,
                         NodeList<GenericArgNode> generics) {
  Advance();
  Elements<ArgNode> args;
  if (!ParseList(TokenKind::kRightParen, &args,
                 [this](ArgNode* arg) { return ParseArg(arg); })) {
    return {};
  }
  return tree_.AddExpr(
      ExprKind::kCall, SpanFrom(first),
      CallExpr{callee, generics, tree_.AddList<ArgNode>(args)});
}

bool Parser::ParseArg(ArgNode* arg) {
  const size_t first = at_;
  if (AtAssign(at_)) {
    arg->name = ExpectName("a name");
    Advance();  // The `=`.
  }
  arg->value = ParseExpr();
  arg->span = SpanFrom(first);
  return arg->value.valid();
}

ExprId Parser::ParseIndexSuffix(size_t first, ExprId base) {
  Advance();
  if (At(TokenKind::kRightBracket)) {
    Fail("an index");
    return {};
  }
  Elements<ComponentNode> components;
  if (!ParseList(TokenKind::kRightBracket, &components,
                 [this](ComponentNode* component) {
                   return ParseComponent(component);
                 })) {
    return {};
  }
  return tree_.AddExpr(
      ExprKind::kIndex, SpanFrom(first),
      IndexExpr{base, tree_.AddList<ComponentNode>(components)});
}

bool Parser::ParseComponent(ComponentNode* component) {
  const size_t first = at_;
  bool ok = true;
  if (Accept(TokenKind::kEllipsis)) {
    component->kind = ComponentKind::kEllipsis;
  } else if (Accept(TokenKind::kStar)) {
    component->kind = ComponentKind::kPack;
    component->pack = ExpectName("the name of a pack index");
    ok = component->pack.valid();
  } else {
    ok = ParseExprOrSlice(component);
  }
  component->span = SpanFrom(first);
  return ok;
}

bool Parser::ParseExprOrSlice(ComponentNode* component) {
  ExprId start;
  if (!At(TokenKind::kColon) && !At(TokenKind::kColonColon)) {
    start = ParseExpr();
    if (!start.valid()) return false;
    if (!At(TokenKind::kColon) && !At(TokenKind::kColonColon)) {
      component->expr = start;
      return true;
    }
  }
  component->kind = ComponentKind::kSlice;
  component->start = start;
  // Reads an expression, if there is one.
  const auto parse_part = [this](ExprId* part) {
    if (At(TokenKind::kColon) || At(TokenKind::kComma) ||
        At(TokenKind::kRightBracket)) {
      return true;
    }
    *part = ParseExpr();
    return part->valid();
  };
  bool has_step = Accept(TokenKind::kColonColon);
  if (!has_step) {
    Advance();  // The `:`.
    if (!parse_part(&component->stop)) return false;
    has_step = Accept(TokenKind::kColon);
  }
  if (!has_step || At(TokenKind::kColon)) return true;
  return parse_part(&component->step);
}

// -- Expressions that begin with a keyword
// -------------------------------------

ExprId Parser::ParseIf() {
  const size_t first = at_;
  Advance();
  IfExpr expr;
  expr.condition = ParseExpr();
  if (!expr.condition.valid() || !ParseBranch(&expr.then_value) ||
      !Expect(TokenKind::kElse)) {
    return {};
  }
  if (At(TokenKind::kIf)) {
    Report(Code::kE1101, HereSpan(), "there is no `else if`",
           "write `else { if … { … } else { … } }`");
    expr.else_value = ParseExpr();
    if (!expr.else_value.valid()) return {};
  } else if (!ParseBranch(&expr.else_value)) {
    return {};
  }
  return tree_.AddExpr(ExprKind::kIf, SpanFrom(first), expr);
}

bool Parser::ParseBranch(ExprId* value) {
  if (!Expect(TokenKind::kLeftBrace)) return false;
  *value = ParseExpr();
  return value->valid() && Expect(TokenKind::kRightBrace);
}

ExprId Parser::ParseMatch() {
  const size_t first = at_;
  Advance();
  MatchExpr expr;
  expr.scrutinee = ParseExpr();
  if (!expr.scrutinee.valid() || !Expect(TokenKind::kLeftBrace)) return {};
  Elements<ArmNode> arms;
  bool reported = false;
  do {
    if (!arms.empty() && SkipSeparator(&reported, "the arms of a `match`")) {
      continue;
    }
    if (!ParseArm(&arms.emplace_back())) return {};
  } while (!Accept(TokenKind::kRightBrace));
  expr.arms = tree_.AddList<ArmNode>(arms);
  return tree_.AddExpr(ExprKind::kMatch, SpanFrom(first), expr);
}

bool Parser::ParseArm(ArmNode* arm) {
  const size_t first = at_;
  if (At(TokenKind::kLeftParen)) {
    FailWith("a `match` arm cannot begin with `(`");
    return false;
  }
  arm->pattern = ParsePattern();
  if (!arm->pattern.valid() || !Expect(TokenKind::kFatArrow)) return false;
  arm->value = ParseExpr();
  arm->span = SpanFrom(first);
  return arm->value.valid();
}

ExprId Parser::ParseForValue() {
  const size_t first = at_;
  ForExpr expr;
  if (!ParseRangeLoop(&expr.variable, &expr.start, &expr.stop, &expr.body)) {
    return {};
  }
  return tree_.AddExpr(ExprKind::kFor, SpanFrom(first), expr);
}

}  // namespace linnet::lang
