#include "core/lang/lexer.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/lang/number.h"
#include "core/lang/utf8.h"

namespace linnet::lang {
namespace {

// A word of at most eight letters as an integer.
constexpr uint64_t PackWord(const char* text, size_t size) {
  uint64_t packed = 0;
  for (size_t i = 0; i < size; ++i) {
    packed = packed << 8 | static_cast<uint8_t>(text[i]);
  }
  return packed;
}

struct Word {
  uint64_t packed;
  TokenKind kind;
};

template <size_t kSize>
constexpr uint64_t PackLiteral(const char (&text)[kSize]) {
  static_assert(kSize <= 9);
  return PackWord(text, kSize - 1);
}

// Keywords and reserved words, sorted.
constexpr auto kWords = [] {
  std::array words = {
#define LINNET_KEYWORD(kind, text) Word{PackLiteral(text), TokenKind::kind},
#define LINNET_RESERVED(text) Word{PackLiteral(text), TokenKind::kReserved},
#include "core/lang/token.def"
  };
  std::sort(words.begin(), words.end(),
            [](Word a, Word b) { return a.packed < b.packed; });
  return words;
}();

TokenKind WordKind(absl::string_view word) {
  constexpr size_t kLongest = 8;
  if (word.size() > kLongest) return TokenKind::kName;
  const uint64_t packed = PackWord(word.data(), word.size());
  const auto* found = std::lower_bound(
      kWords.begin(), kWords.end(), packed,
      [](Word entry, uint64_t value) { return entry.packed < value; });
  if (found == kWords.end() || found->packed != packed) {
    return TokenKind::kName;
  }
  return found->kind;
}

struct Punctuation {
  TokenKind kind = TokenKind::kError;
  int32_t length = 0;  // 0: none.
};

Punctuation PunctuationAt(absl::string_view rest) {
  struct Entry {
    absl::string_view text;
    TokenKind kind;
  };
  static constexpr Entry kAll[] = {
#define LINNET_PUNCTUATION(kind, text) {text, TokenKind::kind},
#include "core/lang/token.def"
  };
  for (const Entry& entry : kAll) {
    if (rest[0] == entry.text[0] &&
        rest.substr(0, entry.text.size()) == entry.text) {
      return {entry.kind, static_cast<int32_t>(entry.text.size())};
    }
  }
  return {};
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsWordStart(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool IsWordByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(const Source& source, NameTable& names, DiagnosticList& diagnostics,
        const Limits& limits)
      : text_(source.text()),
        file_(source.id()),
        names_(names),
        diagnostics_(diagnostics),
        limits_(limits) {}

  TokenBuffer Run() {
    if (static_cast<int64_t>(text_.size()) > limits_.max_file_bytes) {
      Report(Code::kE1101, 0, 0,
             absl::StrCat("the file is larger than the limit of ",
                          limits_.max_file_bytes, " bytes"));
      text_ = text_.substr(0, 0);
      tainted_ = true;
    }
    out_.tokens.reserve(text_.size() / 4 + 1);
    if (Rest().substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      at_ = kByteOrderMark.size();
    }
    while (at_ < text_.size()) Next();
    Push(TokenKind::kEnd, at_, tainted_ ? 1 : 0);
    return std::move(out_);
  }

 private:
  absl::string_view Rest() const { return text_.substr(at_); }
  char Peek(size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Span SpanOf(size_t begin, size_t end) const {
    return {file_, static_cast<int32_t>(begin), static_cast<int32_t>(end)};
  }
  void Report(Code code, size_t begin, size_t end, std::string message) {
    diagnostics_.Report(code, SpanOf(begin, end), std::move(message));
  }
  void Push(TokenKind kind, size_t begin, int32_t value = 0) {
    out_.tokens.push_back(
        {kind, static_cast<int32_t>(begin), static_cast<int32_t>(at_), value});
  }

  // Reads one token, comment or blank.
  void Next() {
    const char c = text_[at_];
    if (IsBlank(c)) {
      ++at_;
    } else if (c == '/' && Peek(1) == '/') {
      LineComment();
    } else if (c == '/' && Peek(1) == '*') {
      BlockComment();
    } else if (static_cast<int64_t>(out_.tokens.size()) >= limits_.max_tokens) {
      Report(Code::kE1101, at_, at_ + 1,
             absl::StrCat("the file has more than ", limits_.max_tokens,
                          " tokens"));
      text_ = text_.substr(0, at_);
      tainted_ = true;
    } else if (IsWordStart(c)) {
      WordToken();
    } else if (IsDigit(c)) {
      NumberToken();
    } else if (c == '"') {
      StringToken();
    } else if (const Punctuation p = PunctuationAt(Rest()); p.length > 0) {
      const size_t begin = at_;
      at_ += static_cast<size_t>(p.length);
      Push(p.kind, begin);
    } else {
      IllegalCharacters();
    }
  }

  // Goes over one code point; ill-formed bytes in a row are one report.
  void SkipCodePoint() {
    CodePoint c = DecodeUtf8(text_, at_);
    if (c.well_formed) {
      at_ += static_cast<size_t>(c.length);
      return;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && !DecodeUtf8(text_, at_).well_formed) ++at_;
    Report(Code::kE1001, begin, at_, "ill-formed UTF-8");
  }

  void LineComment() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n') SkipCodePoint();
    const absl::string_view comment = text_.substr(begin, at_ - begin);
    if (comment.substr(0, 3) == "///" && comment.substr(0, 4) != "////") {
      out_.doc_comments.push_back(SpanOf(begin, at_));
    }
  }

  void BlockComment() {
    const size_t begin = at_;
    const bool doc = Peek(2) == '*' && Peek(3) != '*' && Peek(3) != '/';
    at_ += 2;
    for (int64_t open = 1; open > 0;) {
      if (at_ >= text_.size()) {
        Report(Code::kE1002, begin, begin + 2, "this comment is not closed");
        tainted_ = true;
        return;
      }
      if (text_[at_] == '/' && Peek(1) == '*') {
        at_ += 2;
        ++open;
      } else if (text_[at_] == '*' && Peek(1) == '/') {
        at_ += 2;
        --open;
      } else {
        SkipCodePoint();
      }
    }
    if (doc) out_.doc_comments.push_back(SpanOf(begin, at_));
  }

  void WordToken() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
    const absl::string_view word = text_.substr(begin, at_ - begin);
    const TokenKind kind = WordKind(word);
    const bool named = kind == TokenKind::kName || kind == TokenKind::kReserved;
    Push(kind, begin, named ? names_.Intern(word).index : 0);
  }

  void NumberToken() {
    const size_t begin = at_;
    at_ += NumberLength(Rest());
    const absl::string_view text = text_.substr(begin, at_ - begin);
    const Number number = ReadNumber(text);
    if (const double* value = std::get_if<double>(&number)) {
      Push(TokenKind::kFloat, begin, static_cast<int32_t>(out_.floats.size()));
      out_.floats.push_back(*value);
      return;
    }
    IntLiteral literal;
    if (const int64_t* value = std::get_if<int64_t>(&number)) {
      literal.value = *value;
    } else if (const BadNumber* bad = std::get_if<BadNumber>(&number)) {
      diagnostics_.Report(Code::kE1005, SpanOf(begin, at_), "malformed number")
          .Label(std::string(bad->reason));
    } else {
      literal.exceeds_i64 = true;
    }
    Push(TokenKind::kInt, begin, static_cast<int32_t>(out_.ints.size()));
    out_.ints.push_back(literal);
  }

  void StringToken() {
    const size_t begin = at_++;
    while (true) {
      if (at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r') {
        Report(Code::kE1003, begin, at_,
               "this string is not closed on its line");
        break;
      }
      if (text_[at_] == '"') {
        ++at_;
        break;
      }
      if (text_[at_] == '\\') {
        Escape();
      } else {
        SkipCodePoint();
      }
    }
    Push(TokenKind::kString, begin);
  }

  void Escape() {
    const size_t begin = at_++;
    const char c = Peek(0);
    if (at_ < text_.size() &&
        absl::string_view("nrt0\\\"").find(c) != absl::string_view::npos) {
      ++at_;
    } else if (c == 'u') {
      ++at_;
      UnicodeEscape(begin);
    } else {
      if (at_ < text_.size() && c != '\n' && c != '\r') SkipCodePoint();
      Report(Code::kE1003, begin, at_, "unknown escape in a string");
    }
  }

  // After `\u`.
  void UnicodeEscape(size_t begin) {
    uint32_t value = 0;
    size_t digits = 0;
    bool closed = false;
    if (Peek(0) == '{') {
      ++at_;
      while (absl::ascii_isxdigit(static_cast<unsigned char>(Peek(0)))) {
        const char c = absl::ascii_tolower(static_cast<unsigned char>(Peek(0)));
        const int digit = IsDigit(c) ? c - '0' : c - 'a' + 10;
        if (digits < 6) value = value * 16 + static_cast<uint32_t>(digit);
        ++digits;
        ++at_;
      }
      closed = Peek(0) == '}';
      if (closed) ++at_;
    }
    const bool scalar = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
    if (!closed || digits == 0 || digits > 6 || !scalar) {
      Report(Code::kE1003, begin, at_,
             "`\\u{…}` takes one to six hex digits that name a character");
    }
  }

  void IllegalCharacters() {
    const size_t begin = at_;
    bool well_formed = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool begins_token = IsBlank(c) || IsWordByte(c) || c == '"' ||
                                PunctuationAt(Rest()).length > 0;
      if (begins_token) break;
      const CodePoint point = DecodeUtf8(text_, at_);
      well_formed = well_formed && point.well_formed;
      at_ += static_cast<size_t>(point.length);
    }
    const absl::string_view text = text_.substr(begin, at_ - begin);
    constexpr size_t kShown = 32;
    if (!well_formed) {
      Report(Code::kE1001, begin, at_, "ill-formed UTF-8");
    } else if (text.size() <= kShown) {
      Report(Code::kE1001, begin, at_,
             absl::StrCat("illegal `", Printable(text), "`"));
    } else {
      Report(Code::kE1001, begin, at_, "illegal characters");
    }
    Push(TokenKind::kError, begin);
  }

