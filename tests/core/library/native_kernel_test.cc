#include "core/library/native_kernel.h"

#include <string>

#include "gtest/gtest.h"

namespace linnet::library {
namespace {

std::string Selected(absl::string_view op, Numerics numerics) {
  const NativeImplementation* native = SelectNative(op, numerics);
  return native == nullptr ? "-" : std::string(native->name);
}

struct SelectionCase {
  std::string name, op, exact, equivalent, fast;
};

class SelectNativeTest : public ::testing::TestWithParam<SelectionCase> {};

TEST_P(SelectNativeTest, FollowsThePolicy) {
  const SelectionCase& c = GetParam();
  EXPECT_EQ(Selected(c.op, Numerics::kExact), c.exact);
  EXPECT_EQ(Selected(c.op, Numerics::kEquivalent), c.equivalent);
  EXPECT_EQ(Selected(c.op, Numerics::kFast), c.fast);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SelectNativeTest,
    ::testing::ValuesIn<SelectionCase>({
        {"GatherIsExact", "std.nn.embedding::embedding",
         "torch.nn.functional.embedding", "torch.nn.functional.embedding",
         "torch.nn.functional.embedding"},
        {"ReluIsIeeeEquivalent", "std.nn.activations::relu", "-", "torch.relu",
         "torch.relu"},
        {"SoftmaxHasAFastForm", "std.nn.softmax::softmax", "-", "torch.softmax",
         "torch.softmax(input dtype)"},
        {"SinkAttentionIsFastOnly", "std.nn.attention::sink_attention", "-",
         "-", "linnet.sink_attention"},
        {"RopeHasNone", "std.nn.rope::rope", "-", "-", "-"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(NativeKernelTest, EveryImplementationIsFoundByName) {
  for (const NativeImplementation& each : NativeImplementations()) {
    const NativeImplementation* found = FindNative(each.name);
    ASSERT_NE(found, nullptr) << each.name;
    EXPECT_EQ(found->kernel, each.kernel) << each.name;
  }
  EXPECT_EQ(FindNative("torch.linear"), nullptr);
}

TEST(NativeKernelTest, NumericsNamesRoundTrip) {
  for (Numerics numerics :
       {Numerics::kExact, Numerics::kEquivalent, Numerics::kFast}) {
    EXPECT_EQ(ParseNumerics(NumericsName(numerics)), numerics);
  }
  EXPECT_EQ(ParseNumerics("Fast"), std::nullopt);
}

}  // namespace
}  // namespace linnet::library
