// What Prepare() makes: the graph of an entry and everything derived from it
// once, as functions of the sizes.

#ifndef LINNET_CORE_PLANNER_PREPARED_H_
#define LINNET_CORE_PLANNER_PREPARED_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "core/expr/evaluator.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/memory_function.h"
#include "core/graph/timeline.h"
#include "core/parallel/schedule.h"
#include "core/planner/bind.h"
#include "core/planner/entry_time.h"
#include "core/planner/planner.h"
#include "core/planner/sweep.h"
#include "core/planner/training_config.h"
#include "core/planner/training_plans.h"
#include "core/runtime/backend.h"
#include "core/runtime/kv_cache.h"
#include "core/trace/tracer.h"

namespace linnet::planner {

// Persistent memory by kind; the order of a report.
enum class Held : uint8_t { kWeights, kBuffers, kState, kCache };
inline constexpr size_t kNumHeld = 4;

// Values of the persistent parts at some sizes.
struct HeldBytes {
  std::array<int64_t, kNumHeld> bytes{};  // As laid out.
  int64_t declared_cache_bytes = 0;
};

bool Holds(lang::Relation relation, int64_t left, int64_t right);

// Whether a clause of the model is false whatever the sizes.
bool NeverRuns(const trace::Trace& trace);

class PreparedEntry final : public Prepared {
 public:
  struct Parts {
    std::string model_name;
    std::string entry_name;
    std::string root_name;   // Empty for a module-level entry.
    std::string main_dtype;  // Of the root's first float generic, or empty.
    trace::Trace trace;
    std::vector<Role> roles;  // In the order of the graph's roles.
    const runtime::Backend* backend = nullptr;
    runtime::KvLayout kv_layout;
    bool no_bindings = false;
    // What the weights take as stored, where a checkpoint tells.
    std::optional<int64_t> weight_bytes;
    std::vector<std::string> notes;  // Assumptions that a report must name.
    std::optional<TrainingSettings> training;
    // Of a pipeline's stage, whose graph `trace.graph` then is.
    std::optional<parallel::StagePlace> place;
    int64_t tensor_processes = 1;      // That split every weight.
    int64_t collective_processes = 1;  // That the program's collectives join.
    bool redistributes = false;        // Split as DTensors are.
    int64_t process_groups = 0;        // That the process joins.
    runtime::Channels channels = runtime::Channels::kNone;
    // How well the sizes of activations are known.
    Confidence activations = Confidence::kExact;
  };
  // Derives the memory functions. Fails when a size of the program is no
  // 64-bit number whatever the roles.
  static absl::StatusOr<std::shared_ptr<const Prepared>> Make(Parts parts);

  absl::StatusOr<Report> Analyze(const Config& config) const override;
  absl::StatusOr<std::vector<Report>> AnalyzeAll(
      const Config& config) const override;
  absl::StatusOr<MemoryTimeline> Timeline(const Config& config,
                                          size_t policy) const override;
  absl::StatusOr<Summary> Summarize(const Config& config) const override;
  absl::StatusOr<Summary> SummarizePolicy(const Config& config,
                                          size_t policy) const override;
  absl::Status Peaks(const Config& config, const SizeGrid& grid, int64_t begin,
                     size_t policy,
                     absl::Span<PointPeak> points) const override;
  absl::StatusOr<StepTime> Time(const Config& config,
                                const TimeQuery& query) const override;
  std::vector<FreeSize> FreeSizes() const override;
  std::string StepText(int64_t step) const override;
  int64_t ByteSize() const override;

  // For tests that compare the memory functions with the plain walk.
  const graph::Graph& graph() const { return *parts_.trace.graph; }
  const graph::Timeline& timeline() const { return timeline_; }
  const graph::MemoryFunction& peak() const { return *peak_; }
  const std::string& model_name() const { return parts_.model_name; }
  const std::string& entry_name() const { return parts_.entry_name; }
  const std::vector<trace::LibraryCall>& library_calls() const {
    return parts_.trace.library_calls;
  }
  // The parts of Time(), for a pipeline that puts stages together.
  absl::StatusOr<ProcessTime> TimeOfProcess(const Config& config,
                                            const TimeQuery& query) const;
  absl::Status AddOperations(const Config& config, const TimeQuery& query,
                             StepTime* time) const;
  void AddTimeAssumptions(const TimeQuery& query, StepTime* time) const;

