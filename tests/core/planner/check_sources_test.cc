#include "core/planner/check_sources.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace linnet::planner {
namespace {

using ::testing::HasSubstr;

const SourceFile kManifest = {"linnet.toml",
                              "[package]\nname = \"net\"\nversion = "
                              "\"0.1.0\"\nlanguage = \"0.1\"\n"};
const SourceFile kShared = {
    "src/shared.linnet",
    "module net.shared\npub fn broken(x: Tensor[4; f32]) -> Tensor[4; bf16] { "
    "return x }\n"};

std::vector<SourceFile> Package() {
  return {kManifest,
          kShared,
          {"src/lib.linnet",
           "module net\nuse crate.shared::{broken}\npub entry a(x: Tensor[4; "
           "f32]) -> Tensor[4; bf16] { return broken(x) }\n"},
          {"src/other.linnet",
           "module net.other\nuse crate.shared::{broken}\npub entry b(x: "
           "Tensor[4; f32]) -> Tensor[4; bf16] { return broken(x) }\n"}};
}

TEST(CheckSourcesTest, GivesEachReportOnce) {
  const auto checked = CheckSources(
      Package(), {"src/lib.linnet", "src/other.linnet", "src/shared.linnet"});
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->errors, 1);
  const auto json = nlohmann::json::parse(checked->json);
  EXPECT_EQ(json["version"], 1);
  ASSERT_EQ(json["diagnostics"].size(), 1u);
  EXPECT_EQ(json["diagnostics"][0]["code"], "E2103");
  EXPECT_EQ(json["diagnostics"][0]["location"]["file"], "src/shared.linnet");
  EXPECT_EQ(json["summary"]["errors"], 1);
  EXPECT_THAT(checked->text, HasSubstr("error[E2103]"));
}

TEST(CheckSourcesTest, NothingToSay) {
  const auto checked =
      CheckSources({{"a.linnet", "module a\npub const N = 3\n"}}, {"a.linnet"});
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->json,
            "{\"version\":1,\"diagnostics\":[],\"summary\":{\"errors\":0,"
            "\"warnings\":0}}\n");
  EXPECT_EQ(checked->text, "");
}

TEST(CheckSourcesTest, CannotAnswer) {
  EXPECT_EQ(CheckSources(Package(), {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckSources(Package(), {"src/none.linnet"}).status().code(),
            absl::StatusCode::kInvalidArgument);
  Limits limits;
  limits.max_source_bytes = 10;
  EXPECT_EQ(CheckSources(Package(), {"src/lib.linnet"}, limits).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CheckSources(Package(), {"src/lib.linnet"}, {}, [] { return true; })
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace linnet::planner
