#include "core/training/paths.h"

#include <string>

#include "gtest/gtest.h"

namespace linnet::training {
namespace {

TEST(PathsTest, ArrayElementsAreTheShortestPrefixThatEndsInANumber) {
  EXPECT_EQ(ArrayElement("layers.3.experts.1.weight"), "layers.3");
  EXPECT_EQ(ArrayElement("layers.3"), "layers.3");
  EXPECT_EQ(ArrayElement("encoder.layers.12.norm"), "encoder.layers.12");
  EXPECT_EQ(ArrayElement("conv2d.weight"), "");
  EXPECT_EQ(ArrayElement(""), "");
}

TEST(PathsTest, PoliciesNameTheShortestBlock) {
  const auto block = [](const char* path, const char* policy) {
    return std::string(CheckpointedBlock(path, ParsePolicy(policy)));
  };
  EXPECT_EQ(block("layers.3.mlp.gate", "none"), "");
  EXPECT_EQ(block("layers.3.mlp.gate", "block"), "layers.3");
  EXPECT_EQ(block("layers.3.mlp.gate", "layers.*.mlp"), "layers.3.mlp");
  EXPECT_EQ(block("layers.3.mlp.gate", "layers.*"), "layers.3");
  EXPECT_EQ(block("layers.3.attention", "layers.*.mlp"), "");
  EXPECT_EQ(block("layers.3.attention", "layers.*.mlp,*.attention"),
            "layers.3.attention");
  EXPECT_EQ(block("", "*"), "");
}

TEST(PathsTest, PoliciesAreRead) {
  EXPECT_TRUE(ParsePolicy("none").none());
  EXPECT_TRUE(ParsePolicy("block").every_element);
  const CheckpointPolicy policy = ParsePolicy("a.*,b");
  EXPECT_EQ(policy.name, "a.*,b");
  EXPECT_EQ(policy.patterns, (std::vector<std::string>{"a.*", "b"}));
  EXPECT_FALSE(policy.none());
  EXPECT_TRUE(ParsePolicy(" , ").none());
}

TEST(PathsTest, NumbersBecomeStars) {
  EXPECT_EQ(GeneralPath("layers.3.experts.11.w1"), "layers.*.experts.*.w1");
  EXPECT_EQ(GeneralPath(""), "");
}

TEST(OptimizersTest, NamesReadBack) {
  EXPECT_EQ(ParseOptimizer("adafactor"), Optimizer::kAdafactor);
  for (const absl::string_view name : OptimizerNames()) {
    const auto optimizer = ParseOptimizer(name);
    ASSERT_TRUE(optimizer.has_value()) << name;
    EXPECT_EQ(OptimizerName(*optimizer), name);
  }
  EXPECT_EQ(ParseBaseFormat("nf4-double"), BaseFormat::kNf4Double);
  for (const absl::string_view name : BaseFormatNames()) {
    const auto format = ParseBaseFormat(name);
    ASSERT_TRUE(format.has_value()) << name;
    EXPECT_EQ(BaseFormatName(*format), name);
  }
  EXPECT_FALSE(ParseOptimizer("adagrad").has_value());
}

}  // namespace
}  // namespace linnet::training
