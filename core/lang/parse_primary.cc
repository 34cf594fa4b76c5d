// Literals, names, brackets and reductions.

#include "core/lang/parser_impl.h"

namespace linnet::lang {

ExprId Parser::ParsePrimary() {
  const size_t first = at_;
  switch (Here().kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat:
      return ParseNumber();
    case TokenKind::kTrue:
    case TokenKind::kFalse: {
      const BoolExpr literal{At(TokenKind::kTrue)};
      Advance();
      return tree_.AddExpr(ExprKind::kBool, SpanFrom(first), literal);
    }
    case TokenKind::kString:
      Advance();
      return tree_.AddExpr(ExprKind::kString, SpanFrom(first), StringExpr{});
    case TokenKind::kNone:
      Advance();
      return tree_.AddExpr(ExprKind::kNone, SpanFrom(first), NoneExpr{});
    case TokenKind::kSome:
      return ParseSome();
    case TokenKind::kLeftParen:
      return ParseParen();
    case TokenKind::kLeftBracket:
      return ParseShape();
    case TokenKind::kName:
    case TokenKind::kReserved:
      return ParseNameExpr();
    case TokenKind::kIf:
    case TokenKind::kMatch:
    case TokenKind::kFor:
      FailWith("expected an expression, found " + FoundText(),
               "put it in parentheses when it is a part of an expression");
      return {};
    default:
      Fail("an expression");
      return {};
  }
}

ExprId Parser::ParseNumber() {
  const size_t first = at_;
  const auto index = static_cast<size_t>(Here().value);
  const bool is_int = At(TokenKind::kInt);
  Advance();
  if (is_int) {
    const IntLiteral literal = buffer_.ints[index];
    return tree_.AddExpr(ExprKind::kInt, SpanFrom(first),
                         IntExpr{literal.value, literal.exceeds_i64});
  }
  return tree_.AddExpr(ExprKind::kFloat, SpanFrom(first),
                       FloatExpr{buffer_.floats[index]});
}

ExprId Parser::ParseNameExpr() {
  if (const auto op = AtReduction()) {
    if (Ahead(1).kind == TokenKind::kLeftBracket) {
      const size_t first = at_;
      Advance();
      return ParseReduction(first, *op, {});
    }
    if (Ahead(1).kind == TokenKind::kLess && !HasFailed(kTryReduction)) {
      const size_t first = at_;
      TypeNodeId type;
      if (TryReductionType(&type)) return ParseReduction(first, *op, type);
    }
  }
  const Ident name = ExpectName("a name");
  return tree_.AddExpr(ExprKind::kName, name.span, NameExpr{name.name});
}

ExprId Parser::ParseSome() {
  const size_t first = at_;
  Advance();
  if (!Expect(TokenKind::kLeftParen)) return {};
  const ExprId value = ParseExpr();
  if (!value.valid() || !Expect(TokenKind::kRightParen)) return {};
  return tree_.AddExpr(ExprKind::kSome, SpanFrom(first), SomeExpr{value});
}

// `(e)`, or a tuple of two or more.
ExprId Parser::ParseParen() {
  const size_t first = at_;
  Advance();
  if (At(TokenKind::kRightParen)) {
    Fail("an expression");
    return {};
  }
  Elements<ExprId> elements;
  const auto parse_one = [this](ExprId* element) {
    *element = ParseExpr();
    return element->valid();
  };
  if (!ParseList(TokenKind::kRightParen, &elements, parse_one)) return {};
  if (elements.size() > 1) {
    return tree_.AddExpr(ExprKind::kTuple, SpanFrom(first),
                         TupleExpr{tree_.AddList<ExprId>(elements)});
  }
  if (tokens_[at_ - 2].kind == TokenKind::kComma) {
    --at_;
    FailWith("a tuple has at least two elements");
    return {};
  }
  tree_.Parenthesize(elements[0], SpanFrom(first));
  return elements[0];
}

ExprId Parser::ParseShape() {
  const size_t first = at_;
  Advance();
  Elements<ExprId> elements;
  const auto parse_one = [this](ExprId* element) {
    *element = ParseExpr();
    return element->valid();
  };
  if (!ParseList(TokenKind::kRightBracket, &elements, parse_one)) return {};
  return tree_.AddExpr(ExprKind::kShape, SpanFrom(first),
                       ShapeExpr{tree_.AddList<ExprId>(elements)});
}

// -- Reductions
// ----------------------------------------------------------------

std::optional<ReductionKind> Parser::AtReduction() const {
  for (size_t i = 0; i < words_.reductions.size(); ++i) {
    if (AtName(words_.reductions[i])) return static_cast<ReductionKind>(i);
  }
  return std::nullopt;
}

// Reads `sum<f32>` when a `[` follows.
bool Parser::TryReductionType(TypeNodeId* type) {
  Attempt attempt(this, kTryReduction);
  Advance();
  Advance();  // The `<`.
  *type = ParseType();
  if (!type->valid() || !Accept(TokenKind::kGreater) ||
      !At(TokenKind::kLeftBracket)) {
    return false;
  }
  attempt.Keep();
  return true;
}

// At the `[`.
ExprId Parser::ParseReduction(size_t first, ReductionKind op, TypeNodeId type) {
  Advance();
  ReductionExpr expr;
  expr.op = op;
  expr.type = type;
  if (At(TokenKind::kRightBracket)) {
    Fail("the name of an index");
    return {};
  }
  Elements<Ident> indices;
  const auto parse_one = [this](Ident* index) {
    *index = ExpectName("the name of an index");
    return index->valid();
  };
  if (!ParseList(TokenKind::kRightBracket, &indices, parse_one)) return {};
  expr.indices = tree_.AddList<Ident>(indices);
  expr.body = ParseExpr();
  if (!expr.body.valid()) return {};
  return tree_.AddExpr(ExprKind::kReduction, SpanFrom(first), expr);
}

}  // namespace linnet::lang
