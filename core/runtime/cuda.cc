#include "core/runtime/cuda.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/library/native_kernel.h"
#include "core/runtime/cuda_training.h"
#include "core/runtime/step_reader.h"

namespace linnet::runtime {
namespace {

using graph::ObjectId;
using library::NativeKernel;

// The chunked losses keep nothing without gradients: rows are taken in blocks
// whose f32 logits fit kLossBlockBytes.
Workspace LossWorkspace(const StepReader& step) {
  if (step.num_inputs() < 2) return {{}, Confidence::kUnknown};
  expr::Pool& pool = step.pool();
  const int64_t element = step.ElementBytes(0);
  const LossBlocks blocks = BlocksOfLoss(step);
  const expr::Expr two_blocks = pool.Add(step.Times(4, blocks.logits),
                                         step.Times(element + 4, blocks.next));
  return {pool.Max(step.Times(std::max<int64_t>(element + 4, 8), blocks.logits),
                   two_blocks),
          Confidence::kModeled};
}

Workspace AttentionWorkspace(const StepReader& step) {
  if (step.num_inputs() == 0) return {{}, Confidence::kUnknown};
  return {AttentionExtra(step), Confidence::kEstimated};
}

// Across processes, the parts are stacked before they are laid side by side; on
// one process the result is its operand.
Workspace GatherWorkspace(const StepReader& step) {
  expr::Expr bytes = step.pool().Zero();
  for (ObjectId output : step.graph().outputs(step.step())) {
    bytes = step.pool().Add(bytes, step.graph().object(output).bytes);
  }
  return {bytes, bytes.is_zero() ? Confidence::kExact : Confidence::kModeled};
}

struct ChannelRow {
  int64_t bytes;
  absl::string_view what;
};
// In the order of Channels, without the first.
constexpr ChannelRow kChannels[] = {{kSendBytes, "to send"},
                                    {kReceiveBytes, "to receive"},
                                    {kBothWaysBytes, "both ways"},
                                    {kExchangeBytes, "of DTensor's exchanges"}};

class Cuda final : public Backend {
 public:
  absl::string_view name() const override { return "cuda"; }
  int64_t alignment() const override { return kCudaAlignment; }

  Workspace StepWorkspace(const graph::Graph& graph, const graph::Step& step,
                          expr::Pool& pool) const override {
    const StepReader reader(graph, step, pool);
    switch (KernelOf(graph, step)) {
      case NativeKernel::kOther:
      case NativeKernel::kExperts:
      case NativeKernel::kExpertsShared:
      case NativeKernel::kExpertsCombined:
        return {{}, Confidence::kUnknown};
      case NativeKernel::kAttention:
        return AttentionWorkspace(reader);
      case NativeKernel::kLinearCrossEntropy:
      case NativeKernel::kLinearTokenLogProbs:
        return LossWorkspace(reader);
      case NativeKernel::kAllGather:
        return GatherWorkspace(reader);
      default:
        return {pool.Zero(), Confidence::kExact};
    }
  }

  Workspace TrainingWorkspace(const graph::Graph& graph,
                              const graph::Step& step, Pass pass,
                              expr::Pool& pool) const override {
    const StepReader reader(graph, step, pool);
    const NativeKernel kernel = KernelOf(graph, step);
    switch (kernel) {
      case NativeKernel::kLinearCrossEntropy:
        if (reader.num_inputs() < 2) return {{}, Confidence::kUnknown};
        return LossTrainingWorkspace(kernel, pass, reader);
      case NativeKernel::kLinearTokenLogProbs:
        if (pass == Pass::kForward) break;
        if (reader.num_inputs() < 2) return {{}, Confidence::kUnknown};
        return LossTrainingWorkspace(kernel, pass, reader);
      case NativeKernel::kAllGather:
        // Its backward takes a slice.
        if (pass == Pass::kForward) break;
        return {pool.Zero(), Confidence::kExact};
      default:
        break;
    }
    return StepWorkspace(graph, step, pool);
  }

  SavedTensors Saved(const graph::Graph& graph, const graph::Step& step,
                     CarriesGradient carries, expr::Pool& pool) const override {
    return CudaSaved(KernelOf(graph, step), StepReader(graph, step, pool),
                     carries);
  }

