#include "core/base/glob.h"

#include "gtest/gtest.h"

namespace linnet {
namespace {

TEST(GlobTest, PatternsMatchTheWholeText) {
  struct Row {
    const char* path;
    const char* pattern;
    bool want;
  };
  const Row rows[] = {
      {"layers.0.mlp.up.weight", "layers.*", true},
      {"layers.0.mlp.up.weight", "layers", false},
      {"layers.0.mlp.up.weight", "*.weight", true},
      {"layers.0.mlp.up.weight", "layers.*.mlp.*.weight", true},
      {"layers.0.mlp.up.weight", "layers.?.mlp.up.weight", true},
      {"layers.10.mlp.up.weight", "layers.?.mlp.up.weight", false},
      {"layers.0.mlp.up.weight", "layers.*.attention.*", false},
      {"head", "head", true},
      {"head", "*", true},
      {"head", "**", true},
      {"head", "*d*", true},
      {"head", "", false},
      {"", "", true},
      {"", "*", true},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*a*a*c", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(MatchesGlob(row.path, row.pattern), row.want)
        << row.path << " against " << row.pattern;
  }
}

}  // namespace
}  // namespace linnet
