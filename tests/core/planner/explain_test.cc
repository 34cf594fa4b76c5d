#include "core/planner/explain.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::HasSubstr;
using testing_support::ConfigOf;
using testing_support::FullText;

constexpr char kProgram[] = R"(module t
use std.nn.activations::{relu}
use std.nn.softmax::{softmax}
use std.nn.linear::{Linear}
use std.nn.rope::{rope}
pub block Model {
    sub first: Linear<8, 8, f32>
    sub second: Linear<8, 8, f32>
    pub entry run(x: Tensor[4, 8; f32]) -> Tensor[4, 8; f32] {
        return softmax(relu(second.forward(first.forward(x))))
    }
}
)";

// "op count implementation" of each call.
std::vector<std::string> Lines(const Explanation& explanation) {
  std::vector<std::string> lines;
  for (const ExplainedCall& call : explanation.calls) {
    lines.push_back(absl::StrCat(
        call.op, " ", call.count, " ",
        call.implementation.empty() ? "body" : call.implementation));
  }
  return lines;
}

TEST(ExplainTest, FollowsThePolicy) {
  Config config = ConfigOf(kProgram);
  auto fast = Explain(config);
  ASSERT_TRUE(fast.ok()) << FullText(fast.status());
  EXPECT_THAT(Lines(*fast),
              ::testing::ElementsAre(
                  "std.nn.linear::linear 2 torch.nn.functional.linear",
                  "std.nn.activations::relu 1 torch.relu",
                  "std.nn.softmax::softmax 1 torch.softmax(input dtype)"));
  EXPECT_EQ(fast->calls[0].first_scope, "first");
  EXPECT_THAT(fast->calls[2].reason, HasSubstr("in the input dtype"));
  config.numerics = "exact";
  const auto exact = Explain(config);
  ASSERT_TRUE(exact.ok()) << FullText(exact.status());
  EXPECT_THAT(Lines(*exact),
              ::testing::ElementsAre("std.nn.linear::linear 2 body",
                                     "std.nn.activations::relu 1 body",
                                     "std.nn.softmax::softmax 1 body"));
  EXPECT_THAT(exact->calls[1].reason,
              HasSubstr("does not admit torch.relu, which agrees"));
}

TEST(ExplainTest, SaysWhenNothingIsNative) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.batch = 1;
  config.context = 8;
  const auto llama = Explain(config);
  ASSERT_TRUE(llama.ok()) << FullText(llama.status());
  bool found = false;
  for (const ExplainedCall& call : llama->calls) {
    if (call.op != "std.nn.rope::rope") continue;
    found = true;
    EXPECT_EQ(call.count, 64);
    EXPECT_EQ(call.implementation, "");
    EXPECT_EQ(call.reason, "no native implementation is known");
    EXPECT_EQ(call.first_scope, "layers.0.attention");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace linnet::planner
