// Times of what a request does with a graph that is already traced.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "core/base/check.h"
#include "core/expr/evaluator.h"
#include "core/expr/pool.h"
#include "core/graph/buffer_plan.h"
#include "core/graph/liveness.h"
#include "core/graph/memory_function.h"
#include "tests/support/llama_graph.h"

namespace linnet::graph {
namespace {

const Graph& Llama() {
  static const std::shared_ptr<const Graph> graph = LlamaGraph::Make();
  return *graph;
}

MemoryFunction FunctionOf(const Graph& graph) {
  auto function = MemoryFunction::Build(graph.shared_pool(), graph.roles(),
                                        ComputeLiveness(graph));
  LINNET_CHECK(function.ok()) << function.status();
  return *std::move(function);
}

void BM_EvaluatePeak(benchmark::State& state) {
  const MemoryFunction function = FunctionOf(Llama());
  std::vector<int64_t> sizes = {1, 8192, 8192};
  for (auto _ : state) {
    benchmark::DoNotOptimize(function.Evaluate(sizes));
    sizes[0] = sizes[0] % 64 + 1;
  }
  state.counters["candidates"] = function.num_candidates();
}
BENCHMARK(BM_EvaluatePeak);

void BM_SplitPeak(benchmark::State& state) {
  const MemoryFunction function = FunctionOf(Llama());
  const std::vector<int64_t> sizes = {1, 8192, 8192};
  const Peak peak = function.Evaluate(sizes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(function.Split(peak, sizes));
  }
}
BENCHMARK(BM_SplitPeak);

void BM_BuildMemoryFunction(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(FunctionOf(Llama()));
}
BENCHMARK(BM_BuildMemoryFunction)->Unit(benchmark::kMicrosecond);

void BM_PlanBuffers(benchmark::State& state) {
  const Timeline timeline = ComputeLiveness(Llama());
  const std::vector<int64_t> sizes = {1, 8192, 8192};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        PlanBuffers(timeline, Llama().roles(), sizes, 512));
  }
}
BENCHMARK(BM_PlanBuffers)->Unit(benchmark::kMicrosecond);

// Everything kept to the end, as a training step's saved activations are.
void BM_PlanLongLives(benchmark::State& state) {
  std::vector<Buffer> buffers;
  for (int32_t i = 0; i < 1100; ++i) {
    buffers.push_back({.object = ObjectId{i},
                       .bytes = 1000 + i % 37 * 100,
                       .begin = i,
                       .end = 3200 - i});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(PlanBuffers(buffers, 512));
  }
}
BENCHMARK(BM_PlanLongLives)->Unit(benchmark::kMicrosecond);

void BM_BuildLlamaGraph(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(LlamaGraph::Make());
}
BENCHMARK(BM_BuildLlamaGraph)->Unit(benchmark::kMicrosecond);

void BM_MemoizedProduct(benchmark::State& state) {
  expr::Pool pool;
  const expr::Expr batch = pool.Symbol("batch");
  const expr::Expr context = pool.Symbol("context");
  for (auto _ : state) {
    benchmark::DoNotOptimize(pool.Mul(batch, context));
  }
}
BENCHMARK(BM_MemoizedProduct);

}  // namespace
}  // namespace linnet::graph
