// Backend models: what a backend takes beside a program's own tensors
// (analysis.md section 7). Each answer carries how it was obtained; what
// nothing models is unknown, never 0.

#ifndef LINNET_CORE_RUNTIME_BACKEND_H_
#define LINNET_CORE_RUNTIME_BACKEND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/confidence.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/runtime/saved_tensors.h"

namespace linnet::runtime {

// Bytes that a step takes beside its outputs while it runs.
struct Workspace {
  // An invalid expression: not known.
  expr::Expr bytes;
  Confidence confidence = Confidence::kExact;

  bool known() const { return bytes.valid(); }
};

// The parts of a training step in which a step's kernels run.
enum class Pass : uint8_t { kForward, kBackward };

// Point-to-point channels that a process opens.
enum class Channels : uint8_t { kNone, kSend, kReceive, kBoth, kExchange };

// What decides the memory of a process, whatever the model.
struct ProcessSettings {
  std::optional<int64_t> context_bytes;  // Of the CUDA context, when known.
  bool compiled = false;                 // By a graph compiler.
  // CUBLAS_WORKSPACE_CONFIG of the job, when set.
  std::optional<std::string> cublas_workspace_config;
  bool training = false;  // A training step.
  // Groups of processes that it joins: 0 when it runs alone.
  int64_t process_groups = 0;
  Channels channels = Channels::kNone;
};

// One part of it.
struct ProcessItem {
  std::string name;  // `CUDA context`
  graph::Category category = graph::Category::kRuntime;
  // Empty: not known; `note` then says why.
  std::optional<int64_t> bytes;
  Confidence confidence = Confidence::kUnknown;
  std::string note;
};

struct ProcessMemory {
  std::vector<ProcessItem> items;
  std::vector<std::string> warnings;
};

// Stateless; one object per backend lives as long as the process.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual absl::string_view name() const = 0;

  // To what buffers are rounded up, in bytes.
  virtual int64_t alignment() const = 0;

  // The workspace of a native step. `pool` is an extension of the graph's.
  // REQUIRES: the step is of kind kNative.
  virtual Workspace StepWorkspace(const graph::Graph& graph,
                                  const graph::Step& step,
                                  expr::Pool& pool) const = 0;

  // The same of a differentiable step in a training step, in its forward pass
  // while gradients are wanted (what autograd keeps not included), or in its
  // backward.
  virtual Workspace TrainingWorkspace(const graph::Graph& graph,
                                      const graph::Step& step, Pass pass,
                                      expr::Pool& pool) const = 0;

  // What autograd keeps of a native step that is differentiable.
  virtual SavedTensors Saved(const graph::Graph& graph, const graph::Step& step,
                             CarriesGradient carries,
                             expr::Pool& pool) const = 0;

  virtual ProcessMemory MemoryOfProcess(
      const ProcessSettings& settings) const = 0;
};

// The backend called `name`, or null.
const Backend* FindBackend(absl::string_view name);

// Every name, the default first: `cuda`, `generic`.
std::vector<absl::string_view> BackendNames();

}  // namespace linnet::runtime

#endif  // LINNET_CORE_RUNTIME_BACKEND_H_
