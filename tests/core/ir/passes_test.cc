#include "core/ir/passes.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>

#include "core/ir/state_use.h"
#include "core/ir/verify.h"
#include "gtest/gtest.h"
#include "tests/core/ir/hand_built.h"

namespace linnet::ir {
namespace {

struct PassCase {
  const char* name;
  // Writes the function; returns what it returns.
  std::function<ValueId(HandBuilt&)> build;
  const char* before;
  const char* after;
};

std::ostream& operator<<(std::ostream& os, const PassCase& c) {
  return os << c.name;
}

class OptimizeTest : public testing::TestWithParam<PassCase> {};

TEST_P(OptimizeTest, LeavesTheOperations) {
  HandBuilt f;
  f.Return(GetParam().build(f));
  ASSERT_EQ(f.Sketch(), GetParam().before);
  ASSERT_TRUE(Verify(f.program, f.function).ok())
      << Verify(f.program, f.function) << f.Text();
  Optimize(f.program, f.function);
  EXPECT_EQ(f.Sketch(), GetParam().after);
  EXPECT_TRUE(Verify(f.program, f.function).ok())
      << Verify(f.program, f.function) << f.Text();
  // Nothing is left to do.
  EXPECT_FALSE(Canonicalize(f.program, f.function));
  EXPECT_FALSE(MergeCommon(f.program, f.function));
  EXPECT_FALSE(RemoveDead(f.program, f.function));
}

INSTANTIATE_TEST_SUITE_P(
    Canonicalize, OptimizeTest,
    testing::Values(
        PassCase{
            "CastToTheSame",
            [](HandBuilt& f) { return f.Op(OpKind::kCast, {f.x}, f.matrix); },
            "cast return", "return"},
        PassCase{"CastToAnother",
                 [](HandBuilt& f) {
                   const auto half = f.Tensor({f.a, f.b}, DType::kBF16);
                   return f.Op(OpKind::kCast,
                               {f.Op(OpKind::kCast, {f.x}, half)}, f.matrix);
                 },
                 "cast cast return", "cast cast return"},
        PassCase{"ReshapeToTheSame",
                 [](HandBuilt& f) {
                   return f.Op(OpKind::kReshape,
                               {f.Op(OpKind::kBroadcast, {f.x}, f.matrix)},
                               f.matrix);
                 },
                 "broadcast reshape return", "return"},
        PassCase{"PermutesCompose",
                 [](HandBuilt& f) {
                   const auto turned = f.Tensor({f.b, f.a}, DType::kF32);
                   const ValueId once = f.Permute(f.x, {1, 0}, turned);
                   const ValueId twice = f.Permute(once, {1, 0}, f.matrix);
                   return f.Permute(twice, {1, 0}, turned);
                 },
                 "permute permute permute return", "permute return"},
        PassCase{"PermutesCancel",
                 [](HandBuilt& f) {
                   const auto turned = f.Tensor({f.b, f.a}, DType::kF32);
                   return f.Permute(f.Permute(f.x, {1, 0}, turned), {1, 0},
                                    f.matrix);
                 },
                 "permute permute return", "return"},
        PassCase{"NegTwice",
                 [](HandBuilt& f) {
                   return f.Op(OpKind::kNeg,
                               {f.Op(OpKind::kNeg, {f.x}, f.matrix)}, f.matrix);
                 },
                 "neg neg return", "return"},
        PassCase{"NegThreeTimes",
                 [](HandBuilt& f) {
                   ValueId value = f.x;
                   for (int i = 0; i < 3; ++i) {
                     value = f.Op(OpKind::kNeg, {value}, f.matrix);
                   }
                   return value;
                 },
                 "neg neg neg return", "neg return"},
        PassCase{"NegatedFloat",
                 [](HandBuilt& f) {
                   return f.Op(OpKind::kNeg, {f.Float(1e30)}, f.f32);
                 },
                 "const.float neg return", "const.float return"},
        PassCase{
            "IntegersFold",
            [](HandBuilt& f) {
              const ValueId sum =
                  f.Op(OpKind::kAdd, {f.Int(2, f.i64), f.Int(3, f.i64)}, f.i64);
              return f.Op(OpKind::kMul, {sum, f.Int(4, f.i64)}, f.i64);
            },
            "const.int const.int add const.int mul return", "const.int return"},
        PassCase{"DivisionStays",
                 [](HandBuilt& f) {
                   return f.Op(OpKind::kDiv, {f.Int(6, f.i64), f.Int(3, f.i64)},
                               f.i64);
                 },
                 "const.int const.int div return",
                 "const.int const.int div return"},
        PassCase{"OverflowStays",
                 [](HandBuilt& f) {
                   const ValueId most =
                       f.Int(std::numeric_limits<int64_t>::max(), f.i64);
                   return f.Op(OpKind::kAdd, {most, f.Int(1, f.i64)}, f.i64);
                 },
                 "const.int const.int add return",
                 "const.int const.int add return"},
        PassCase{
            "OverflowOfANarrowDTypeStays",
            [](HandBuilt& f) {
              const auto i8 = f.Scalar(DType::kI8);
              return f.Op(OpKind::kMul, {f.Int(100, i8), f.Int(2, i8)}, i8);
            },
            "const.int const.int mul return", "const.int const.int mul return"},
        PassCase{"UnsignedDoesNotGoBelowZero",
                 [](HandBuilt& f) {
                   const auto u8 = f.Scalar(DType::kU8);
                   return f.Op(OpKind::kNeg, {f.Int(1, u8)}, u8);
                 },
                 "const.int neg return", "const.int neg return"}));

INSTANTIATE_TEST_SUITE_P(
    Merge, OptimizeTest,
    testing::Values(
        PassCase{
            "ParamReadTwice",
            [](HandBuilt& f) {
              const ValueId one = f.Op(OpKind::kBlockParam, {f.self}, f.row);
              const ValueId two = f.Op(OpKind::kBlockParam, {f.self}, f.row);
              return f.Op(OpKind::kMul, {one, two}, f.row);
            },
            "block.param block.param mul return", "block.param mul return"},
        PassCase{"StateReadTwice",
                 [](HandBuilt& f) {
                   const ValueId one =
                       f.Op(OpKind::kStateRead, {f.self}, f.row, 1);
                   const ValueId two =
                       f.Op(OpKind::kStateRead, {f.self}, f.row, 1);
                   return f.Op(OpKind::kMul, {one, two}, f.row);
                 },
                 "state.read state.read mul return",
                 "state.read state.read mul return"},
        PassCase{
            "OtherAttributes",
            [](HandBuilt& f) {
              return f.Op(OpKind::kMul, {f.Float(0.0), f.Float(-0.0)}, f.f32);
            },
            "const.float const.float mul return",
            "const.float const.float mul return"},
        PassCase{"OperandsInOrder",
                 [](HandBuilt& f) {
                   const ValueId e = f.Op(OpKind::kExp, {f.x}, f.matrix);
                   const ValueId one = f.Op(OpKind::kSub, {f.x, e}, f.matrix);
                   const ValueId two = f.Op(OpKind::kSub, {e, f.x}, f.matrix);
                   return f.Op(OpKind::kMul, {one, two}, f.matrix);
                 },
                 "exp sub sub mul return", "exp sub sub mul return"},
        PassCase{"MergingCascades",
                 [](HandBuilt& f) {
                   ValueId sides[2];
                   for (ValueId& side : sides) {
                     side =
                         f.Op(OpKind::kLog,
                              {f.Op(OpKind::kExp, {f.x}, f.matrix)}, f.matrix);
                   }
                   return f.Op(OpKind::kMul, {sides[0], sides[1]}, f.matrix);
                 },
                 "exp log exp log mul return", "exp log mul return"},
        PassCase{"PureCalls",
                 [](HandBuilt& f) {
                   return f.Op(OpKind::kMul,
                               {f.Call(f.pure, f.x), f.Call(f.pure, f.x)},
                               f.matrix);
                 },
                 "call call mul return", "call mul return"},
        PassCase{"CallsThatWrite",
                 [](HandBuilt& f) {
                   return f.Op(OpKind::kMul,
                               {f.Call(f.writer, f.x), f.Call(f.writer, f.x)},
                               f.matrix);
                 },
                 "call call mul return", "call call mul return"},
        PassCase{"NotAcrossRegions",
                 [](HandBuilt& f) {
                   const ValueId e = f.Op(OpKind::kExp, {f.x}, f.matrix);
                   const ValueId c = f.Op(OpKind::kConstBool, {}, f.boolean, 1);
                   const ValueId chosen = f.If(c, f.matrix, [&](int) {
                     return f.Op(OpKind::kExp, {f.x}, f.matrix);
                   });
                   return f.Op(OpKind::kAdd, {e, chosen}, f.matrix);
                 },
                 "exp const.bool if{ exp | exp } add return",
                 "exp const.bool if{ exp | exp } add return"}));

INSTANTIATE_TEST_SUITE_P(
    Remove, OptimizeTest,
    testing::Values(
        PassCase{"ChainWithoutUse",
                 [](HandBuilt& f) {
                   f.Op(OpKind::kLog, {f.Op(OpKind::kExp, {f.x}, f.matrix)},
                        f.matrix);
                   return f.x;
                 },
                 "exp log return", "return"},
        PassCase{"ReadWithoutUse",
                 [](HandBuilt& f) {
                   f.Op(OpKind::kStateRead, {f.self}, f.row, 1);
                   return f.x;
                 },
                 "state.read return", "return"},
        PassCase{"WriteStays",
                 [](HandBuilt& f) {
                   f.Write(f.Op(OpKind::kBlockParam, {f.self}, f.row));
                   return f.x;
                 },
                 "block.param state.write return",
                 "block.param state.write return"},
        PassCase{"CallThatWritesStays",
                 [](HandBuilt& f) {
                   f.Call(f.writer, f.x);
                   f.Call(f.pure, f.x);
                   return f.x;
                 },
                 "call call return", "call return"},
        PassCase{"RegionsGoWithTheirOperation",
                 [](HandBuilt& f) {
                   const ValueId c = f.Op(OpKind::kConstBool, {}, f.boolean, 1);
                   const ValueId e = f.Op(OpKind::kExp, {f.x}, f.matrix);
                   f.If(c, f.matrix,
                        [&](int) { return f.Op(OpKind::kNeg, {e}, f.matrix); });
                   return f.x;
                 },
                 "const.bool exp if{ neg | neg } return", "return"},
        PassCase{"WritesInsideKeepTheBranch",
                 [](HandBuilt& f) {
                   const ValueId c = f.Op(OpKind::kConstBool, {}, f.boolean, 1);
                   f.If(c, f.matrix, [&](int i) {
                     return i == 0 ? f.Call(f.writer, f.x) : f.x;
                   });
                   return f.x;
                 },
                 "const.bool if{ call |  } return",
                 "const.bool if{ call |  } return"},
        PassCase{"UsedInARegion",
                 [](HandBuilt& f) {
                   const ValueId c = f.Op(OpKind::kConstBool, {}, f.boolean, 1);
                   const ValueId e = f.Op(OpKind::kExp, {f.x}, f.matrix);
                   return f.If(c, f.matrix, [&](int i) {
                     f.Op(OpKind::kLog, {f.x}, f.matrix);
                     return i == 0 ? e : f.x;
                   });
                 },
                 "const.bool exp if{ log | log } return",
                 "const.bool exp if{  |  } return"}));

TEST(PassesTest, NegatedConstantsKeepTheirValue) {
  HandBuilt f;
  f.Return(f.Op(OpKind::kNeg, {f.Float(1e30)}, f.f32));
  Optimize(f.program, f.function);
  EXPECT_EQ(f.Text(),
            "fn demo::f(%0: Cell, %1: Tensor[A, B; f32]) -> "
            "Tensor[A, B; f32] {\n"
            "  %2 = const.float -1e+30 : f32\n"
            "  return %2\n"
            "}\n");
}

TEST(PassesTest, CompactNumbersInTheOrderOfTheText) {
  HandBuilt f;
  f.Op(OpKind::kExp, {f.x}, f.matrix);  // %2, dead
  const ValueId c = f.Op(OpKind::kConstBool, {}, f.boolean, 1);
  f.Return(f.If(c, f.matrix, [&](int i) {
    return i == 0 ? f.Op(OpKind::kNeg, {f.x}, f.matrix) : f.x;
  }));
  Optimize(f.program, f.function);
  EXPECT_EQ(f.Text(),
            "fn demo::f(%0: Cell, %1: Tensor[A, B; f32]) -> "
            "Tensor[A, B; f32] {\n"
            "  %2 = const.bool true : bool\n"
            "  %3 = if %2 : Tensor[A, B; f32] {\n"
            "    %4 = neg %1 : Tensor[A, B; f32]\n"
            "    yield %4\n"
            "  } {\n"
            "    yield %1\n"
            "  }\n"
            "  return %3\n"
            "}\n");
  EXPECT_EQ(f.function.ops.size(), 6);
  EXPECT_EQ(f.function.value_types.size(), 5);
  EXPECT_EQ(f.function.regions.size(), 3);
}

TEST(UseCountsTest, CountsOperandsOfTheText) {
  HandBuilt f;
  const ValueId once = f.Op(OpKind::kStateRead, {f.self}, f.row, 1);
  const ValueId twice = f.Op(OpKind::kStateRead, {f.self}, f.row, 1);
  const ValueId sum = f.Op(OpKind::kAdd, {once, twice}, f.row);
  f.Write(f.Op(OpKind::kMul, {sum, twice}, f.row));
  f.Return(f.x);
  const UseCounts uses(f.function);
  EXPECT_EQ(uses.Of(once), 1);
  EXPECT_EQ(uses.Of(twice), 2);
  EXPECT_EQ(uses.Of(f.self), 3);
  EXPECT_EQ(uses.Of(f.x), 1);
}

}  // namespace
}  // namespace linnet::ir
