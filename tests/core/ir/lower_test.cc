#include "core/ir/lower.h"

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/ir/lowered.h"

namespace linnet::ir {
namespace {

// The lines of a function's text between its braces, without the indentation
// of the first level.
std::string BodyOf(absl::string_view text) {
  std::string body;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.substr(0, 2) != "  ") continue;
    absl::StrAppend(&body, line.substr(2), "\n");
  }
  return body;
}

// One construct of language.md section 9.3: a module and the body of its
// function `f` before the passes.
struct LowerCase {
  const char* name;
  const char* source;
  const char* body;
};

std::ostream& operator<<(std::ostream& os, const LowerCase& c) {
  return os << c.name;
}

class LowerTest : public testing::TestWithParam<LowerCase> {};

TEST_P(LowerTest, GivesTheOperations) {
  LowerOptions options;
  options.optimize = false;
  const Lowered lowered(absl::StrCat("module demo\n", GetParam().source),
                        options);
  EXPECT_EQ(BodyOf(lowered.Text("demo::f")), GetParam().body);
}

INSTANTIATE_TEST_SUITE_P(
    Values, LowerTest,
    testing::Values(
        LowerCase{"NamesEmitNothing",
                  R"(fn f(x: f32) -> f32 { let y = x  let z = (y)  return z })",
                  "return %0\n"},
        LowerCase{"NothingToReturn", R"(fn f(x: f32) {})", "return\n"},
        LowerCase{"LiteralsTakeTheOtherDType",
                  R"(fn f(x: Tensor[4; bf16], n: i32) -> Tensor[4; bf16] {
                       let m = n + 1
                       return x * 2 + 0.5 })",
                  "%2 = const.int 1 : i32\n"
                  "%3 = add %1, %2 : i32\n"
                  "%4 = const.float 2 : bf16\n"
                  "%5 = mul %0, %4 : Tensor[4; bf16]\n"
                  "%6 = const.float 0.5 : bf16\n"
                  "%7 = add %5, %6 : Tensor[4; bf16]\n"
                  "return %7\n"},
        LowerCase{"AnIntegerInAGenericDTypeStaysAnInteger",
                  R"(fn f<T: Float>(x: T) -> T { return x + 1 })",
                  "%1 = const.int 1 : T\n"
                  "%2 = add %0, %1 : T\n"
                  "return %2\n"},
        LowerCase{"SignsOfALiteral",
                  R"(fn f(x: f32) -> f32 { return +x * -1.5 })",
                  "%1 = const.float 1.5 : f32\n"
                  "%2 = neg %1 : f32\n"
                  "%3 = mul %0, %2 : f32\n"
                  "return %3\n"},
        LowerCase{"DimensionsAsValues",
                  R"(fn f<N: Dim>(n: i32, x: Tensor[N; f32]) -> i32 {
                       let y = x * cast<f32>(N)
                       return n + N })",
                  "%2 = const.dim N : i64\n"
                  "%3 = cast %2 : f32\n"
                  "%4 = mul %1, %3 : Tensor[N; f32]\n"
                  "%5 = const.dim N : i64\n"
                  "%6 = cast %5 : i32\n"
                  "%7 = add %0, %6 : i32\n"
                  "return %7\n"},
        LowerCase{"ADimensionMeetingAFloatIsNotCast",
                  R"(fn f<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] {
                       return x * (N + 1) })",
                  "%1 = const.dim N : i64\n"
                  "%2 = const.int 1 : i64\n"
                  "%3 = add %1, %2 : i64\n"
                  "%4 = mul %0, %3 : Tensor[N; f32]\n"
                  "return %4\n"},
        LowerCase{"CompileTimeArithmeticIsOfI64",
                  R"(fn f<A: Dim, B: Dim>(x: i32) -> i32 where B > 0 {
                       return x * (A * 2 - A / B) })",
                  "%1 = const.dim A : i64\n"
                  "%2 = const.int 2 : i64\n"
                  "%3 = mul %1, %2 : i64\n"
                  "%4 = const.dim A : i64\n"
                  "%5 = const.dim B : i64\n"
                  "%6 = div %4, %5 : i64\n"
                  "%7 = sub %3, %6 : i64\n"
                  "%8 = cast %7 : i32\n"
                  "%9 = mul %0, %8 : i32\n"
                  "return %9\n"},
        LowerCase{"ANamedCompileTimeInteger",
                  R"(fn f<D: Dim>(x: i32) -> i32 {
                       let half = D / 2
                       return x + half })",
                  "%1 = const.dim D : i64\n"
                  "%2 = const.int 2 : i64\n"
                  "%3 = div %1, %2 : i64\n"
                  "%4 = cast %3 : i32\n"
                  "%5 = add %0, %4 : i32\n"
                  "return %5\n"},
        LowerCase{"ConstantsAtEachUseInTheDTypeOfTheirContext",
                  R"(const WIDTH = 4 * 8
                     const TYPED: i32 = WIDTH
                     fn f(x: f32, n: i32) -> f32 {
                       let m = n + TYPED
                       return x * WIDTH })",
                  "%2 = const.int 4 : i32\n"
                  "%3 = const.int 8 : i32\n"
                  "%4 = mul %2, %3 : i32\n"
                  "%5 = add %1, %4 : i32\n"
                  "%6 = const.float 4 : f32\n"
                  "%7 = const.float 8 : f32\n"
                  "%8 = mul %6, %7 : f32\n"
                  "%9 = mul %0, %8 : f32\n"
                  "return %9\n"},
        LowerCase{"ComparisonsAndLogic",
                  R"(fn f(x: i32, b: bool) -> bool {
                       return x == 1 && !b || x >= 2 })",
                  "%2 = const.int 1 : i32\n"
                  "%3 = compare == %0, %2 : bool\n"
                  "%4 = not %1 : bool\n"
                  "%5 = and %3, %4 : bool\n"
                  "%6 = const.int 2 : i32\n"
                  "%7 = compare >= %0, %6 : bool\n"
                  "%8 = or %5, %7 : bool\n"
                  "return %8\n"},
        LowerCase{"Tuples",
                  R"(fn f(x: f32, y: i32) -> i32 {
                       let ((_, b), c) = ((x, y), y)
                       return b + c })",
                  "%2 = tuple.make %0, %1 : (f32, i32)\n"
                  "%3 = tuple.make %2, %1 : ((f32, i32), i32)\n"
                  "%4 = tuple.get 0 %3 : (f32, i32)\n"
                  "%5 = tuple.get 1 %3 : i32\n"
                  "%6 = tuple.get 0 %4 : f32\n"
                  "%7 = tuple.get 1 %4 : i32\n"
                  "%8 = add %7, %5 : i32\n"
                  "return %8\n"},
        LowerCase{"StructsInWrittenOrder",
                  R"(struct Pair { a: f32  b: f32 }
                     fn f(x: f32) -> f32 {
                       let p = Pair(b = exp(x), a = log(x))
                       return p.b })",
                  "%1 = exp %0 : f32\n"
                  "%2 = log %0 : f32\n"
                  "%3 = struct.make %2, %1 : Pair\n"
                  "%4 = struct.get b %3 : f32\n"
                  "return %4\n"},
        LowerCase{"PreludeCalls",
                  R"(fn f<N: Dim>(x: Tensor[2, N; f32], c: bool)
                       -> Tensor[2 * N + 2 * N; f32] {
                       let y = select(c, max(x, 0), -1.0)
                       let z = concat(y, x, axis = -1)
                       let t = cumsum(permute(z, [1, 0]), axis = 0)
                       let w = broadcast_to(fill<f32>([1], 2), [2 * N + 2 * N])
                       return reshape(t, [2 * N + 2 * N]) + w })",
                  "%2 = const.float 0 : f32\n"
                  "%3 = max %0, %2 : Tensor[2, N; f32]\n"
                  "%4 = const.float 1 : f32\n"
                  "%5 = neg %4 : f32\n"
                  "%6 = select %1, %3, %5 : Tensor[2, N; f32]\n"
                  "%7 = concat axis -1 %6, %0 : Tensor[2, 2 * N; f32]\n"
                  "%8 = permute [1, 0] %7 : Tensor[2 * N, 2; f32]\n"
                  "%9 = cumsum axis 0 %8 : Tensor[2 * N, 2; f32]\n"
                  "%10 = const.float 2 : f32\n"
                  "%11 = fill %10 : Tensor[1; f32]\n"
                  "%12 = broadcast %11 : Tensor[4 * N; f32]\n"
                  "%13 = reshape %9 : Tensor[4 * N; f32]\n"
                  "%14 = add %13, %12 : Tensor[4 * N; f32]\n"
                  "return %14\n"}));

