// The engine from source text to answer, on Llama 3.1 8B `forward`. One
// iteration of each is one answer; `trace_bytes` is what a cached trace holds.

#include <cstdint>
#include <memory>

#include "benchmark/benchmark.h"
#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/planner/bind.h"
#include "core/planner/maximize.h"
#include "core/planner/model.h"
#include "core/planner/planner.h"
#include "core/planner/sweep.h"
#include "core/trace/tracer.h"

namespace linnet::planner {
namespace {

Config Llama() {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.entry = "forward";
  config.batch = 1;
  config.context = 8192;
  return config;
}

std::shared_ptr<const Prepared> PrepareOrDie(const Config& config) {
  auto prepared = Prepare(config);
  LINNET_CHECK(prepared.ok()) << prepared.status();
  return *std::move(prepared);
}

// Source text to lowered program.
void BM_Compile(benchmark::State& state) {
  const Config config = Llama();
  for (auto _ : state) {
    auto model = LoadModel(config.model, Limits{});
    LINNET_CHECK(model.ok()) << model.status();
    benchmark::DoNotOptimize(model->program.get());
  }
}
BENCHMARK(BM_Compile)->Unit(benchmark::kMillisecond);

// Source text to a trace with its memory functions.
void BM_SourceToTrace(benchmark::State& state) {
  const Config config = Llama();
  for (auto _ : state) {
    benchmark::DoNotOptimize(PrepareOrDie(config).get());
  }
  state.counters["trace_bytes"] =
      static_cast<double>(PrepareOrDie(config)->ByteSize());
}
BENCHMARK(BM_SourceToTrace)->Unit(benchmark::kMillisecond);

// The lowered program to a graph.
void BM_TraceAlone(benchmark::State& state) {
  const Config config = Llama();
  auto model = LoadModel(config.model, Limits{});
  LINNET_CHECK(model.ok()) << model.status();
  const auto target = FindTarget(*model, config);
  LINNET_CHECK(target.ok()) << target.status();
  int64_t steps = 0;
  for (auto _ : state) {
    auto pool = std::make_shared<expr::Pool>();
    Binder binder(*model, config, pool.get());
    trace::TraceRequest request;
    request.root = target->root;
    request.entry = target->entry;
    request.root_args = *binder.BindRoot(target->root);
    request.entry_args = *binder.BindEntry(target->entry, request.root_args);
    for (Role role : binder.roles()) {
      request.roles.push_back(binder.symbol(role));
    }
    request.weights.bindings = model->bindings;
    auto trace = trace::TraceEntry(*model->program, request, pool);
    LINNET_CHECK(trace.ok()) << trace.status();
    steps = trace->graph->num_steps();
  }
  state.counters["steps"] = static_cast<double>(steps);
}
BENCHMARK(BM_TraceAlone)->Unit(benchmark::kMillisecond);

// The numbers alone, another batch each time.
void BM_Summary(benchmark::State& state) {
  Config config = Llama();
  const auto prepared = PrepareOrDie(config);
  int64_t batch = 1;
  for (auto _ : state) {
    config.batch = batch;
    batch = batch % 64 + 1;
    auto summary = prepared->Summarize(config);
    benchmark::DoNotOptimize(summary->expected_peak_bytes);
  }
}
BENCHMARK(BM_Summary)->Unit(benchmark::kMicrosecond);

// Many sizes at once; the time is that of a sweep of 65,536 points.
void BM_Sweep(benchmark::State& state) {
  Config config = Llama();
  const auto prepared = PrepareOrDie(config);
  SizeGrid grid;
  std::vector<int64_t> sizes(256);
  for (size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = static_cast<int64_t>(i) + 1;
  }
  grid.Set(Role::kBatch, sizes);
  grid.Set(Role::kContext, sizes);
  std::vector<PointPeak> points(1 << 16);
  for (auto _ : state) {
    LINNET_CHECK(
        prepared->Peaks(config, grid, 0, 0, absl::MakeSpan(points)).ok());
    benchmark::DoNotOptimize(points.data());
  }
  state.counters["points/s"] =
      benchmark::Counter(static_cast<double>(points.size()),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Sweep)->Unit(benchmark::kMillisecond);

// The whole report with the buffer plan.
void BM_Report(benchmark::State& state) {
  Config config = Llama();
  const auto prepared = PrepareOrDie(config);
  for (auto _ : state) {
    auto report = prepared->Analyze(config);
    benchmark::DoNotOptimize(report->planned_bytes);
  }
}
BENCHMARK(BM_Report)->Unit(benchmark::kMillisecond);

void BM_CacheKey(benchmark::State& state) {
  const Config config = Llama();
  for (auto _ : state) benchmark::DoNotOptimize(CacheKey(config));
}
BENCHMARK(BM_CacheKey)->Unit(benchmark::kMicrosecond);

void BM_Maximize(benchmark::State& state) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.entry = "decode_rows";
  config.context = 8192;
  config = WithGoal(config, Goal::kBatch);
  const auto prepared = PrepareOrDie(config);
  for (auto _ : state) {
    const auto found =
        Maximize(*prepared, config, Goal::kBatch, {80 * kGiB, 2 * kGiB, 0.0});
    LINNET_CHECK(found.ok() && found->value == 62) << found.status();
    state.counters["sizes"] = static_cast<double>(found->evaluations);
  }
}
BENCHMARK(BM_Maximize)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace linnet::planner