  absl::string_view text_;
  FileId file_;
  NameTable& names_;
  DiagnosticList& diagnostics_;
  const Limits& limits_;
  size_t at_ = 0;
  bool tainted_ = false;  // The end of the text is not where it seems.
  TokenBuffer out_;
};

}  // namespace

absl::string_view TokenText(TokenKind kind) {
  switch (kind) {
#define LINNET_TOKEN(enumerator, text) \
  case TokenKind::enumerator:          \
    return text;
#define LINNET_KEYWORD(enumerator, text) \
  case TokenKind::enumerator:            \
    return "keyword `" text "`";
#define LINNET_PUNCTUATION(enumerator, text) \
  case TokenKind::enumerator:                \
    return "`" text "`";
#include "core/lang/token.def"
  }
  return "";
}

bool IsKeyword(TokenKind kind) {
  switch (kind) {
#define LINNET_KEYWORD(enumerator, text) case TokenKind::enumerator:
#include "core/lang/token.def"
    return true;
    default:
      return false;
  }
}

std::ostream& operator<<(std::ostream& os, TokenKind kind) {
  return os << TokenText(kind);
}

TokenBuffer Lex(const Source& source, NameTable& names,
                DiagnosticList& diagnostics, const Limits& limits) {
  return Lexer(source, names, diagnostics, limits).Run();
}

}  // namespace linnet::lang
