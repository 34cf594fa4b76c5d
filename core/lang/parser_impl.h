// The parser's class; only its own sources include this.
//
// A Parse…() function reads one construct at the current token. When it cannot,
// it reports what was expected (once: see Fail()) and returns an invalid id or
// false; its callers return at once, up to the loop over statements or items,
// which skips to where the next one begins.
//
// Two constructs are tried before they are certain, and undone when they do not
// work out: generic arguments (`name<…>(`, or else a comparison) and types in
// generic arguments (or else an expression). While an Attempt is open nothing
// is reported, and a failure at a token is remembered, so that it is not tried
// there again.

#ifndef LINNET_CORE_LANG_PARSER_IMPL_H_
#define LINNET_CORE_LANG_PARSER_IMPL_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "core/lang/lexer.h"
#include "core/lang/parser.h"
#include "core/lang/tree.h"

namespace linnet::lang {

class Parser {
 public:
  Parser(const Source& source, TokenBuffer tokens, NameTable& names,
         DiagnosticList& diagnostics, const Limits& limits);

  Tree Run();

 private:
  template <typename T>
  using Elements = absl::InlinedVector<T, 8>;

  // -- Tokens (parser.cc)
  // ------------------------------------------------------
  const Token& Here() const { return tokens_[at_]; }
  const Token& Ahead(size_t count) const {
    return tokens_[std::min(at_ + count, tokens_.size() - 1)];
  }
  bool At(TokenKind kind) const { return Here().kind == kind; }
  bool AtName(NameId name) const {
    return At(TokenKind::kName) && Here().value == name.index;
  }
  void Advance() {
    if (!At(TokenKind::kEnd)) ++at_;
  }
  bool Accept(TokenKind kind) {
    if (!At(kind)) return false;
    ++at_;
    return true;
  }
  // Reads `kind` or fails.
  bool Expect(TokenKind kind);
  // Reads a name, or a reserved word with E1004. Invalid when it fails.
  Ident ExpectName(absl::string_view what);
  bool AtIdent() const {
    return At(TokenKind::kName) || At(TokenKind::kReserved);
  }
  Span SpanAt(size_t token) const;
  Span HereSpan() const { return SpanAt(at_); }
  // From the token `first` to the last one read.
  Span SpanFrom(size_t first) const;
  std::string FoundText() const;  // How a message calls the current token.

  // -- Errors (parser.cc)
  // ------------------------------------------------------ E1101 "expected
  // `what`, found …" at the current token. Silent while trying, where an error
  // was already reported, and after nesting too deeply.
  void Fail(absl::string_view what);
  // E1101 with another message.
  void FailWith(std::string message, std::string help = "");
  // A mistake that does not stop the parser. Held back while trying.
  void Report(Code code, Span span, std::string message, std::string help = "");
  void Emit(Diagnostic diagnostic);
  bool IsSilent() const;

  // -- Nesting
  // ----------------------------------------------------------------- One level
  // deeper for as long as it lives.
  class Nest {
   public:
    explicit Nest(Parser* parser) : parser_(parser) {
      ok_ = parser->depth_ < parser->limits_.max_depth;
      if (!ok_) parser->TooDeep();
      ++parser->depth_;
      parser->deepest_ = std::max(parser->deepest_, parser->depth_);
    }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    ~Nest() { --parser_->depth_; }
    bool ok() const { return ok_; }

   private:
    Parser* parser_;
    bool ok_;
  };
  // Puts what was read since Chain began one level deeper, as the left operand
  // of an operator or suffix: a chain nests to the left, where no recursion
  // shows it. False when that is too deep.
  class Chain {
   public:
    explicit Chain(Parser* parser) : parser_(parser), outer_(parser->deepest_) {
      parser->deepest_ = parser->depth_;
    }
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;
    ~Chain() { parser_->deepest_ = std::max(outer_, parser_->deepest_); }
    bool Link() {
      if (++parser_->deepest_ <= parser_->limits_.max_depth) return true;
      parser_->TooDeep();
      return false;
    }

   private:
    Parser* parser_;
    int32_t outer_;
  };
  void TooDeep();

