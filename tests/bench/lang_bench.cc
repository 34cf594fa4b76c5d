// The frontend on a program of 10,000 lines.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "core/base/check.h"
#include "core/ir/lower.h"
#include "core/lang/check.h"
#include "core/library/standard_library.h"

namespace linnet::lang {
namespace {

constexpr int kLines = 10'000;

// Blocks and functions as models have them: generics with clauses, members,
// index notation, calls into the library.
std::string Program() {
  std::string text =
      "module bench\n"
      "use std.nn.linear::{Linear}\n"
      "use std.nn.norm::{RmsNorm}\n"
      "use std.nn.softmax::{softmax}\n";
  int lines = 4;
  for (int i = 0; lines < kLines; ++i) {
    absl::StrAppend(
        &text, "pub block Layer", i, "<H: Dim, N: Dim, T: Float = bf16>\n",
        "where N > 0, H % N == 0 {\n", "    sub up: Linear<H, 4 * H, T>\n",
        "    sub down: Linear<4 * H, H, T>\n", "    sub norm: RmsNorm<H, T>\n",
        "    param gain: Tensor[H; T]? = none\n",
        "    pub fn forward<B: Dim, S: Dim>(x: Tensor[B, S, H; T]) -> "
        "Tensor[B, S, H; T] {\n",
        "        let rows = norm.forward(x)\n",
        "        let inner = up.forward(rows) * 0.5\n",
        "        let heads = reshape(rows, [B, S, N, H / N])\n",
        "        let turned = permute(heads, [0, 2, 1, 3])\n",
        "        let scores[b, n, q, k] = sum[d] turned[b, n, q, d] * "
        "turned[b, n, k, d]\n",
        "        let weights = softmax(scores)\n",
        "        let mixed[b, q, n, d] = sum[k] weights[b, n, q, k] * "
        "turned[b, n, k, d]\n",
        "        let merged = reshape(mixed, [B, S, H])\n",
        "        let scaled = match gain {\n",
        "            some(g) => merged * g\n", "            none => merged\n",
        "        }\n", "        return down.forward(inner) + scaled + x\n",
        "    }\n", "}\n");
    lines += 22;
  }
  return text;
}

void BM_Check(benchmark::State& state) {
  MemoryFiles files;
  files.Add("bench.linnet", Program());
  CheckInput input;
  input.root_path = "bench.linnet";
  input.files = &files;
  input.standard_library = library::StandardLibrary();
  for (auto _ : state) {
    const auto result = Check(input);
    LINNET_CHECK(result.ok() && result->program != nullptr)
        << FormatDiagnostics(result->diagnostics, *result->sources);
  }
  state.counters["lines"] = kLines;
}
BENCHMARK(BM_Check)->Unit(benchmark::kMillisecond);

void BM_Lower(benchmark::State& state) {
  MemoryFiles files;
  files.Add("bench.linnet", Program());
  CheckInput input;
  input.root_path = "bench.linnet";
  input.files = &files;
  input.standard_library = library::StandardLibrary();
  for (auto _ : state) {
    state.PauseTiming();
    const auto result = Check(input);
    LINNET_CHECK(result.ok() && result->program != nullptr) << "checked above";
    state.ResumeTiming();
    const auto program = ir::Lower(result->program);
    LINNET_CHECK(program.ok()) << program.status();
  }
}
BENCHMARK(BM_Lower)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace linnet::lang
