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
  absl::string_view text;  // Empty: none.
  TokenKind kind;
};

constexpr Punctuation kPunctuation[] = {
#define LINNET_PUNCTUATION(kind, text) {text, TokenKind::kind},
#include "core/lang/token.def"
};

// What a byte may be a part of.
enum ByteClass : uint8_t {
  kIllegal = 0,
  kBlank = 1,
  kDigit = 2,
  kLetter = 4,
  kQuote = 8,
  kPunctuationStart = 16,
  kAnyClass = 31,
};

constexpr auto kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n'}) {
    classes[static_cast<uint8_t>(c)] = kBlank;
  }
  for (uint8_t c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  for (uint8_t c = 'a'; c <= 'z'; ++c) classes[c] = kLetter;
  for (uint8_t c = 'A'; c <= 'Z'; ++c) classes[c] = kLetter;
  classes['_'] = kLetter;
  classes['"'] = kQuote;
  for (const Punctuation& p : kPunctuation) {
    classes[static_cast<uint8_t>(p.text[0])] = kPunctuationStart;
  }
  return classes;
}();

bool Is(char c, int classes) {
  return (kClasses[static_cast<uint8_t>(c)] & classes) != 0;
}

// For each byte, where the punctuation that begins with it starts in the list.
constexpr auto kFirstPunctuation = [] {
  std::array<uint8_t, 256> first{};
  for (size_t i = std::size(kPunctuation); i > 0; --i) {
    first[static_cast<uint8_t>(kPunctuation[i - 1].text[0])] =
        static_cast<uint8_t>(i - 1);
  }
  return first;
}();

// The longest punctuation at the beginning of `rest`, whose first byte begins
// some. There is one: each of those bytes is a token of its own, too.
const Punctuation& PunctuationAt(absl::string_view rest) {
  size_t i = kFirstPunctuation[static_cast<uint8_t>(rest[0])];
  while (rest[0] != kPunctuation[i].text[0] ||
         rest.substr(0, kPunctuation[i].text.size()) != kPunctuation[i].text) {
    ++i;
  }
  return kPunctuation[i];
}

// Whether a code point is more likely a letter than a symbol. Only what is said
// after the report that it is illegal depends on this.
bool IsForeignLetter(uint32_t c) {
  const bool latin_symbol = (c >= 0x80 && c <= 0xBF) || c == 0xD7 || c == 0xF7;
  const bool symbol = (c >= 0x2000 && c <= 0x2BFF) ||
                      (c >= 0x3000 && c <= 0x303F) || c >= 0xFE00;
  return !latin_symbol && !symbol;
}

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
    out_.tokens.reserve(text_.size() / 5 + 1);
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
    if (Is(c, kBlank)) {
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
    } else if (Is(c, kLetter)) {
      WordToken();
    } else if (Is(c, kDigit)) {
      NumberToken();
    } else if (Is(c, kQuote)) {
      StringToken();
    } else if (Is(c, kPunctuationStart)) {
      const Punctuation& p = PunctuationAt(Rest());
      const size_t begin = at_;
      at_ += p.text.size();
      Push(p.kind, begin);
    } else {
      IllegalCharacters();
    }
  }

  // Goes over one code point; ill-formed bytes in a row are one report.
  void SkipCodePoint() {
    if (static_cast<uint8_t>(text_[at_]) < 0x80) {
      ++at_;
      return;
    }
    const CodePoint c = DecodeUtf8(text_, at_);
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
    do {
      while (at_ < text_.size() && Is(text_[at_], kLetter | kDigit)) ++at_;
    } while (SkipForeignLetters());
    const absl::string_view word = text_.substr(begin, at_ - begin);
    const TokenKind kind = WordKind(word);
    const bool named = kind == TokenKind::kName || kind == TokenKind::kReserved;
    Push(kind, begin, named ? names_.Intern(word).index : 0);
  }

  // Where the foreign letters from here end.
  size_t ForeignEnd() const {
    size_t end = at_;
    while (end < text_.size() && static_cast<uint8_t>(text_[end]) >= 0x80) {
      const CodePoint c = DecodeUtf8(text_, end);
      if (!c.well_formed || !IsForeignLetter(c.value)) break;
      end += static_cast<size_t>(c.length);
    }
    return end;
  }

  // Goes over letters that are no ASCII, so that a name with some is one name
  // and one report for each group of them.
  bool SkipForeignLetters() {
    const size_t begin = at_;
    at_ = ForeignEnd();
    if (at_ == begin) return false;
    Report(
        Code::kE1001, begin, at_,
        absl::StrCat("illegal `", Printable(text_.substr(begin, at_ - begin)),
                     "` in a name"));
    return true;
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
        const int digit = Is(c, kDigit) ? c - '0' : c - 'a' + 10;
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
    const size_t letters = ForeignEnd();
    if (letters > at_ && letters < text_.size() &&
        Is(text_[letters], kLetter | kDigit)) {
      return WordToken();
    }
    const size_t begin = at_;
    bool well_formed = true;
    while (at_ < text_.size() && !Is(text_[at_], kAnyClass)) {
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
