// Items other than functions.

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/lang/parser_impl.h"

namespace linnet::lang {
namespace {

bool IsItemKeyword(TokenKind kind) {
  switch (kind) {
    case TokenKind::kPub:
    case TokenKind::kConst:
    case TokenKind::kType:
    case TokenKind::kStruct:
    case TokenKind::kEnum:
    case TokenKind::kFn:
    case TokenKind::kOp:
    case TokenKind::kEntry:
    case TokenKind::kKernel:
    case TokenKind::kBlock:
    case TokenKind::kExtern:
    case TokenKind::kUse:
      return true;
    default:
      return false;
  }
}

std::optional<MemberKind> MemberKindOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kParam:
      return MemberKind::kParam;
    case TokenKind::kBuffer:
      return MemberKind::kBuffer;
    case TokenKind::kState:
      return MemberKind::kState;
    case TokenKind::kSub:
      return MemberKind::kSub;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Parser::AtItem() const { return IsItemKeyword(Here().kind); }

bool Parser::AtMember() const { return MemberKindOf(Here().kind).has_value(); }

ItemId Parser::ParseItem() {
  Nest nest(this);
  if (!nest.ok()) return {};
  const size_t first = at_;
  const bool is_public = Accept(TokenKind::kPub);
  switch (Here().kind) {
    case TokenKind::kConst:
      return ParseConst(is_public, first);
    case TokenKind::kType:
      return ParseAlias(is_public, first);
    case TokenKind::kStruct:
      return ParseStruct(is_public, first);
    case TokenKind::kEnum:
      return ParseEnum(is_public, first);
    case TokenKind::kFn:
      return ParseFunction(ItemKind::kFn, is_public, first);
    case TokenKind::kOp:
      return ParseFunction(ItemKind::kOp, is_public, first);
    case TokenKind::kEntry:
      return ParseFunction(ItemKind::kEntry, is_public, first);
    case TokenKind::kKernel:
      return ParseFunction(ItemKind::kKernel, is_public, first);
    case TokenKind::kBlock:
      return ParseBlock(is_public, first);
    case TokenKind::kExtern:
      ParseExtern();
      return {};
    default:
      break;
  }
  if (AtMember()) {
    FailWith(absl::StrCat("`", source_.text(HereSpan()),
                          "` stands only in a block"));
  } else {
    Fail("an item, such as `fn` or `block`");
  }
  return {};
}

void Parser::ParseExtern() {
  Report(Code::kE1103, HereSpan(), "`extern` is reserved and not supported");
  Advance();
  if (AtItem()) Advance();  // The caller skips the rest of this item.
}

ItemId Parser::ParseConst(bool is_public, size_t first) {
  Advance();
  ConstItem item;
  const Ident name = ExpectName("the name of the constant");
  if (!name.valid() || !ParseTypeAnnotation(&item.type) ||
      !Expect(TokenKind::kEquals)) {
    return {};
  }
  item.value = ParseExpr();
  if (!item.value.valid()) return {};
  return tree_.AddItem(ItemKind::kConst, is_public, name, SpanFrom(first),
                       item);
}

ItemId Parser::ParseAlias(bool is_public, size_t first) {
  Advance();
  AliasItem item;
  const Ident name = ExpectName("the name of the type");
  if (!name.valid() || !ParseGenerics(&item.generics) ||
      !Expect(TokenKind::kEquals)) {
    return {};
  }
  item.type = ParseType();
  if (!item.type.valid()) return {};
  return tree_.AddItem(ItemKind::kAlias, is_public, name, SpanFrom(first),
                       item);
}

ItemId Parser::ParseStruct(bool is_public, size_t first) {
  Advance();
  StructItem item;
  const Ident name = ExpectName("the name of the struct");
  if (!name.valid() || !ParseGenerics(&item.generics) ||
      !Expect(TokenKind::kLeftBrace)) {
    return {};
  }
  Elements<FieldNode> fields;
  bool reported = false;
  while (!Accept(TokenKind::kRightBrace)) {
    if (SkipSeparator(&reported, "struct fields")) continue;
    if (!AtIdent()) {
      Fail("the name of a field or `}`");
      return {};
    }
    if (!ParseField(&fields.emplace_back())) return {};
  }
  item.fields = tree_.AddList<FieldNode>(fields);
  return tree_.AddItem(ItemKind::kStruct, is_public, name, SpanFrom(first),
                       item);
}

bool Parser::ParseField(FieldNode* field) {
  const size_t first = at_;
  field->name = ExpectName("a name");
  if (!field->name.valid() || !Expect(TokenKind::kColon)) return false;
  field->type = ParseType();
  field->span = SpanFrom(first);
  return field->type.valid();
}

bool Parser::SkipSeparator(bool* reported, absl::string_view what) {
  if (!At(TokenKind::kComma) && !At(TokenKind::kSemicolon)) return false;
  if (!*reported) {
    Report(Code::kE1101, HereSpan(),
           absl::StrCat(what, " are separated by nothing"),
           absl::StrCat("leave out the ", TokenText(Here().kind)));
  }
  *reported = true;
  Advance();
  return true;
}

ItemId Parser::ParseEnum(bool is_public, size_t first) {
  Advance();
  EnumItem item;
  const Ident name = ExpectName("the name of the enum");
  if (!name.valid() || !ParseGenerics(&item.generics) ||
      !Expect(TokenKind::kLeftBrace)) {
    return {};
  }
  Elements<Ident> variants;
  if (!ParseList(TokenKind::kRightBrace, &variants,
                 [this](Ident* variant) { return ParseVariant(variant); })) {
    return {};
  }
  item.variants = tree_.AddList<Ident>(variants);
  return tree_.AddItem(ItemKind::kEnum, is_public, name, SpanFrom(first), item);
}

bool Parser::ParseVariant(Ident* variant) {
  *variant = ExpectName("the name of a variant");
  if (!variant->valid()) return false;
  if (!At(TokenKind::kLeftParen)) return true;
  Report(Code::kE1103, variant->span, "a variant cannot hold a value");
  int64_t open = 0;
  do {
    if (At(TokenKind::kLeftParen)) ++open;
    if (At(TokenKind::kRightParen)) --open;
    if (At(TokenKind::kEnd) || AtItem()) return false;
    Advance();
  } while (open > 0);
  return true;
}

ItemId Parser::ParseBlock(bool is_public, size_t first) {
  Advance();
  BlockItem item;
  const Ident name = ExpectName("the name of the block");
  if (!name.valid() || !ParseGenerics(&item.generics) ||
      !ParseWhere(&item.where) || !Expect(TokenKind::kLeftBrace)) {
    return {};
  }
  Elements<MemberNode> members;
  Elements<ItemId> items;
  bool reported = false;
  while (!Accept(TokenKind::kRightBrace)) {
    if (At(TokenKind::kEnd)) {
      Fail("a member, an item or `}`");
      break;
    }
    if (SkipSeparator(&reported, "the members of a block")) continue;
    if (!ParseBlockPart(&members, &items)) {
      if (too_deep_) return {};
    }
  }
  item.members = tree_.AddList<MemberNode>(members);
  item.items = tree_.AddList<ItemId>(items);
  return tree_.AddItem(ItemKind::kBlock, is_public, name, SpanFrom(first),
                       item);
}

bool Parser::ParseBlockPart(Elements<MemberNode>* members,
                            Elements<ItemId>* items) {
  const size_t first = at_;
  if (At(TokenKind::kPub) && MemberKindOf(Ahead(1).kind)) {
    Report(Code::kE1101, HereSpan(), "a member cannot be `pub`",
           "members can be read wherever the block can be reached");
    Advance();
  }
  if (AtMember()) {
    MemberNode member;
    if (ParseMember(&member)) {
      members->push_back(member);
      return true;
    }
  } else if (At(TokenKind::kUse)) {
    FailWith("imports stand at the top of the file");
  } else {
    const ItemId item = ParseItem();
    if (item.valid()) {
      items->push_back(item);
      return true;
    }
  }
  if (!too_deep_) RecoverItem(first, /*in_block=*/true);
  return false;
}

bool Parser::ParseMember(MemberNode* member) {
  const size_t first = at_;
  member->kind = *MemberKindOf(Here().kind);
  Advance();
  member->name = ExpectName("the name of the member");
  if (!member->name.valid() || !Expect(TokenKind::kColon)) return false;
  member->type = ParseType();
  if (!member->type.valid()) return false;
  const Span equals = HereSpan();
  if (Accept(TokenKind::kEquals)) {
    member->default_value = ParseExpr();
    if (!member->default_value.valid()) return false;
    if (member->kind == MemberKind::kBuffer ||
        member->kind == MemberKind::kState) {
      Report(Code::kE1101, equals,
             absl::StrCat(
                 "a ", member->kind == MemberKind::kState ? "state" : "buffer",
                 " cannot have a default"));
      member->default_value = {};
    }
  }
  member->span = SpanFrom(first);
  return true;
}

void Parser::RecoverItem(size_t first, bool in_block) {
  int64_t open = 0;
  const auto count = [this, &open](size_t token) {
    if (tokens_[token].kind == TokenKind::kLeftBrace) ++open;
    if (tokens_[token].kind == TokenKind::kRightBrace && open > 0) --open;
  };
  for (size_t token = first; token < at_; ++token) count(token);
  for (; !At(TokenKind::kEnd); Advance()) {
    if (open == 0 && in_block && At(TokenKind::kRightBrace)) break;
    if (open == 0 && at_ > first) {
      if (in_block && AtMember()) break;
      // A `kernel` may also be a part of an op's header.
      const bool item =
          AtItem() && (!At(TokenKind::kKernel) ||
                       tokens_[at_ - 1].kind == TokenKind::kRightBrace);
      if (item) break;
    }
    count(at_);
  }
  too_deep_ = false;
}

// -- Generics
// ------------------------------------------------------------------

bool Parser::ParseGenerics(NodeList<GenericNode>* generics) {
  if (!Accept(TokenKind::kLess)) return true;
  if (At(TokenKind::kGreater)) {
    Fail("the name of a generic parameter");
    return false;
  }
  Elements<GenericNode> parsed;
  if (!ParseList(TokenKind::kGreater, &parsed, [this](GenericNode* generic) {
        return ParseGeneric(generic);
      })) {
    return false;
  }
  *generics = tree_.AddList<GenericNode>(parsed);
  return true;
}

bool Parser::ParseGeneric(GenericNode* generic) {
  const size_t first = at_;
  generic->is_pack = Accept(TokenKind::kStar);
  generic->name = ExpectName("the name of a generic parameter");
  if (!generic->name.valid() || !Expect(TokenKind::kColon)) return false;
  const std::optional<GenericKind> kind = ParseGenericKind();
  if (!kind) return false;
  generic->kind = *kind;
  generic->has_default = Accept(TokenKind::kEquals);
  if (generic->has_default && !ParseTypeOrExpr(&generic->default_value)) {
    return false;
  }
  generic->span = SpanFrom(first);
  return true;
}

std::optional<GenericKind> Parser::ParseGenericKind() {
  for (size_t i = 0; i < words_.kinds.size(); ++i) {
    if (AtName(words_.kinds[i])) {
      Advance();
      return static_cast<GenericKind>(i);
    }
  }
  if (!At(TokenKind::kName)) {
    Fail(
        "the kind of the generic parameter: `Dim`, `Shape`, `DType`, "
        "`Numeric`, `Integer` or `Float`");
    return std::nullopt;
  }
  Report(Code::kE1101, HereSpan(),
         absl::StrCat("`", source_.text(HereSpan()),
                      "` is no kind of generic parameter"),
         "the kinds are `Dim`, `Shape`, `DType`, `Numeric`, `Integer` and "
         "`Float`");
  Advance();
  return GenericKind::kDim;
}

bool Parser::ParseWhere(NodeList<ExprId>* where) {
  if (!Accept(TokenKind::kWhere)) return true;
  Elements<ExprId> clauses;
  do {
    if (!clauses.empty() && At(TokenKind::kLeftBrace)) break;
    const ExprId clause = ParseExpr();
    if (!clause.valid()) return false;
    const BinaryExpr* binary = tree_.try_as<BinaryExpr>(clause);
    if (binary == nullptr || !IsComparison(binary->op)) {
      Report(Code::kE1101, tree_.expr(clause).span,
             "a `where` clause is a comparison");
      continue;
    }
    clauses.push_back(clause);
  } while (Accept(TokenKind::kComma));
  *where = tree_.AddList<ExprId>(clauses);
  return true;
}

}  // namespace linnet::lang