INSTANTIATE_TEST_SUITE_P(
    Indexing, LowerTest,
    testing::Values(
        LowerCase{"MatrixProduct",
                  R"(fn f<*B: Shape, M: Dim, K: Dim>(
                       a: Tensor[*B, M, K; f32], b: Tensor[K; f32])
                       -> Tensor[*B, M; f32] {
                       let y[*b, m] = sum<f32>[k] a[*b, m, k] * b[k]
                       return y })",
                  "%9 = comprehension [*B, M] : Tensor[*B, M; f32] {\n"
                  "  (%2: [*B], %3: i64)\n"
                  "  %8 = reduce.sum annotated [K] : f32 {\n"
                  "    (%4: i64)\n"
                  "    %5 = tensor.element %0, %2, %3, %4 : f32\n"
                  "    %6 = tensor.element %1, %4 : f32\n"
                  "    %7 = mul %5, %6 : f32\n"
                  "    yield %7\n"
                  "  }\n"
                  "  yield %8\n"
                  "}\n"
                  "return %9\n"},
        LowerCase{"ReductionAtStatementLevel",
                  R"(fn f<N: Dim>(a: Tensor[N, N; f32]) -> f32 {
                       let t = max[i] a[i, i]
                       return t })",
                  "%3 = reduce.max [N] : f32 {\n"
                  "  (%1: i64)\n"
                  "  %2 = tensor.element %0, %1, %1 : f32\n"
                  "  yield %2\n"
                  "}\n"
                  "return %3\n"},
        LowerCase{"Gather",
                  R"(fn f<V: Dim, H: Dim, N: Dim>(
                       table: Tensor[V, H; f32], ids: Tensor[N; i32])
                       -> Tensor[N, H; f32] {
                       let y[n, h] = table[ids[n], h]
                       return y })",
                  "%6 = comprehension [N, H] : Tensor[N, H; f32] {\n"
                  "  (%2: i64, %3: i64)\n"
                  "  %4 = tensor.element %1, %2 : i32\n"
                  "  %5 = tensor.element %0, %4, %3 : f32\n"
                  "  yield %5\n"
                  "}\n"
                  "return %6\n"},
        LowerCase{"SliceWithCompileTimePositions",
                  R"(fn f<N: Dim>(x: Tensor[4, N; f32]) -> Tensor[3; f32] {
                       return x[1:4, 0] })",
                  "%1 = slice [1:4, 0] %0 : Tensor[3; f32]\n"
                  "return %1\n"},
        LowerCase{"EllipsisAndStep",
                  R"(fn f<*S: Shape, D: Dim>(x: Tensor[*S, 2, D; f32])
                       -> Tensor[*S, 2, D / 2; f32] where D % 2 == 0 {
                       return x[..., 0::2] })",
                  "%1 = slice [:, :, 0:D:2] %0 : Tensor[*S, 2, D / 2; f32]\n"
                  "return %1\n"},
        LowerCase{"RuntimeRow",
                  R"(fn f<B: Dim, N: Dim>(x: Tensor[B, N; f32], i: i32)
                       -> Tensor[N; f32] { return x[i, :] })",
                  "%4 = comprehension [N] : Tensor[N; f32] {\n"
                  "  (%2: i64)\n"
                  "  %3 = tensor.element %0, %1, %2 : f32\n"
                  "  yield %3\n"
                  "}\n"
                  "return %4\n"},
        LowerCase{"RuntimeRowThenSlice",
                  R"(fn f<B: Dim>(x: Tensor[B, 3, 8; f32], i: i32)
                       -> Tensor[2; f32] { return x[i, 1, 0:2] })",
                  "%2 = const.int 1 : i64\n"
                  "%5 = comprehension [8] : Tensor[8; f32] {\n"
                  "  (%3: i64)\n"
                  "  %4 = tensor.element %0, %1, %2, %3 : f32\n"
                  "  yield %4\n"
                  "}\n"
                  "%6 = slice [0:2] %5 : Tensor[2; f32]\n"
                  "return %6\n"},
        LowerCase{"RuntimeScalar",
                  R"(fn f<B: Dim>(x: Tensor[B, 2; f32], i: i32) -> f32 {
                       return x[i, 1] })",
                  "%2 = const.int 1 : i64\n"
                  "%3 = tensor.element %0, %1, %2 : f32\n"
                  "return %3\n"}));

