#include "core/planner/pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/parallel/schedule.h"
#include "core/parallel/split.h"
#include "core/parallel/units.h"
#include "core/planner/error.h"

namespace linnet::planner {
namespace {

absl::string_view RoleFlagOf(Role role) {
  return role == Role::kBatch ? "--batch" : "--seq-len";
}

// The role that is the first axis of the entry's first input.
absl::StatusOr<Role> MicrobatchRole(const graph::Graph& graph,
                                    const std::vector<Role>& roles) {
  if (!graph.entry_inputs().empty()) {
    const auto shape = graph.shape(graph.entry_inputs()[0]);
    expr::Pool pool(graph.shared_pool());
    for (size_t i = 0; i < roles.size(); ++i) {
      if (!shape.empty() && roles[i] != Role::kCache &&
          shape[0] == pool.SymbolExpr(graph.roles()[i])) {
        return roles[i];
      }
    }
  }
  return absl::InvalidArgumentError(
      "a pipeline cuts the first axis of the entry's first input into "
      "micro-batches, but that axis is no batch and no sequence length that is "
      "given; use an entry whose first input begins with one, with --batch or "
      "--seq-len");
}

expr::SymbolId SymbolOf(Role role, const PreparedEntry::Parts& parts) {
  for (size_t i = 0; i < parts.roles.size(); ++i) {
    if (parts.roles[i] == role) return parts.trace.graph->roles()[i];
  }
  return {};
}

absl::Status CheckMicrobatches(const ParallelConfig& config) {
  if (config.microbatches == 0 || config.microbatches >= config.pipeline) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(config.pipeline, " stages need at least ", config.pipeline,
                   " micro-batches to have work for each, not ",
                   config.microbatches, " (--microbatches)"));
}

// A process that runs `index` of several stages.
runtime::Channels ChannelsOf(const parallel::StagePlace& place, bool training) {
  if (training || place.shape.chunks > 1) return runtime::Channels::kBoth;
  if (place.device == 0) return runtime::Channels::kSend;
  if (place.ends()) return runtime::Channels::kReceive;
  return runtime::Channels::kBoth;
}

// The shape of the pipeline that `config` asks for. InvalidArgument: a schedule
// that there is none of or that cannot run so.
absl::StatusOr<parallel::PipelineShape> ShapeOf(const ParallelConfig& config) {
  const auto schedule = parallel::ParseSchedule(config.schedule);
  if (!schedule) {
    return UnknownName(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("there is no schedule `", config.schedule, "`"),
        config.schedule, parallel::ScheduleNames());
  }
  LINNET_RETURN_IF_ERROR(CheckMicrobatches(config));
  parallel::PipelineShape shape;
  shape.schedule = *schedule;
  shape.devices = config.pipeline;
  shape.microbatches = std::max(config.microbatches, config.pipeline);
  const bool interleaved = *schedule == parallel::Schedule::kInterleaved1F1B;
  shape.chunks = config.virtual_stages;
  if (shape.chunks == 0) shape.chunks = interleaved ? 2 : 1;
  if (interleaved && shape.chunks < 2) {
    return absl::InvalidArgumentError(
        "the schedule `interleaved-1f1b` needs at least 2 stages per device "
        "(--virtual-stages); with one it is `1f1b`");
  }
  if (shape.chunks > 1 && !interleaved &&
      *schedule != parallel::Schedule::kZeroBubble) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the schedule `", config.schedule, "` runs one stage per device, not ",
        shape.chunks,
        " (--virtual-stages); `interleaved-1f1b` and `zero-bubble` run "
        "several"));
  }
  if (shape.chunks > 1 && !parallel::MicrobatchesPerRound(shape)) {
    const int64_t n = shape.microbatches, d = shape.devices;
    return absl::InvalidArgumentError(absl::StrCat(
        "with several stages per device, ", n,
        " micro-batches (--microbatches) must divide into ", n / d,
        " equal rounds; ", n / d * d, " and ", (n / d + 1) * d, " do"));
  }
  return shape;
}

