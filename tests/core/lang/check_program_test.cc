// What the checker writes down for lowering, and that hostile text is bounded.

#include <string>

#include "core/lang/type_text.h"
#include "gtest/gtest.h"
#include "tests/support/checked.h"

namespace linnet::lang {
namespace {

std::shared_ptr<const Program> CheckedOrFail(absl::string_view text) {
  const CheckResult result = CheckText(text);
  if (result.program == nullptr) {
    ADD_FAILURE() << FormatDiagnostics(result.diagnostics, *result.sources);
  }
  return result.program;
}

const Function& FunctionNamed(const Program& program, absl::string_view name) {
  for (const Function& function : program.functions) {
    if (program.name(function.name) == name) return function;
  }
  ADD_FAILURE() << "no function " << name;
  return program.functions[FunctionId{0}];
}

const ModuleInfo& Root(const Program& program) {
  return program.modules[program.root];
}

// The type of the value that the last statement of `f` returns.
std::string ReturnedType(const Program& program) {
  const ModuleInfo& root = Root(program);
  const Function& f = FunctionNamed(program, "f");
  const ExprId value = root.tree.as<ReturnStmt>(f.body.back()).value;
  return TypeText(program, root.exprs[value].type);
}

TEST(CheckedProgram, CallInfo) {
  const auto program = CheckedOrFail(
      "use std.nn.linear::{linear}\n"
      "fn f<N: Dim>(x: Tensor[2, 3, N; bf16], w: Tensor[8, N; bf16])"
      " -> Tensor[2, 3, 8; bf16] { return linear(weight = w, x = x) }");
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(Root(*program).calls.size(), 1u);
  const CallInfo& call = Root(*program).calls[0];
  EXPECT_EQ(call.kind, CallKind::kFunction);
  EXPECT_EQ(program->functions[call.callee].qualified_name,
            "std.nn.linear::linear");
  std::string bindings;
  for (const GenericArg& arg : call.bindings) {
    bindings += ArgText(*program, arg) + " ";
  }
  EXPECT_EQ(bindings, "[2, 3] N 8 bf16 ");
  EXPECT_EQ(call.written_order, (std::vector<int32_t>{1, 0}));
  ASSERT_EQ(call.args.size(), 3u);
  EXPECT_TRUE(call.args[0].valid());
  EXPECT_FALSE(call.args[2].valid());
  EXPECT_FALSE(call.receiver.valid());
}

TEST(CheckedProgram, MethodBindsTheReceiver) {
  const auto program = CheckedOrFail(
      "use std.nn.linear::{Linear}\n"
      "block B<N: Dim> { sub a: Linear<N, 2 * N, f32>\n"
      "fn f(x: Tensor[N; f32]) -> Tensor[2 * N; f32] { return g(x) }\n"
      "fn g(x: Tensor[N; f32]) -> Tensor[2 * N; f32]"
      " { return a.forward(x) } }");
  ASSERT_NE(program, nullptr);
  const std::vector<CallInfo>& calls = Root(*program).calls;
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_FALSE(calls[0].receiver.valid());
  ASSERT_EQ(calls[0].bindings.size(), 1u);
  EXPECT_EQ(ArgText(*program, calls[0].bindings[0]), "N");
  EXPECT_TRUE(calls[1].receiver.valid());
  ASSERT_EQ(calls[1].bindings.size(), 4u);
  EXPECT_EQ(ArgText(*program, calls[1].bindings[1]), "2 * N");
  EXPECT_EQ(ArgText(*program, calls[1].bindings[3]), "[]");
  EXPECT_EQ(FunctionNamed(*program, "g").qualified_name, "t::B.g");
}

TEST(CheckedProgram, LiteralsTakeTheDTypeOfTheirContext) {
  const auto program = CheckedOrFail(
      "fn f<N: Dim>(x: Tensor[N; bf16]) -> Tensor[N; bf16]"
      " { return x * (2 + N) + -0.5 }");
  ASSERT_NE(program, nullptr);
  const ModuleInfo& root = Root(*program);
  const Span returned =
      root.tree.stmt(FunctionNamed(*program, "f").body.back()).span;
  int literals = 0;
  for (ExprId e{0}; e.index < root.exprs.size(); ++e.index) {
    const ExprKind kind = root.tree.expr(e).kind;
    const bool number = kind == ExprKind::kInt || kind == ExprKind::kFloat ||
                        root.exprs[e].ref == RefKind::kDimGeneric;
    if (!number || root.tree.expr(e).span.begin < returned.begin) continue;
    ++literals;
    EXPECT_EQ(TypeText(*program, root.exprs[e].type), "bf16");
  }
  EXPECT_EQ(literals, 3);
}

TEST(CheckedProgram, ElementAccess) {
  const auto program = CheckedOrFail(
      "fn f<*S: Shape, N: Dim>(x: Tensor[*S, N; f32], k: Tensor[N; i32])"
      " -> Tensor[*S, N; f32]"
      " { let y[*s, n] = x[*s, k[n]]\nreturn y }");
  ASSERT_NE(program, nullptr);
  const std::vector<IndexInfo>& indexes = Root(*program).indexes;
  ASSERT_EQ(indexes.size(), 2u);  // The inner one is done first.
  EXPECT_EQ(indexes[1].mode, IndexMode::kElement);
  ASSERT_EQ(indexes[1].packs.size(), 2u);
  EXPECT_TRUE(indexes[1].packs[0].valid());
  EXPECT_FALSE(indexes[1].positions[0].valid());
  EXPECT_TRUE(indexes[1].positions[1].valid());
  const Function& f = FunctionNamed(*program, "f");
  const StmtInfo& let = Root(*program).stmts[f.body[0]];
  ASSERT_EQ(let.domains.size(), 2u);
  EXPECT_EQ(ShapeText(*program, let.domains[0]), "[*S]");
  EXPECT_EQ(ShapeText(*program, let.domains[1]), "[N]");
}

TEST(CheckedProgram, ModesOfAccess) {
  const auto program = CheckedOrFail(
      "fn f<N: Dim>(x: Tensor[N, 4, 5; f32], i: i32) -> Tensor[2; f32]"
      " where N > 1 {\n"
      "let a = x[i, 1, 2]\nlet b = x[0, 1, 2]\nlet c = x[i]\n"
      "let d = x[i, 0:2, 1]\nreturn d * (a + b) + (sum[p, q] c[p, q]) }");
  ASSERT_NE(program, nullptr);
  const std::vector<IndexInfo>& indexes = Root(*program).indexes;
  ASSERT_EQ(indexes.size(), 5u);
  EXPECT_EQ(indexes[0].mode, IndexMode::kElement);
  EXPECT_EQ(indexes[0].positions.size(), 3u);
  EXPECT_EQ(indexes[1].mode, IndexMode::kSlice);
  EXPECT_EQ(indexes[2].mode, IndexMode::kGather);
  EXPECT_FALSE(indexes[2].needs_slice);
  EXPECT_EQ(indexes[3].mode, IndexMode::kGather);
  EXPECT_TRUE(indexes[3].needs_slice);
  ASSERT_EQ(indexes[3].axes.size(), 3u);
  EXPECT_TRUE(indexes[3].positions[0].valid());
  EXPECT_FALSE(indexes[3].positions[2].valid());
  EXPECT_TRUE(indexes[3].axes[2].squeezed);
  EXPECT_EQ(indexes[3].axes[2].start.ToString(), "1");
}

TEST(CheckedProgram, SlicesAreSimplified) {
  const auto program = CheckedOrFail(
      "fn f<B: Dim, D: Dim>(x: Tensor[B, D; f32]) -> Tensor[B, D / 2; f32]"
      " where D % 2 == 0 { return x[..., 0::2] }");
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(ReturnedType(*program), "Tensor[B, D / 2; f32]");
}

TEST(CheckedProgram, StateFlagsAreTransitive) {
  const auto program = CheckedOrFail(
      "block A { state s: Tensor[3; f32]\n"
      "pub fn read() -> Tensor[3; f32] { return s }\n"
      "pub fn write(x: Tensor[3; f32]) -> f32 { s = x return 1.0 } }\n"
      "block B { sub a: A\n"
      "entry r() -> Tensor[3; f32] { return a.read() }\n"
      "entry w(x: Tensor[3; f32]) -> f32 { return a.write(x) }\n"
      "entry n(x: f32) -> f32 { return x } }");
  ASSERT_NE(program, nullptr);
  EXPECT_TRUE(FunctionNamed(*program, "r").reads_state);
  EXPECT_FALSE(FunctionNamed(*program, "r").writes_state);
  EXPECT_TRUE(FunctionNamed(*program, "w").writes_state);
  EXPECT_FALSE(FunctionNamed(*program, "n").reads_state);
}

TEST(CheckedProgram, MatchArms) {
  const auto program = CheckedOrFail(
      "enum E { A, B }\nconst K: E = E.B\n"
      "fn f(x: f32?) -> f32 {\n"
      "let v = match x { none => 0.5 some(y) => y }\n"
      "return match K { B => v other => 2 } }");
  ASSERT_NE(program, nullptr);
  const std::vector<MatchInfo>& matches = Root(*program).matches;
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0].arms, (std::vector<int32_t>{1, 0}));
  EXPECT_TRUE(matches[1].is_enum);
  EXPECT_EQ(matches[1].arms, (std::vector<int32_t>{1, -1}));
  EXPECT_TRUE(matches[1].bound[1].valid());
}