  // -- Trying
  // ------------------------------------------------------------------
  enum Try : uint8_t { kTryType = 1, kTryCall = 2, kTryReduction = 4 };
  // Undoes everything when it goes out of scope, unless it was kept, and
  // remembers the failure.
  class Attempt {
   public:
    Attempt(Parser* parser, Try what);
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
    ~Attempt();
    void Keep();

   private:
    Parser* parser_;
    Try what_;
    size_t at_;
    size_t held_back_;
    int32_t deepest_;
    Tree::Mark mark_;
    bool kept_ = false;
  };
  bool HasFailed(Try what) const { return (failed_[at_] & what) != 0; }

  // -- Lists
  // ------------------------------------------------------------------- Reads
  // `parse_one ,…` up to and with `close`; a trailing comma is allowed.
  // `parse_one(T*)` returns false when it fails.
  template <typename T, typename ParseOne>
  bool ParseList(TokenKind close, Elements<T>* out, ParseOne parse_one) {
    while (!Accept(close)) {
      T element;
      if (!parse_one(&element)) return false;
      out->push_back(std::move(element));
      if (Accept(TokenKind::kComma)) continue;
      if (At(close)) continue;
      Fail(ListEnd(close));
      return false;
    }
    return true;
  }
  static absl::string_view ListEnd(TokenKind close);

  // -- Files and items (parser.cc, parse_item.cc, parse_function.cc)
  // -----------
  void ParseModule();
  void ParseTopLevel(Elements<UseNode>* uses, Elements<ItemId>* items);
  void ParseUse(Elements<UseNode>* uses);
  bool ParseSelectors(UseNode* use);
  bool ParseDotPath(Elements<Ident>* path);
  bool AtItem() const;
  // At a `pub` or an item keyword. Invalid: failed, or reported and left out.
  ItemId ParseItem();
  ItemId ParseConst(bool is_public, size_t first);
  ItemId ParseAlias(bool is_public, size_t first);
  ItemId ParseStruct(bool is_public, size_t first);
  ItemId ParseEnum(bool is_public, size_t first);
  bool ParseVariant(Ident* variant);
  ItemId ParseFunction(ItemKind kind, bool is_public, size_t first);
  bool ParseFunctionHeader(ItemKind kind, FunctionItem* fn);
  bool ParseOpResult(FunctionItem* fn);
  bool ParseKernelHeader(FunctionItem* fn);
  bool ParseKernelOption(FunctionItem* fn);
  bool ParseGrad(ItemKind kind, FunctionItem* fn);
  ItemId ParseBlock(bool is_public, size_t first);
  bool AtMember() const;
  // False when nothing was read, with the parser at the next part.
  bool ParseBlockPart(Elements<MemberNode>* members, Elements<ItemId>* items);
  bool ParseMember(MemberNode* member);
  bool ParseGenerics(NodeList<GenericNode>* generics);
  bool ParseGeneric(GenericNode* generic);
  std::optional<GenericKind> ParseGenericKind();
  bool ParseParams(NodeList<ParamNode>* params);
  bool ParseParam(ParamNode* param);
  bool ParseField(FieldNode* field);
  bool ParseWhere(NodeList<ExprId>* where);
  void ParseExtern();
  // Skips to where the next item (or, in a block, member) may begin after a
  // failure in the one that began at `first`.
  void RecoverItem(size_t first, bool in_block);
  // Reads a `,` or `;` where nothing separates, and reports the first.
  bool SkipSeparator(bool* reported, absl::string_view what);

