// A model on the stages of a pipeline: one prepared entry per stage, for one
// micro-batch.

#ifndef LINNET_CORE_PLANNER_PIPELINE_H_
#define LINNET_CORE_PLANNER_PIPELINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/parallel/order.h"
#include "core/planner/bind.h"
#include "core/planner/planner.h"
#include "core/planner/prepared.h"

namespace linnet::planner {

// Answers are those of the stage that needs most.
class PreparedPipeline final : public Prepared {
 public:
  // Cuts the graph of `parts` as `parallel` says. InvalidArgument: a schedule,
  // a stage's name, or a number of stages or micro-batches that cannot be; an
  // entry with state; an entry whose first input is not as long as a role says.
  static absl::StatusOr<std::shared_ptr<const Prepared>> Make(
      PreparedEntry::Parts parts, const ParallelConfig& parallel);

  absl::StatusOr<Report> Analyze(const Config& config) const override;
  absl::StatusOr<std::vector<Report>> AnalyzeAll(
      const Config& config) const override;
  absl::StatusOr<MemoryTimeline> Timeline(const Config& config,
                                          size_t policy) const override;
  // Slots of the slowest stage, one per micro-batch, and the bubble.
  absl::StatusOr<StepTime> Time(const Config& config,
                                const TimeQuery& query) const override;
  // Without the step of the peak, since stages count theirs apart.
  absl::StatusOr<Summary> Summarize(const Config& config) const override;
  absl::StatusOr<Summary> SummarizePolicy(const Config& config,
                                          size_t policy) const override;
  std::vector<FreeSize> FreeSizes() const override;
  std::string StepText(int64_t step) const override;
  int64_t ByteSize() const override;

  size_t num_stages() const { return stages_.size(); }
  const PreparedEntry& stage(size_t i) const { return *stages_[i]; }
  // `config` for one micro-batch: the role that is cut, divided.
  // InvalidArgument when it does not divide.
  absl::StatusOr<Config> ForMicrobatch(const Config& config) const;

 private:
  PreparedPipeline() = default;
  // The report of the stage that needs most, from those of all stages.
  Report Worst(std::vector<Report> reports, const Config& config) const;

  std::vector<std::shared_ptr<const PreparedEntry>> stages_;
  std::vector<std::string> holds_;
  Role role_ = Role::kBatch;  // That is cut into micro-batches.
  parallel::PipelineShape shape_;
};

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_PIPELINE_H_
