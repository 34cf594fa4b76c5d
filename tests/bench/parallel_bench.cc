// Times of a large decoder on many devices: 126 layers of the shape of Llama
// 3.1 405B on 128 stages, each over 8 processes.

#include <memory>

#include "benchmark/benchmark.h"
#include "core/base/check.h"
#include "core/parallel/split.h"
#include "core/parallel/units.h"
#include "core/planner/pipeline.h"
#include "core/planner/planner.h"

namespace linnet::planner {
namespace {

Config Large(bool training) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.bindings = {{"H", "16384"},     {"Heads", "128"},  {"KvHeads", "8"},
                     {"Inner", "53248"}, {"Layers", "126"}, {"MaxSeq", "8192"}};
  config.parallel.tensor = 8;
  config.parallel.pipeline = 128;
  config.parallel.microbatches = 128;
  config.context = 8192;
  if (training) {
    config.entry = "loss_packed";
    config.context = 128 * 8192;
    config.training.emplace();
  } else {
    config.entry = "forward";
    config.batch = 128;
  }
  return config;
}

std::shared_ptr<const Prepared> PrepareOrDie(const Config& config) {
  auto prepared = Prepare(config);
  LINNET_CHECK(prepared.ok()) << prepared.status();
  return *prepared;
}

void Build(benchmark::State& state, bool training) {
  const Config config = Large(training);
  for (auto _ : state) benchmark::DoNotOptimize(PrepareOrDie(config));
}
void BM_PrepareForward(benchmark::State& state) { Build(state, false); }
BENCHMARK(BM_PrepareForward)->Unit(benchmark::kMillisecond);
void BM_PrepareTraining(benchmark::State& state) { Build(state, true); }
BENCHMARK(BM_PrepareTraining)->Unit(benchmark::kMillisecond);

// The same layers on 32 devices, four stages on each.
void BM_PrepareInterleaved(benchmark::State& state) {
  Config config = Large(true);
  config.parallel.pipeline = 32;
  config.parallel.schedule = "interleaved-1f1b";
  config.parallel.virtual_stages = 4;
  for (auto _ : state) benchmark::DoNotOptimize(PrepareOrDie(config));
}
BENCHMARK(BM_PrepareInterleaved)->Unit(benchmark::kMillisecond);

void Summarize(benchmark::State& state, bool training) {
  const Config config = Large(training);
  const auto prepared = PrepareOrDie(config);
  for (auto _ : state) {
    auto summary = prepared->Summarize(config);
    LINNET_CHECK(summary.ok()) << summary.status();
    benchmark::DoNotOptimize(summary);
  }
  state.counters["stages"] = 128;
}
void BM_SummarizeForward(benchmark::State& state) { Summarize(state, false); }
BENCHMARK(BM_SummarizeForward)->Unit(benchmark::kMicrosecond);
void BM_SummarizeTraining(benchmark::State& state) { Summarize(state, true); }
BENCHMARK(BM_SummarizeTraining)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace linnet::planner
