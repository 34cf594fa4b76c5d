#include "core/ir/verify.h"

#include <functional>
#include <ostream>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/ir/hand_built.h"

namespace linnet::ir {
namespace {

TEST(VerifyTest, AcceptsAWellFormedFunction) {
  HandBuilt f;
  f.Return(f.Op(OpKind::kExp, {f.x}, f.matrix));
  EXPECT_TRUE(Verify(f.program, f.function).ok())
      << Verify(f.program, f.function);
}

struct FaultCase {
  const char* name;
  std::function<void(HandBuilt&)> build;
  const char* message;
};

std::ostream& operator<<(std::ostream& os, const FaultCase& c) {
  return os << c.name;
}

class FaultTest : public testing::TestWithParam<FaultCase> {};

TEST_P(FaultTest, IsFound) {
  HandBuilt f;
  GetParam().build(f);
  const absl::Status status = Verify(f.program, f.function);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr(GetParam().message));
}

void EmitReduce(HandBuilt& f, lang::TypeId yielded) {
  OpExtra extra;
  extra.num_regions = 1;
  extra.first_region = f.builder.NewRegions(1);
  extra.data.emplace();
  extra.data->domains.push_back({lang::Unit{f.a, {}}});
  extra.data->is_pack.push_back(false);
  f.builder.NewArg(extra.first_region, f.i64);
  const RegionId outer = f.builder.region();
  f.builder.set_region(extra.first_region);
  f.builder.Emit(OpKind::kYield, {f.Int(1, yielded)}, {});
  f.builder.set_region(outer);
  f.Return(f.builder.EmitOne(OpKind::kReduce, {}, f.i64, std::move(extra)));
}

INSTANTIATE_TEST_SUITE_P(
    All, FaultTest,
    testing::Values(
        FaultCase{"NoTerminator",
                  [](HandBuilt& f) { f.Op(OpKind::kExp, {f.x}, f.matrix); },
                  "wrong terminator"},
        FaultCase{"EmptyBody", [](HandBuilt&) {}, "without a terminator"},
        FaultCase{"TerminatorInTheMiddle",
                  [](HandBuilt& f) {
                    f.Return(f.x);
                    f.Return(f.x);
                  },
                  "terminator in the middle"},
        FaultCase{
            "YieldAtTheEnd",
            [](HandBuilt& f) { f.builder.Emit(OpKind::kYield, {f.x}, {}); },
            "wrong terminator"},
        FaultCase{"UseBeforeDefinition",
                  [](HandBuilt& f) {
                    f.Op(OpKind::kExp, {ValueId{3}}, f.matrix);
                    f.Return(f.Op(OpKind::kExp, {f.x}, f.matrix));
                  },
                  "used before it is defined"},
        FaultCase{"UseOfAValueInsideARegion",
                  [](HandBuilt& f) {
                    ValueId inner;
                    const ValueId c =
                        f.Op(OpKind::kConstBool, {}, f.boolean, 1);
                    f.If(c, f.matrix, [&](int) {
                      return inner = f.Op(OpKind::kExp, {f.x}, f.matrix);
                    });
                    f.Return(inner);
                  },
                  "used before it is defined"},
        FaultCase{"TooManyOperands",
                  [](HandBuilt& f) {
                    f.Return(f.Op(OpKind::kExp, {f.x, f.x}, f.matrix));
                  },
                  "2 operands"},
        FaultCase{"OtherDType",
                  [](HandBuilt& f) {
                    const auto half = f.Tensor({f.a, f.b}, DType::kBF16);
                    const ValueId y = f.Op(OpKind::kCast, {f.x}, half);
                    f.Return(f.Op(OpKind::kAdd, {f.x, y}, f.matrix));
                  },
                  "another dtype"},
        FaultCase{"ComparisonNotBool",
                  [](HandBuilt& f) {
                    f.Return(f.Op(OpKind::kCompare, {f.x, f.x}, f.matrix));
                  },
                  "not bool"},
        FaultCase{"NoSuchMember",
                  [](HandBuilt& f) {
                    f.Return(f.Op(OpKind::kBlockParam, {f.self}, f.row, 2));
                  },
                  "no such member"},
        FaultCase{"MemberOfAnotherKind",
                  [](HandBuilt& f) {
                    f.Return(f.Op(OpKind::kStateRead, {f.self}, f.row, 0));
                  },
                  "member of another kind"},
        FaultCase{"MemberOfATensor",
                  [](HandBuilt& f) {
                    f.Return(f.Op(OpKind::kBlockParam, {f.x}, f.row, 0));
                  },
                  "not of a block"},
        FaultCase{"WrongCall",
                  [](HandBuilt& f) {
                    OpExtra extra;
                    extra.data.emplace();
                    extra.data->callee = f.pure;
                    f.Return(f.builder.EmitOne(OpKind::kSemanticCall, {f.x},
                                               f.matrix, std::move(extra)));
                  },
                  "wrong kind of call"},
        FaultCase{"BranchOfAnotherType",
                  [](HandBuilt& f) {
                    const ValueId c =
                        f.Op(OpKind::kConstBool, {}, f.boolean, 1);
                    f.Return(f.If(c, f.matrix,
                                  [&](int i) { return i == 0 ? f.x : c; }));
                  },
                  "region 1 yields another type"},
        FaultCase{"ReductionOfATensor",
                  [](HandBuilt& f) { EmitReduce(f, f.matrix); },
                  "yield one scalar"},
        FaultCase{"MatchOfATensor",
                  [](HandBuilt& f) {
                    OpExtra extra;
                    extra.num_regions = 2;
                    extra.first_region = f.builder.NewRegions(2);
                    f.Return(f.builder.EmitOne(OpKind::kOptionMatch, {f.x},
                                               f.matrix, std::move(extra)));
                  },
                  "no option"}));

TEST(VerifyTest, AcceptsAReduction) {
  HandBuilt f;
  EmitReduce(f, f.i64);
  EXPECT_TRUE(Verify(f.program, f.function).ok())
      << Verify(f.program, f.function);
}

TEST(VerifyTest, AcceptsACompileTimeIntegerBesideAFloat) {
  HandBuilt f;
  f.Return(f.Op(OpKind::kMul, {f.x, f.Int(3, f.i64)}, f.matrix));
  EXPECT_TRUE(Verify(f.program, f.function).ok())
      << Verify(f.program, f.function);
}

}  // namespace
}  // namespace linnet::ir