INSTANTIATE_TEST_SUITE_P(
    Control, LowerTest,
    testing::Values(
        LowerCase{"If",
                  R"(fn f(x: f32, c: bool) -> f32 {
                       return if c { x } else { 0 } })",
                  "%3 = if %1 : f32 {\n"
                  "  yield %0\n"
                  "} {\n"
                  "  %2 = const.float 0 : f32\n"
                  "  yield %2\n"
                  "}\n"
                  "return %3\n"},
        LowerCase{"CatchAllServesTheOtherCase",
                  R"(fn g(x: f32?) -> f32? { return x }
                     fn f(x: f32?) -> f32? {
                       return match x { none => some(1.5)  whole => g(whole) } })",
                  "%5 = option.match %0 : f32? {\n"
                  "  (%1: f32)\n"
                  "  %2 = call demo::g %0 : f32?\n"
                  "  yield %2\n"
                  "} {\n"
                  "  %3 = const.float 1.5 : f32\n"
                  "  %4 = option.some %3 : f32?\n"
                  "  yield %4\n"
                  "}\n"
                  "return %5\n"},
        LowerCase{"EnumMatchWithOneRegionPerArm",
                  R"(enum Mode { A, B, C }
                     const MODE: Mode = Mode.B
                     fn f(x: f32) -> f32 {
                       return match MODE { B => x  A => -x  _ => x } })",
                  "%1 = enum.const B : Mode\n"
                  "%3 = enum.match [B, A, _] %1 : f32 {\n"
                  "  yield %0\n"
                  "} {\n"
                  "  %2 = neg %0 : f32\n"
                  "  yield %2\n"
                  "} {\n"
                  "  yield %0\n"
                  "}\n"
                  "return %3\n"},
        LowerCase{"CarriedInFirstAssignmentOrder",
                  R"(fn f<N: Dim>(x: f32) -> f32 {
                       var a = x
                       var b = x
                       var c = x
                       for i in 0..N {
                         for j in 0..2 { c = c + a }
                         a = c
                       }
                       return a + b + c })",
                  "%1 = const.int 0 : i64\n"
                  "%2 = const.dim N : i64\n"
                  "%12, %13 = for %1, %2, %0, %0 : f32, f32 {\n"
                  "  (%3: i64, %4: f32, %5: f32)\n"
                  "  %6 = const.int 0 : i64\n"
                  "  %7 = const.int 2 : i64\n"
                  "  %11 = for %6, %7, %4 : f32 {\n"
                  "    (%8: i64, %9: f32)\n"
                  "    %10 = add %9, %5 : f32\n"
                  "    yield %10\n"
                  "  }\n"
                  "  yield %11, %11\n"
                  "}\n"
                  "%14 = add %13, %0 : f32\n"
                  "%15 = add %14, %12 : f32\n"
                  "return %15\n"},
        LowerCase{"Scan",
                  R"(fn f<T: Dim>(x: f32) -> (Tensor[T; f32], Tensor[T; i64]) {
                       var h = x
                       return for t in 0..T { h = h * 2  yield (h, t) } })",
                  "%1 = const.int 0 : i64\n"
                  "%2 = const.dim T : i64\n"
                  "%8, %9 = for scan %1, %2, %0 : f32, "
                  "(Tensor[T; f32], Tensor[T; i64]) {\n"
                  "  (%3: i64, %4: f32)\n"
                  "  %5 = const.float 2 : f32\n"
                  "  %6 = mul %4, %5 : f32\n"
                  "  %7 = tuple.make %6, %3 : (f32, i64)\n"
                  "  yield %6, %7\n"
                  "}\n"
                  "return %9\n"},
        LowerCase{"While",
                  R"(fn f(x: i32) -> i32 {
                       var n = x
                       while n < 9 { n = n + 1 }
                       return n })",
                  "%7 = while %0 : i32 {\n"
                  "  (%1: i32)\n"
                  "  %2 = const.int 9 : i32\n"
                  "  %3 = compare < %1, %2 : bool\n"
                  "  yield %3\n"
                  "} {\n"
                  "  (%4: i32)\n"
                  "  %5 = const.int 1 : i32\n"
                  "  %6 = add %4, %5 : i32\n"
                  "  yield %6\n"
                  "}\n"
                  "return %7\n"},
        LowerCase{"StaticRange",
                  R"(fn f<N: Dim>(x: i64) -> i64 {
                       var n = x
                       static for i in 1..N { n = n + i }
                       return n })",
                  "%1 = const.int 1 : i64\n"
                  "%2 = const.dim N : i64\n"
                  "%6 = static_range %1, %2, %0 : i64 {\n"
                  "  (%3: i64, %4: i64)\n"
                  "  %5 = add %4, %3 : i64\n"
                  "  yield %5\n"
                  "}\n"
                  "return %6\n"}));