TEST(CheckedProgram, TypesInMessagesNameBothSides) {
  const CheckResult result = CheckText(
      "fn f<B: Dim, H: Dim>(x: Tensor[B, H; f32]) -> Tensor[H, B; f32]"
      " { return x }");
  const std::string text =
      FormatDiagnostics(result.diagnostics, *result.sources);
  EXPECT_NE(text.find("[H, B]"), std::string::npos) << text;
  EXPECT_NE(text.find("[B, H]"), std::string::npos) << text;
}

// -- Bounds ------------------------------------------------------------------

TEST(CheckLimits, LongChainOfConstants) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&text, "const A", i, " = A", i + 1, "\n");
  }
  absl::StrAppend(&text, "const A5000 = 1\n");
  const CheckResult result = CheckText(text);
  EXPECT_EQ(result.diagnostics.all()[0].code, Code::kE2190);
}

TEST(CheckLimits, TuplesThatDouble) {
  std::string text = "fn f(x: f32) -> f32 {\nlet a0 = (x, x)\n";
  for (int i = 1; i < 64; ++i) {
    absl::StrAppend(&text, "let a", i, " = (a", i - 1, ", a", i - 1, ")\n");
  }
  const CheckResult result = CheckText(absl::StrCat(text, "return x\n}\n"));
  EXPECT_EQ(CodesOf(result), "E2190");
}

TEST(CheckLimits, PacksThatDouble) {
  std::string text =
      "fn g<*S: Shape>(x: Tensor[*S; f32]) -> Tensor[*S, *S; f32]"
      " { let y[*s, *t] = x[*s] * x[*t]\nreturn y }\n"
      "fn f(x: Tensor[2; f32]) -> f32 {\nlet a0 = g(x)\n";
  for (int i = 1; i < 64; ++i) {
    absl::StrAppend(&text, "let a", i, " = g(a", i - 1, ")\n");
  }
  const CheckResult result = CheckText(absl::StrCat(text, "return 1.0\n}\n"));
  EXPECT_EQ(CodesOf(result), "E2190");
}

TEST(CheckLimits, ManyLocalsAndErrors) {
  std::string text = "fn f(x: f32) -> f32 {\n";
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&text, "let a", i, " = x + b", i, "\n");
  }
  const CheckResult result = CheckText(absl::StrCat(text, "return x\n}\n"));
  EXPECT_EQ(result.diagnostics.num_errors(), 5000);
  EXPECT_TRUE(result.diagnostics.truncated());
}

}  // namespace
}  // namespace linnet::lang
