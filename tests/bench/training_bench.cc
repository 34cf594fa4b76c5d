// Times of a training step's memory: deriving it from a traced entry, and
// evaluating it at other sizes.

#include <cstdint>
#include <memory>
#include <vector>

#include "benchmark/benchmark.h"
#include "core/base/check.h"
#include "core/planner/planner.h"
#include "core/planner/prepared.h"
#include "core/runtime/backend.h"
#include "core/training/plan.h"

namespace linnet::planner {
namespace {

Config LlamaStep(const char* policy) {
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.entry = "loss_packed";
  config.context = 8192;
  config.training.emplace().checkpoints = {policy};
  return config;
}

const PreparedEntry& Llama() {
  static const auto* const kEntry = [] {
    auto prepared = Prepare(LlamaStep("none"));
    LINNET_CHECK(prepared.ok()) << prepared.status();
    return new auto(std::static_pointer_cast<const PreparedEntry>(*prepared));
  }();
  return **kEntry;
}

void BuildStep(benchmark::State& state, const char* policy) {
  const std::shared_ptr<const graph::Graph> graph =
      Llama().training()->model().shared_graph();
  for (auto _ : state) {
    auto pool = std::make_shared<expr::Pool>(graph->shared_pool());
    const training::StepModel model(graph, *runtime::FindBackend("cuda"), {},
                                    *pool);
    auto plan = training::MakePlan(model, training::ParsePolicy(policy), pool);
    LINNET_CHECK(plan.ok()) << plan.status();
    state.counters["candidates"] = plan->peak->num_candidates();
    benchmark::DoNotOptimize(plan);
  }
}
void BM_BuildTrainingStep(benchmark::State& state) { BuildStep(state, "none"); }
BENCHMARK(BM_BuildTrainingStep)->Unit(benchmark::kMillisecond);
void BM_BuildCheckpointedStep(benchmark::State& state) {
  BuildStep(state, "block");
}
BENCHMARK(BM_BuildCheckpointedStep)->Unit(benchmark::kMillisecond);

void BM_EvaluateTrainingPeak(benchmark::State& state) {
  const graph::MemoryFunction& peak = *Llama().training()->plan(0).peak;
  std::vector<int64_t> sizes(peak.num_roles(), 8192);
  for (auto _ : state) {
    benchmark::DoNotOptimize(peak.Evaluate(sizes));
    sizes[0] = sizes[0] % 16384 + 1;
  }
}
BENCHMARK(BM_EvaluateTrainingPeak);

void BM_AnalyzeTraining(benchmark::State& state) {
  const Config config = LlamaStep("none");
  for (auto _ : state) benchmark::DoNotOptimize(Llama().Analyze(config));
}
BENCHMARK(BM_AnalyzeTraining)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace linnet::planner
