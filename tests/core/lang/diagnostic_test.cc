#include "core/lang/diagnostic.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/lang/source.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace linnet::lang {
namespace {

TEST(SourceTest, LocatesOffsets) {
  SourceSet sources;
  const Source& source = sources.Add("a.linnet", "ab\n\xC3\xA9x\r\n\xFFy");
  const auto at = [&](int32_t offset) {
    const LineColumn place = source.Locate(offset);
    return absl::StrCat(place.line, ":", place.column);
  };
  EXPECT_EQ(at(0), "1:1");
  EXPECT_EQ(at(2), "1:3");  // The line's end.
  EXPECT_EQ(at(3), "2:1");
  EXPECT_EQ(at(5), "2:2");  // After one letter of two bytes.
  EXPECT_EQ(at(8), "3:1");
  EXPECT_EQ(at(9), "3:2");  // After one ill-formed byte.
  EXPECT_EQ(at(10), "3:3");
  EXPECT_EQ(source.Line(2), "\xC3\xA9x");
  EXPECT_EQ(source.num_lines(), 3);
  EXPECT_EQ(sources.text({source.id(), 0, 2}), "ab");
  EXPECT_EQ(sources.text({}), "");
}

TEST(SourceTest, AByteOrderMarkIsNoColumn) {
  SourceSet sources;
  const Source& source = sources.Add("a.linnet",
                                     "\xEF\xBB\xBF"
                                     "ab");
  EXPECT_EQ(source.Locate(3), (LineColumn{1, 1}));
  EXPECT_EQ(source.Locate(4), (LineColumn{1, 2}));
}

TEST(DiagnosticTest, EveryCodeHasANameAndASummary) {
  EXPECT_EQ(NumCodes(), 62);
  for (int i = 0; i < NumCodes(); ++i) {
    const Code code = static_cast<Code>(i);
    EXPECT_EQ(CodeName(code).size(), 5u);
    EXPECT_FALSE(CodeSummary(code).empty()) << code;
    EXPECT_EQ(SeverityOf(code) == Severity::kWarning, CodeName(code)[0] == 'W');
  }
  EXPECT_EQ(CodeName(Code::kE2202), "E2202");
}

class DiagnosticTextTest : public ::testing::Test {
 protected:
  std::string Format() const { return FormatDiagnostics(list_, sources_); }
  Span At(const std::string& text, int32_t begin, int32_t end) {
    return {sources_.Add("net.linnet", text).id(), begin, end};
  }

