// Every built-in model checks, lowers and verifies.

#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "core/ir/lower.h"
#include "core/ir/verify.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"
#include "core/library/standard_library.h"
#include "core/zoo/registry.h"
#include "gtest/gtest.h"

namespace linnet::ir {
namespace {

class ZooTest : public testing::TestWithParam<zoo::BuiltinModel> {};

TEST_P(ZooTest, Lowers) {
  lang::MemoryFiles files;
  lang::CheckInput input;
  for (const EmbeddedFile& file : GetParam().files) {
    const std::string path(file.path.substr(GetParam().name.size() + 1));
    files.Add(path, std::string(file.content));
    const bool is_lone = path.find('/') == std::string::npos &&
                         path.find(".linnet") != std::string::npos;
    if (path == "src/lib.linnet" || is_lone) input.root_path = path;
  }
  input.files = &files;
  input.standard_library = library::StandardLibrary();
  const auto checked = lang::Check(input);
  ASSERT_TRUE(checked.ok()) << checked.status();
  ASSERT_NE(checked->program, nullptr)
      << lang::FormatDiagnostics(checked->diagnostics, *checked->sources);
  for (const bool optimize : {false, true}) {
    LowerOptions options;
    options.optimize = optimize;
    const auto program = Lower(checked->program, options);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_TRUE(Verify(**program).ok()) << Verify(**program);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ZooTest,
    testing::ValuesIn(zoo::BuiltinModels().begin(), zoo::BuiltinModels().end()),
    [](const testing::TestParamInfo<zoo::BuiltinModel>& model) {
      std::string name(model.param.name);
      for (char& c : name) {
        if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace linnet::ir
