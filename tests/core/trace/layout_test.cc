#include "core/trace/layout.h"

#include <string>
#include <vector>

#include "core/expr/pool.h"
#include "gtest/gtest.h"

namespace linnet::trace {
namespace {

TEST(LayoutTest, PermutingBackIsContiguousAgain) {
  const std::vector<int32_t> swap = {0, 2, 1, 3};
  const Layout once = Layout::Contiguous().Permuted(swap);
  EXPECT_FALSE(once.contiguous());
  EXPECT_TRUE(once.Permuted(swap).contiguous());
}

TEST(LayoutTest, RotationsCompose) {
  const std::vector<int32_t> left = {1, 2, 0};
  const std::vector<int32_t> right = {2, 0, 1};
  const Layout rotated = Layout::Contiguous().Permuted(left);
  EXPECT_FALSE(rotated.contiguous());
  EXPECT_FALSE(rotated.Permuted(left).contiguous());
  EXPECT_TRUE(rotated.Permuted(left).Permuted(left).contiguous());
  EXPECT_TRUE(rotated.Permuted(right).contiguous());
}

TEST(LayoutTest, AttentionResultsMergeWithoutACopy) {
  // In memory [batch, position, head, width]; the merge permutes to that.
  const Layout result = Layout::Of({0, 2, 1, 3});
  const std::vector<int32_t> merge = {0, 2, 1, 3};
  EXPECT_TRUE(result.Permuted(merge).contiguous());
}

TEST(LayoutTest, NoneStaysNone) {
  const std::vector<int32_t> same = {0, 1};
  EXPECT_FALSE(Layout::None().Permuted(same).contiguous());
}

enum class Axis { kWhole, kNarrow, kStrided, kDropped };

struct SliceCase {
  std::string name;
  std::vector<Axis> axes;
  bool contiguous;
};

class SlicedTest : public ::testing::TestWithParam<SliceCase> {};

TEST_P(SlicedTest, KeepsContiguityByTheRule) {
  expr::Pool pool;
  std::vector<lang::SliceAxis> axes;
  for (Axis axis : GetParam().axes) {
    lang::SliceAxis each;
    each.start = pool.Zero();
    each.stop = pool.One();
    each.step = pool.Constant(axis == Axis::kStrided ? 2 : 1);
    each.whole = axis == Axis::kWhole;
    each.squeezed = axis == Axis::kDropped;
    axes.push_back(each);
  }
  EXPECT_EQ(Layout::Contiguous().Sliced(axes).contiguous(),
            GetParam().contiguous);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SlicedTest,
    ::testing::ValuesIn<SliceCase>({
        {"Whole", {Axis::kWhole, Axis::kWhole}, true},
        {"OneNarrowed", {Axis::kWhole, Axis::kNarrow}, true},
        {"FirstNarrowed", {Axis::kNarrow, Axis::kWhole}, true},
        {"TwoNarrowed", {Axis::kNarrow, Axis::kNarrow}, false},
        {"Strided", {Axis::kWhole, Axis::kStrided}, false},
        {"DroppedFirst", {Axis::kDropped, Axis::kNarrow}, true},
        {"DroppedAfterNarrowed", {Axis::kNarrow, Axis::kDropped}, false},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LayoutTest, SlicesOfPermutedTensorsHaveNoOrder) {
  expr::Pool pool;
  lang::SliceAxis narrow{pool.Zero(), pool.One(), pool.One(), false, false, {}};
  lang::SliceAxis whole{pool.Zero(), pool.One(), pool.One(), false, true, {}};
  const Layout swapped = Layout::Of({1, 0});
  EXPECT_FALSE(swapped.Sliced(std::vector{narrow, whole}).contiguous());
  const std::vector<int32_t> back = {1, 0};
  EXPECT_TRUE(
      swapped.Sliced(std::vector{whole, whole}).Permuted(back).contiguous());
}

}  // namespace
}  // namespace linnet::trace
