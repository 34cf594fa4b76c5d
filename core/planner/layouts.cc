#include "core/planner/layouts.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "core/planner/bind.h"
#include "core/planner/prepare.h"
#include "core/runtime/cuda.h"

namespace linnet::planner {
namespace {

constexpr int64_t kMicrobatchesPerStage[] = {1, 2, 4};
constexpr char kNoneHolds[] = "the model's `where` clauses: none fits";

absl::Status CheckConfig(const Config& config) {
  const ParallelConfig& parallel = config.parallel;
  if (parallel.compare_devices.size() > PreparedLayouts::kMaxPools) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", PreparedLayouts::kMaxPools,
                     " pools of devices are compared, not ",
                     parallel.compare_devices.size()));
  }
  for (const int64_t devices : parallel.compare_devices) {
    if (devices >= 1 && devices <= PreparedLayouts::kMaxDevices) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("layouts of 1 to ", PreparedLayouts::kMaxDevices,
                     " devices are compared, not of ", devices));
  }
  if (parallel.tensor > 1 || parallel.pipeline > 1 || parallel.expert > 1 ||
      parallel.sequence || parallel.microbatches > 0 ||
      parallel.virtual_stages > 0 || !parallel.stages.empty()) {
    return absl::InvalidArgumentError(
        "layouts are compared, so none can be given; leave out "
        "--tensor-parallel, --pipeline-parallel and what belongs to them, or "
        "leave out the number of devices");
  }
  if (config.training && config.training->shards > 1) {
    return absl::InvalidArgumentError(
        "layouts that are compared do not shard; leave out --shards, or leave "
        "out the number of devices");
  }
  return absl::OkStatus();
}

