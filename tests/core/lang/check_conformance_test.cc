// The conformance list of language.md section 12, items 16 to 69: what must be
// accepted and what must be rejected with which code. A row's `codes` are all
// that is reported, so one problem must give one report.

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/checked.h"

namespace linnet::lang {
namespace {

struct Row {
  std::string name;
  std::string text;
  std::string codes;  // Empty: accepted. Warnings are left out.
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.name; }

class Conformance : public ::testing::TestWithParam<Row> {};

std::string Errors(const CheckResult& result) {
  return result.diagnostics.has_errors() ? CodesOf(result) : "";
}

TEST_P(Conformance, ReportsExactly) {
  const CheckResult result = CheckText(GetParam().text);
  EXPECT_EQ(Errors(result), GetParam().codes)
      << FormatDiagnostics(result.diagnostics, *result.sources);
  EXPECT_EQ(result.program == nullptr, result.diagnostics.has_errors());
}

std::string RowName(const ::testing::TestParamInfo<Row>& row) {
  return row.param.name;
}

// A function of `params` whose body is `body`.
std::string Fn(absl::string_view head, absl::string_view body) {
  return absl::StrCat("fn f", head, " {\n", body, "\n}\n");
}

const Row kNames[] = {
    {"SelectorAlias",
     "use std.nn.linear::{linear as proj}\n"
     "fn f<N: Dim>(x: Tensor[2, N; f32], w: Tensor[3, N; f32])"
     " -> Tensor[2, 3; f32] { return proj(x, w) }",
     ""},
    {"ModuleImport",
     "use std.random\n"
     "fn f<N: Dim>(key: Tensor[2; i64]) -> Tensor[N; f32]"
     " { return random.uniform<N, f32>(key) }",
     ""},
    {"NoSuchModule", "use std.nn.absent::{x}\n", "E1202"},
    {"FailedImportIsSilent",
     "use std.nn.absent::{x}\nfn f() -> f32 { return x(1) + x(2) }", "E1202"},
    {"PrivateItem", "use std.random::{hidden}\n", "E1203"},
    {"MissingItem", "use std.random::{absent}\n", "E1201"},
    {"PrivateMethod",
     "use std.nn.linear::{Linear}\n"
     "block B<N: Dim> { sub a: Linear<N, N, f32>\n"
     "fn g() -> Tensor[N, N; f32] { return a.secret() } }",
     "E1203"},
    {"CollidesWithImport",
     "use std.nn.linear::{linear}\nfn linear() -> f32 { return 1.0 }", "E1204"},
    {"TwiceInModule", "const A = 1\nconst A = 2", "E1204"},
    {"FunctionAsValue",
     "fn g() -> f32 { return 1.0 }\nfn f() -> f32 { return g }", "E1208"},
    {"ConstantAsType", "const A = 1\nfn f(x: A) -> f32 { return 1.0 }",
     "E1208"},
    {"MethodNotCalled",
     "use std.nn.linear::{Linear}\n"
     "block B<N: Dim> { sub a: Linear<N, N, f32>\n"
     "fn g(x: Tensor[N; f32]) -> Tensor[N; f32] { return a.forward } }",
     "E1208"},
    {"Shadowing", Fn("(a: f32) -> f32", "let x = a\nlet x = x + x\nreturn x"),
     ""},
    {"Undeclared", Fn("(a: f32) -> f32", "return b"), "E1201"},
    {"UndeclaredOnce", Fn("(a: f32) -> f32", "return b + b"), "E1201"},
    {"PreludeLocal", Fn("(a: f32) -> f32", "let exp = a\nreturn a"), "E1207"},
    {"PreludeParameter", Fn("(max: f32) -> f32", "return 1.0"), "E1207"},
    {"SumIsFree",
     Fn("(a: f32, x: Tensor[3; f32]) -> f32",
        "let sum = a + a\nreturn sum + (sum[i] x[i])"),
     ""},
    {"DuplicateParameter", Fn("(a: f32, a: f32) -> f32", "return a"), "E1205"},
    {"DuplicateGeneric", Fn("<N: Dim, N: Dim>(a: f32) -> f32", "return a"),
     "E1205"},
    {"DuplicateField", "struct S { a: f32 a: f32 }", "E1205"},
    {"DuplicateVariant", "enum S { A, A }", "E1205"},
    {"DuplicateMember",
     "block S { param a: Tensor[1; f32] param a: Tensor[1; f32] }", "E1205"},
};
INSTANTIATE_TEST_SUITE_P(Names, Conformance, ::testing::ValuesIn(kNames),
                         RowName);

const Row kTypes[] = {
    {"TensorDTypes",
     Fn("<N: Dim>(a: Tensor[N; bf16], b: Tensor[N; f32]) -> Tensor[N; f32]",
        "return a + b"),
     "E2103"},
    {"ScalarVariableTimesTensor",
     Fn("<N: Dim>(a: f32, b: Tensor[N; bf16]) -> Tensor[N; bf16]",
        "return a * b"),
     "E2103"},
    {"LiteralsTimesFloatTensor",
     Fn("<N: Dim>(x: Tensor[N; bf16]) -> Tensor[N; bf16]",
        "return x * 2 + x * 0.5"),
     ""},
    {"FloatLiteralTimesIntegerTensor",
     Fn("<N: Dim>(x: Tensor[N; i32]) -> Tensor[N; i32]", "return x * 0.5"),
     "E2104"},
    {"FillOutOfRange", Fn("() -> Tensor[4; i8]", "return fill<i8>([4], 300)"),
     "E2105"},
    {"NegativeEdgeFits",
     Fn("() -> Tensor[4; i8]", "return fill<i8>([4], -128)"), ""},
    {"FloatOutOfRange", Fn("() -> f16", "return 70000.0"), "E2105"},
    {"IntegerAbove64Bits", Fn("() -> i64", "return 9223372036854775808"),
     "E2105"},
    {"HalfInLaterType",
     Fn("<H: Dim>(x: Tensor[H; f32]) -> Tensor[H / 2; f32]",
        "let half = H / 2\n"
        "let y: Tensor[half; f32] = x[0:half]\nreturn y"),
     ""},
    {"ConstantLetIsNoDimension",
     Fn("() -> Tensor[3; f32]", "let n = 3\nreturn fill<f32>([n], 0)"),
     "E2123"},
    {"ConstAsDimension",
     "const WIDTH = 8\nfn f() -> Tensor[WIDTH; f32]"
     " { return fill<f32>([WIDTH], WIDTH) }",
     ""},
    {"TypedConstIsNoDimension",
     "const WIDTH: i64 = 8\nfn f(x: Tensor[WIDTH; f32]) -> f32"
     " { return 1.0 }",
     "E2123"},
    {"PackBetweenFixedAxes",
     "fn g<B: Dim, *S: Shape, D: Dim, T: Float>(x: Tensor[B, *S, D; T])"
     " -> Tensor[*S, D; T] { let y[*s, d] = sum[b] x[b, *s, d]\nreturn y }\n"
     "fn f(x: Tensor[2, 3, 4, 5; f32]) -> Tensor[3, 4, 5; f32]"
     " { return g(x) }",
     ""},
    {"NotInferable",
     "fn g<N: Dim>() -> Tensor[N; f32] { return fill<f32>([N], 0) }\n"
     "fn f() -> Tensor[3; f32] { return g() }",
     "E2110"},
    {"ExplicitGeneric",
     "fn g<N: Dim>() -> Tensor[N; f32] { return fill<f32>([N], 0) }\n"
     "fn f() -> Tensor[3; f32] { return g<3>() }",
     ""},
    {"TooManyGenerics",
     "fn g<N: Dim>() -> Tensor[N; f32] { return fill<f32>([N], 0) }\n"
     "fn f() -> Tensor[3; f32] { return g<3, 4>() }",
     "E2111"},
    {"ShapeWithoutStar", Fn("<S: Shape>(a: f32) -> f32", "return a"), "E2111"},
    {"DimWithStar", Fn("<*S: Dim>(a: f32) -> f32", "return a"), "E2111"},
    {"TypeWhereDimension",
     "fn g<N: Dim>() -> Tensor[N; f32] { return fill<f32>([N], 0) }\n"
     "fn f() -> Tensor[3; f32] { return g<f32>() }",
     "E2111"},
    {"MissingTypeArgument",
     "use std.nn.linear::{Linear}\nblock B<N: Dim> { sub a: Linear<N> }",
     "E2111"},
    {"DTypeClass",
     "fn g<N: Dim, T: Float>(x: Tensor[N; T]) -> Tensor[N; T] { return x }\n"
     "fn f(x: Tensor[3; i32]) -> Tensor[3; i32] { return g(x) }",
     "E2112"},
    {"VariableClassContained",
     "fn g<N: Dim, T: Numeric>(x: Tensor[N; T]) -> Tensor[N; T] { return x }\n"
     "fn f<T: Float>(x: Tensor[3; T]) -> Tensor[3; T] { return g(x) }",
     ""},
    {"AddOfAnyDType",
     Fn("<T: DType>(x: Tensor[3; T]) -> Tensor[3; T]", "return x + x"),
     "E2104"},
    {"BareForOptional",
     "fn g(x: Tensor[3; f32]?) -> f32 { return 1.0 }\n"
     "fn f(x: Tensor[3; f32]) -> f32 { return g(x) }",
     "E2101"},
    {"Optionals",
     "fn g(x: Tensor[3; f32]? = none) -> f32 { return 1.0 }\n"
     "fn f(x: Tensor[3; f32]) -> f32"
     " { return g(some(x)) + g(none) + g() }",
     ""},
    {"MissingArgument",
     "fn g(a: f32, b: f32) -> f32 { return a }\n"
     "fn f() -> f32 { return g(1.0) }",
     "E2102"},
    {"UnknownKeyword",
     "fn g(a: f32) -> f32 { return a }\n"
     "fn f() -> f32 { return g(c = 1.0) }",
     "E2102"},
    {"GivenTwice",
     "fn g(a: f32) -> f32 { return a }\n"
     "fn f() -> f32 { return g(1.0, a = 1.0) }",
     "E2102"},
    {"TooMany",
     "fn g(a: f32) -> f32 { return a }\n"
     "fn f() -> f32 { return g(1.0, 2.0) }",
     "E2102"},
    {"NoneWithoutType", Fn("() -> f32", "let n = none\nreturn 1.0"), "E2113"},
    {"MutualRecursion",
     "fn a() -> f32 { return b() }\nfn b() -> f32 { return a() }", "E2119"},
    {"SelfRecursion", "fn a<N: Dim>() -> f32 { return a<N>() }", "E2119"},
    {"ConstantThroughItself", "const A = B\nconst B = A", "E2122"},
    {"AliasThroughItself", "type A = B\ntype B = A", "E2122"},
    {"StructThroughItself", "struct A { b: B }\nstruct B { a: A? }", "E2122"},
    {"BlockThroughItself", "block A { sub a: A? = none }", "E2122"},
    {"Struct",
     "struct P<N: Dim> { a: Tensor[N; f32] b: f32 }\n"
     "fn f<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] {\n"
     "let p = P(b = 2, a = x)\nreturn p.a * p.b }",
     ""},
    {"UnknownField", "struct P { a: f32 }\nfn f(p: P) -> f32 { return p.c }",
     "E2107"},
    {"PositionalField", "struct P { a: f32 }\nfn f() -> P { return P(1.0) }",
     "E2102"},
    {"MissingField",
     "struct P { a: f32 b: f32 }\nfn f() -> P { return P(a = 1.0) }", "E2102"},
    {"LogicOnTensors",
     Fn("<N: Dim>(a: Tensor[N; bool]) -> Tensor[N; bool]", "return a && a"),
     "E2116"},
    {"BitsOnTensors",
     Fn("<N: Dim>(a: Tensor[N; bool]) -> Tensor[N; bool]", "return a & a"), ""},
    {"BitsOnFloats", Fn("(a: f32) -> f32", "return a & a"), "E2104"},
    {"BranchShapes",
     Fn("(c: bool, a: Tensor[2; f32], b: Tensor[3; f32]) -> Tensor[2; f32]",
        "return if c { a } else { b }"),
     "E2115"},
    {"BranchLiteralAdapts",
     Fn("(c: bool, a: f32) -> f32", "return if c { a } else { 0 }"), ""},
    {"BranchNoneAdapts",
     Fn("(c: bool, a: f32) -> f32?", "return if c { some(a) } else { none }"),
     ""},
    {"StringValue", Fn("() -> f32", "let s = \"a\"\nreturn 1.0"), "E2104"},
    {"CallOfValue", Fn("(a: f32) -> f32", "return a(1)"), "E2106"},
    {"UnitAsValue", "fn g() { }\nfn f() -> f32 { let a = g()\nreturn 1.0 }",
     "E2101"},
    {"Gather", Fn("(x: Tensor[3; f32]) -> f32", "return gather(x)"), "E2190"},
    {"FloatFunctionOfInteger", Fn("() -> f32", "return exp(1)"), "E2104"},
    {"FloatFunctionOfLiteral", Fn("() -> f32", "return exp(1.0)"), ""},
    {"CastWithoutDType", Fn("(x: f32) -> f32", "return cast(x)"), "E2110"},
    {"FillWithoutDType", Fn("() -> f32", "let a = fill([3], 0)\nreturn 1.0"),
     "E2110"},
    {"FillTakesDType", Fn("(v: f32) -> Tensor[3; f32]", "return fill([3], v)"),
     ""},
    {"IotaOfRuntime", Fn("(n: i64) -> f32", "let a = iota(n)\nreturn 1.0"),
     "E2123"},
    {"AxisOnlyKeyword", Fn("(x: f32) -> f32", "return exp(x = x)"), "E2102"},
    {"EnumEquality",
     "enum E { A, B }\nconst K: E = E.A\n"
     "fn f() -> bool { return K == E.B }",
     ""},
    {"NoSuchVariant", "enum E { A, B }\nconst K: E = E.C", "E2107"},
    {"BlockAsValue",
     "use std.nn.linear::{Linear}\nblock B<N: Dim> { sub a: Linear<N, N>\n"
     "fn g() -> f32 { let b = a\nreturn 1.0 } }",
     "E2104"},
    {"ResultDType", Fn("(a: Tensor[3; f32]) -> Tensor[3; bf16]", "return a"),
     "E2103"},
    {"ResultKind", Fn("(a: Tensor[3; f32]) -> f32", "return a"), "E2101"},
    {"DefaultUsesConstant",
     "const EPS = 1e-5\nfn g(e: f32 = EPS) -> f32 { return e }", ""},
    {"DefaultUsesParameter", "fn g(a: f32, e: f32 = a) -> f32 { return e }",
     "E1201"},
    {"GenericDefaults",
     "fn g<N: Dim, M: Dim = 2 * N, T: Float = f32>(x: Tensor[N; f32])"
     " -> Tensor[M; T] { return fill<T>([M], 0) }\n"
     "fn f() -> Tensor[6; f32] { return g(fill<f32>([3], 0)) }",
     ""},
    {"DeferredDimension",
     "fn g<A: Dim, B: Dim>(x: Tensor[A * B; f32], y: Tensor[A; f32],"
     " z: Tensor[B; f32]) -> f32 { return 1.0 }\n"
     "fn f<N: Dim>(x: Tensor[2 * N; f32], y: Tensor[N; f32],"
     " z: Tensor[2; f32]) -> f32 { return g(x, y, z) }",
     ""},
    {"DeferredDimensionDiffers",
     "fn g<A: Dim, B: Dim>(x: Tensor[A * B; f32], y: Tensor[A; f32],"
     " z: Tensor[B; f32]) -> f32 { return 1.0 }\n"
     "fn f<N: Dim>(x: Tensor[2 * N; f32], y: Tensor[N; f32],"
     " z: Tensor[3; f32]) -> f32 { return g(x, y, z) }",
     "E2202"},
};
INSTANTIATE_TEST_SUITE_P(Types, Conformance, ::testing::ValuesIn(kTypes),
                         RowName);

const Row kShapes[] = {
    {"SplitHeads",
     Fn("<B: Dim, S: Dim, H: Dim, N: Dim>(x: Tensor[B, S, H; f32])"
        " -> Tensor[B, S, N, H / N; f32] where H % N == 0, N > 0",
        "return reshape(x, [B, S, N, H / N])"),
     ""},
    {"SplitWithoutDivisibility",
     Fn("<B: Dim, H: Dim, N: Dim>(x: Tensor[B, H; f32])"
        " -> Tensor[B, N, H / N; f32] where N > 0",
        "return reshape(x, [B, N, H / N])"),
     "E2203"},
    {"DivisorNotPositive",
     Fn("<H: Dim, N: Dim>(x: Tensor[H / N; f32]) -> f32", "return 1.0"),
     "E2205"},
    {"CalleeConstraint",
     "fn g<H: Dim, N: Dim>(x: Tensor[H; f32], y: Tensor[N; f32]) -> f32"
     " where H % N == 0 { return 1.0 }\n"
     "fn f<H: Dim, N: Dim>(x: Tensor[H; f32], y: Tensor[N; f32]) -> f32"
     " { return g(x, y) }",
     "E2206"},
    {"CalleeConstraintStated",
     "fn g<H: Dim, N: Dim>(x: Tensor[H; f32], y: Tensor[N; f32]) -> f32"
     " where H % N == 0 { return 1.0 }\n"
     "fn f<H: Dim, N: Dim>(x: Tensor[H; f32], y: Tensor[N; f32]) -> f32"
     " where H % N == 0 { return g(x, y) }",
     ""},
    {"SubConstraint",
     "block A<N: Dim> where N > 0 { param w: Tensor[N; f32] }\n"
     "block B<N: Dim> { sub a: A<N> }",
     "E2206"},
    {"SubConstraintStated",
     "block A<N: Dim> where N > 0 { param w: Tensor[N; f32] }\n"
     "block B<N: Dim> where N > 1 { sub a: A<N> }",
     ""},
    {"AliasConstraint",
     "block A<N: Dim> where N > 0 { param w: Tensor[N; f32] }\n"
     "type Twice<N: Dim> = A<2 * N>\n"
     "block B<N: Dim> { sub a: Twice<N> }",
     "E2206"},
    {"AliasConstraintStated",
     "block A<N: Dim> where N > 0 { param w: Tensor[N; f32] }\n"
     "type Twice<N: Dim> = A<2 * N>\n"
     "block B<N: Dim> where N > 0 { sub a: Twice<N> }",
     ""},
    {"RewrittenSymbol",
     Fn("<Q: Dim, K: Dim, G: Dim>(x: Tensor[Q; f32]) -> Tensor[K * G; f32]"
        " where Q == K * G",
        "return x"),
     ""},
    {"UnrelatedBroadcast",
     Fn("<A: Dim, B: Dim>(a: Tensor[A; f32], b: Tensor[B; f32])"
        " -> Tensor[A; f32]",
        "return a + b"),
     "E2207"},
    {"Broadcasts",
     Fn("<B: Dim, H: Dim>(a: Tensor[1, H; f32], b: Tensor[B, H; f32],"
        " c: Tensor[H; f32]) -> Tensor[B, H; f32]",
        "return (a + b) * (c + b)"),
     ""},
    {"NegativeIota", Fn("() -> f32", "let a = iota(0 - 1)\nreturn 1.0"),
     "E2208"},
    {"NegativeType", Fn("(x: Tensor[0 - 4; f32]) -> f32", "return 1.0"),
     "E2208"},
    {"ResultShape",
     Fn("<B: Dim, H: Dim>(x: Tensor[B, H; f32]) -> Tensor[H, B; f32]",
        "return x"),
     "E2202"},
    {"BroadcastTo",
     Fn("<B: Dim, H: Dim>(x: Tensor[H, 1; f32]) -> Tensor[B, H, 3; f32]",
        "return broadcast_to(x, [B, H, 3])"),
     ""},
    {"BroadcastToOther",
     Fn("<B: Dim, H: Dim>(x: Tensor[H; f32]) -> Tensor[B; f32]",
        "return broadcast_to(x, [B])"),
     "E2207"},
    {"RepeatedAxis",
     Fn("(x: Tensor[2, 3; f32]) -> f32",
        "let y = permute(x, [0, 0])\nreturn 1.0"),
     "E2210"},
    {"ConcatBehindPack",
     Fn("<*S: Shape>(x: Tensor[*S, 3; f32]) -> f32",
        "let y = concat(x, x, axis = 0)\nreturn 1.0"),
     "E2210"},
    {"ConcatFromTheEnd",
     Fn("<*S: Shape>(x: Tensor[*S, 3; f32]) -> Tensor[*S, 6; f32]",
        "return concat(x, x, axis = -1)"),
     ""},
    {"ConcatOtherAxes",
     Fn("(x: Tensor[2, 3; f32], y: Tensor[4, 3; f32]) -> f32",
        "let z = concat(x, y, axis = 1)\nreturn 1.0"),
     "E2202"},
    {"ConcatWithoutAxis",
     Fn("(x: Tensor[2; f32]) -> f32", "let z = concat(x, x)\nreturn 1.0"),
     "E2102"},
};
INSTANTIATE_TEST_SUITE_P(Shapes, Conformance, ::testing::ValuesIn(kShapes),
                         RowName);

const Row kIndices[] = {
    {"BatchedProduct",
     Fn("<*B: Shape, M: Dim, K: Dim, N: Dim>(a: Tensor[*B, M, K; f32],"
        " b: Tensor[*B, K, N; f32]) -> Tensor[*B, M, N; f32]",
        "let y[*b, m, n] = sum[k] a[*b, m, k] * b[*b, k, n]\nreturn y"),
     ""},
    {"TraceTransposeDiagonal",
     Fn("<N: Dim>(a: Tensor[N, N; f32]) -> Tensor[N; f32]",
        "let t[j, i] = a[i, j]\nlet d[i] = t[i, i]\n"
        "let s = sum[i] a[i, i]\nreturn d * s"),
     ""},
    {"GatherByTensor",
     Fn("<N: Dim, V: Dim>(ids: Tensor[N; i32], t: Tensor[V, 4; f32])"
        " -> Tensor[N, 4; f32]",
        "let y[n, h] = t[ids[n], h]\nreturn y"),
     ""},
    {"FreeIndex",
     Fn("<N: Dim>(a: Tensor[N, N; f32]) -> Tensor[N; f32]",
        "let y[i] = a[i, j]\nreturn y"),
     "E3101"},
    {"UnusedReductionIndex",
     Fn("(a: Tensor[3; f32]) -> f32", "return sum[i, j] a[i]"), "E3102"},
    {"UnusedOutputIndex",
     Fn("(a: Tensor[3; f32]) -> f32", "let y[i, j] = a[i]\nreturn 1.0"),
     "E3103"},
    {"IndexAsValue",
     Fn("(x: Tensor[3; i64]) -> f32", "let y[i] = x[i] + i\nreturn 1.0"),
     "E3104"},
    {"ShiftedIndex",
     Fn("(x: Tensor[3; f32]) -> f32", "let y[i] = x[i + 1]\nreturn 1.0"),
     "E3104"},
    {"LiteralSide", Fn("() -> f32", "let y[i] = 1.0\nreturn 1.0"), "E3104"},
    {"TensorSide", Fn("(x: Tensor[3; f32]) -> f32", "let y[i] = x\nreturn 1.0"),
     "E3104"},
    {"ListedTwice",
     Fn("(x: Tensor[3; f32]) -> f32", "let y[i, i] = x[i]\nreturn 1.0"),
     "E3105"},
    {"PlainOnPack",
     Fn("<*S: Shape>(x: Tensor[*S; f32]) -> f32",
        "let y[i] = x[i]\nreturn 1.0"),
     "E3106"},
    {"PackAsPlain",
     Fn("<*S: Shape>(x: Tensor[*S, 3; f32]) -> f32",
        "let y[*s, k] = x[s, k]\nreturn 1.0"),
     "E3106"},
    {"WrongCount",
     Fn("(x: Tensor[3, 4; f32]) -> f32", "let y[i] = x[i]\nreturn 1.0"),
     "E2204"},
    {"TwoEllipses",
     Fn("(x: Tensor[3, 4; f32]) -> f32", "let y = x[..., ...]\nreturn 1.0"),
     "E2204"},
    {"ConflictingExtents",
     Fn("<A: Dim, B: Dim>(a: Tensor[A; f32], b: Tensor[B; f32]) -> f32",
        "return sum[i] a[i] * b[i]"),
     "E2201"},
    {"AnnotatedReduction",
     Fn("<K: Dim>(a: Tensor[K; bf16]) -> f32", "return sum<f32>[k] a[k]"),
     "E2103"},
    {"SteppedSlice",
     Fn("<B: Dim, D: Dim>(x: Tensor[B, D; f32]) -> Tensor[B, D / 2; f32]"
        " where D % 2 == 0",
        "return x[..., 0::2]"),
     ""},
    {"ClampedSlice",
     Fn("<B: Dim, N: Dim>(x: Tensor[B, N; f32])"
        " -> Tensor[B, min(2, N); f32]",
        "return x[:, 0:2]"),
     ""},
    {"HalfSlice",
     Fn("<B: Dim, D: Dim>(x: Tensor[B, D; f32]) -> Tensor[B, D / 2; f32]",
        "return x[:, 0:D / 2]"),
     ""},
    {"NegativePosition", Fn("(x: Tensor[3; f32]) -> f32", "return x[0 - 1]"),
     "E2209"},
    {"PositionPastTheEnd", Fn("(x: Tensor[3; f32]) -> f32", "return x[3]"),
     "E2209"},
    {"RuntimeBound",
     Fn("(x: Tensor[3; f32], n: i64) -> f32", "let y = x[0:n]\nreturn 1.0"),
     "E2209"},
    {"StepZero",
     Fn("(x: Tensor[3; f32]) -> f32", "let y = x[0:3:0]\nreturn 1.0"), "E2209"},
    {"RuntimeRow",
     Fn("<B: Dim, N: Dim>(x: Tensor[B, N; f32], b: i32, pos: i64)"
        " -> Tensor[N; f32]",
        "let y = x[b, pos]\nreturn x[b, :] * y"),
     ""},
    {"IotaInside",
     Fn("<N: Dim>(x: Tensor[N; i64]) -> Tensor[N; i64]",
        "let y[i] = x[i] + iota(N)[i]\nreturn y"),
     ""},
    {"BaseNamedAsIndex",
     Fn("<*B: Shape>(b: Tensor[*B, 3; f32]) -> Tensor[*B, 3; f32]",
        "let y[*b, k] = b[*b, k]\nreturn y"),
     ""},
    {"InnerScopeShadows",
     Fn("(x: Tensor[3, 4; f32]) -> Tensor[3; f32]",
        "let y[i] = x[i, 0] + (sum[i] x[0, i])\nreturn y"),
     ""},
    {"AnyAll",
     Fn("(x: Tensor[3; bool]) -> bool",
        "return (any[i] x[i]) && "
        "(all[i] x[i])"),
     ""},
    {"AnyOfNumbers", Fn("(x: Tensor[3; f32]) -> bool", "return any[i] x[i]"),
     "E2104"},
};
INSTANTIATE_TEST_SUITE_P(Indices, Conformance, ::testing::ValuesIn(kIndices),
                         RowName);

const Row kControl[] = {
    {"MissingReturn", Fn("() -> f32", "let _ = 1.0"), "E2120"},
    {"ReturnInLoop",
     Fn("() -> f32", "static for _i in 0..3 { return 1.0 }\nreturn 2.0"),
     "E2120"},
    {"TensorCondition",
     Fn("(c: Tensor[3; bool], a: f32) -> f32", "return if c { a } else { a }"),
     "E2114"},
    {"TensorWhile",
     Fn("(c: Tensor[3; bool]) -> f32", "while c { let _ = 1 }\nreturn 1.0"),
     "E2114"},
    {"MissingNone", Fn("(x: f32?) -> f32", "return match x { some(v) => v }"),
     "E2118"},
    {"ArmAfterCatchAll",
     Fn("(x: f32?) -> f32", "return match x { _ => 1.0 some(v) => v }"),
     "E2117"},
    {"MatchOnTensor", Fn("(x: f32) -> f32", "return match x { _ => 1.0 }"),
     "E2117"},
    {"SomeOnEnum",
     "enum E { A, B }\n"
     "fn f(e: E) -> f32 { return match e { some(v) => 1.0 _ => 2.0 } }",
     "E2117"},
    {"EnumMatch",
     "enum E { A, B }\nconst K: E = E.A\n"
     "fn f() -> f32 { return match K { A => 1.0 B => 2.0 } }",
     ""},
    {"EnumLeftOut",
     "enum E { A, B }\nfn f(e: E) -> f32 { return match e { A => 1.0 } }",
     "E2118"},
    {"LetSome", Fn("(x: f32?) -> f32", "let some(v) = x\nreturn 1.0"), "E2117"},
    {"StaticFor",
     "use std.nn.linear::{Linear}\n"
     "block B<N: Dim, L: Dim> { sub layers: [Linear<N, N, f32>; L]\n"
     "entry run(x: Tensor[N; f32]) -> Tensor[N; f32] {\nvar h = x\n"
     "static for layer in layers { h = layer.forward(h) }\nreturn h } }",
     ""},
    {"StaticForOverTensor",
     Fn("(x: Tensor[3; f32]) -> f32",
        "static for v in x { let _ = 1 }\nreturn 1.0"),
     "E2121"},
    {"RangeVariableAsDimension",
     Fn("() -> f32", "static for i in 0..3 { let _ = iota(i) }\nreturn 1.0"),
     "E2123"},
    {"RuntimeRange",
     Fn("(n: i64) -> f32", "for i in 0..n { let _ = i }\nreturn 1.0"), "E2121"},
    {"Scan",
     Fn("<H: Dim, T: Dim>(x: Tensor[H; f32]) -> Tensor[T, H; f32]",
        "var h = x\nlet t = for i in 0..T { h = h * 2\nyield h }\nreturn t"),
     ""},
    {"ScanOfTuple",
     Fn("<H: Dim>(x: Tensor[H; f32]) -> (Tensor[4, H; f32], Tensor[4; i64])",
        "return for i in 0..4 { yield (x, i) }"),
     ""},
    {"ScanInside",
     Fn("(x: f32) -> f32",
        "let y = exp((for i in 0..4 { yield x }))\n"
        "return 1.0"),
     "E2104"},
    {"ScanWithoutYield",
     Fn("(x: f32) -> f32", "let y = for i in 0..4 { let _ = x }\nreturn x"),
     "E2120"},
    {"VarShape",
     Fn("(x: Tensor[2; f32], y: Tensor[3; f32]) -> f32",
        "var h = x\nh = y\nreturn 1.0"),
     "E2109"},
    {"AssignLet", Fn("(x: f32) -> f32", "let h = x\nh = x\nreturn h"), "E2108"},
    {"AssignParameter", Fn("(x: f32) -> f32", "x = 1.0\nreturn x"), "E2108"},
    {"AssignParam",
     "block B { param w: Tensor[3; f32]\n"
     "fn g() -> f32 { w = fill<f32>([3], 0)\nreturn 1.0 } }",
     "E2108"},
    {"StateDType",
     "block B { state s: Tensor[3; f32]\n"
     "fn g() -> f32 { s = fill<bf16>([3], 0)\nreturn 1.0 } }",
     "E2109"},
    {"OptionalState", "block B { state s: Tensor[3; f32]? }", "E4101"},
    {"ScalarParam", "block B { param s: f32 }", "E4101"},
    {"ArrayOfOptionals",
     "use std.nn.linear::{Linear}\nblock B { sub s: [Linear<2, 2>?; 3] }",
     "E4101"},
    {"NoneOnRequired", "block B { param s: Tensor[3; f32] = none }", "E4101"},
    {"ValueInSource", "block B { param s: Tensor[3; f32]? = 1 }", "E4102"},
    {"OptionalSub",
     "use std.nn.linear::{Linear}\n"
     "block B<N: Dim> { sub extra: Linear<N, N, f32>? = none\n"
     "entry run(x: Tensor[N; f32]) -> Tensor[N; f32] {\n"
     "return match extra { some(e) => e.forward(x) none => x } } }",
     ""},
    {"StateThenRead",
     "block B<N: Dim> { state s: Tensor[N; f32]\n"
     "entry run(x: Tensor[N; f32]) -> Tensor[N; f32] {\n"
     "let old = s\ns = x\nreturn s + old } }",
     ""},
    {"ParentReadsChildState",
     "block A<N: Dim> { state s: Tensor[N; f32] }\n"
     "block B<N: Dim> { sub a: A<N>\n"
     "entry run() -> Tensor[N; f32] { return a.s } }",
     ""},
    {"ArrayElement",
     "use std.nn.linear::{Linear}\n"
     "block B<N: Dim> { sub layers: [Linear<N, N, f32>; 4]\n"
     "entry run(x: Tensor[N; f32]) -> Tensor[N; f32] {\n"
     "return layers[0].forward(x) + layers[3].forward(x) } }",
     ""},
    {"ArrayElementPastTheEnd",
     "use std.nn.linear::{Linear}\n"
     "block B<N: Dim> { sub layers: [Linear<N, N, f32>; 4]\n"
     "entry run(x: Tensor[N; f32]) -> Tensor[N; f32] {\n"
     "return layers[4].forward(x) } }",
     "E2209"},
    {"ArrayRuntimeIndex",
     "use std.nn.linear::{Linear}\n"
     "block B<N: Dim> { sub layers: [Linear<N, N, f32>; 4]\n"
     "entry run(x: Tensor[N; f32], i: i64) -> Tensor[N; f32] {\n"
     "return layers[i].forward(x) } }",
     "E3104"},
    {"Gradient",
     "op sq<N: Dim>(x: Tensor[N; f32], n: i64) -> Tensor[N; f32]"
     " { return x * x } grad(y, dy) { return dy * x * 2 }",
     ""},
    {"GradientResult",
     "op sq<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32]"
     " { return x * x } grad(y, dy) { return cast<bf16>(dy) }",
     "E2103"},
    {"UnusedKernel",
     "kernel k<N: Dim>(x: Tensor[N; f32]) -> y: Tensor[N; f32]"
     " grid(N) { let t = load(x[program_id(0)]) store(y[0], t) }\n"
     "op g<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] kernel k<N>"
     " { return x }",
     ""},
    {"NoSuchKernel",
     "op g<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] kernel k<N>"
     " { return x }",
     "E1201"},
};
INSTANTIATE_TEST_SUITE_P(Control, Conformance, ::testing::ValuesIn(kControl),
                         RowName);

}  // namespace
}  // namespace linnet::lang
