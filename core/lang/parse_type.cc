// Types and generic arguments.

#include "core/lang/parser_impl.h"

namespace linnet::lang {

TypeNodeId Parser::ParseType() {
  Nest nest(this);
  if (!nest.ok()) return {};
  const size_t first = at_;
  Chain chain(this);
  const TypeNodeId type = ParsePlainType();
  if (!type.valid() || !At(TokenKind::kQuestion)) return type;
  if (!chain.Link()) return {};
  Advance();
  return tree_.AddType(TypeExprKind::kOptional, SpanFrom(first),
                       OptionalTypeExpr{type});
}

TypeNodeId Parser::ParsePlainType() {
  if (AtName(words_.tensor) && Ahead(1).kind == TokenKind::kLeftBracket) {
    return ParseTensorType();
  }
  switch (Here().kind) {
    case TokenKind::kLeftParen:
      return ParseTupleType();
    case TokenKind::kLeftBracket:
      return ParseArrayType();
    default:
      return ParseNamedType();
  }
}

TypeNodeId Parser::ParseTensorType() {
  const size_t first = at_;
  Advance();
  Advance();  // The `[`.
  Elements<UnitNode> units;
  if (At(TokenKind::kSemicolon)) {
    Report(Code::kE1103, SpanFrom(first), "a tensor type has a dimension",
           "a single value is written as its dtype, such as `f32`");
    Advance();
  } else if (!ParseList(TokenKind::kSemicolon, &units,
                        [this](UnitNode* unit) { return ParseUnit(unit); })) {
    return {};
  }
  if (!AtIdent()) {
    Fail("the dtype of the tensor");
    return {};
  }
  const TypeNodeId element = ParseNamedType();
  if (!element.valid() || !Expect(TokenKind::kRightBracket)) return {};
  if (units.empty()) return element;
  return tree_.AddType(TypeExprKind::kTensor, SpanFrom(first),
                       TensorTypeExpr{tree_.AddList<UnitNode>(units), element});
}

bool Parser::ParseUnit(UnitNode* unit) {
  const size_t first = at_;
  if (Accept(TokenKind::kStar)) {
    unit->pack = ExpectName("the name of a shape parameter");
    unit->span = SpanFrom(first);
    return unit->pack.valid();
  }
  unit->dim = ParseExpr();
  unit->span = SpanFrom(first);
  return unit->dim.valid();
}

TypeNodeId Parser::ParseTupleType() {
  const size_t first = at_;
  Advance();
  Elements<TypeNodeId> elements;
  const auto parse_one = [this](TypeNodeId* element) {
    *element = ParseType();
    return element->valid();
  };
  if (!ParseList(TokenKind::kRightParen, &elements, parse_one)) return {};
  if (elements.size() < 2) {
    --at_;
    FailWith("a tuple type has at least two elements",
             elements.empty() ? "" : "write the type without parentheses");
    return {};
  }
  return tree_.AddType(TypeExprKind::kTuple, SpanFrom(first),
                       TupleTypeExpr{tree_.AddList<TypeNodeId>(elements)});
}

TypeNodeId Parser::ParseArrayType() {
  const size_t first = at_;
  Advance();
  ArrayTypeExpr array;
  array.element = ParseType();
  if (!array.element.valid() || !Expect(TokenKind::kSemicolon)) return {};
  array.count = ParseExpr();
  if (!array.count.valid() || !Expect(TokenKind::kRightBracket)) return {};
  return tree_.AddType(TypeExprKind::kArray, SpanFrom(first), array);
}

TypeNodeId Parser::ParseNamedType() {
  const size_t first = at_;
  if (!AtIdent()) {
    Fail("a type");
    return {};
  }
  Elements<Ident> path;
  if (!ParseDotPath(&path)) return {};
  NamedTypeExpr named;
  named.path = tree_.AddList<Ident>(path);
  if (Accept(TokenKind::kLess) && !ParseGenericArgs(&named.args)) return {};
  return tree_.AddType(TypeExprKind::kNamed, SpanFrom(first), named);
}

bool Parser::ParseGenericArgs(NodeList<GenericArgNode>* args) {
  if (At(TokenKind::kGreater)) {
    Fail("a generic argument");
    return false;
  }
  Elements<GenericArgNode> parsed;
  if (!ParseList(TokenKind::kGreater, &parsed, [this](GenericArgNode* arg) {
        return ParseTypeOrExpr(arg);
      })) {
    return false;
  }
  *args = tree_.AddList<GenericArgNode>(parsed);
  return true;
}

bool Parser::ParseTypeOrExpr(GenericArgNode* arg) {
  const size_t first = at_;
  if (!HasFailed(kTryType)) {
    Attempt attempt(this, kTryType);
    arg->type = ParseType();
    if (arg->type.valid() &&
        (At(TokenKind::kComma) || At(TokenKind::kGreater))) {
      attempt.Keep();
      arg->span = SpanFrom(first);
      return true;
    }
  }
  arg->type = {};
  arg->expr = ParseAdditive();
  arg->span = SpanFrom(first);
  return arg->expr.valid();
}

}  // namespace linnet::lang
