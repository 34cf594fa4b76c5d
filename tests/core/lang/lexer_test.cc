#include "core/lang/lexer.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/parser.h"
#include "gtest/gtest.h"

namespace linnet::lang {
namespace {

struct Lexed {
  explicit Lexed(std::string text, const Limits& limits = {}) {
    const Source& source = sources.Add("t.linnet", std::move(text));
    buffer = Lex(source, names, diagnostics, limits);
  }

  // Each token as it is written, the end left out.
  std::string Tokens() const {
    std::string out;
    for (const Token& token : buffer.tokens) {
      if (token.kind == TokenKind::kEnd) continue;
      absl::StrAppend(&out, out.empty() ? "" : " ",
                      sources.text({FileId{0}, token.begin, token.end}));
    }
    return out;
  }
  // "E1001 3-5": codes and offsets.
  std::string Errors() const {
    std::string out;
    for (const Diagnostic& d : diagnostics.all()) {
      absl::StrAppend(&out, out.empty() ? "" : "; ", CodeName(d.code), " ",
                      d.primary.begin, "-", d.primary.end);
    }
    return out;
  }

  SourceSet sources;
  NameTable names;
  DiagnosticList diagnostics;
  TokenBuffer buffer;
};

struct TokenCase {
  std::string name;
  std::string text;
  std::string want;
};
class LexerTokenTest : public ::testing::TestWithParam<TokenCase> {};

TEST_P(LexerTokenTest, Splits) {
  const Lexed lexed(GetParam().text);
  EXPECT_EQ(lexed.Errors(), "");
  EXPECT_EQ(lexed.Tokens(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LexerTokenTest,
    ::testing::ValuesIn<TokenCase>({
        {"Empty", "", ""},
        {"Blanks", " \t\r\n ", ""},
        {"ByteOrderMark",
         "\xEF\xBB\xBF"
         "module",
         "module"},
        {"WordsAndDigits", "a_1 _ _x A9", "a_1 _ _x A9"},
        {"RangeOfInts", "0..N", "0 .. N"},
        {"EmptySliceStop", "0::2", "0 :: 2"},
        {"ThreeColons", ":::", ":: :"},
        {"Ellipsis", "....", "... ."},
        {"FloatNeedsADigitAfterTheDot", "1.x", "1 . x"},
        {"FloatNeedsADigitBeforeTheDot", ".5", ". 5"},
        {"FloatThenMember", "1.5.x", "1.5 . x"},
        {"Exponents", "1e-5 2E3 3.5e+2 1e5", "1e-5 2E3 3.5e+2 1e5"},
        {"ExponentNeedsADigit", "0x1e-3", "0x1e - 3"},
        {"Underscores", "1_000 0xF_F 3.141_592", "1_000 0xF_F 3.141_592"},
        {"Comparison", "a<=b>=c==d!=e", "a <= b >= c == d != e"},
        {"NoShifts", "a>>b<<c", "a > > b < < c"},
        {"Arrows", "->=>-=>", "-> => - =>"},
        {"Logic", "a&&b||c&d|e^f!g", "a && b || c & d | e ^ f ! g"},
        {"LineComment", "a // b\nc", "a c"},
        {"LineCommentAtTheEnd", "a //", "a"},
        {"BlockComment", "a/* b */c", "a c"},
        {"NestedComment", "a /* /* b */ */ c", "a c"},
        {"CommentInWords", "/**/a/***/b", "a b"},
        {"LetterInAComment", "// \xC3\xA9\n/* \xC3\xA9 */ a", "a"},
        {"String", "\"a \\n\\r\\t\\0\\\\\\\" \\u{41} \\u{10FFFF}\"",
         "\"a \\n\\r\\t\\0\\\\\\\" \\u{41} \\u{10FFFF}\""},
        {"LetterInAString", "\"\xC3\xA9\"", "\"\xC3\xA9\""},
    }),
    [](const auto& test) { return test.param.name; });

class LexerErrorTest : public ::testing::TestWithParam<TokenCase> {};

TEST_P(LexerErrorTest, Reports) {
  EXPECT_EQ(Lexed(GetParam().text).Errors(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LexerErrorTest,
    ::testing::ValuesIn<TokenCase>({
        {"LeadingZero", "007", "E1005 0-3"},
        {"TwoUnderscores", "1__0", "E1005 0-4"},
        {"TrailingUnderscore", "1_", "E1005 0-2"},
        {"NotHex", "0xG", "E1005 0-3"},
        {"HexWithoutDigits", "0x", "E1005 0-2"},
        {"UnderscoreAfterPrefix", "0x_1", "E1005 0-4"},
        {"NotBinary", "0b12", "E1005 0-4"},
        {"UpperCasePrefix", "0X1F", "E1005 0-4"},
        {"Suffix", "3f32", "E1005 0-4"},
        {"SuffixOnFloat", "1.5f", "E1005 0-4"},
        {"ExponentWithoutDigits", "1e", "E1005 0-2"},
        {"UnderscoreBeforeTheDot", "1_.5", "E1005 0-4"},
        {"OpenComment", "a /* open /* inner */", "E1002 2-4"},
        {"OpenCommentShort", "/*/", "E1002 0-2"},
        {"UnknownEscape", "\"\\q\"", "E1003 1-3"},
        {"OpenString", "\"ab\nc", "E1003 0-3"},
        {"OpenStringAtTheEnd", "\"ab", "E1003 0-3"},
        {"EscapeAtTheEnd", "\"\\", "E1003 1-2; E1003 0-2"},
        {"EscapeWithoutDigits", "\"\\u{}\"", "E1003 1-5"},
        {"EscapeOfSevenDigits", "\"\\u{0000041}\"", "E1003 1-12"},
        {"EscapeOfASurrogate", "\"\\u{D800}\"", "E1003 1-9"},
        {"EscapePastUnicode", "\"\\u{110000}\"", "E1003 1-11"},
        {"EscapeNotClosed", "\"\\u{41\"", "E1003 1-6"},
        {"ForeignWord", "\xCE\xB1\xCE\xB2 = 1", "E1001 0-4"},
        {"LetterInAName", "na\xC3\xAFve", "E1001 2-4"},
        {"IllegalCharactersAreGrouped", "a @#$\xC3\xA9 b @",
         "E1001 2-7; E1001 10-11"},
        {"FormFeedIsNoBlank", "a\fb", "E1001 1-2"},
        {"IllFormedInAComment", "// \xFF\xFE x\n", "E1001 3-5"},
        {"IllFormedInAString", "\"\xC3\"", "E1001 1-2"},
        {"Overlong", "\"\xC0\x80\"", "E1001 1-3"},
        {"Surrogate", "\"\xED\xA0\x80\"", "E1001 1-4"},
        {"CutShort", "// \xF0\x9F\x98", "E1001 3-6"},
        {"ByteOrderMarkInside", "a \xEF\xBB\xBF", "E1001 2-5"},
    }),
    [](const auto& test) { return test.param.name; });

struct NumberCase {
  std::string text;
  int64_t want;
};

TEST(LexerTest, ReadsInts) {
  for (const NumberCase& test :
       std::vector<NumberCase>{{"0", 0},
                               {"10", 10},
                               {"0x1F", 31},
                               {"0xaB", 171},
                               {"0b101", 5},
                               {"1_000", 1000},
                               {"9223372036854775807", INT64_MAX},
                               {"0x7FFFFFFFFFFFFFFF", INT64_MAX}}) {
    SCOPED_TRACE(test.text);
    const Lexed lexed(test.text);
    ASSERT_EQ(lexed.buffer.tokens[0].kind, TokenKind::kInt);
    EXPECT_EQ(lexed.buffer.ints[0].value, test.want);
    EXPECT_FALSE(lexed.buffer.ints[0].exceeds_i64);
  }
}

TEST(LexerTest, MarksIntsAboveI64) {
  for (const char* text : {"9223372036854775808", "0x8000000000000000",
                           "99999999999999999999999999"}) {
    const Lexed lexed(text);
    EXPECT_EQ(lexed.Errors(), "");
    EXPECT_TRUE(lexed.buffer.ints[0].exceeds_i64) << text;
  }
}

TEST(LexerTest, ReadsFloats) {
  const Lexed lexed("2e-3 3.141_592 1E3 0.5 1e999");
  const std::vector<double> want = {2e-3, 3.141592, 1e3, 0.5, HUGE_VAL};
  EXPECT_EQ(lexed.buffer.floats, want);
}

TEST(LexerTest, KnowsEveryWord) {
  const Lexed lexed("modul module modules device devices");
  std::vector<TokenKind> kinds;
  for (const Token& token : lexed.buffer.tokens) kinds.push_back(token.kind);
  EXPECT_EQ(kinds,
            (std::vector<TokenKind>{TokenKind::kName, TokenKind::kModule,
                                    TokenKind::kName, TokenKind::kReserved,
                                    TokenKind::kName, TokenKind::kEnd}));
  const auto kind_of = [](const char* text) {
    return Lexed(text).buffer.tokens[0].kind;
  };
#define LINNET_KEYWORD(enumerator, text) \
  EXPECT_EQ(kind_of(text), TokenKind::enumerator) << text;
#define LINNET_RESERVED(text) \
  EXPECT_EQ(kind_of(text), TokenKind::kReserved) << text;
#define LINNET_PUNCTUATION(enumerator, text) \
  EXPECT_EQ(kind_of(text), TokenKind::enumerator) << text;
#include "core/lang/token.def"
}

TEST(LexerTest, AForeignLetterDoesNotSplitAName) {
  const Lexed lexed("na\xC3\xAFve \xC3\xA9t\xC3\xA9 x\xE2\x86\x92y");
  EXPECT_EQ(lexed.Tokens(), "na\xC3\xAFve \xC3\xA9t\xC3\xA9 x \xE2\x86\x92 y");
  EXPECT_EQ(lexed.Errors(), "E1001 2-4; E1001 7-9; E1001 10-12; E1001 14-17");
}

TEST(LexerTest, KeepsDocComments) {
  const Lexed lexed("/// a\n//// b\n// c\n/** d */ /*** e */ /**/ /* f */");
  std::vector<std::string> docs;
  for (const Span span : lexed.buffer.doc_comments) {
    docs.emplace_back(lexed.sources.text(span));
  }
  EXPECT_EQ(docs, (std::vector<std::string>{"/// a", "/** d */"}));
}

TEST(LexerTest, LimitsTheFile) {
  Limits limits;
  limits.max_file_bytes = 4;
  EXPECT_EQ(Lexed("abcd", limits).Errors(), "");
  const Lexed lexed("abcde", limits);
  EXPECT_EQ(lexed.Errors(), "E1101 0-0");
  EXPECT_EQ(lexed.buffer.tokens.size(), 1u);
}

TEST(LexerTest, LimitsTheTokens) {
  Limits limits;
  limits.max_tokens = 2;
  EXPECT_EQ(Lexed("a b", limits).Errors(), "");
  const Lexed lexed("a b c d", limits);
  EXPECT_EQ(lexed.Errors(), "E1101 4-5");
  EXPECT_EQ(lexed.Tokens(), "a b");
}

}  // namespace
}  // namespace linnet::lang