int64_t RuntimeBytes(const Report& report) {
  int64_t bytes = 0;
  for (const Component& part : report.components) {
    if (part.category == graph::CategoryName(graph::Category::kRuntime)) {
      bytes += part.bytes.value_or(0);
    }
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Prepared>> PreparedPipeline::Make(
    PreparedEntry::Parts parts, const ParallelConfig& config) {
  LINNET_ASSIGN_OR_RETURN(const parallel::PipelineShape shape, ShapeOf(config));
  std::shared_ptr<PreparedPipeline> pipeline(new PreparedPipeline);
  const std::shared_ptr<const graph::Graph> graph = parts.trace.graph;
  LINNET_ASSIGN_OR_RETURN(pipeline->role_, MicrobatchRole(*graph, parts.roles));
  pipeline->shape_ = shape;
  const std::vector<parallel::Unit> units = parallel::FindUnits(*graph);
  const int64_t stages = shape.devices * shape.chunks;
  LINNET_ASSIGN_OR_RETURN(
      const std::vector<size_t> starts,
      config.stages.empty()
          ? parallel::BalanceStages(units, stages)
          : parallel::NamedStages(units, config.stages, stages));
  LINNET_ASSIGN_OR_RETURN(
      std::vector<parallel::StageGraph> graphs,
      parallel::SplitGraph(*graph, units, starts, shape.devices,
                           SymbolOf(pipeline->role_, parts),
                           shape.microbatches));
  parts.weight_bytes.reset();  // Of the whole model.
  parts.notes.push_back(absl::StrCat(
      "sizes and formulas of a stage are those of one of ", shape.microbatches,
      " micro-batches, the ", RoleName(pipeline->role_), " cut into as many"));
  ++parts.process_groups;
  // Within a pipeline the group of all processes is not that of the tensor
  // split, and setting up the one-shot all-reduce goes through it.
  if (parts.tensor_processes > 1) ++parts.process_groups;
  for (size_t i = 0; i < graphs.size(); ++i) {
    PreparedEntry::Parts of = parts;
    of.trace.graph = graphs[i].graph;
    parallel::StagePlace place;
    place.device = static_cast<int64_t>(i);
    place.shape = shape;
    place.chunks = std::move(graphs[i].chunks);
    of.channels = ChannelsOf(place, parts.training.has_value());
    of.place = std::move(place);
    LINNET_ASSIGN_OR_RETURN(auto prepared, PreparedEntry::Make(std::move(of)));
    pipeline->stages_.push_back(
        std::static_pointer_cast<const PreparedEntry>(std::move(prepared)));
    pipeline->holds_.push_back(std::move(graphs[i].holds));
  }
  return std::shared_ptr<const Prepared>(std::move(pipeline));
}

absl::StatusOr<Config> PreparedPipeline::ForMicrobatch(
    const Config& config) const {
  Config of = config;
  // The cache follows the context of the whole step.
  if (!of.cache_len) of.cache_len = of.context;
  std::optional<int64_t>& size = role_ == Role::kBatch ? of.batch : of.context;
  if (!size || *size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the size `", RoleName(role_), "` (", RoleFlagOf(role_),
                     ") must be given, at least 1"));
  }
  if (*size % shape_.microbatches != 0) {
    const int64_t less = *size / shape_.microbatches * shape_.microbatches;
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", RoleName(role_), " of ", *size, " (", RoleFlagOf(role_),
        ") does not divide into ", shape_.microbatches, " micro-batches; ",
        less > 0 ? absl::StrCat(less, " and ") : "", less + shape_.microbatches,
        less > 0 ? " do" : " does"));
  }
  *size /= shape_.microbatches;
  return of;
}

