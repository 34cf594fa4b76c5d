#include "core/lang/parser.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/lang/parser_impl.h"
#include "core/lang/utf8.h"

namespace linnet::lang {

Parser::Contextual::Contextual(NameTable& names)
    : tensor(names.Intern("Tensor")),
      grad(names.Intern("grad")),
      grid(names.Intern("grid")),
      warps(names.Intern("warps")),
      stages(names.Intern("stages")),
      reductions{names.Intern("sum"), names.Intern("prod"),
                 names.Intern("max"), names.Intern("min"),
                 names.Intern("any"), names.Intern("all")},
      kinds{names.Intern("Dim"),     names.Intern("Shape"),
            names.Intern("DType"),   names.Intern("Numeric"),
            names.Intern("Integer"), names.Intern("Float")},
      stores{names.Intern("store"), names.Intern("atomic_add"),
             names.Intern("atomic_max"), names.Intern("atomic_min")} {}

Parser::Parser(const Source& source, TokenBuffer tokens, NameTable& names,
               DiagnosticList& diagnostics, const Limits& limits)
    : source_(source),
      names_(names),
      diagnostics_(diagnostics),
      limits_(limits),
      buffer_(std::move(tokens)),
      tokens_(buffer_.tokens),
      words_(names),
      failed_(buffer_.tokens.size(), 0) {
  tree_.file = source.id();
  tree_.doc_comments = buffer_.doc_comments;
  tree_.Reserve(buffer_.tokens.size());
}

// -- Tokens
// --------------------------------------------------------------------

bool Parser::Expect(TokenKind kind) {
  if (Accept(kind)) return true;
  Fail(TokenText(kind));
  return false;
}

Ident Parser::ExpectName(absl::string_view what) {
  if (!AtIdent()) {
    Fail(what);
    return {};
  }
  const Ident ident{NameId{Here().value}, HereSpan()};
  if (At(TokenKind::kReserved)) {
    Report(Code::kE1004, ident.span,
           absl::StrCat("`", names_.text(ident.name), "` is a reserved word"),
           "choose another name");
  }
  Advance();
  return ident;
}

Span Parser::SpanAt(size_t token) const {
  return {source_.id(), tokens_[token].begin, tokens_[token].end};
}

Span Parser::SpanFrom(size_t first) const {
  return Join(SpanAt(first), SpanAt(at_ > first ? at_ - 1 : first));
}

std::string Parser::FoundText() const {
  const Token& token = Here();
  switch (token.kind) {
    case TokenKind::kName:
    case TokenKind::kReserved:
    case TokenKind::kInt:
    case TokenKind::kFloat: {
      constexpr size_t kShown = 40;
      const absl::string_view text = source_.text(HereSpan());
      if (text.size() > kShown) return std::string(TokenText(token.kind));
      return absl::StrCat("`", text, "`");
    }
    default:
      return std::string(TokenText(token.kind));
  }
}

// -- Errors
// --------------------------------------------------------------------

bool Parser::IsSilent() const {
  return trying_ > 0 || too_deep_ || places_.contains(Here().begin) ||
         At(TokenKind::kError) || (At(TokenKind::kEnd) && Here().value != 0);
}

void Parser::Fail(absl::string_view what) {
  if (IsSilent()) return;
  FailWith(absl::StrCat("expected ", what, ", found ", FoundText()));
}

void Parser::FailWith(std::string message, std::string help) {
  if (IsSilent()) return;
  Report(Code::kE1101, HereSpan(), std::move(message), std::move(help));
}

void Parser::Report(Code code, Span span, std::string message,
                    std::string help) {
  if (too_deep_) return;
  Diagnostic diagnostic{code, std::move(message), span, {}, {}, {}, {}};
  if (!help.empty()) diagnostic.Help(std::move(help));
  if (trying_ > 0) {
    held_back_.push_back(std::move(diagnostic));
  } else {
    Emit(std::move(diagnostic));
  }
}

void Parser::Emit(Diagnostic diagnostic) {
  const bool first = places_.insert(diagnostic.primary.begin).second;
  if (first || diagnostic.code == Code::kE1004) {
    diagnostics_.Add(std::move(diagnostic));
  }
}

void Parser::TooDeep() {
  if (trying_ > 0) return;
  FailWith(absl::StrCat("nested more than ", limits_.max_depth, " deep"),
           "every link of a chain of operators or suffixes counts; split it "
           "with `let`");
  too_deep_ = true;
}

absl::string_view Parser::ListEnd(TokenKind close) {
  switch (close) {
    case TokenKind::kRightParen:
      return "`,` or `)`";
    case TokenKind::kRightBracket:
      return "`,` or `]`";
    case TokenKind::kGreater:
      return "`,` or `>`";
    default:
      return "`,` or `}`";
  }
}

// -- Trying
// --------------------------------------------------------------------

Parser::Attempt::Attempt(Parser* parser, Try what)
    : parser_(parser),
      what_(what),
      at_(parser->at_),
      held_back_(parser->held_back_.size()),
      deepest_(parser->deepest_),
      mark_(parser->tree_.mark()) {
  ++parser->trying_;
}

Parser::Attempt::~Attempt() {
  if (kept_) return;
  --parser_->trying_;
  parser_->tree_.CutBack(mark_);
  parser_->at_ = at_;
  parser_->deepest_ = deepest_;
  auto& held_back = parser_->held_back_;
  held_back.erase(held_back.begin() + static_cast<std::ptrdiff_t>(held_back_),
                  held_back.end());
  parser_->failed_[at_] |= what_;
}

void Parser::Attempt::Keep() {
  kept_ = true;
  if (--parser_->trying_ > 0) return;
  for (Diagnostic& diagnostic : parser_->held_back_) {
    parser_->Emit(std::move(diagnostic));
  }
  parser_->held_back_.clear();
}

// -- Files
// ---------------------------------------------------------------------

Tree Parser::Run() {
  ParseModule();
  Elements<UseNode> uses;
  while (At(TokenKind::kUse)) ParseUse(&uses);
  Elements<ItemId> items;
  while (!At(TokenKind::kEnd)) {
    const size_t first = at_;
    ParseTopLevel(&uses, &items);
    if (at_ == first) Advance();
  }
  tree_.uses = tree_.AddList<UseNode>(uses);
  tree_.items = tree_.AddList<ItemId>(items);
  return std::move(tree_);
}

void Parser::ParseModule() {
  if (!At(TokenKind::kModule)) {
    if (IsSilent()) return;
    Report(Code::kE1102, HereSpan(), "a file begins with a `module` line",
           "begin it with `module` and a name, such as `module net.layers`");
    return;
  }
  const size_t first = at_;
  Advance();
  Elements<Ident> path;
  if (ParseDotPath(&path)) {
    tree_.module_path = tree_.AddList<Ident>(path);
  } else {
    RecoverItem(first, /*in_block=*/false);
  }
}

bool Parser::ParseDotPath(Elements<Ident>* path) {
  do {
    const Ident ident = ExpectName("a name");
    if (!ident.valid()) return false;
    path->push_back(ident);
  } while (Accept(TokenKind::kDot));
  return true;
}

// At a token that is not the end.
void Parser::ParseTopLevel(Elements<UseNode>* uses, Elements<ItemId>* items) {
  const size_t first = at_;
  if (At(TokenKind::kUse)) {
    Report(Code::kE1101, HereSpan(), "imports stand before all items",
           "move this `use` to the top of the file");
    ParseUse(uses);
    return;
  }
  if (At(TokenKind::kRightBrace) && unclosed_ > 0) {
    --unclosed_;
    Advance();
    return;
  }
  const ItemId item = ParseItem();
  if (item.valid()) {
    items->push_back(item);
  } else {
    RecoverItem(first, /*in_block=*/false);
  }
}

void Parser::ParseUse(Elements<UseNode>* uses) {
  const size_t first = at_;
  Advance();
  UseNode use;
  bool keep = true;
  Elements<Ident> path;
  if (At(TokenKind::kSelf) || At(TokenKind::kSuper)) {
    Report(Code::kE1103, HereSpan(),
           absl::StrCat("an import cannot begin with `",
                        source_.text(HereSpan()), "`"),
           "begin it with `crate`, `std` or a dependency");
    keep = false;
    Advance();
  } else if (At(TokenKind::kCrate)) {
    path.push_back({names_.Intern("crate"), HereSpan()});
    Advance();
  } else {
    path.push_back(ExpectName("`crate`, `std` or the name of a dependency"));
    if (!path.back().valid()) return RecoverItem(first, /*in_block=*/false);
  }
  while (Accept(TokenKind::kDot)) {
    path.push_back(ExpectName("the name of a module"));
    if (!path.back().valid()) return RecoverItem(first, /*in_block=*/false);
  }
  if (Accept(TokenKind::kColonColon) && !ParseSelectors(&use)) {
    return RecoverItem(first, /*in_block=*/false);
  }
  use.path = tree_.AddList<Ident>(path);
  use.span = SpanFrom(first);
  if (keep) uses->push_back(use);
}

bool Parser::ParseSelectors(UseNode* use) {
  Elements<SelectorNode> selectors;
  const auto parse_one = [this](SelectorNode* selector) {
    selector->name = ExpectName("the name of an item");
    if (!selector->name.valid()) return false;
    if (!Accept(TokenKind::kAs)) return true;
    selector->alias = ExpectName("a name");
    return selector->alias.valid();
  };
  if (!Accept(TokenKind::kLeftBrace)) {
    selectors.emplace_back();
    selectors.back().name = ExpectName("the name of an item or `{`");
    if (!selectors.back().name.valid()) return false;
  } else {
    if (At(TokenKind::kRightBrace)) {
      Fail("the name of an item");
      return false;
    }
    if (!ParseList(TokenKind::kRightBrace, &selectors, parse_one)) return false;
  }
  use->selectors = tree_.AddList<SelectorNode>(selectors);
  return true;
}

Tree ParseFile(const Source& source, NameTable& names,
               DiagnosticList& diagnostics, const Limits& limits) {
  const int errors_before = diagnostics.num_errors();
  TokenBuffer tokens = Lex(source, names, diagnostics, limits);
  Tree tree =
      Parser(source, std::move(tokens), names, diagnostics, limits).Run();
  tree.has_errors = diagnostics.num_errors() > errors_before;
  return tree;
}

}  // namespace linnet::lang