  // -- Statements and patterns (parse_stmt.cc)
  // ---------------------------------
  // `{ … }`. False only when there is no `{`, while trying, or when an error
  // has to reach the outermost body.
  bool ParseBody(NodeList<StmtId>* body, Span* end = nullptr);
  bool ParseStmts(NodeList<StmtId>* body);
  StmtId ParseStmt();
  StmtId ParseLet(size_t first);
  StmtId ParseComprehension(size_t first);
  StmtId ParseVar(size_t first);
  StmtId ParseAssign(size_t first);
  StmtId ParseReturn(size_t first);
  StmtId ParseStaticFor(size_t first);
  StmtId ParseFor(size_t first);
  bool ParseRangeLoop(Ident* variable, ExprId* start, ExprId* stop,
                      NodeList<StmtId>* body);
  StmtId ParseWhile(size_t first);
  StmtId ParseYield(size_t first);
  StmtId ParseStore(size_t first, StoreWord word);
  // Both look at a token before the last.
  std::optional<StoreWord> AtStore(size_t token) const;
  bool AtAssign(size_t token) const;
  bool BeginsStmt(bool in_brackets) const;
  void RecoverStmt(size_t first);
  PatternId ParsePattern();
  PatternId ParseTuplePattern();
  bool ParseTypeAnnotation(TypeNodeId* type);  // `(':' Type)?`

  // -- Expressions (parse_expr.cc, parse_primary.cc)
  // ---------------------------
  ExprId ParseExpr();
  bool BeginsExpr() const;
  ExprId ParseBinary(int min_level);
  ExprId ParseAdditive();  // The levels of `+` and tighter.
  ExprId ParseUnary();
  ExprId ParsePostfix();
  ExprId ParseMemberSuffix(size_t first, ExprId base);
  ExprId ParseIndexSuffix(size_t first, ExprId base);
  ExprId ParseCall(size_t first, ExprId callee,
                   NodeList<GenericArgNode> generics);
  bool ParseArg(ArgNode* arg);
  bool TryCallGenerics(ExprId callee, NodeList<GenericArgNode>* generics);
  bool ParseComponent(ComponentNode* component);
  bool ParseExprOrSlice(ComponentNode* component);
  ExprId ParsePrimary();
  ExprId ParseNumber();
  ExprId ParseNameExpr();
  ExprId ParseSome();
  ExprId ParseParen();
  ExprId ParseShape();
  ExprId ParseIf();
  bool ParseBranch(ExprId* value);
  ExprId ParseMatch();
  bool ParseArm(ArmNode* arm);
  ExprId ParseForValue();
  std::optional<ReductionKind> AtReduction() const;
  ExprId ParseReduction(size_t first, ReductionKind op, TypeNodeId type);
  bool TryReductionType(TypeNodeId* type);

  // -- Types (parse_type.cc)
  // ---------------------------------------------------
  TypeNodeId ParseType();
  TypeNodeId ParsePlainType();
  TypeNodeId ParseTensorType();
  bool ParseUnit(UnitNode* unit);
  TypeNodeId ParseTupleType();
  TypeNodeId ParseArrayType();
  TypeNodeId ParseNamedType();
  bool ParseGenericArgs(NodeList<GenericArgNode>* args);  // After `<`.
  bool ParseTypeOrExpr(GenericArgNode* arg);

  // Words that are special in one place only.
  struct Contextual {
    explicit Contextual(NameTable& names);
    NameId tensor, grad, grid, warps, stages;
    std::array<NameId, 6> reductions;  // In the order of ReductionKind.
    std::array<NameId, 6> kinds;       // In the order of GenericKind.
    std::array<NameId, 4> stores;      // In the order of StoreWord.
  };

  const Source& source_;
  NameTable& names_;
  DiagnosticList& diagnostics_;
  const Limits limits_;
  const TokenBuffer buffer_;
  const std::vector<Token>& tokens_;
  const Contextual words_;
  Tree tree_;
  size_t at_ = 0;  // The current token.

  // Where errors were reported, in bytes: one token has one syntax error.
  absl::flat_hash_set<int32_t> places_;
  bool too_deep_ = false;  // Since the last recovery.
  int32_t depth_ = 0;
  int32_t deepest_ = 0;  // What any node read lately lies at; see Chain.

  int trying_ = 0;                     // Open attempts.
  std::vector<Diagnostic> held_back_;  // Reported while trying.
  std::vector<uint8_t> failed_;        // Per token: a set of Try.

  bool in_kernel_ = false;
  int open_bodies_ = 0;
  int unclosed_ = 0;  // Bodies that ended before their `}`.
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_PARSER_IMPL_H_
