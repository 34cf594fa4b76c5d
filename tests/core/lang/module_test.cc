// Loading of modules: packages, dependencies, manifests and cycles.

#include "core/lang/module.h"

#include <string>
#include <vector>

#include "core/lang/manifest.h"
#include "gtest/gtest.h"
#include "tests/support/checked.h"

namespace linnet::lang {
namespace {

constexpr absl::string_view kManifest =
    "[package]\nname = \"net\"\nversion = \"0.1.0\"\nlanguage = \"0.1\"\n";

struct Row {
  std::string name;
  std::vector<NamedFile> files;  // The root first.
  std::string codes;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.name; }

std::string RowName(const ::testing::TestParamInfo<Row>& row) {
  return row.param.name;
}

class Modules : public ::testing::TestWithParam<Row> {};

TEST_P(Modules, ReportsExactly) {
  const CheckResult result = CheckFiles(GetParam().files);
  EXPECT_EQ(CodesOf(result), GetParam().codes)
      << FormatDiagnostics(result.diagnostics, *result.sources);
}

std::string WithDependencies(absl::string_view text) {
  return absl::StrCat(kManifest, "[dependencies]\n", text);
}

const std::string kUseOne = "use crate.one::{ONE}\nconst TWO = ONE + 1\n";
const std::string kOne = "module m.one\npub const ONE = 1\n";

const Row kRows[] = {
    {"Crate",
     {{"src/lib.linnet", "module m\n" + kUseOne},
      {"src/one.linnet", kOne},
      {"linnet.toml", std::string(kManifest)}},
     ""},
    {"CrateWithoutManifest",
     {{"src/lib.linnet", "module m\n" + kUseOne}, {"src/one.linnet", kOne}},
     ""},
    {"CrateBelow",
     {{"net/src/a/b.linnet",
       "module m.a.b\nuse crate.a.c::{C}\nuse crate::{L}\nconst D = C + L\n"},
      {"net/src/a/c.linnet", "module m.a.c\npub const C = 1\n"},
      {"net/src/lib.linnet", "module m\npub const L = 1\n"},
      {"net/linnet.toml", std::string(kManifest)}},
     ""},
    {"NearestManifestWins",
     {{"net/src/lib.linnet", "module m\n" + kUseOne},
      {"src/one.linnet", kOne},
      {"net/linnet.toml", std::string(kManifest)},
      {"linnet.toml", std::string(kManifest)}},
     "E1202"},
    {"Dependency",
     {{"net/src/lib.linnet",
       "module m\nuse blocks.one::{ONE}\nuse blocks\n"
       "const TWO = ONE + blocks.TOP\n"},
      {"net/linnet.toml",
       WithDependencies("blocks = { path = \"../blocks\" }\n")},
      {"blocks/linnet.toml", std::string(kManifest)},
      {"blocks/src/one.linnet", kOne},
      {"blocks/src/lib.linnet", "module blocks\npub const TOP = 4\n"}},
     ""},
    {"DependencyOfDependency",
     {{"a/src/lib.linnet", "module a\nuse b::{B}\nconst A = B\n"},
      {"a/linnet.toml", WithDependencies("b = { path = \"../b\" }\n")},
      {"b/src/lib.linnet", "module b\nuse c::{C}\npub const B = C\n"},
      {"b/linnet.toml", WithDependencies("c = { path = \"../c\" }\n")},
      {"c/src/lib.linnet", "module c\npub const C = 1\n"},
      {"c/linnet.toml", std::string(kManifest)}},
     ""},
    {"NotADependency",
     {{"src/lib.linnet", "module m\nuse other.x::{y}\n"}},
     "E1202"},
    {"Cycle",
     {{"src/lib.linnet", "module m\nuse crate.a::{A}\npub const B = A\n"},
      {"src/a.linnet", "module m.a\nuse crate::{B}\npub const A = 1\n"}},
     "E1206"},
    {"SelfImport",
     {{"src/lib.linnet", "module m\nuse crate::{B}\npub const A = 1\n"}},
     "E1206"},
    {"NoLanguage",
     {{"src/lib.linnet", "module m\n"},
      {"linnet.toml", "[package]\nname = \"net\"\n"}},
     "E5001"},
    {"OtherLanguage",
     {{"src/lib.linnet", "module m\n"},
      {"linnet.toml", "[package]\nlanguage = \"9.0\"\n"}},
     "E5001"},
    {"NoPackage",
     {{"src/lib.linnet", "module m\n"}, {"linnet.toml", "a = 1\n"}},
     "E5001"},
    {"NotToml",
     {{"src/lib.linnet", "module m\n"}, {"linnet.toml", "[package\n"}},
     "E5001"},
    {"HeaderThatIsNoKey",
     {{"src/lib.linnet", "module m\n"}, {"linnet.toml", "[&mo\n"}},
     "E5001"},
    {"DependencyKeyedStd",
     {{"src/lib.linnet", "module m\n"},
      {"linnet.toml", WithDependencies("std = { path = \"x\" }\n")}},
     "E5001"},
    {"GitDependency",
     {{"src/lib.linnet", "module m\n"},
      {"linnet.toml", WithDependencies("x = { git = \"https://x\" }\n")}},
     "E5001"},
    {"DependencyOutside",
     {{"src/lib.linnet", "module m\n"},
      {"linnet.toml", WithDependencies("x = { path = \"../x\" }\n")}},
     "E5001"},
    {"DependencyWithoutManifest",
     {{"src/lib.linnet", "module m\n"},
      {"linnet.toml", WithDependencies("x = { path = \"x\" }\n")}},
     "E5001"},
    {"UnusedImport",
     {{"src/lib.linnet", "module m\nuse crate.one::{ONE}\n"},
      {"src/one.linnet", kOne}},
     "W1001"},
    {"WarningsOnlyWithoutErrors",
     {{"src/lib.linnet", "module m\nuse crate.one::{ONE}\nconst A = ABSENT\n"},
      {"src/one.linnet", kOne}},
     "E1201"},
    {"UnusedLocal",
     {{"a.linnet",
       "module a\nfn f() -> f32 { let x = 1 let _y = 2 return 1.0 }\n"}},
     "W1002"},
    {"UnusedMember",
     {{"a.linnet", "module a\nblock B { param w: Tensor[3; f32] }\n"}},
     "W1003"},
};
INSTANTIATE_TEST_SUITE_P(Rows, Modules, ::testing::ValuesIn(kRows), RowName);

TEST(Check, MissingRootFileIsNotFound) {
  MemoryFiles files;
  CheckInput input;
  input.root_path = "absent.linnet";
  input.files = &files;
  EXPECT_EQ(Check(input).status().code(), absl::StatusCode::kNotFound);
}

TEST(Check, LimitsTheNumberOfModules) {
  MemoryFiles files;
  files.Add("src/lib.linnet", "module m\nuse crate.one::{ONE}\n");
  files.Add("src/one.linnet", kOne);
  CheckInput input;
  input.root_path = "src/lib.linnet";
  input.files = &files;
  input.max_modules = 2;
  EXPECT_TRUE(Check(input).ok());
  input.max_modules = 1;
  EXPECT_EQ(Check(input).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(JoinPath, Normalises) {
  EXPECT_EQ(JoinPath("a/b", "../c"), "a/c");
  EXPECT_EQ(JoinPath("a", "./x//y"), "a/x/y");
  EXPECT_EQ(JoinPath("a", ".."), "");
  EXPECT_EQ(JoinPath("a", "../.."), std::nullopt);
  EXPECT_EQ(JoinPath("a", "/x"), std::nullopt);
}

}  // namespace
}  // namespace linnet::lang