INSTANTIATE_TEST_SUITE_P(
    Calls, LowerTest,
    testing::Values(
        LowerCase{"WrittenOrderThenDefaults",
                  R"(const EPS = 1e-5
                     fn g<N: Dim, T: Float>(a: Tensor[N; T], b: T,
                         c: Tensor[N; T]? = none, d: i32 = N, e: T = EPS) -> T {
                       return b }
                     fn f(x: Tensor[4; bf16], y: bf16) -> bf16 {
                       return g(b = exp(y), a = exp(x)) })",
                  "%2 = exp %1 : bf16\n"
                  "%3 = exp %0 : Tensor[4; bf16]\n"
                  "%4 = option.none : Tensor[4; bf16]?\n"
                  "%5 = const.dim 4 : i64\n"
                  "%6 = cast %5 : i32\n"
                  "%7 = const.float 1e-05 : bf16\n"
                  "%8 = call demo::g<4, bf16> %3, %2, %4, %6, %7 : bf16\n"
                  "return %8\n"},
        LowerCase{"OpsAreSemanticCalls",
                  R"(op g(x: f32) -> f32 { return x }
                     fn f(x: f32) -> f32 { return g(x) })",
                  "%1 = semantic.call demo::g %0 : f32\n"
                  "return %1\n"}));