// The reason of a refusal in one line.
std::string OneLine(absl::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace

absl::StatusOr<LayoutPlan> Prepared::Compare(
    const Config& /*config*/, const LayoutQuery& /*query*/) const {
  return absl::UnimplementedError("this was prepared for one layout");
}

std::string LayoutName(const ParallelConfig& parallel, int64_t replicas,
                       absl::string_view checkpoint) {
  std::vector<std::string> parts;
  if (parallel.tensor > 1) {
    parts.push_back(absl::StrCat("TP ", parallel.tensor,
                                 parallel.sequence ? " with SP" : ""));
  }
  if (parallel.expert > 1) {
    parts.push_back(absl::StrCat("EP ", parallel.expert));
  }
  if (parallel.pipeline > 1) {
    parts.push_back(
        absl::StrCat("PP ", parallel.pipeline, " x ",
                     std::max(parallel.microbatches, parallel.pipeline), " ",
                     parallel.schedule,
                     parallel.virtual_stages > 1
                         ? absl::StrCat(" (", parallel.virtual_stages, " each)")
                         : ""));
  }
  if (replicas > 1) parts.push_back(absl::StrCat(replicas, " replicas"));
  if (parts.empty()) parts.push_back("1 device");
  if (!checkpoint.empty() && checkpoint != "none") {
    parts.push_back(absl::StrCat(checkpoint, " checkpointing"));
  }
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<std::shared_ptr<const Prepared>> PreparedLayouts::Make(
    const Config& config, const Limits& limits, const StopFunction& stop) {
  LINNET_RETURN_IF_ERROR(CheckConfig(config));
  std::shared_ptr<PreparedLayouts> layouts(new PreparedLayouts);
  layouts->devices_ = config.parallel.compare_devices;
  Config each = config;
  each.parallel = ParallelConfig();
  LINNET_RETURN_IF_ERROR(layouts->FindGoal(limits, stop, &each));
  if (each.training) {
    std::vector<std::string>& policies = each.training->checkpoints;
    if (policies.empty()) policies = {"none", "block"};
    layouts->policies_ = policies;
  } else {
    layouts->policies_ = {""};
  }
  const int64_t most = *absl::c_max_element(layouts->devices_);
  for (int64_t tensor = 1; tensor <= most; tensor *= 2) {
    if (!layouts->Divides(tensor)) break;
    LINNET_RETURN_IF_ERROR(layouts->AddCandidates(each, tensor, limits, stop));
  }
  return std::shared_ptr<const Prepared>(std::move(layouts));
}

bool PreparedLayouts::Divides(int64_t processes) const {
  return absl::c_any_of(
      devices_, [&](int64_t devices) { return devices % processes == 0; });
}

absl::Status PreparedLayouts::FindGoal(const Limits& limits,
                                       const StopFunction& stop,
                                       Config* config) {
  if (config->batch && config->context) return absl::OkStatus();
  Config both = *config;
  if (!both.batch) both.batch = 1;
  if (!both.context) both.context = 1;
  LINNET_ASSIGN_OR_RETURN(const PreparedEntry::Parts parts,
                          TraceParts(both, limits, stop));
  const graph::Graph& graph = *parts.trace.graph;
  const auto of_inputs = [&](Role role) {
    for (size_t i = 0; i < parts.roles.size(); ++i) {
      if (parts.roles[i] != role) continue;
      for (const graph::ObjectId id : graph.entry_inputs()) {
        for (const expr::Expr size : graph.shape(id)) {
          if (absl::c_linear_search(expr::SymbolsOf(size), graph.roles()[i])) {
            return true;
          }
        }
      }
    }
    return false;
  };
  if (!config->batch && of_inputs(Role::kBatch)) {
    goal_ = Goal::kBatch;
    config->batch = 1;
  }
  if (!config->context && of_inputs(Role::kContext)) {
    if (goal_) {
      return absl::InvalidArgumentError(
          "the batch grows, but the sequence length is not given (--seq-len)");
    }
    goal_ = Goal::kContext;
    config->context = 1;
  }
  return absl::OkStatus();
}

Config PreparedLayouts::ForOne(const Config& config) const {
  Config one = config;
  one.parallel = ParallelConfig();
  if (goal_ && !SizeOf(one, *goal_)) SizeOf(one, *goal_) = 1;
  return one;
}

absl::Status PreparedLayouts::AddCandidates(const Config& config,
                                            int64_t tensor,
                                            const Limits& limits,
                                            const StopFunction& stop) {
  Config of = config;
  of.parallel.tensor = tensor;
  auto parts = TraceParts(of, limits, stop);
  if (absl::IsCancelled(parts.status())) return parts.status();
  if (!parts.ok()) {
    // What one device does not run, none does.
    if (tensor == 1) return parts.status();
    candidates_.push_back(
        {of.parallel, tensor, nullptr, OneLine(parts.status().message())});
    return absl::OkStatus();
  }
  if (tensor > 1 && NeverRuns(parts->trace)) {
    candidates_.push_back({of.parallel, tensor, nullptr, kNoneHolds});
    return absl::OkStatus();
  }
  const auto add = [&](const ParallelConfig& parallel) -> absl::Status {
    if (stop && stop()) return absl::CancelledError("the request was stopped");
    auto prepared = PrepareParts(*parts, parallel);
    if (!prepared.ok() && parallel.tensor == 1 && parallel.pipeline == 1) {
      return prepared.status();
    }
    Candidate candidate = {parallel, parallel.tensor * parallel.pipeline,
                           nullptr, ""};
    if (prepared.ok()) {
      candidate.prepared = *std::move(prepared);
    } else {
      candidate.refused = OneLine(prepared.status().message());
    }
    candidates_.push_back(std::move(candidate));
    return absl::OkStatus();
  };
  LINNET_RETURN_IF_ERROR(add(of.parallel));
  for (int64_t stages = 2; Divides(tensor * stages); stages *= 2) {
    for (const int64_t count : kMicrobatchesPerStage) {
      ParallelConfig parallel = of.parallel;
      parallel.pipeline = stages;
      parallel.microbatches = count * stages;
      LINNET_RETURN_IF_ERROR(add(parallel));
      // Another number of micro-batches is refused for the same reason.
      if (candidates_.back().prepared == nullptr) break;
    }
    // And so are more stages.
    if (candidates_.back().prepared == nullptr) break;
  }
  return absl::OkStatus();
}

// One comparison of all candidates on one pool.
class PreparedLayouts::Comparison {
 public:
  Comparison(const PreparedLayouts& layouts, const Config& config,
             const LayoutQuery& query, size_t pool)
      : layouts_(layouts),
        config_(layouts.ForOne(config)),
        query_(query),
        pool_(query.pools[pool]),
        devices_(layouts.devices_[pool]) {}

  absl::StatusOr<PoolPlan> Run() {
    LINNET_ASSIGN_OR_RETURN(plan_.budget_bytes, BudgetBytes(pool_.budget));
    for (const Candidate& candidate : layouts_.candidates_) {
      if (devices_ % candidate.processes != 0) continue;
      const int64_t most = devices_ / candidate.processes;
      const bool fewer = query_.objective == Objective::kPerDevice;
      for (int64_t replicas = fewer ? 1 : most; replicas <= most;
           replicas *= 2) {
        LINNET_RETURN_IF_ERROR(AddLayouts(candidate, replicas));
      }
    }
    std::stable_sort(plan_.layouts.begin(), plan_.layouts.end(),
                     [&](const Layout& a, const Layout& b) {
                       if (a.refused.empty() != b.refused.empty()) {
                         return a.refused.empty();
                       }
                       return a.refused.empty() && Better(a, b);
                     });
    return std::move(plan_);
  }

  int64_t evaluations() const { return evaluations_; }
  // Every layout and size that can be used, when there are several pools.
  std::vector<Layout>& options() { return options_; }

 private:
  bool training() const { return config_.training.has_value(); }

  bool Better(const Layout& a, const Layout& b) const {
    switch (query_.objective) {
      case Objective::kLatency:
        return a.time.seconds < b.time.seconds;
      case Objective::kPerDevice:
        return a.time.tokens_per_second() / static_cast<double>(a.devices) >
               b.time.tokens_per_second() / static_cast<double>(b.devices);
      case Objective::kThroughput:
        break;
    }
    return a.time.tokens_per_second() > b.time.tokens_per_second();
  }

  absl::Status AddLayouts(const Candidate& candidate, int64_t replicas) {
    Layout layout;
    layout.parallel = candidate.parallel;
    layout.replicas = replicas;
    layout.devices = replicas * candidate.processes;
    if (candidate.prepared == nullptr) {
      layout.name = LayoutName(layout.parallel, replicas, "");
      layout.refused = candidate.refused;
      plan_.layouts.push_back(std::move(layout));
      return absl::OkStatus();
    }
    // Of several policies the best one that fits stands for the layout.
    std::optional<Layout> best;
    for (size_t i = 0; i < layouts_.policies_.size(); ++i) {
      Layout of = layout;
      of.checkpoint = layouts_.policies_[i];
      of.name = LayoutName(of.parallel, replicas, of.checkpoint);
      LINNET_RETURN_IF_ERROR(FindBest(*candidate.prepared, i, &of));
      const bool better =
          !best ||
          (of.refused.empty() && (!best->refused.empty() || Better(of, *best)));
      if (better) best = std::move(of);
    }
    plan_.layouts.push_back(*std::move(best));
    return absl::OkStatus();
  }

  // Processes that sum gradients join one more group, whose buffers no peak
  // has.
  int64_t ReplicaBytes(const Layout& layout) const {
    if (!training() || layout.replicas == 1) return 0;
    const bool first =
        layout.parallel.tensor == 1 && layout.parallel.pipeline == 1;
    return runtime::kCommunicatorBytes +
           (first ? runtime::kNcclKernelsBytes : 0);
  }

  absl::Status FindBest(const Prepared& prepared, size_t policy,
                        Layout* layout) {
    Budget budget = pool_.budget;
    budget.reserve_bytes += ReplicaBytes(*layout);
    const auto bytes = BudgetBytes(budget);
    if (!bytes.ok()) {
      layout->refused = OneLine(bytes.status().message());
      return absl::OkStatus();
    }
    if (!layouts_.goal_) return TrySizes(prepared, policy, *bytes, {0}, layout);
    Config config = config_;
    SizeOf(config, *layouts_.goal_) = 1;
    const absl::StatusOr<Maximum> found = Maximize(
        prepared, config, *layouts_.goal_, budget, query_.stop, policy);
    if (absl::IsInvalidArgument(found.status())) {
      layout->refused = OneLine(found.status().message());
      return absl::OkStatus();
    }
    if (!found.ok()) return found.status();
    evaluations_ += found->evaluations;
    if (!found->value) {
      layout->refused =
          found->stopped_by == StoppedBy::kModel
              ? kNoneHolds
              : absl::StrCat("memory: ", found->smallest, " needs ",
                             FormatBytes(found->at.expected_peak_bytes), ", ",
                             FormatBytes(-found->headroom_bytes),
                             " more than there is");
      return absl::OkStatus();
    }
    std::vector<int64_t> sizes = {*found->value};
    for (int64_t size = found->smallest; size < *found->value; size *= 2) {
      sizes.push_back(size);
    }
    return TrySizes(prepared, policy, *bytes, sizes, layout);
  }

  // Keeps the best of `sizes`; 0 stands for those of the configuration.
  absl::Status TrySizes(const Prepared& prepared, size_t policy, int64_t budget,
                        const std::vector<int64_t>& sizes, Layout* layout) {
    Config config = config_;
    std::optional<Layout> best;
    double shortest = 0;
    for (const int64_t size : sizes) {
      if (query_.stop && query_.stop()) {
        return absl::CancelledError("the comparison was stopped");
      }
      if (size > 0) SizeOf(config, *layouts_.goal_) = size;
      if (size == 0) {
        LINNET_RETURN_IF_ERROR(
            CheckGiven(prepared, config, policy, budget, layout));
        if (!layout->refused.empty()) return absl::OkStatus();
      }
      TimeQuery query;
      query.profile = pool_.profile;
      query.replicas = layout->replicas;
      query.policy = policy;
      LINNET_ASSIGN_OR_RETURN(StepTime time, prepared.Time(config, query));
      ++evaluations_;
      if (shortest == 0 || time.seconds < shortest) shortest = time.seconds;
      if (query_.max_step_seconds > 0 &&
          time.seconds > query_.max_step_seconds) {
        continue;
      }
      Layout of = *layout;
      of.size = size;
      of.time = std::move(time);
      if (query_.pools.size() > 1) options_.push_back(of);
      if (!best || Better(of, *best)) best = std::move(of);
    }
    if (!best) {
      layout->refused = absl::StrFormat("time: the shortest step takes %.3g ms",
                                        shortest * 1e3);
      return absl::OkStatus();
    }
    if (best->size > 0) SizeOf(config, *layouts_.goal_) = best->size;
    LINNET_ASSIGN_OR_RETURN(const Summary at,
                            prepared.SummarizePolicy(config, policy));
    best->peak_bytes = at.expected_peak_bytes;
    *layout = *std::move(best);
    return absl::OkStatus();
  }

  // Whether the sizes of the configuration fit.
  absl::Status CheckGiven(const Prepared& prepared, const Config& config,
                          size_t policy, int64_t budget, Layout* layout) {
    const auto summary = prepared.SummarizePolicy(config, policy);
    if (absl::IsInvalidArgument(summary.status())) {
      layout->refused = OneLine(summary.status().message());
      return absl::OkStatus();
    }
    LINNET_RETURN_IF_ERROR(summary.status());
    ++evaluations_;
    if (!summary->constraints_hold) {
      layout->refused = "the model's `where` clauses do not hold";
    } else if (summary->expected_peak_bytes > budget) {
      layout->refused = absl::StrCat(
          "memory: needs ", FormatBytes(summary->expected_peak_bytes), ", ",
          FormatBytes(summary->expected_peak_bytes - budget),
          " more than there is");
    }
    return absl::OkStatus();
  }

  const PreparedLayouts& layouts_;
  Config config_;
  const LayoutQuery& query_;
  const PoolQuery& pool_;
  const int64_t devices_;
  PoolPlan plan_;
  int64_t evaluations_ = 0;
  std::vector<Layout> options_;
};

namespace {

// Each pool in its best layout, at its own pace.
PoolsTogether Apart(const std::vector<PoolPlan>& pools) {
  PoolsTogether together;
  for (const PoolPlan& pool : pools) {
    std::optional<Layout>& layout = together.layouts.emplace_back();
    if (pool.layouts.empty() || !pool.layouts[0].refused.empty()) continue;
    layout = pool.layouts[0];
    together.tokens_per_second += layout->time.tokens_per_second();
  }
  return together;
}

// One step for all: for each time that a step may take, the most tokens that
// each pool has done by then.
PoolsTogether InStep(std::vector<std::vector<Layout>> options) {
  std::vector<double> times;
  for (std::vector<Layout>& pool : options) {
    absl::c_stable_sort(pool, [](const Layout& a, const Layout& b) {
      return a.time.seconds < b.time.seconds;
    });
    for (const Layout& each : pool) times.push_back(each.time.seconds);
  }
  absl::c_sort(times);
  std::vector<size_t> next(options.size());
  std::vector<const Layout*> most(options.size());
  PoolsTogether best;
  best.layouts.resize(options.size());
  for (const double seconds : times) {
    int64_t tokens = 0;
    for (size_t i = 0; i < options.size(); ++i) {
      for (; next[i] < options[i].size() &&
             options[i][next[i]].time.seconds <= seconds;
           ++next[i]) {
        const Layout& each = options[i][next[i]];
        if (most[i] == nullptr || each.time.tokens > most[i]->time.tokens) {
          most[i] = &each;
        }
      }
      if (most[i] != nullptr) tokens += most[i]->time.tokens;
    }
    const double rate = static_cast<double>(tokens) / seconds;
    if (rate <= best.tokens_per_second) continue;
    best.tokens_per_second = rate;
    best.seconds = seconds;
    for (size_t i = 0; i < options.size(); ++i) {
      best.layouts[i].reset();
      if (most[i] != nullptr) best.layouts[i] = *most[i];
    }
  }
  return best;
}

}  // namespace

absl::StatusOr<LayoutPlan> PreparedLayouts::Compare(
    const Config& config, const LayoutQuery& query) const {
  if (query.pools.size() != devices_.size() ||
      absl::c_any_of(query.pools, [](const PoolQuery& pool) {
        return pool.profile == nullptr;
      })) {
    return absl::InvalidArgumentError(
        "layouts need a device profile for each pool");
  }
  LayoutPlan plan;
  plan.goal = goal_;
  std::vector<std::vector<Layout>> options;
  for (size_t i = 0; i < devices_.size(); ++i) {
    Comparison comparison(*this, config, query, i);
    LINNET_ASSIGN_OR_RETURN(PoolPlan pool, comparison.Run());
    plan.pools.push_back(std::move(pool));
    plan.evaluations += comparison.evaluations();
    options.push_back(std::move(comparison.options()));
  }
  if (devices_.size() > 1) {
    plan.together =
        config.training ? InStep(std::move(options)) : Apart(plan.pools);
  }
  if (config.training && *absl::c_max_element(devices_) > 1) {
    plan.assumptions.push_back(absl::StrCat(
        "replicas that sum gradients join one more process group: ",
        FormatBytes(runtime::kCommunicatorBytes), " (",
        FormatBytes(runtime::kCommunicatorBytes + runtime::kNcclKernelsBytes),
        " where it is the only one) are left free for it and in no peak"));
  }
  if (config.training && devices_.size() > 1) {
    plan.assumptions.push_back(
        "between pools gradients are summed over a network whose rate is not "
        "known; that time is not predicted");
  }
  return plan;
}

absl::StatusOr<Report> PreparedLayouts::Analyze(const Config& config) const {
  return candidates_[0].prepared->Analyze(ForOne(config));
}

absl::StatusOr<Summary> PreparedLayouts::Summarize(const Config& config) const {
  return candidates_[0].prepared->Summarize(ForOne(config));
}

std::vector<FreeSize> PreparedLayouts::FreeSizes() const {
  return candidates_[0].prepared->FreeSizes();
}

std::string PreparedLayouts::StepText(int64_t step) const {
  return candidates_[0].prepared->StepText(step);
}

int64_t PreparedLayouts::ByteSize() const {
  int64_t bytes = sizeof(*this);
  for (const Candidate& candidate : candidates_) {
    bytes += static_cast<int64_t>(sizeof(candidate));
    if (candidate.prepared != nullptr) bytes += candidate.prepared->ByteSize();
  }
  return bytes;
}

}  // namespace linnet::planner
