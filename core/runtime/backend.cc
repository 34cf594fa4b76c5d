#include "core/runtime/backend.h"

#include "core/runtime/cuda.h"

namespace linnet::runtime {
namespace {

// Knows nothing: every native workspace and the process are unknown.
class GenericBackend final : public Backend {
 public:
  absl::string_view name() const override { return "generic"; }
  int64_t alignment() const override { return 1; }
  Workspace StepWorkspace(const graph::Graph&, const graph::Step&,
                          expr::Pool&) const override {
    return {{}, Confidence::kUnknown};
  }
  Workspace TrainingWorkspace(const graph::Graph&, const graph::Step&, Pass,
                              expr::Pool&) const override {
    return {{}, Confidence::kUnknown};
  }
  SavedTensors Saved(const graph::Graph& graph, const graph::Step& step,
                     CarriesGradient, expr::Pool&) const override {
    return SavedByUnknownKernel(graph, step);
  }
  ProcessMemory MemoryOfProcess(const ProcessSettings&) const override {
    ProcessMemory memory;
    memory.items.push_back({"Runtime overhead", graph::Category::kRuntime,
                            std::nullopt, Confidence::kUnknown,
                            "the generic backend models no runtime"});
    return memory;
  }
};

}  // namespace

const Backend* FindBackend(absl::string_view name) {
  static const auto* const kGeneric = new GenericBackend;
  if (name == CudaBackend().name()) return &CudaBackend();
  if (name == kGeneric->name()) return kGeneric;
  return nullptr;
}

std::vector<absl::string_view> BackendNames() { return {"cuda", "generic"}; }

}  // namespace linnet::runtime