constexpr absl::string_view kBlocks = R"(module demo
use std.nn.linear::{Linear}
use std.nn.activations::{relu}

block Layer<N: Dim> {
    sub proj: Linear<N, N, f32>
    param scale: Tensor[N; f32]
    fn forward<B: Dim>(x: Tensor[B, N; f32]) -> Tensor[B, N; f32] {
        return proj.forward(x) * scale + scale
    }
}
pub block Net<N: Dim, L: Dim> {
    sub layers: [Layer<N>; L]
    sub first: [Layer<N>; 2]
    sub extra: Linear<N, N, f32>? = none
    buffer table: Tensor[2, N; f32]
    state last: Tensor[2, N; f32]

    pub entry stack(x: Tensor[2, N; f32]) -> Tensor[2, N; f32] {
        var h = x
        static for layer in layers { h = layer.forward(h) }
        return h
    }
    pub entry paths(x: Tensor[2, N; f32]) -> Tensor[2, N; f32] {
        return first[1].proj.forward(x) + table * first[0].scale
    }
    pub entry optional(x: Tensor[2, N; f32]) -> Tensor[2, N; f32] {
        return match extra { some(e) => e.forward(x)  none => x }
    }
    pub entry states(x: Tensor[2, N; f32]) -> Tensor[2, N; f32] {
        last = last + x
        return last
    }
    fn keep(x: Tensor[2, N; f32]) -> Tensor[2, N; f32] {
        last = x
        return x
    }
    pub entry twice(x: Tensor[2, N; f32]) -> Tensor[2, N; f32] {
        let unused = keep(relu(x))
        let again = keep(relu(x))
        return again
    }
}
)";

TEST(LowerBlocksTest, MembersAtEveryUse) {
  LowerOptions options;
  options.optimize = false;
  const Lowered lowered(kBlocks, options);
  EXPECT_EQ(lowered.Sketch("demo::Layer.forward"),
            "block.sub call block.param mul block.param add return");
}