  // Null without training; then the three above are not to be used.
  const TrainingPlans* training() const { return training_.get(); }

 private:
  // Sizes of the roles, and what follows from them.
  struct Sizes {
    std::array<int64_t, kNumRoles> values{};
    size_t count = 0;
    absl::Span<const int64_t> span() const { return {values.data(), count}; }
  };
  // Native steps whose workspace nothing models.
  struct UnknownKernel {
    std::string label, native;
    int64_t calls = 0;
  };
  struct Numbers {
    HeldBytes held;
    graph::Peak peak;  // Of activations alone.
    graph::Peak with_workspace;
    int64_t activations_at_workspace_peak = 0;
    int64_t workspace = 0;
  };

  // Made by the first call that asks for it.
  absl::StatusOr<const EntryTime*> TimeModel() const;

  explicit PreparedEntry(Parts parts) : parts_(std::move(parts)) {}
  absl::Status Derive();
  void DeriveWorkspace(expr::Pool& pool, graph::Timeline* timeline);
  void CountUnknown(const graph::Step& step);
  absl::Status DeriveHeld(expr::Pool& pool);
  absl::Status DeriveConstraints();
  absl::Status DeriveTraining();

  absl::Status ReadSizes(const Config& config, Sizes* sizes) const;
  absl::Status Compute(const Sizes& sizes, Numbers* numbers) const;
  // The clauses that do not hold, by index.
  absl::Status BrokenConstraints(const Sizes& sizes,
                                 std::vector<size_t>* broken) const;
  // Of inference, at sizes that were checked.
  PointPeak PeakAt(const Sizes& sizes, int64_t runtime_bytes) const;
  absl::Status Combine(const Numbers& numbers,
                       const runtime::ProcessMemory& process,
                       Summary* summary) const;
  Confidence WorkspaceConfidence(int64_t step) const;
  runtime::ProcessMemory Process(const Config& config) const;

  // Of a training step (training_report.cc).
  absl::Status ComputeHeld(const Sizes& sizes, HeldBytes* held) const;
  absl::Status CombineTraining(const HeldBytes& held,
                               const TrainingNumbers& numbers,
                               const runtime::ProcessMemory& process,
                               Summary* summary) const;
  absl::StatusOr<Report> AnalyzeTraining(const Config& config,
                                         size_t policy) const;
  absl::StatusOr<Summary> SummarizeTraining(const Config& config,
                                            size_t policy) const;
  void AddTrainingParts(const HeldBytes& held, const TrainingNumbers& numbers,
                        Report* report) const;
  void AddTrainingPlace(size_t policy, const TrainingNumbers& numbers,
                        Report* report) const;

  // The parts of a report (report.cc).
  Report MakeReport(const Config& config, const Sizes& sizes) const;
  void AddHeldPart(Held held, int64_t bytes, Report* report) const;
  void AddHeld(const Numbers& numbers, Report* report) const;
  void AddTransient(const Numbers& numbers, Report* report) const;
  void AddProcess(const runtime::ProcessMemory& process, Report* report) const;
  void AddPlace(int64_t step, Report* report) const;
  void AddTexts(const Config& config, const std::vector<size_t>& broken,
                Report* report) const;

  Parts parts_;
  std::shared_ptr<const expr::Pool> pool_;  // Extends the graph's.
  graph::Timeline timeline_;                // Of transient objects.
  std::optional<graph::MemoryFunction> peak_;
  std::optional<graph::MemoryFunction> with_workspace_;
  std::vector<graph::Interval> workspaces_;  // By step; each for one moment.
  // By step, for those that have a workspace: how it is known.
  std::vector<std::pair<int64_t, Confidence>> workspace_steps_;
  std::array<expr::Expr, kNumHeld> held_;
  std::array<int64_t, kNumHeld> held_objects_{};
  int64_t windowed_ = 0;               // KV caches of layers with a window.
  expr::Evaluator held_values_;        // held_, then the caches as declared.
  expr::Evaluator constraint_values_;  // left and right of each clause.
  std::vector<UnknownKernel> unknown_;
  std::unique_ptr<const TrainingPlans> training_;
  mutable absl::Mutex time_mutex_;
  mutable std::unique_ptr<const EntryTime> time_ ABSL_GUARDED_BY(time_mutex_);
};

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_PREPARED_H_
