// The fastest layout of several devices (analysis.md section 14).

#ifndef LINNET_CORE_PLANNER_LAYOUTS_H_
#define LINNET_CORE_PLANNER_LAYOUTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/planner/maximize.h"
#include "core/planner/planner.h"

namespace linnet::planner {

// What makes one layout better than another.
enum class Objective : uint8_t {
  kThroughput,  // Tokens per second of all devices.
  kPerDevice,   // Of one device; layouts may use fewer than there are.
  kLatency,     // The shortest step.
};

// Devices that are alike.
struct PoolQuery {
  const device::Profile* profile = nullptr;  // Outlives the call.
  Budget budget;                             // Of each device.
};

struct LayoutQuery {
  std::vector<PoolQuery> pools;  // As many as were prepared, in their order.
  Objective objective = Objective::kThroughput;
  double max_step_seconds = 0;  // 0: no limit.
  StopFunction stop;
};

// One way to use the devices.
struct Layout {
  std::string name;  // `PP 2 x 8 1f1b, 2 replicas`
  ParallelConfig parallel;
  int64_t replicas = 1;
  int64_t devices = 1;     // That it uses.
  std::string checkpoint;  // The policy; empty for inference.

  // Why it cannot be used; the rest is then unset.
  std::string refused;
  int64_t size = 0;  // Of what grows; 0 when nothing does.
  StepTime time;
  int64_t peak_bytes = 0;  // Of the device that needs most.
};

struct PoolPlan {
  int64_t budget_bytes = 0;     // Of each device.
  std::vector<Layout> layouts;  // The best first, then those refused.
};

// What several pools do together, each in one layout.
struct PoolsTogether {
  std::vector<std::optional<Layout>> layouts;  // Empty: the pool is not used.
  double tokens_per_second = 0;
  double seconds = 0;  // Of a training step, which all take; else 0.
};

struct LayoutPlan {
  // What grows; empty when all sizes are given.
  std::optional<Goal> goal;
  std::vector<PoolPlan> pools;
  // Of more than one pool. In inference each works for itself. A training step
  // is one for all, over when the slowest is: the layouts and sizes whose
  // tokens per second are the most.
  std::optional<PoolsTogether> together;
  int64_t evaluations = 0;  // Sizes that were looked at.
  std::vector<std::string> assumptions;
};

// What grows is the batch, when an input of the entry has one and none is
// given, else the context, when none is given. Layouts are tensor degrees and
// stages over powers of two that divide the devices, the rest replicas; 1, 2
// and 4 micro-batches per stage under 1F1B; in training without and with block
// checkpointing, where the configuration names no policy.
class PreparedLayouts final : public Prepared {
 public:
  // Traces the model once per tensor degree, and cuts it for each pipeline. A
  // layout that cannot be is kept with the reason. Fails as Prepare() does when
  // one device cannot be prepared, and with InvalidArgument when another field
  // of `config.parallel` is given, more devices than
  // kMaxDevices in a pool, or more pools than kMaxPools.
  static absl::StatusOr<std::shared_ptr<const Prepared>> Make(
      const Config& config, const Limits& limits, const StopFunction& stop);
  static constexpr int64_t kMaxDevices = 1 << 14;
  static constexpr size_t kMaxPools = 16;

  // In each layout the largest size that fits, a multiple of its micro-batches,
  // and the powers of two times those below it are looked at; the best of them
  // is kept. OUT_OF_RANGE and CANCELLED as Maximize().
  absl::StatusOr<LayoutPlan> Compare(const Config& config,
                                     const LayoutQuery& query) const override;

  // Of one device.
  absl::StatusOr<Report> Analyze(const Config& config) const override;
  absl::StatusOr<Summary> Summarize(const Config& config) const override;
  std::vector<FreeSize> FreeSizes() const override;
  std::string StepText(int64_t step) const override;
  int64_t ByteSize() const override;

 private:
  struct Candidate {
    ParallelConfig parallel;
    int64_t processes = 1;
    std::shared_ptr<const Prepared> prepared;  // Null: refused.
    std::string refused;
  };
  class Comparison;

  PreparedLayouts() = default;
  // Sets goal_, and gives what grows a size in `config`, so that it is a
  // symbol.
  absl::Status FindGoal(const Limits& limits, const StopFunction& stop,
                        Config* config);
  // `config` for one layout, with a size for what grows.
  Config ForOne(const Config& config) const;
  absl::Status AddCandidates(const Config& config, int64_t tensor,
                             const Limits& limits, const StopFunction& stop);

  // Whether some pool can be divided into groups of so many processes.
  bool Divides(int64_t processes) const;

  std::vector<int64_t> devices_;  // By pool.
  std::optional<Goal> goal_;
  std::vector<std::string> policies_;  // Empty names for inference.
  std::vector<Candidate> candidates_;  // The first is that of one device.
};

// "4 replicas", "TP 2, PP 2 x 8 1f1b, 2 replicas, block checkpointing".
std::string LayoutName(const ParallelConfig& parallel, int64_t replicas,
                       absl::string_view checkpoint);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_LAYOUTS_H_