TEST(LowerBlocksTest, Bodies) {
  const Lowered lowered(kBlocks);
  EXPECT_EQ(BodyOf(lowered.Text("demo::Net.stack")),
            "%2 = block.sub layers %0 : [Layer<N>; L]\n"
            "%3 = static_for %2, %1 : Tensor[2, N; f32] {\n"
            "  (%4: Layer<N>, %5: Tensor[2, N; f32])\n"
            "  %6 = call demo::Layer.forward<N, 2> %4, %5 : "
            "Tensor[2, N; f32]\n"
            "  yield %6\n"
            "}\n"
            "return %3\n");
  EXPECT_EQ(BodyOf(lowered.Text("demo::Net.paths")),
            "%2 = block.sub first %0 : [Layer<N>; 2]\n"
            "%3 = const.int 1 : i64\n"
            "%4 = array.get 1 %2, %3 : Layer<N>\n"
            "%5 = block.sub proj %4 : Linear<N, N, f32>\n"
            "%6 = call std.nn.linear::Linear.forward<N, N, f32, [2]> %5, %1 : "
            "Tensor[2, N; f32]\n"
            "%7 = block.param table %0 : Tensor[2, N; f32]\n"
            "%8 = const.int 0 : i64\n"
            "%9 = array.get 0 %2, %8 : Layer<N>\n"
            "%10 = block.param scale %9 : Tensor[N; f32]\n"
            "%11 = mul %7, %10 : Tensor[2, N; f32]\n"
            "%12 = add %6, %11 : Tensor[2, N; f32]\n"
            "return %12\n");
  EXPECT_EQ(lowered.Sketch("demo::Net.optional"),
            "block.sub option.match{ call |  } return");
  EXPECT_EQ(lowered.Sketch("demo::Net.states"),
            "state.read add state.write state.read return");
}

TEST(LowerBlocksTest, CallsThatWriteStateStay) {
  const Lowered lowered(kBlocks);
  EXPECT_EQ(lowered.Sketch("demo::Net.twice"),
            "semantic.call call call return");
}

// Conformance 70 to 74.

TEST(ConformanceTest, RmsNorm) {
  const Lowered lowered("module demo\nuse std.nn.norm\n");
  EXPECT_EQ(lowered.Sketch("std.nn.norm::rms_norm"),
            "cast C[1]{ R+[1]{ el mul const.dim cast div } } "
            "C[2]{ el el add rsqrt mul } cast mul return");
}

TEST(ConformanceTest, OneParamReadAfterThePasses) {
  const Lowered lowered(kBlocks);
  EXPECT_EQ(lowered.Sketch("demo::Layer.forward"),
            "block.sub call block.param mul add return");
}

TEST(ConformanceTest, OmittedBias) {
  const Lowered lowered(R"(module demo
use std.nn.linear::{linear}
fn f(x: Tensor[2, 4; f32], w: Tensor[3, 4; f32]) -> Tensor[2, 3; f32] {
    return linear(x, w)
})");
  EXPECT_EQ(lowered.Sketch("demo::f"), "option.none semantic.call return");
}

TEST(ConformanceTest, NegatedLiteralIsOneConstant) {
  const Lowered lowered(R"(module demo
fn f(x: f32) -> f32 { return x * -1e30 })");
  EXPECT_EQ(BodyOf(lowered.Text("demo::f")),
            "%1 = const.float -1e+30 : f32\n"
            "%2 = mul %0, %1 : f32\n"
            "return %2\n");
}

TEST(ConformanceTest, RuntimeRows) {
  const Lowered lowered(R"(module demo
fn f(x: Tensor[4, 8; f32], i: i32) -> Tensor[8; f32] { return x[i, :] }
fn g(x: Tensor[4, 8; f32], i: i32) -> Tensor[3; f32] { return x[i, 2:5] })");
  EXPECT_EQ(lowered.Sketch("demo::f"), "C[1]{ el } return");
  EXPECT_EQ(lowered.Sketch("demo::g"), "C[1]{ el } slice return");
}

