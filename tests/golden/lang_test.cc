// Golden files of the language: tests/golden/lang/*.linnet. Each holds a module
// and, below a marker line, all that `linnet check` says about it:
//
//   module golden.fail_open_paren
//   const A = (1
//   //--- linnet check
//   error[E1101]: …
//
// A line `//--- file src/a.linnet` before that begins another file of the same
// bundle. A file's name starts with `fail_` exactly when it has errors.
//
//   golden_lang_test --update      rewrites what is below the markers

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"
#include "core/library/standard_library.h"
#include "gtest/gtest.h"
#include "tests/support/source_dir.h"

namespace linnet::lang {
namespace {

constexpr absl::string_view kFolder = "tests/golden/lang";
constexpr absl::string_view kFileMarker = "//--- file ";
constexpr absl::string_view kCheckMarker = "//--- linnet check\n";

bool update = false;

// The names of the golden files without their extension, sorted.
std::vector<std::string> Stems() {
  std::vector<std::string> stems;
  const auto folder = absl::StrCat(LINNET_SOURCE_DIR, "/", kFolder);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".linnet") {
      stems.push_back(entry.path().stem().string());
    }
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

std::string PathOf(absl::string_view stem) {
  return absl::StrCat(kFolder, "/", stem, ".linnet");
}

struct Golden {
  std::string input;  // Up to the marker.
  std::string want;   // Below it.
};

Golden ReadGolden(absl::string_view stem) {
  const std::string text = testing_support::ReadSourceFile(PathOf(stem));
  const size_t marker = text.find(std::string(kCheckMarker));
  if (marker == std::string::npos) return {text, ""};
  return {text.substr(0, marker), text.substr(marker + kCheckMarker.size())};
}

struct Outcome {
  std::string text;
  bool failed = false;
  std::set<Code> codes;
};

Outcome RunCheck(absl::string_view stem, absl::string_view input) {
  MemoryFiles files;
  std::string path = absl::StrCat(stem, ".linnet");
  std::string content;
  CheckInput check;
  check.root_path = path;
  for (absl::string_view line : absl::StrSplit(input, '\n')) {
    absl::string_view name = line;
    if (absl::ConsumePrefix(&name, kFileMarker)) {
      files.Add(path, content);
      path = std::string(name);
      content.clear();
    } else {
      absl::StrAppend(&content, line, "\n");
    }
  }
  content.pop_back();  // The split added a line after the last newline.
  files.Add(path, content);
  check.files = &files;
  check.standard_library = library::StandardLibrary();
  const absl::StatusOr<CheckResult> result = Check(check);
  if (!result.ok()) return {result.status().ToString(), true, {}};
  Outcome outcome;
  outcome.text = FormatDiagnostics(result->diagnostics, *result->sources);
  outcome.failed = result->diagnostics.has_errors();
  for (const Diagnostic& diagnostic : result->diagnostics.all()) {
    outcome.codes.insert(diagnostic.code);
  }
  return outcome;
}

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, SaysWhatTheFileHolds) {
  const Golden golden = ReadGolden(GetParam());
  const Outcome outcome = RunCheck(GetParam(), golden.input);
  EXPECT_EQ(outcome.failed, absl::StartsWith(GetParam(), "fail_"))
      << "a name starts with `fail_` exactly when the check fails\n"
      << outcome.text;
  if (update && outcome.text != golden.want) {
    std::ofstream out(absl::StrCat(LINNET_SOURCE_DIR, "/", PathOf(GetParam())),
                      std::ios::binary);
    out << golden.input << kCheckMarker << outcome.text;
    ASSERT_TRUE(out.good());
    return;
  }
  EXPECT_EQ(outcome.text, golden.want)
      << "when this is right, run with --update and look at the diff";
}

INSTANTIATE_TEST_SUITE_P(Lang, GoldenTest, ::testing::ValuesIn(Stems()),
                         [](const auto& test) { return test.param; });

// Codes that no golden file shows, with the reason.
const std::set<Code> kExempted = {};

TEST(GoldenCoverageTest, EveryCodeIsShown) {
  std::set<Code> shown;
  for (const std::string& stem : Stems()) {
    shown.merge(RunCheck(stem, ReadGolden(stem).input).codes);
  }
  for (int i = 0; i < NumCodes(); ++i) {
    const Code code = static_cast<Code>(i);
    EXPECT_NE(shown.count(code), kExempted.count(code))
        << code << ": " << CodeSummary(code)
        << ": a golden file shows it, or it is exempted, not both";
  }
}

}  // namespace
}  // namespace linnet::lang

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (absl::string_view(argv[i]) == "--update") linnet::lang::update = true;
  }
  return RUN_ALL_TESTS();
}
