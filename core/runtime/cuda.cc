#include "core/runtime/cuda.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/library/native_kernel.h"

namespace linnet::runtime {
namespace {

using graph::ObjectId;
using library::NativeKernel;

// Reads operands of one step; the pool is an extension of the graph's.
class StepReader {
 public:
  StepReader(const graph::Graph& graph, const graph::Step& step,
             expr::Pool& pool)
      : graph_(graph), step_(step), pool_(pool), inputs_(graph.inputs(step)) {}

  size_t num_inputs() const { return inputs_.size(); }
  // The size of axis `axis` of input `input`, counted from the last axis.
  expr::Expr FromLast(size_t input, size_t axis) const {
    const auto shape = graph_.shape(inputs_[input]);
    return shape[shape.size() - 1 - axis];
  }
  // Elements of an input without its last axis.
  expr::Expr Rows(size_t input) const {
    const auto shape = graph_.shape(inputs_[input]);
    return pool_.Product(shape.subspan(0, shape.size() - 1));
  }
  expr::Expr Elements(ObjectId object) const {
    return pool_.Product(graph_.shape(object));
  }
  int64_t ElementBytes(size_t input) const {
    return DTypeBytes(graph_.object(inputs_[input]).dtype);
  }
  ObjectId input(size_t i) const { return inputs_[i]; }
  const graph::Graph& graph() const { return graph_; }
  const graph::Step& step() const { return step_; }
  expr::Pool& pool() const { return pool_; }

  expr::Expr Times(int64_t factor, expr::Expr e) const {
    return pool_.Mul(pool_.Constant(factor), e);
  }

 private:
  const graph::Graph& graph_;
  const graph::Step& step_;
  expr::Pool& pool_;
  const absl::Span<const ObjectId> inputs_;
};

// The log-sum-exp in f32 of every query row, and a boolean mask turned into a
// bias of the query's dtype.
Workspace AttentionWorkspace(const StepReader& step) {
  if (step.num_inputs() == 0) return {{}, Confidence::kUnknown};
  expr::Expr bytes = step.Times(4, step.Rows(0));
  for (size_t i = 1; i < step.num_inputs(); ++i) {
    const ObjectId input = step.input(i);
    if (step.graph().object(input).dtype != DType::kBool) continue;
    bytes = step.pool().Add(
        bytes, step.Times(step.ElementBytes(0), step.Elements(input)));
  }
  return {bytes, Confidence::kEstimated};
}

// The chunked losses in a forward pass without gradients: rows are taken in
// blocks whose f32 logits fit kLossBlockBytes.
Workspace LossWorkspace(const StepReader& step) {
  if (step.num_inputs() < 2) return {{}, Confidence::kUnknown};
  expr::Pool& pool = step.pool();
  const int64_t element = step.ElementBytes(0);
  const expr::Expr vocabulary = step.FromLast(1, 1);
  const expr::Expr rows = step.Rows(0);
  const expr::Expr most = pool.Max(
      pool.One(),
      pool.FloorDiv(pool.Constant(kLossBlockBytes), step.Times(4, vocabulary)));
  const expr::Expr block = pool.Min(rows, most);
  const expr::Expr next = pool.Min(block, pool.Sub(rows, block));
  const expr::Expr logits = pool.Mul(block, vocabulary);
  const expr::Expr two_blocks =
      pool.Add(step.Times(4, logits),
               step.Times(element + 4, pool.Mul(next, vocabulary)));
  return {pool.Max(step.Times(std::max<int64_t>(element + 4, 8), logits),
                   two_blocks),
          Confidence::kModeled};
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

class Cuda final : public Backend {
 public:
  absl::string_view name() const override { return "cuda"; }
  int64_t alignment() const override { return kCudaAlignment; }

  Workspace StepWorkspace(const graph::Graph& graph, const graph::Step& step,
                          expr::Pool& pool) const override {
    const library::NativeImplementation* native =
        library::FindNative(graph.text(step.native));
    const StepReader reader(graph, step, pool);
    switch (native == nullptr ? NativeKernel::kOther : native->kernel) {
      case NativeKernel::kOther:
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

  ProcessMemory MemoryOfProcess(
      const ProcessSettings& settings) const override {
    ProcessMemory memory;
    const bool given = settings.context_bytes.has_value();
    memory.items.push_back(
        {"CUDA context", graph::Category::kRuntime,
         settings.context_bytes.value_or(kCudaContextBytes),
         given ? Confidence::kModeled : Confidence::kEstimated,
         given ? "as given" : "measured on an H100 with PyTorch 2.14"});
    memory.items.push_back({"CUDA libraries", graph::Category::kRuntime,
                            kCudaLibrariesBytes, Confidence::kEstimated,
                            "kernels loaded by the libraries; measured on an "
                            "H100 with PyTorch 2.14"});
    memory.items.push_back(CublasItem(settings, &memory.warnings));
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
