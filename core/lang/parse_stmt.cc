// Statements and patterns.

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/lang/parser_impl.h"

namespace linnet::lang {

bool Parser::ParseBody(NodeList<StmtId>* body, Span* end) {
  if (!Expect(TokenKind::kLeftBrace)) return false;
  ++open_bodies_;
  const bool ok = ParseStmts(body);
  --open_bodies_;
  if (!ok) return false;
  if (end != nullptr) *end = HereSpan();
  if (!Accept(TokenKind::kRightBrace)) ++unclosed_;
  return true;
}

// Up to the `}`, or to where it should have been.
bool Parser::ParseStmts(NodeList<StmtId>* body) {
  Elements<StmtId> stmts;
  bool reported = false;
  while (!At(TokenKind::kRightBrace)) {
    if (At(TokenKind::kEnd) || AtItem()) {
      Fail("a statement or `}`");
      if (trying_ > 0) return false;
      break;
    }
    if (SkipSeparator(&reported, "statements")) continue;
    const size_t first = at_;
    const StmtId stmt = ParseStmt();
    if (stmt.valid()) {
      stmts.push_back(stmt);
      continue;
    }
    if (trying_ > 0 || (too_deep_ && open_bodies_ > 1)) return false;
    RecoverStmt(first);
  }
  *body = tree_.AddList<StmtId>(stmts);
  return true;
}

StmtId Parser::ParseStmt() {
  Nest nest(this);
  if (!nest.ok()) return {};
  const size_t first = at_;
  switch (Here().kind) {
    case TokenKind::kLet:
      return ParseLet(first);
    case TokenKind::kVar:
      return ParseVar(first);
    case TokenKind::kReturn:
      return ParseReturn(first);
    case TokenKind::kStatic:
      return ParseStaticFor(first);
    case TokenKind::kFor:
      return ParseFor(first);
    case TokenKind::kWhile:
      return ParseWhile(first);
    case TokenKind::kYield:
      return ParseYield(first);
    default:
      break;
  }
  if (AtAssign(at_)) return ParseAssign(first);
  if (const auto word = AtStore(at_); word && in_kernel_) {
    return ParseStore(first, *word);
  }
  if (AtStore(at_)) {
    FailWith(absl::StrCat("`", source_.text(HereSpan()),
                          "` stands only in a kernel"));
  } else if (BeginsExpr()) {
    FailWith(absl::StrCat("expected a statement, found ", FoundText()),
             "an expression alone is no statement; bind it with `let`, or "
             "`return` it");
  } else {
    Fail("a statement");
  }
  return {};
}

StmtId Parser::ParseLet(size_t first) {
  Advance();
  if (AtIdent() && Ahead(1).kind == TokenKind::kLeftBracket) {
    return ParseComprehension(first);
  }
  LetStmt let;
  let.pattern = ParsePattern();
  if (!let.pattern.valid() || !ParseTypeAnnotation(&let.type) ||
      !Expect(TokenKind::kEquals)) {
    return {};
  }
  let.value = ParseExpr();
  if (!let.value.valid()) return {};
  return tree_.AddStmt(StmtKind::kLet, SpanFrom(first), let);
}

StmtId Parser::ParseComprehension(size_t first) {
  ComprehensionStmt stmt;
  stmt.name = ExpectName("a name");
  Advance();  // The `[`.
  if (At(TokenKind::kRightBracket)) {
    Fail("the name of an index");
    return {};
  }
  Elements<IndexVarNode> indices;
  const auto parse_one = [this](IndexVarNode* index) {
    index->is_pack = Accept(TokenKind::kStar);
    index->name = ExpectName("the name of an index");
    return index->name.valid();
  };
  if (!ParseList(TokenKind::kRightBracket, &indices, parse_one) ||
      !Expect(TokenKind::kEquals)) {
    return {};
  }
  stmt.indices = tree_.AddList<IndexVarNode>(indices);
  stmt.value = ParseExpr();
  if (!stmt.value.valid()) return {};
  return tree_.AddStmt(StmtKind::kComprehension, SpanFrom(first), stmt);
}

StmtId Parser::ParseVar(size_t first) {
  Advance();
  VarStmt stmt;
  stmt.name = ExpectName("the name of the variable");
  if (!stmt.name.valid() || !ParseTypeAnnotation(&stmt.type) ||
      !Expect(TokenKind::kEquals)) {
    return {};
  }
  stmt.value = ParseExpr();
  if (!stmt.value.valid()) return {};
  return tree_.AddStmt(StmtKind::kVar, SpanFrom(first), stmt);
}

StmtId Parser::ParseAssign(size_t first) {
  AssignStmt stmt;
  stmt.target = ExpectName("a name");
  Advance();  // The `=`.
  stmt.value = ParseExpr();
  if (!stmt.value.valid()) return {};
  return tree_.AddStmt(StmtKind::kAssign, SpanFrom(first), stmt);
}

StmtId Parser::ParseReturn(size_t first) {
  Advance();
  ReturnStmt stmt;
  if (BeginsExpr() && !AtAssign(at_)) {
    stmt.value = ParseExpr();
    if (!stmt.value.valid()) return {};
  }
  return tree_.AddStmt(StmtKind::kReturn, SpanFrom(first), stmt);
}

StmtId Parser::ParseStaticFor(size_t first) {
  Advance();
  if (!Expect(TokenKind::kFor)) return {};
  StaticForStmt stmt;
  stmt.pattern = ParsePattern();
  if (!stmt.pattern.valid() || !Expect(TokenKind::kIn)) return {};
  stmt.start = ParseExpr();
  if (!stmt.start.valid()) return {};
  if (Accept(TokenKind::kDotDot)) {
    stmt.stop = ParseExpr();
    if (!stmt.stop.valid()) return {};
  }
  if (!ParseBody(&stmt.body)) return {};
  return tree_.AddStmt(StmtKind::kStaticFor, SpanFrom(first), stmt);
}

bool Parser::ParseRangeLoop(Ident* variable, ExprId* start, ExprId* stop,
                            NodeList<StmtId>* body) {
  Advance();  // The `for`.
  *variable = ExpectName("the name of the loop variable");
  if (!variable->valid() || !Expect(TokenKind::kIn)) return false;
  *start = ParseExpr();
  if (!start->valid() || !Expect(TokenKind::kDotDot)) return false;
  *stop = ParseExpr();
  return stop->valid() && ParseBody(body);
}

StmtId Parser::ParseFor(size_t first) {
  ForStmt stmt;
  if (!ParseRangeLoop(&stmt.variable, &stmt.start, &stmt.stop, &stmt.body)) {
    return {};
  }
  return tree_.AddStmt(StmtKind::kFor, SpanFrom(first), stmt);
}

StmtId Parser::ParseWhile(size_t first) {
  Advance();
  WhileStmt stmt;
  stmt.condition = ParseExpr();
  if (!stmt.condition.valid() || !ParseBody(&stmt.body)) return {};
  return tree_.AddStmt(StmtKind::kWhile, SpanFrom(first), stmt);
}

StmtId Parser::ParseYield(size_t first) {
  Advance();
  YieldStmt stmt;
  stmt.value = ParseExpr();
  if (!stmt.value.valid()) return {};
  return tree_.AddStmt(StmtKind::kYield, SpanFrom(first), stmt);
}

StmtId Parser::ParseStore(size_t first, StoreWord word) {
  const Span name = HereSpan();
  Advance();
  Advance();  // The `(`.
  Elements<ExprId> args;
  const auto parse_one = [this](ExprId* expr) {
    *expr = ParseExpr();
    return expr->valid();
  };
  if (!ParseList(TokenKind::kRightParen, &args, parse_one)) return {};
  if (args.size() < 2 || args.size() > 3) {
    Report(Code::kE1101, name,
           absl::StrCat("`", source_.text(name),
                        "` takes two or three arguments"));
    return {};
  }
  StoreStmt stmt;
  stmt.word = word;
  stmt.args = tree_.AddList<ExprId>(args);
  return tree_.AddStmt(StmtKind::kStore, SpanFrom(first), stmt);
}

bool Parser::ParseTypeAnnotation(TypeNodeId* type) {
  if (!Accept(TokenKind::kColon)) return true;
  *type = ParseType();
  return type->valid();
}

// -- Where statements begin
// ----------------------------------------------------

std::optional<StoreWord> Parser::AtStore(size_t token) const {
  const Token& word = tokens_[token];
  if (word.kind != TokenKind::kName ||
      tokens_[token + 1].kind != TokenKind::kLeftParen) {
    return std::nullopt;
  }
  for (size_t i = 0; i < words_.stores.size(); ++i) {
    if (word.value == words_.stores[i].index) return static_cast<StoreWord>(i);
  }
  return std::nullopt;
}

bool Parser::AtAssign(size_t token) const {
  const TokenKind kind = tokens_[token].kind;
  return (kind == TokenKind::kName || kind == TokenKind::kReserved) &&
         tokens_[token + 1].kind == TokenKind::kEquals;
}

// Skips to where the next statement may begin after a failure in the one that
// began at `first`: at its level of braces, and for a statement that begins
// with a name, of other brackets too.
void Parser::RecoverStmt(size_t first) {
  int64_t braces = 0;
  int64_t brackets = 0;
  const auto count = [&](size_t token) {
    switch (tokens_[token].kind) {
      case TokenKind::kLeftBrace:
        ++braces;
        break;
      case TokenKind::kRightBrace:
        if (braces > 0) --braces;
        break;
      case TokenKind::kLeftParen:
      case TokenKind::kLeftBracket:
        ++brackets;
        break;
      case TokenKind::kRightParen:
      case TokenKind::kRightBracket:
        if (brackets > 0) --brackets;
        break;
      default:
        break;
    }
  };
  for (size_t token = first; token < at_; ++token) count(token);
  for (; !At(TokenKind::kEnd); Advance()) {
    if (braces == 0) {
      if (At(TokenKind::kRightBrace) || AtItem()) break;
      if (at_ > first && BeginsStmt(brackets > 0)) break;
    }
    count(at_);
  }
  too_deep_ = false;
}

bool Parser::BeginsStmt(bool in_brackets) const {
  switch (Here().kind) {
    case TokenKind::kLet:
    case TokenKind::kVar:
    case TokenKind::kReturn:
    case TokenKind::kStatic:
    case TokenKind::kFor:
    case TokenKind::kWhile:
    case TokenKind::kYield:
      return true;
    default:
      return !in_brackets &&
             (AtAssign(at_) || (in_kernel_ && AtStore(at_).has_value()));
  }
}

// -- Patterns
// ------------------------------------------------------------------

PatternId Parser::ParsePattern() {
  Nest nest(this);
  if (!nest.ok()) return {};
  const size_t first = at_;
  switch (Here().kind) {
    case TokenKind::kNone:
      Advance();
      return tree_.AddPattern(PatternKind::kNone, SpanFrom(first),
                              NonePattern{});
    case TokenKind::kSome: {
      Advance();
      if (!Expect(TokenKind::kLeftParen)) return {};
      const PatternId inner = ParsePattern();
      if (!inner.valid() || !Expect(TokenKind::kRightParen)) return {};
      return tree_.AddPattern(PatternKind::kSome, SpanFrom(first),
                              SomePattern{inner});
    }
    case TokenKind::kLeftParen:
      return ParseTuplePattern();
    default: {
      const Ident name = ExpectName("a pattern");
      if (!name.valid()) return {};
      return tree_.AddPattern(PatternKind::kName, name.span, NamePattern{name});
    }
  }
}

PatternId Parser::ParseTuplePattern() {
  const size_t first = at_;
  Advance();
  if (At(TokenKind::kRightParen)) {
    Fail("a pattern");
    return {};
  }
  Elements<PatternId> elements;
  const auto parse_one = [this](PatternId* element) {
    *element = ParsePattern();
    return element->valid();
  };
  if (!ParseList(TokenKind::kRightParen, &elements, parse_one)) return {};
  if (elements.size() == 1) return elements[0];
  return tree_.AddPattern(PatternKind::kTuple, SpanFrom(first),
                          TuplePattern{tree_.AddList<PatternId>(elements)});
}

}  // namespace linnet::lang