TEST(ConformanceTest, ListingsOfTheSpecification) {
  const Lowered lowered(R"(module demo
use std.nn.linear::{Linear}
use std.nn.activations::{relu}
pub op centred<*S: Shape, N: Dim, T: Float>(
    x: Tensor[*S, N; T],
    shift: Tensor[N; T]? = none,
) -> Tensor[*S, N; T]
where N > 0 {
    let m[*s] = sum<f32>[n] cast<f32>(x[*s, n]) / cast<f32>(N)
    let y[*s, n] = x[*s, n] - cast<T>(m[*s])
    return match shift { some(v) => y + v  none => y }
}
block Cell<N: Dim> where N > 0 {
    sub proj: Linear<N, N, f32>
    param bias: Tensor[N; f32]
    pub fn forward<B: Dim>(x: Tensor[B, N; f32]) -> Tensor[B, N; f32] {
        let a = proj.forward(x)
        let b = proj.forward(relu(x))
        return centred(a, some(bias)) * 0.5 + b
    }
})");
  EXPECT_EQ(lowered.Sketch("demo::centred"),
            "C[1]{ R+(f)[1]{ el cast const.dim cast div } } "
            "C[2]{ el el cast sub } option.match{ add |  } return");
  EXPECT_EQ(lowered.Sketch("demo::Cell.forward"),
            "block.sub call semantic.call call block.param option.some "
            "semantic.call const.float mul add return");
}

// Section 10: the bodies that the library's tables spell out.

struct LibraryCase {
  const char* function;  // After `std.`.
  const char* sketch;
};

TEST(StandardLibraryTest, HasTheBodiesOfTheTables) {
  const Lowered lowered(R"(module demo
use std.linalg
use std.random
use std.quant
use std.nn.attention
use std.nn.cache
use std.nn.conv
use std.nn.decoding
use std.nn.embedding
use std.nn.linear
use std.nn.loss
use std.nn.mlp
use std.nn.moe
use std.nn.norm
use std.nn.parallel
use std.nn.pool
use std.nn.resize
use std.nn.rope
use std.nn.softmax
)");
  const std::vector<LibraryCase> cases = {
      {"nn.linear::linear",
       "C[2]{ R+[1]{ el el mul } } option.match{ add |  } return"},
      {"nn.linear::Linear.forward",
       "block.param block.param semantic.call return"},
      {"nn.embedding::embedding", "C[2]{ el el } return"},
      {"nn.norm::layer_norm",
       "cast C[1]{ R+[1]{ el const.dim cast div } } C[2]{ el el sub } "
       "C[1]{ R+[1]{ el mul const.dim cast div } } "
       "C[2]{ el el add rsqrt mul } cast mul option.match{ add |  } return"},
      {"nn.norm::RmsNorm.forward",
       "block.param const.float semantic.call return"},
      {"nn.softmax::softmax",
       "cast C[1]{ Rmax[1]{ el } } C[2]{ el el sub exp } "
       "C[1]{ R+[1]{ el } } C[2]{ el el div } cast return"},
      {"nn.mlp::SwiGlu.forward",
       "block.sub block.sub call semantic.call block.sub call mul call "
       "return"},
      {"nn.rope::rotate_half", "slice slice neg concat return"},
      {"nn.rope::rope", "mul call mul add return"},
      {"nn.decoding::argmax",
       "C[1]{ Rmax[1]{ el } } iota "
       "C[1]{ Rmin[1]{ el el compare el const.dim cast select } } return"},
      {"linalg::dot", "R+[1]{ el el mul } return"},
      {"linalg::transpose", "C[2]{ el } return"},
      {"nn.attention::causal_mask",
       "iota iota C[2]{ el el const.dim const.dim sub add compare } return"},
      {"nn.attention::attention",
       "C[4]{ R+(f)[1]{ el cast el cast mul } } mul "
       "option.match{ const.float fill select |  } semantic.call "
       "C[4]{ R+[1]{ el el cast mul } } cast return"},
      {"nn.attention::grouped_attention",
       "reshape broadcast reshape reshape broadcast reshape semantic.call "
       "return"},
      {"nn.cache::write_at",
       "iota C[4]{ el compare const.int el el select } return"},
      {"nn.moe::linear_experts",
       "C[4]{ el el } C[3]{ R+(f)[1]{ el cast el cast mul } } cast return"},
      {"nn.loss::log_softmax",
       "cast C[1]{ Rmax[1]{ el } } C[1]{ R+[1]{ el el sub exp } } "
       "C[2]{ el el sub el log sub } return"},
      {"nn.loss::linear_cross_entropy",
       "option.none semantic.call semantic.call return"},
      {"nn.parallel::all_gather", "reshape broadcast reshape return"},
      {"nn.parallel::all_reduce", "return"},
      {"nn.pool::global_average_pool2d",
       "C[2]{ R+(f)[2]{ el cast const.dim const.dim mul cast div } } cast "
       "return"},
      {"quant::dequantize_int8", "C[2]{ el cast el mul } cast return"},
  };
  for (const LibraryCase& c : cases) {
    EXPECT_EQ(lowered.Sketch(absl::StrCat("std.", c.function)), c.sketch)
        << c.function;
  }
}