  ProcessMemory MemoryOfProcess(
      const ProcessSettings& settings) const override {
    ProcessMemory memory;
    const bool given = settings.context_bytes.has_value();
    memory.items.push_back(
        {"CUDA context", graph::Category::kRuntime,
         settings.context_bytes.value_or(kCudaContextBytes),
         given ? Confidence::kModeled : Confidence::kEstimated,
         given ? "as given" : "measured on an H100 with PyTorch 2.14"});
    memory.items.push_back(
        {"CUDA libraries", graph::Category::kRuntime,
         settings.training ? kCudaTrainingLibrariesBytes : kCudaLibrariesBytes,
         Confidence::kEstimated,
         "kernels loaded by the libraries; measured on an "
         "H100 with PyTorch 2.14"});
    memory.items.push_back(CublasItem(settings, &memory.warnings));
    if (settings.process_groups > 0) {
      memory.items.push_back({"All-reduce buffers", graph::Category::kRuntime,
                              kAllReduceBytes, Confidence::kEstimated,
                              "of the one-shot all-reduce"});
      memory.items.push_back(
          {"NCCL communicator", graph::Category::kRuntime,
           kNcclKernelsBytes + settings.process_groups * kCommunicatorBytes,
           Confidence::kEstimated,
           absl::StrCat(settings.process_groups,
                        settings.process_groups == 1 ? " process group"
                                                     : " process groups",
                        ", and NCCL's kernels once; measured on an H100 with "
                        "NCCL 2.30")});
    }
    if (settings.channels != Channels::kNone) {
      const ChannelRow& row =
          kChannels[static_cast<size_t>(settings.channels) - 1];
      memory.items.push_back({"Point-to-point channels",
                              graph::Category::kRuntime, row.bytes,
                              Confidence::kEstimated,
                              absl::StrCat(row.what,
                                           "; measured on an H100 with NCCL "
                                           "2.30")});
    }
    memory.items.push_back(
        {"Allocator fragmentation", graph::Category::kRuntime, std::nullopt,
         Confidence::kUnknown,
         "the caching allocator's unused reserve depends on the allocation "
         "order"});
    if (settings.compiled) {
      memory.items.push_back({"Compilation", graph::Category::kRuntime,
                              std::nullopt, Confidence::kUnknown,
                              "what compiling the program takes is not "
                              "modeled"});
    }
    return memory;
  }

 private:
  static ProcessItem CublasItem(const ProcessSettings& settings,
                                std::vector<std::string>* warnings) {
    ProcessItem item{"cuBLAS workspace", graph::Category::kWorkspace,
                     kCublasWorkspaceBytes, Confidence::kEstimated,
                     "PyTorch's default on Hopper; about 8 MiB before"};
    if (!settings.cublas_workspace_config) return item;
    const std::string& config = *settings.cublas_workspace_config;
    if (const auto bytes = ParseCublasWorkspace(config)) {
      item.bytes = *bytes;
      item.note = absl::StrCat("CUBLAS_WORKSPACE_CONFIG=", config);
    } else {
      warnings->push_back(absl::StrCat(
          "CUBLAS_WORKSPACE_CONFIG is not of the form :KIB:COUNT, so the "
          "default of ",
          FormatBytes(kCublasWorkspaceBytes), " is counted"));
    }
    return item;
  }
};

}  // namespace

const Backend& CudaBackend() {
  static const auto* const kCuda = new Cuda;
  return *kCuda;
}

std::optional<int64_t> ParseCublasWorkspace(absl::string_view config) {
  const std::vector<absl::string_view> parts = absl::StrSplit(config, ':');
  if (parts.size() < 3 || parts.size() % 2 == 0 || !parts[0].empty()) {
    return std::nullopt;
  }
  int64_t total = 0;
  for (size_t i = 1; i < parts.size(); i += 2) {
    int64_t kib = 0;
    int64_t count = 0;
    int64_t bytes = 0;
    if (!absl::SimpleAtoi(parts[i], &kib) || kib < 0 ||
        !absl::SimpleAtoi(parts[i + 1], &count) || count < 0 ||
        __builtin_mul_overflow(kib, kKiB, &bytes) ||
        __builtin_mul_overflow(bytes, count, &bytes) ||
        __builtin_add_overflow(total, bytes, &total)) {
      return std::nullopt;
    }
  }
  return total;
}

}  // namespace linnet::runtime
