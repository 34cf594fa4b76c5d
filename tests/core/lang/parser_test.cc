#include "core/lang/parser.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/lang/tree_text.h"
#include "gtest/gtest.h"
#include "tests/support/parsed.h"

namespace linnet::lang {
namespace {

// `count` times `text`.
std::string Times(int count, absl::string_view text) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, text);
  return out;
}

struct TextCase {
  std::string name;
  std::string text;
  std::string want;
};
const auto kName = [](const auto& test) { return test.param.name; };

// -- Expressions
// ---------------------------------------------------------------

class ExprTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(ExprTest, Reads) {
  const Parsed parsed(absl::StrCat("module m const C = ", GetParam().text));
  EXPECT_EQ(parsed.Errors(), "") << parsed.Message();
  EXPECT_EQ(TreeText(parsed.tree, parsed.names),
            absl::StrCat("module m\nconst C = ", GetParam().want, "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Operators, ExprTest,
    ::testing::ValuesIn<TextCase>({
        {"ProductsFirst", "a + b * c", "(+ a (* b c))"},
        {"ToTheLeft", "a - b - c / d % e", "(- (- a b) (% (/ c d) e))"},
        {"EveryLevel", "a || b && c == d < e | f ^ g & h + i * j",
         "(|| a (&& b (== c (< d (| e (^ f (& g (+ h (* i j)))))))))"},
        {"EveryLevelReversed", "a * b + c & d ^ e | f < g == h && i || j",
         "(|| (&& (== (< (| (^ (& (+ (* a b) c) d) e) f) g) h) i) j)"},
        {"Comparisons", "a <= b != c >= d", "(!= (<= a b) (>= c d))"},
        {"Parentheses", "(a + b) * ((c))", "(* (+ a b) c)"},
        {"UnaryBindsTighter", "-a * !b + +c", "(+ (* (- a) (! b)) (+ c))"},
        {"UnaryAfterSuffixes", "-x.y[0]", "(- (index (. x y) 0))"},
        {"UnaryInside", "-(-x)", "(- (- x))"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Primaries, ExprTest,
    ::testing::ValuesIn<TextCase>({
        {"Literals", "(0x10, 1_0, 2.5, 1e3, true, false, \"s\", none)",
         "(tuple 16 10 2.5 1000.0 true false string none)"},
        {"TooLarge", "9223372036854775808", "too-large"},
        {"Tuple", "(a, b,)", "(tuple a b)"},
        {"Shape", "[A, B * 2,]", "[A (* B 2)]"},
        {"EmptyShape", "[]", "[]"},
        {"Some", "some(some(x))", "(some (some x))"},
        {"If", "if a < b { c } else { d }", "(if (< a b) c d)"},
        {"IfInside", "1 + (if a { b } else { c })", "(+ 1 (if a b c))"},
        {"Match", "match x { some((a, _)) => a + 1 none => b other => c }",
         "(match x (some((a, _)) => (+ a 1)) (none => b) (other => c))"},
        {"MatchArmsContinueTheirExpression", "match x { A => a - b B => -c }",
         "(match x (A => (- a b)) (B => (- c)))"},
        {"For", "for t in 0..N - 1 { var h = t h = h yield h }",
         "(for t 0 (- N 1) { var h = t; h = h; yield h })"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Suffixes, ExprTest,
    ::testing::ValuesIn<TextCase>({
        {"Calls", "f()(a)(b, c,)", "(call (call (call f) a) b c)"},
        {"KeywordArguments", "f(a, b = c == d)", "(call f a b=(== c d))"},
        {"Members", "a.b.c(d).e", "(. (call (. (. a b) c) d) e)"},
        {"IndexParts", "x[..., 0, *s, i + 1,]", "(index x ... 0 *s (+ i 1))"},
        {"Slices", "x[:, a:, :b, a:b, a:b:c, ::c, a::c, :b:c, a::, ::]",
         "(index x :: a:: :b: a:b: a:b:c ::c a::c :b:c a:: ::)"},
        {"SliceWithSpace", "x[a: :c]", "(index x a::c)"},
        {"Generics", "f<N, f32>(x)", "(call f<N, f32> x)"},
        {"GenericExpressions", "f<H / N, 3 * H, 4096, [A, B], -1>(x)",
         "(call f<#(/ H N), #(* 3 H), #4096, #[A B], #(- 1)> x)"},
        {"GenericTypes", "f<Tensor[N, *S; f32]?, (A, b.C), [D; 3]>()",
         "(call f<Tensor[N, *S; f32]?, (A, b.C), [D; 3]>)"},
        {"NestedGenerics", "f<A<B<N / 2>>>(x)", "(call f<A<B<#(/ N 2)>>> x)"},
        {"GenericCallInGenerics", "f<g<A>(x), B>(y)",
         "(call f<#(call g<A> x), B> y)"},
        {"GenericsOfAPath", "a.b.f<T>(x)", "(call (. (. a b) f)<T> x)"},
        {"GenericsOfAMethod", "x[0].f<T>(y)", "(call (. (index x 0) f)<T> y)"},
        {"ParenthesesInGenerics", "f<(a < b)>(x)", "(call f<#(< a b)> x)"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    GenericsOrComparison, ExprTest,
    ::testing::ValuesIn<TextCase>({
        {"Comparison", "a < b && c > (d)", "(&& (< a b) (> c d))"},
        {"NoCallFollows", "a < b > c", "(> (< a b) c)"},
        {"CallInAnArgument", "g(a < b, c > (d))", "(call g (call a<b, c> d))"},
        {"NoCallInAnArgument", "g(a < b, c > d)", "(call g (< a b) (> c d))"},
        {"ParenthesesAreNoPath", "(f)<a>(b)", "(> (< f a) b)"},
        {"LiteralsHaveNoGenerics", "1 < a > (b)", "(> (< 1 a) b)"},
        {"LessOrEqual", "a <= b", "(<= a b)"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Reductions, ExprTest,
    ::testing::ValuesIn<TextCase>({
        {"SwallowsWhatFollows", "k + sum[i] a[i] * b[i] / n",
         "(+ k (sum [i] (/ (* (index a i) (index b i)) n)))"},
        {"Stopped", "(sum[i] a[i]) / n", "(/ (sum [i] (index a i)) n)"},
        {"EveryKind", "prod[i] max[j] min[k] any[l] all[m] x",
         "(prod [i] (max [j] (min [k] (any [l] (all [m] x)))))"},
        {"Typed", "sum<f32>[i, j,] x[i, j]", "(sum<f32> [i j] (index x i j))"},
        {"TypedWithPath", "max<a.T<N>>[i] x", "(max<a.T<N>> [i] x)"},
        {"CallOfTheSameName", "max(a, b) + min<T>(c)",
         "(+ (call max a b) (call min<T> c))"},
        {"PlainName", "sum + sum.x + (sum < a)",
         "(+ (+ sum (. sum x)) (< sum a))"},
        {"HeadOfTheBody", "sum[i] if a[i] { b } else { c }",
         "(sum [i] (if (index a i) b c))"},
        {"InAnOperand", "-sum[i] x[i] + y", "(- (sum [i] (+ (index x i) y)))"},
    }),
    kName);

// -- Statements
// ----------------------------------------------------------------

class StmtTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(StmtTest, Reads) {
  const Parsed parsed(
      absl::StrCat("module m fn f() { ", GetParam().text, " }"));
  EXPECT_EQ(parsed.Errors(), "") << parsed.Message();
  EXPECT_EQ(TreeText(parsed.tree, parsed.names),
            absl::StrCat("module m\nfn f() { ", GetParam().want, " }\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, StmtTest,
    ::testing::ValuesIn<TextCase>({
        {"Let", "let a = b", "let a = b"},
        {"TypedLet", "let a: Tensor[N; f32]? = b",
         "let a: Tensor[N; f32]? = b"},
        {"TupleLet", "let (a, (b, _), (c)) = d", "let (a, (b, _), c) = d"},
        {"SomeLet", "let some(a) = b", "let some(a) = b"},
        {"Comprehension", "let a[i, *s,] = b[i, *s]",
         "let a[i, *s] = (index b i *s)"},
        {"NamesOfReductions", "let sum = a + b let y = sum[i] x[i]",
         "let sum = (+ a b); let y = (sum [i] (index x i))"},
        {"Var", "var a: f32 = 0 a = 1", "var a: f32 = 0; a = 1"},
        {"OneLine", "let a = b let c = d e = f return g",
         "let a = b; let c = d; e = f; return g"},
        {"ReturnNothing", "return", "return"},
        {"ReturnBeforeAssignment", "return a = b", "return; a = b"},
        {"ReturnComparison", "return a == b", "return (== a b)"},
        {"ReturnTuple", "return (a, b)", "return (tuple a b)"},
        {"StaticForArray", "static for (a, b) in xs { }",
         "static for (a, b) in xs { }"},
        {"StaticForRange", "static for i in 0..N { x = i }",
         "static for i in 0..N { x = i }"},
        {"For", "for i in a..b { }", "for i in a..b { }"},
        {"While", "while a < b { a = c }", "while (< a b) { a = c }"},
        {"Yield", "yield a", "yield a"},
        {"ContinuedLines", "let a = b\n- c\n(d)\n[e]\n.f",
         "let a = (- b (. (index (call c d) e) f))"},
        {"GrammarWordsAreNames", "let store = grid let grad = warps + Dim",
         "let store = grid; let grad = (+ warps Dim)"},
    }),
    kName);

// -- Files and items
// -----------------------------------------------------------

class FileTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(FileTest, Reads) {
  const Parsed parsed(absl::StrCat("module m ", GetParam().text));
  EXPECT_EQ(parsed.Errors(), "") << parsed.Message();
  EXPECT_EQ(TreeText(parsed.tree, parsed.names),
            absl::StrCat("module m\n", GetParam().want, "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Imports, FileTest,
    ::testing::ValuesIn<TextCase>({
        {"Module", "use std.random", "use std.random"},
        {"Item", "use a.b::c", "use a.b::{c}"},
        {"Items", "use crate.a::{b, c as d,}", "use crate.a::{b, c as d}"},
        {"Root", "use crate::x use dep", "use crate::{x}\nuse dep"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Items, FileTest,
    ::testing::ValuesIn<TextCase>({
        {"Const", "pub const A: i32 = -1 const B = 2",
         "pub const A: i32 = (- 1)\nconst B = 2"},
        {"Alias", "type Row<N: Dim> = Tensor[N; f32]",
         "type Row<N: Dim> = Tensor[N; f32]"},
        {"Struct", "struct S<T: Float> { a: T b: (f32, T)? }",
         "struct S<T: Float> { a: T; b: (f32, T)? }"},
        {"Enum", "pub enum E { A, B, }", "pub enum E { A, B }"},
        {"Generics",
         "fn f<A: Dim = 4, *B: Shape = [A, 2], C: DType, D: Numeric, "
         "E: Integer, F: Float = bf16, G: Dim = A / 2,>() {}",
         "fn f<A: Dim = #4, *B: Shape = #[A 2], C: DType, D: Numeric, "
         "E: Integer, F: Float = bf16, G: Dim = #(/ A 2)>() { }"},
        {"Fn", "fn f(a: T = 1, b: U,) -> (V, W) where N > 0, A % B == 0, { }",
         "fn f(a: T = 1, b: U) -> (V, W) where (> N 0), (== (% A B) 0) { }"},
        {"Entry", "pub entry run() { return }", "pub entry run() { return }"},
        {"Op",
         "op f(x: T) -> T kernel k<4, T> where N > 0 { return x } "
         "grad(y, dy) { return dy }",
         "op f(x: T) -> T kernel k<#4, T> where (> N 0) { return x } "
         "grad(y, dy) { return dy }"},
        {"OpWithPlainKernel", "op f() -> T kernel k { }",
         "op f() -> T kernel k { }"},
        {"Kernel",
         "kernel k<N: Dim>(x: Tensor[N; f32]) -> y: Tensor[N; f32] "
         "grid(N / 4, 2) warps(4) stages(2) where N > 0 { "
         "let i = program_id(0) store(y, i, x) "
         "atomic_add(y, i) let a = load(x, i) }",
         "kernel k<N: Dim>(x: Tensor[N; f32]) -> (y: Tensor[N; f32]) "
         "grid((/ N 4), 2) warps(4) stages(2) where (> N 0) { "
         "let i = (call program_id 0); store(y, i, x); "
         "atomic_add(y, i); let a = (call load x i) }"},
        {"KernelWithResults", "kernel k() -> (a: T, b: U,) grid(1) { }",
         "kernel k() -> (a: T, b: U) grid(1) { }"},
        {"KernelThenItem", "op f() -> T { } kernel k() -> a: T grid(1) { }",
         "op f() -> T { }\nkernel k() -> (a: T) grid(1) { }"},
        {"Block",
         "block B<N: Dim> where N > 0 { param w: Tensor[N; f32]? = none "
         "buffer b: T state s: T sub c: [C<N>; 3] pub fn f() { } "
         "block D { param x: T } const E = 1 }",
         "block B<N: Dim> where (> N 0) { param w: Tensor[N; f32]? = none; "
         "buffer b: T; state s: T; sub c: [C<N>; 3]; pub fn f() { }; "
         "block D { param x: T; }; const E = 1; }"},
    }),
    kName);

// The example of the reference that touches most of the grammar.
TEST(ParserTest, ReadsALegalFile) {
  const Parsed parsed(R"(module demo.scan

use std.nn.linear::{Linear}

pub enum Fuse { Add, Gate }
pub const FUSE: Fuse = Fuse.Gate

struct Carry<N: Dim> {
    value: Tensor[N; f32]
    norm: f32
}

pub block Recurrent<N: Dim, Steps: Dim>
where N > 0, Steps > 0 {
    sub cell: Linear<N, N, f32>
    sub extra: Linear<N, N, f32>? = none
    state last: Tensor[N; f32]

    pub entry run(xs: Tensor[Steps, N; f32]) -> Tensor[Steps, N; f32] {
        var h = last
        let trace = for t in 0..Steps {
            let step = mixed(cell.forward(h), xs[t, :])
            h = step.value
            yield h
        }
        let tail = match extra {
            some(e) => e.forward(h)
            none => h
        }
        last = tail
        return trace
    }
}

fn mixed<N: Dim>(a: Tensor[N; f32], b: Tensor[N; f32]) -> Carry<N> {
    let v = match FUSE {
        Add => a + b
        Gate => a * b
    }
    return Carry(value = v, norm = sum[i] v[i] * v[i])
}
)");
  EXPECT_EQ(parsed.Errors(), "") << parsed.Message();
  EXPECT_EQ(
      TreeText(parsed.tree, parsed.names),
      "module demo.scan\n"
      "use std.nn.linear::{Linear}\n"
      "pub enum Fuse { Add, Gate }\n"
      "pub const FUSE: Fuse = (. Fuse Gate)\n"
      "struct Carry<N: Dim> { value: Tensor[N; f32]; norm: f32 }\n"
      "pub block Recurrent<N: Dim, Steps: Dim> where (> N 0), (> Steps 0) { "
      "sub cell: Linear<N, N, f32>; sub extra: Linear<N, N, f32>? = none; "
      "state last: Tensor[N; f32]; "
      "pub entry run(xs: Tensor[Steps, N; f32]) -> Tensor[Steps, N; f32] { "
      "var h = last; let trace = (for t 0 Steps { "
      "let step = (call mixed (call (. cell forward) h) (index xs t ::)); "
      "h = (. step value); yield h }); "
      "let tail = (match extra (some(e) => (call (. e forward) h)) "
      "(none => h)); last = tail; return trace }; }\n"
      "fn mixed<N: Dim>(a: Tensor[N; f32], b: Tensor[N; f32]) -> Carry<N> { "
      "let v = (match FUSE (Add => (+ a b)) (Gate => (* a b))); "
      "return (call Carry value=v "
      "norm=(sum [i] (* (index v i) (index v i)))) }\n");
}

// -- Errors
// --------------------------------------------------------------------

class ErrorTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(ErrorTest, Reports) {
  EXPECT_EQ(Parsed(GetParam().text).Errors(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Files, ErrorTest,
    ::testing::ValuesIn<TextCase>({
        {"NoModule", "use std.random", "E1102 1:1"},
        {"NoModuleButMore", "fn f( {}", "E1102 1:1; E1101 1:7"},
        {"EmptyFile", "", "E1102 1:1"},
        {"UseAfterItem", "module m const A = 1 use b.c", "E1101 1:22"},
        {"UseInABlock", "module m block B { use b.c param x: T }",
         "E1101 1:20"},
        {"UseSelf", "module m use self.a::b", "E1103 1:14"},
        {"UseSuper", "module m use super.a", "E1103 1:14"},
        {"UseAll", "module m use a::*", "E1101 1:17"},
        {"UseNothing", "module m use a::{}", "E1101 1:18"},
        {"Extern", "module m extern fn f() fn g() { }", "E1103 1:10"},
        {"KeywordAsName", "module m fn sub() { } fn g() { let }",
         "E1101 1:13; E1101 1:36"},
        {"ReservedWord", "module m fn f() { let device = 1 }", "E1004 1:23"},
        {"ReservedWordInAnExpression", "module m const A = rng + 1",
         "E1004 1:20"},
        {"ReservedWordInGenerics", "module m const A = f<rng>(1)",
         "E1004 1:22"},
        {"IllegalCharacterOnce", "module m const A = @ const B = 1",
         "E1001 1:20"},
        {"LetterInAName", "module m fn f() { let na\xC3\xAFve = 1 let }",
         "E1001 1:25; E1101 1:37"},
        {"OpenCommentSaysNothingMore", "module m fn f() { /*", "E1002 1:19"},
        {"StrayBrace", "module m } fn f() { }", "E1101 1:10"},
        {"SecondModule", "module m module n fn f() { }", "E1101 1:10"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Items, ErrorTest,
    ::testing::ValuesIn<TextCase>({
        {"MemberOutside", "module m param x: T fn f() { }", "E1101 1:10"},
        {"PublicMember", "module m block B { pub param x: T }", "E1101 1:20"},
        {"BufferDefault", "module m block B { buffer x: T = none }",
         "E1101 1:32"},
        {"StateDefault", "module m block B { state x: T = none }",
         "E1101 1:31"},
        {"Payload", "module m enum E { A(f32, (B)), C }", "E1103 1:19"},
        {"OpWithoutResult", "module m op f() { } op g() -> T { let }",
         "E1101 1:17; E1101 1:39"},
        {"UnknownKind", "module m fn f<N: Size>() { }", "E1101 1:18"},
        {"NoGenerics", "module m fn f<>() { }", "E1101 1:15"},
        {"WhereWithoutComparison", "module m fn f() where A + B, C > 0 { }",
         "E1101 1:23"},
        {"WhereNothing", "module m fn f() where { }", "E1101 1:23"},
        {"FieldComma", "module m struct S { a: T, b: U, c: V }", "E1101 1:25"},
        {"MemberComma", "module m block B { param a: T, param b: T }",
         "E1101 1:30"},
        {"GradOfFn", "module m fn f() { } grad(y, dy) { }", "E1101 1:21"},
        {"TwoWarps",
         "module m kernel k() -> a: T grid(1) warps(1) warps(2) { }",
         "E1101 1:46"},
        {"KernelWithoutGrid", "module m kernel k() -> a: T { }", "E1101 1:29"},
        {"RankZero", "module m fn f(x: Tensor[; f32]) { }", "E1103 1:18"},
        {"RankZeroInGenerics", "module m const A = f<Tensor[; f32]>(1)",
         "E1103 1:22"},
        {"OneTuple", "module m fn f(x: (T)) { }", "E1101 1:20"},
        {"EmptyTuple", "module m fn f(x: ()) { }", "E1101 1:19"},
        {"TwoQuestions",
         "module m fn f(x: T?"
         "?) { }",
         "E1101 1:20"},
        {"TensorWithoutDType", "module m fn f(x: Tensor[N]) { }", "E1101 1:26"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Statements, ErrorTest,
    ::testing::ValuesIn<TextCase>({
        {"BareCall", "module m fn f() { g(a = 1) let }",
         "E1101 1:19; E1101 1:32"},
        {"BareLiteral", "module m fn f() { 1 let }", "E1101 1:19; E1101 1:25"},
        {"ElseIf",
         "module m fn f() { let a = if b { c } else if d { e } "
         "else { g } let }",
         "E1101 1:43; E1101 1:69"},
        {"IfWithoutElse", "module m fn f() { let a = if b { c } let }",
         "E1101 1:38; E1101 1:42"},
        {"Semicolons", "module m fn f() { let a = b; let c = d; }",
         "E1101 1:28"},
        {"ArmWithTuple", "module m fn f() { let a = match b { (c, d) => e } }",
         "E1101 1:37"},
        {"ArmComma", "module m fn f() { let a = match b { c => d, e => g } }",
         "E1101 1:43"},
        {"NoArms", "module m fn f() { let a = match b { } }", "E1101 1:37"},
        {"TwoUnary", "module m const A = --x", "E1101 1:21"},
        {"IfInAnOperand", "module m const A = 1 + if b { c } else { d }",
         "E1101 1:24"},
        {"OneTuple", "module m const A = (x,)", "E1101 1:23"},
        {"EmptyParentheses", "module m const A = ()", "E1101 1:21"},
        {"NoIndex", "module m const A = x[]", "E1101 1:22"},
        {"ThreeColons", "module m const A = x[a:b:c:d]", "E1101 1:27"},
        {"ReductionWithoutIndex", "module m const A = sum[] x", "E1101 1:24"},
        {"ReductionOverAPack", "module m const A = sum[*s] x", "E1101 1:24"},
        {"ForWithoutRange", "module m fn f() { for i in xs { } }",
         "E1101 1:31"},
        {"StoreOutsideAKernel", "module m fn f() { store(a, b) }",
         "E1101 1:19"},
        {"StoreOfOne", "module m kernel k() -> a: T grid(1) { store(a) }",
         "E1101 1:39"},
        {"ElementAssignment", "module m fn f() { a[0] = b }", "E1101 1:19"},
        {"EmptyComprehension", "module m fn f() { let a[] = b }", "E1101 1:25"},
    }),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Recovery, ErrorTest,
    ::testing::ValuesIn<TextCase>({
        {"EveryStatement",
         "module m\nfn f() {\n  let = 1\n  let a = f(\n  let b = 2\n"
         "  return )\n}\n",
         "E1101 3:7; E1101 5:3; E1101 6:10"},
        {"InnerStatement",
         "module m\nfn f() {\n  for i in 0..2 {\n    let = 1\n    let x y\n  "
         "}\n"
         "  let = 2\n}\nfn g() { }",
         "E1101 4:9; E1101 5:11; E1101 7:7"},
        {"StatementOfAValue",
         "module m\nfn f() {\n  let a = g(for i in 0..2 {\n    let = 1\n"
         "    yield i })\n  let = 2\n}",
         "E1101 4:9; E1101 6:7"},
        {"ArmsOfAMatch",
         "module m\nfn f() {\n  let a = match b {\n    c => \n    => d\n  }\n"
         "  let = 2\n}",
         "E1101 5:5; E1101 7:7"},
        {"EveryItem",
         "module m\nfn f(x) { let = 1 }\nstruct S { a }\nconst = 1\n"
         "op g() -> T kernel 3 { }\nfn h() { let }",
         "E1101 2:7; E1101 3:14; E1101 4:7; E1101 5:20; E1101 6:14"},
        {"ItemsOfABlock",
         "module m\nblock B {\n  param x\n  state y: T\n  fn f( { }\n"
         "  sub 1\n}\nfn g() { let }",
         "E1101 4:3; E1101 5:9; E1101 6:7; E1101 8:14"},
        {"BodyNotClosed", "module m\nfn f() {\n  let a = 1\nfn g() { }",
         "E1101 4:1"},
        {"InnerBodyNotClosed",
         "module m\nfn f() {\n  while a {\n}\nfn g() { let }",
         "E1101 5:1; E1101 5:14"},
        {"ItemInABody", "module m\nfn f() {\n  fn g() { }\n}\nfn h() { let }",
         "E1101 3:3; E1101 5:14"},
        {"FileEnds", "module m\nfn f() {", "E1101 2:9"},
        {"BlockEnds", "module m\nblock B {\n  fn f() { let a = (",
         "E1101 3:21"},
    }),
    kName);

TEST(ParserTest, KeepsWhatIsRight) {
  const Parsed parsed(
      "module m fn f() { let a = 1 let = 2 return a } fn g( { } fn h() { }");
  EXPECT_EQ(TreeText(parsed.tree, parsed.names),
            "module m\nfn f() { let a = 1; return a }\nfn h() { }\n");
}

TEST(ParserTest, SaysWhatIsExpected) {
  EXPECT_EQ(Parsed("module m fn sub() { }").Message(),
            "expected the name of the fn, found keyword `sub`");
  EXPECT_EQ(Parsed("module m const A = (1").Message(),
            "expected `,` or `)`, found the end of the file");
  EXPECT_EQ(Parsed("module m fn f() { 1 }").Message(),
            "expected a statement, found `1`");
}

TEST(ParserTest, SpansCoverWhatIsWritten) {
  const Parsed parsed("module m const A = (a + b) * f<T>(x)[0]");
  const auto text = [&](Span span) {
    return std::string(parsed.sources.text(span));
  };
  const ItemId item = parsed.tree.list(parsed.tree.items)[0];
  EXPECT_EQ(text(parsed.tree.item(item).span),
            "const A = (a + b) * f<T>(x)[0]");
  EXPECT_EQ(text(parsed.tree.item(item).name.span), "A");
  const ExprId value = parsed.tree.as<ConstItem>(item).value;
  EXPECT_EQ(text(parsed.tree.expr(value).span), "(a + b) * f<T>(x)[0]");
  const auto& product = parsed.tree.as<BinaryExpr>(value);
  EXPECT_EQ(text(product.op_span), "*");
  EXPECT_EQ(text(parsed.tree.expr(product.left).span), "(a + b)");
  EXPECT_TRUE(parsed.tree.expr(product.left).parenthesized);
  EXPECT_EQ(text(parsed.tree.expr(product.right).span), "f<T>(x)[0]");
  const auto& index = parsed.tree.as<IndexExpr>(product.right);
  EXPECT_EQ(text(parsed.tree.expr(index.base).span), "f<T>(x)");
  const auto& call = parsed.tree.as<CallExpr>(index.base);
  EXPECT_EQ(text(parsed.tree.list(call.generics)[0].span), "T");
}

TEST(ParserTest, AnUndoneAttemptLeavesNoNodes) {
  const Parsed parsed("module m const A = a < b");
  EXPECT_EQ(parsed.tree.num_exprs(), 3);
  EXPECT_EQ(parsed.tree.num_types(), 0);
}

// -- Depth
// ---------------------------------------------------------------------

std::string Chain(int length, absl::string_view link) {
  return absl::StrCat("x", Times(length, link));
}
std::string InFunction(absl::string_view expr) {
  return absl::StrCat("module m fn f() { let a = ", expr,
                      " let b = 1 } fn g() { let }");
}

struct DepthCase {
  std::string name;
  std::string before, middle, after;  // `before` and `after` repeat.
};
class DepthTest : public ::testing::TestWithParam<DepthCase> {
 protected:
  static std::string Nested(int depth) {
    const DepthCase& test = GetParam();
    return InFunction(absl::StrCat(Times(depth, test.before), test.middle,
                                   Times(depth, test.after)));
  }
  // The errors before that of the function `g`.
  static int NumErrors(int depth) {
    return Parsed(Nested(depth)).diagnostics.num_errors() - 1;
  }
};

TEST_P(DepthTest, AllowsMany) { EXPECT_EQ(NumErrors(60), 0); }

TEST_P(DepthTest, ReportsTooManyOnce) {
  for (const int depth : {300, 3000, 30000}) {
    const Parsed parsed(Nested(depth));
    ASSERT_EQ(parsed.diagnostics.num_errors(), 2) << depth;
    EXPECT_EQ(parsed.diagnostics.all()[0].code, Code::kE1101);
    EXPECT_EQ(parsed.Message(), "nested more than 256 deep");
  }
}

// One more is too much at one depth, and stays it.
TEST_P(DepthTest, HasOneLimit) {
  int errors = 0;
  for (int depth = 100; depth < 300; ++depth) {
    const int now = NumErrors(depth);
    EXPECT_GE(now, errors) << depth;
    EXPECT_LE(now, 1) << depth;
    errors = now;
  }
  EXPECT_EQ(errors, 1);
}

INSTANTIATE_TEST_SUITE_P(Cases, DepthTest,
                         ::testing::ValuesIn<DepthCase>({
                             {"Additions", "", "x", " + x"},
                             {"Comparisons", "", "x", " < x"},
                             {"Calls", "", "x", "()"},
                             {"Indexes", "", "x", "[0]"},
                             {"Members", "", "x", ".y"},
                             {"Parentheses", "(", "x", ")"},
                             {"Reductions", "sum[i] ", "x", ""},
                             {"Ifs", "if a { b } else { ", "x", " }"},
                             {"Somes", "some(", "x", ")"},
                             {"Shapes", "[", "x", "]"},
                             {"Matches", "match a { b => ", "x", " }"},
                             {"Products", "x * (1 + ", "x", ")"},
                             {"Statements", "for i in 0..2 { while a { ",
                              "x = 1", " } yield b }"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(ParserDepthTest, TwoHundredAdditionsAreFine) {
  EXPECT_EQ(Parsed(InFunction(Chain(200, " + x"))).diagnostics.num_errors(), 1);
  EXPECT_EQ(Parsed(InFunction(Chain(300, " + x"))).Message(),
            "nested more than 256 deep");
}

// A chain whose first operand is a chain, and so on, nests to the left.
TEST(ParserDepthTest, ChainsOfChainsCount) {
  const std::string once = Chain(150, " + x");
  const std::string twice = absl::StrCat("(", once, ")", Times(150, " + x"));
  EXPECT_EQ(Parsed(InFunction(once)).diagnostics.num_errors(), 1);
  EXPECT_EQ(Parsed(InFunction(twice)).Message(), "nested more than 256 deep");
}

TEST(ParserDepthTest, ItemsAndTypesCount) {
  const auto blocks = [](int depth) {
    return absl::StrCat("module m ", Times(depth, "block B { "),
                        Times(depth, "} "), "fn g() { let }");
  };
  EXPECT_EQ(Parsed(blocks(250)).diagnostics.num_errors(), 1);
  EXPECT_EQ(Parsed(blocks(300)).diagnostics.num_errors(), 2);
  const auto types = [](int depth) {
    return absl::StrCat("module m fn f(x: ", Times(depth, "A<"), "B",
                        Times(depth, ">"), ") { } fn g() { let }");
  };
  EXPECT_EQ(Parsed(types(250)).diagnostics.num_errors(), 1);
  EXPECT_EQ(Parsed(types(300)).diagnostics.num_errors(), 2);
}

TEST(ParserDepthTest, TheLimitCanBeLower) {
  Limits limits;
  limits.max_depth = 8;
  EXPECT_EQ(Parsed("module m const A = ((x))", limits).Errors(), "");
  EXPECT_EQ(Parsed("module m const A = ((((((((x))))))))", limits).Message(),
            "nested more than 8 deep");
}

// -- Trying stays linear
// -------------------------------------------------------

// Each of these takes 2^n steps when failures are forgotten.
TEST(ParserTryTest, RemembersFailures) {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back(absl::StrCat("a", i));
  EXPECT_EQ(
      Parsed(InFunction(absl::StrJoin(names, " < "))).diagnostics.num_errors(),
      1);
  for (const char* open :
       {"a < (", "a<b<", "f<sum<", "f<Tensor[", "f<(", "f<["}) {
    const Parsed parsed(InFunction(Times(100, open)));
    EXPECT_GE(parsed.diagnostics.num_errors(), 2) << open;
  }
  const std::string calls =
      absl::StrCat(Times(100, "a<f(x) + "), "1", Times(100, ">(1)"));
  EXPECT_EQ(Parsed(InFunction(calls)).diagnostics.num_errors(), 1);
}

}  // namespace
}  // namespace linnet::lang