// Gradients and kernels.

TEST(LowerGradientTest, TakesParametersResultAndIncoming) {
  const Lowered lowered(R"(module demo
op square(x: Tensor[4; f32], on: bool) -> Tensor[4; f32] {
    return select(on, x * x, x)
}
grad(y, dy) { return select(on, dy * x * 2, dy) + y })");
  EXPECT_EQ(lowered.Text("demo::square"),
            "op demo::square(%0: Tensor[4; f32], %1: bool) -> "
            "Tensor[4; f32] {\n"
            "  %2 = mul %0, %0 : Tensor[4; f32]\n"
            "  %3 = select %1, %2, %0 : Tensor[4; f32]\n"
            "  return %3\n"
            "} grad (%4: Tensor[4; f32], %5: bool, %6: Tensor[4; f32], "
            "%7: Tensor[4; f32]) {\n"
            "  %8 = mul %7, %4 : Tensor[4; f32]\n"
            "  %9 = const.float 2 : f32\n"
            "  %10 = mul %8, %9 : Tensor[4; f32]\n"
            "  %11 = select %5, %10, %7 : Tensor[4; f32]\n"
            "  %12 = add %11, %6 : Tensor[4; f32]\n"
            "  return %12\n"
            "}\n");
}

TEST(LowerKernelTest, HasAnEmptyBody) {
  const Lowered lowered(R"(module demo
kernel double<N: Dim>(x: Tensor[N; f32]) -> y: Tensor[N; f32]
grid(N) {
    let i = program_id(0)
    store(y[i], load(x[i]) * 2)
}
op twice<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] kernel double<N> {
    return x * 2
})");
  EXPECT_EQ(lowered.Sketch("demo::double"), "return");
  EXPECT_EQ(lowered.Sketch("demo::twice"), "const.float mul return");
}

// Limits.

// A constant that stands for 2^levels additions.
std::string Doubling(int levels) {
  std::string source = "module demo\nconst C0: i64 = 1\n";
  for (int i = 1; i <= levels; ++i) {
    absl::StrAppend(&source, "const C", i, ": i64 = C", i - 1, " + C", i - 1,
                    "\n");
  }
  absl::StrAppend(&source, "fn f() -> i64 { return C", levels, " }\n");
  return source;
}

TEST(LowerLimitsTest, OperationsOfConstants) {
  const auto checked = CheckSource(Doubling(40));
  ASSERT_NE(checked, nullptr);
  LowerOptions options;
  options.max_ops = 50000;
  const auto program = Lower(checked, options);
  EXPECT_EQ(program.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(program.status().message()),
              testing::HasSubstr("more than 50000 operations"));
}

TEST(LowerLimitsTest, OperationsUpToTheLimit) {
  const auto checked = CheckSource(Doubling(4));
  ASSERT_NE(checked, nullptr);
  LowerOptions options;
  options.max_ops = 32;  // 16 constants, 15 additions and the return.
  EXPECT_TRUE(Lower(checked, options).ok());
  options.max_ops = 31;
  EXPECT_EQ(Lower(checked, options).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(LowerLimitsTest, DepthThroughConstants) {
  std::string source = "module demo\nconst C0: i64 = 1\n";
  constexpr int kLevels = 100;
  for (int i = 1; i <= kLevels; ++i) {
    absl::StrAppend(&source, "const C", i, ": i64 = C", i - 1, "\n");
  }
  absl::StrAppend(&source, "fn f() -> i64 { return C", kLevels, " }\n");
  const auto checked = CheckSource(source);
  ASSERT_NE(checked, nullptr);
  LowerOptions options;
  options.max_depth = kLevels + 2;  // The use, every constant and the literal.
  EXPECT_TRUE(Lower(checked, options).ok());
  options.max_depth = kLevels + 1;
  EXPECT_EQ(Lower(checked, options).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace linnet::ir