Report PreparedPipeline::Worst(std::vector<Report> reports,
                               const Config& config) const {
  size_t worst = 0;
  std::vector<DeviceReport> devices;
  for (size_t i = 0; i < reports.size(); ++i) {
    const Report& each = reports[i];
    if (each.expected_peak_bytes > reports[worst].expected_peak_bytes) {
      worst = i;
    }
    devices.push_back({absl::StrCat("stage ", i), holds_[i],
                       each.graph_peak_bytes, each.expected_peak_bytes,
                       RuntimeBytes(each)});
  }
  Report report = std::move(reports[worst]);
  report.config.batch = config.batch;
  report.config.context = config.context;
  report.config.cache_len = config.cache_len;
  report.config.parallel.microbatches = shape_.microbatches;
  for (Component& part : report.components) part.device = devices[worst].name;
  absl::StrAppend(&report.peak_at, ", of ", devices[worst].name);
  report.devices = std::move(devices);
  return report;
}

absl::StatusOr<std::vector<Report>> PreparedPipeline::AnalyzeAll(
    const Config& config) const {
  LINNET_ASSIGN_OR_RETURN(const Config of, ForMicrobatch(config));
  std::vector<std::vector<Report>> by_policy;
  for (const auto& stage : stages_) {
    LINNET_ASSIGN_OR_RETURN(std::vector<Report> reports, stage->AnalyzeAll(of));
    by_policy.resize(reports.size());
    for (size_t i = 0; i < reports.size(); ++i) {
      by_policy[i].push_back(std::move(reports[i]));
    }
  }
  std::vector<Report> worst;
  for (std::vector<Report>& reports : by_policy) {
    worst.push_back(Worst(std::move(reports), config));
  }
  return worst;
}

absl::StatusOr<Report> PreparedPipeline::Analyze(const Config& config) const {
  LINNET_ASSIGN_OR_RETURN(std::vector<Report> reports, AnalyzeAll(config));
  return std::move(reports[0]);
}

absl::StatusOr<Summary> PreparedPipeline::Summarize(
    const Config& config) const {
  return SummarizePolicy(config, 0);
}

absl::StatusOr<Summary> PreparedPipeline::SummarizePolicy(const Config& config,
                                                          size_t policy) const {
  LINNET_ASSIGN_OR_RETURN(const Config of, ForMicrobatch(config));
  std::optional<Summary> worst;
  bool hold = true;
  for (const auto& stage : stages_) {
    LINNET_ASSIGN_OR_RETURN(const Summary summary,
                            stage->SummarizePolicy(of, policy));
    hold = hold && summary.constraints_hold;
    if (!worst || summary.expected_peak_bytes > worst->expected_peak_bytes) {
      worst = summary;
    }
  }
  worst->constraints_hold = hold;
  worst->peak_step = -1;
  return *worst;
}

absl::StatusOr<MemoryTimeline> PreparedPipeline::Timeline(const Config& config,
                                                          size_t policy) const {
  LINNET_ASSIGN_OR_RETURN(const Config of, ForMicrobatch(config));
  size_t worst = 0;
  int64_t most = -1;
  for (size_t i = 0; i < stages_.size(); ++i) {
    LINNET_ASSIGN_OR_RETURN(const std::vector<Report> reports,
                            stages_[i]->AnalyzeAll(of));
    if (policy < reports.size() && reports[policy].expected_peak_bytes > most) {
      most = reports[policy].expected_peak_bytes;
      worst = i;
    }
  }
  LINNET_ASSIGN_OR_RETURN(MemoryTimeline timeline,
                          stages_[worst]->Timeline(of, policy));
  absl::StrAppend(&timeline.peak_at, ", of stage ", worst);
  return timeline;
}

std::vector<FreeSize> PreparedPipeline::FreeSizes() const {
  std::vector<FreeSize> sizes = stages_[0]->FreeSizes();
  for (FreeSize& size : sizes) {
    if (size.name == RoleName(role_)) size.multiple = shape_.microbatches;
  }
  return sizes;
}

std::string PreparedPipeline::StepText(int64_t /*step*/) const { return ""; }

int64_t PreparedPipeline::ByteSize() const {
  int64_t bytes = sizeof(*this);
  for (const auto& stage : stages_) bytes += stage->ByteSize();
  return bytes;
}

}  // namespace linnet::planner