  SourceSet sources_;
  DiagnosticList list_;
};

TEST_F(DiagnosticTextTest, ShowsThePlaceAndWhatHelps) {
  const Span span = At("let a = 1\n    return matmul(a, b)\n", 31, 32);
  list_.Report(Code::kE2202, span, "`b` has the wrong shape for `matmul`")
      .Label("expected `[K, _]`; found `[N, K]`")
      .Relate({span.file, 4, 5}, "`a` is declared here")
      .Note("`K` comes from `a`")
      .Help("transpose `b`");
  EXPECT_EQ(Format(),
            "error[E2202]: `b` has the wrong shape for `matmul`\n"
            "  net.linnet:2:22\n"
            "    return matmul(a, b)\n"
            "                     ^ expected `[K, _]`; found `[N, K]`\n"
            "note: `a` is declared here\n"
            "  net.linnet:1:5\n"
            "    let a = 1\n"
            "        ^\n"
            "note: `K` comes from `a`\n"
            "help: transpose `b`\n");
}

TEST_F(DiagnosticTextTest, AReportMayHaveNoPlace) {
  list_.Report(Code::kE5001, {}, "there is no `linnet.toml`");
  EXPECT_EQ(Format(), "error[E5001]: there is no `linnet.toml`\n");
}

TEST_F(DiagnosticTextTest, UnderlinesToTheEndOfTheLine) {
  list_.Report(Code::kW1001, At("ab cd\nef", 3, 8), "unused");
  EXPECT_EQ(Format(),
            "warning[W1001]: unused\n  net.linnet:1:4\n    ab cd\n"
            "       ^^\n");
}

TEST_F(DiagnosticTextTest, PointsAtTheEndOfTheFile) {
  list_.Report(Code::kE1101, At("ab\n", 3, 3), "expected more");
  EXPECT_EQ(Format(),
            "error[E1101]: expected more\n  net.linnet:2:1\n    \n    ^\n");
}

TEST_F(DiagnosticTextTest, ColumnsAreCodePoints) {
  list_.Report(Code::kE1001, At("\xC3\xA9\xC3\xA9\t@", 5, 6), "illegal");
  EXPECT_EQ(Format(),
            "error[E1001]: illegal\n  net.linnet:1:4\n"
            "    \xC3\xA9\xC3\xA9 @\n       ^\n");
}

TEST_F(DiagnosticTextTest, KeepsControlCharactersFromTheTerminal) {
  list_.Report(Code::kE1001, At("a\x1B[31m\xFF", 0, 1), "m\x1B\n");
  EXPECT_EQ(Format(),
            "error[E1001]: m\xEF\xBF\xBD\xEF\xBF\xBD\n  net.linnet:1:1\n"
            "    a\xEF\xBF\xBD[31m\xEF\xBF\xBD\n    ^\n");
}

TEST_F(DiagnosticTextTest, CutsLongLines) {
  const std::string text(1000, 'x');
  list_.Report(Code::kE1101, At(text, 500, 501), "here");
  EXPECT_EQ(Format(), absl::StrCat("error[E1101]: here\n  net.linnet:1:501\n",
                                   "    ...", std::string(120, 'x'), "...\n",
                                   std::string(67, ' '), "^\n"));
}

TEST(DiagnosticListTest, CountsPastItsLimit) {
  DiagnosticList list(/*max_errors=*/2);
  for (int i = 0; i < 3; ++i) {
    list.Report(Code::kE1101, {}, absl::StrCat("e", i)).Help("h");
  }
  EXPECT_EQ(list.all().size(), 2u);
  EXPECT_EQ(list.num_errors(), 3);
  EXPECT_TRUE(list.truncated());
  EXPECT_EQ(FormatDiagnostics(list, SourceSet()),
            "error[E1101]: e0\nhelp: h\nerror[E1101]: e1\nhelp: h\n"
            "note: 1 more not shown\n");
}

TEST(DiagnosticListTest, SortsAndDropsWarnings) {
  DiagnosticList list;
  list.Report(Code::kW1002, {FileId{0}, 5, 6}, "w");
  list.Report(Code::kE1101, {FileId{1}, 0, 1}, "c");
  list.Report(Code::kE1101, {FileId{0}, 9, 9}, "b");
  list.Report(Code::kE5001, {}, "a");
  list.Sort();
  std::string order;
  for (const Diagnostic& d : list.all()) order += d.message;
  EXPECT_EQ(order, "awbc");
  list.DropWarnings();
  EXPECT_EQ(list.num_warnings(), 0);
  EXPECT_EQ(list.all().size(), 3u);
}

TEST(DiagnosticJsonTest, HasTheDocumentedForm) {
  SourceSet sources;
  const Source& source = sources.Add("net.linnet", "ab\n  \xC3\xA9@x\n");
  DiagnosticList list;
  list.Report(Code::kE1001, {source.id(), 7, 8}, "illegal `@`")
      .Label("here")
      .Relate({source.id(), 0, 2}, "there")
      .Note("n")
      .Help("h");
  list.Report(Code::kW1001, {}, "w");
  EXPECT_EQ(DiagnosticsToJson(list, sources),
            R"({"version":1,"diagnostics":[{"code":"E1001","severity":"error",)"
            R"("message":"illegal `@`","label":"here",)"
            R"("location":{"file":"net.linnet",)"
            R"("start":{"line":2,"column":4,"offset":7},)"
            R"("end":{"line":2,"column":5,"offset":8}},)"
            R"("related":[{"location":{"file":"net.linnet",)"
            R"("start":{"line":1,"column":1,"offset":0},)"
            R"("end":{"line":1,"column":3,"offset":2}},"message":"there"}],)"
            R"("notes":["n"],"help":["h"]},)"
            R"({"code":"W1001","severity":"warning","message":"w","label":"",)"
            R"("location":null,"related":[],"notes":[],"help":[]}],)"
            R"("summary":{"errors":1,"warnings":1}})"
            "\n");
}

TEST(DiagnosticJsonTest, EscapesAnyText) {
  std::string message = "\"\\\n\xFF";
  for (char c = 1; c < 32; ++c) message.push_back(c);
  DiagnosticList list;
  list.Report(Code::kE1101, {}, message);
  const auto json = nlohmann::json::parse(DiagnosticsToJson(list, SourceSet()));
  std::string want = "\"\\\n\xEF\xBF\xBD";
  for (char c = 1; c < 32; ++c) want.push_back(c);
  EXPECT_EQ(json["diagnostics"][0]["message"], want);
}

}  // namespace
}  // namespace linnet::lang
