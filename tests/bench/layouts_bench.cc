// Times of comparing layouts: TinyLlama's training step on 4 devices, Llama 3.1
// 8B decoding on 1,024.

#include <memory>

#include "benchmark/benchmark.h"
#include "core/base/check.h"
#include "core/planner/devices.h"
#include "core/planner/layouts.h"
#include "core/planner/planner.h"

namespace linnet::planner {
namespace {

Config Training(int64_t devices) {
  Config config;
  config.model.name = "tinyllama-1.1b-chat";
  config.entry = "loss_packed";
  config.training.emplace();
  config.parallel.compare_devices = {devices};
  return config;
}

Config Decoding(int64_t devices) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.entry = "decode_rows";
  config.cache_len = 8192;
  config.parallel.compare_devices = {devices};
  return config;
}

std::shared_ptr<const Prepared> PrepareOrDie(const Config& config) {
  auto prepared = Prepare(config);
  LINNET_CHECK(prepared.ok()) << prepared.status();
  return *prepared;
}

int64_t CompareOrDie(const Prepared& prepared, const Config& config) {
  static const auto* const kDevice =
      new DeviceSummary(*FindDevice("h100-80gb"));
  LayoutQuery query;
  query.pools.resize(1);
  query.pools[0].profile = kDevice->profile.get();
  query.pools[0].budget.device_bytes = kDevice->memory_bytes;
  const auto plan = prepared.Compare(config, query);
  LINNET_CHECK(plan.ok()) << plan.status();
  return plan->evaluations;
}

void Cold(benchmark::State& state, const Config& config) {
  for (auto _ : state) {
    CompareOrDie(*PrepareOrDie(config), config);
  }
}
void Warm(benchmark::State& state, const Config& config) {
  const auto prepared = PrepareOrDie(config);
  int64_t evaluations = CompareOrDie(*prepared, config);
  for (auto _ : state) evaluations = CompareOrDie(*prepared, config);
  state.counters["evaluations"] = static_cast<double>(evaluations);
}

void BM_TrainingOn4Cold(benchmark::State& state) { Cold(state, Training(4)); }
BENCHMARK(BM_TrainingOn4Cold)->Unit(benchmark::kMillisecond);
void BM_TrainingOn4Warm(benchmark::State& state) { Warm(state, Training(4)); }
BENCHMARK(BM_TrainingOn4Warm)->Unit(benchmark::kMillisecond);
void BM_TrainingOn1024Cold(benchmark::State& state) {
  Cold(state, Training(1024));
}
BENCHMARK(BM_TrainingOn1024Cold)->Unit(benchmark::kMillisecond);
void BM_DecodingOn1024Cold(benchmark::State& state) {
  Cold(state, Decoding(1024));
}
BENCHMARK(BM_DecodingOn1024Cold)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace linnet::planner
