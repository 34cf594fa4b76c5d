#include "core/planner/prepared.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/liveness.h"

namespace linnet::planner {
namespace {

using graph::Category;
using graph::Object;

std::optional<Held> HeldAs(Category category) {
  switch (category) {
    case Category::kParameters:
      return Held::kWeights;
    case Category::kBuffers:
      return Held::kBuffers;
    case Category::kState:
      return Held::kState;
    case Category::kKvCache:
      return Held::kCache;
    default:
      return std::nullopt;
  }
}

absl::Status Overflow(expr::Error error, absl::string_view what) {
  return absl::OutOfRangeError(
      absl::StrCat(what, " at these sizes ", expr::ErrorText(error)));
}

absl::Status NoSuchPolicy(size_t policy) {
  return absl::InvalidArgumentError(
      absl::StrCat("there is no checkpoint policy ", policy));
}

}  // namespace

bool Holds(lang::Relation relation, int64_t left, int64_t right) {
  switch (relation) {
    case lang::Relation::kEq:
      return left == right;
    case lang::Relation::kNe:
      return left != right;
    case lang::Relation::kLt:
      return left < right;
    case lang::Relation::kLe:
      return left <= right;
    case lang::Relation::kGt:
      return left > right;
    case lang::Relation::kGe:
      break;
  }
  return left >= right;
}

bool NeverRuns(const trace::Trace& trace) {
  for (const trace::TracedConstraint& clause : trace.constraints) {
    if (clause.left.is_constant() && clause.right.is_constant() &&
        !Holds(clause.relation, clause.left.constant(),
               clause.right.constant())) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<std::shared_ptr<const Prepared>> PreparedEntry::Make(
    Parts parts) {
  std::shared_ptr<PreparedEntry> entry(new PreparedEntry(std::move(parts)));
  LINNET_RETURN_IF_ERROR(entry->Derive());
  return std::shared_ptr<const Prepared>(std::move(entry));
}

absl::Status PreparedEntry::Derive() {
  if (parts_.training) return DeriveTraining();
  timeline_ = graph::ComputeLiveness(graph());
  auto pool = std::make_shared<expr::Pool>(graph().shared_pool());
  if (parts_.place) {
    parallel::HoldMicrobatches(*parts_.place, graph(), *pool, &timeline_);
  }
  LINNET_ASSIGN_OR_RETURN(
      peak_, graph::MemoryFunction::Build(pool, graph().roles(), timeline_));
  graph::Timeline with_workspace = timeline_;
  DeriveWorkspace(*pool, &with_workspace);
  LINNET_RETURN_IF_ERROR(DeriveHeld(*pool));
  pool->ReleaseMemo();
  pool_ = std::move(pool);
  LINNET_ASSIGN_OR_RETURN(
      with_workspace_,
      graph::MemoryFunction::Build(pool_, graph().roles(), with_workspace));
  return DeriveConstraints();
}

void PreparedEntry::DeriveWorkspace(expr::Pool& pool,
                                    graph::Timeline* timeline) {
  for (int32_t i = 0; i < graph().num_steps(); ++i) {
    const graph::Step& step = graph().step(graph::StepId{i});
    if (step.kind != graph::StepKind::kNative) continue;
    const runtime::Workspace workspace =
        parts_.backend->StepWorkspace(graph(), step, pool);
    if (!workspace.known()) {
      CountUnknown(step);
    } else if (!workspace.bytes.is_zero()) {
      workspaces_.push_back(
          {workspace.bytes, i, i, Category::kWorkspace, {}, graph::StepId{i}});
      timeline->intervals.push_back(workspaces_.back());
      workspace_steps_.emplace_back(i, workspace.confidence);
    }
  }
}

void PreparedEntry::CountUnknown(const graph::Step& step) {
  const absl::string_view native = graph().text(step.native);
  for (UnknownKernel& each : unknown_) {
    if (each.native == native) {
      ++each.calls;
      return;
    }
  }
  unknown_.push_back(
      {std::string(graph().text(step.label)), std::string(native), 1});
}

absl::Status PreparedEntry::DeriveHeld(expr::Pool& pool) {
  held_.fill(pool.Zero());
  expr::Expr declared_cache = pool.Zero();
  for (const Object& object : graph().objects()) {
    const auto held = HeldAs(object.category);
    if (!object.persistent || !held) continue;
    expr::Expr& sum = held_[static_cast<size_t>(*held)];
    ++held_objects_[static_cast<size_t>(*held)];
    if (*held == Held::kCache) {
      declared_cache = pool.Add(declared_cache, object.bytes);
      windowed_ +=
          runtime::WindowOf(graph(), object, parts_.kv_layout).has_value();
      sum = pool.Add(
          sum, runtime::CacheBytes(graph(), object, parts_.kv_layout, pool));
    } else {
      sum = pool.Add(sum, object.bytes);
    }
  }
  if (parts_.weight_bytes) {
    held_[static_cast<size_t>(Held::kWeights)] =
        pool.Constant(*parts_.weight_bytes);
  }
  if (training_ != nullptr) {  // A process's part, when they are split.
    held_[static_cast<size_t>(Held::kWeights)] =
        training_->totals().bytes.weight;
  }
  std::vector<expr::Expr> outputs(held_.begin(), held_.end());
  outputs.push_back(declared_cache);
  LINNET_ASSIGN_OR_RETURN(held_values_,
                          expr::Evaluator::Compile(graph().roles(), outputs));
  return absl::OkStatus();
}

absl::Status PreparedEntry::DeriveConstraints() {
  std::vector<expr::Expr> sides;
  for (const trace::TracedConstraint& clause : parts_.trace.constraints) {
    sides.push_back(clause.left);
    sides.push_back(clause.right);
  }
  LINNET_ASSIGN_OR_RETURN(constraint_values_,
                          expr::Evaluator::Compile(graph().roles(), sides));
  return absl::OkStatus();
}

absl::Status PreparedEntry::ReadSizes(const Config& config,
                                      Sizes* sizes) const {
  for (Role role : parts_.roles) {
    std::optional<int64_t> value = role == Role::kBatch     ? config.batch
                                   : role == Role::kContext ? config.context
                                   : config.cache_len       ? config.cache_len
                                                            : config.context;
    if (!value) {
      return absl::InvalidArgumentError(
          absl::StrCat("the size `", RoleName(role), "` is not given"));
    }
    sizes->values[sizes->count++] = *value;
  }
  const std::pair<absl::string_view, std::optional<int64_t>> given[] = {
      {"the batch", config.batch},
      {"the context length", config.context},
      {"the cache length", config.cache_len},
      {"the cache's block size", config.kv_block_size}};
  for (const auto& [name, value] : given) {
    if (value && *value < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " must be at least 1, but is ", *value));
    }
  }
  if (config.context_bytes && *config.context_bytes < 0) {
    return absl::InvalidArgumentError(
        "the size of the CUDA context must not be negative");
  }
  return absl::OkStatus();
}

absl::Status PreparedEntry::ComputeHeld(const Sizes& sizes,
                                        HeldBytes* bytes) const {
  std::array<int64_t, kNumHeld + 1> held{};
  if (const expr::Error error =
          held_values_.Run(sizes.span(), absl::MakeSpan(held));
      error != expr::Error::kNone) {
    return Overflow(error, "the memory of weights and caches");
  }
  std::copy_n(held.begin(), kNumHeld, bytes->bytes.begin());
  bytes->declared_cache_bytes = held[kNumHeld];
  return absl::OkStatus();
}

absl::Status PreparedEntry::Compute(const Sizes& sizes,
                                    Numbers* numbers) const {
  LINNET_RETURN_IF_ERROR(ComputeHeld(sizes, &numbers->held));
  numbers->peak = peak_->Evaluate(sizes.span());
  numbers->with_workspace = with_workspace_->Evaluate(sizes.span());
  for (const graph::Peak& peak : {numbers->peak, numbers->with_workspace}) {
    if (!peak.ok()) return Overflow(peak.error, "the memory of activations");
  }
  const graph::CategoryBytes split =
      with_workspace_->Split(numbers->with_workspace, sizes.span());
  numbers->workspace = split[static_cast<size_t>(Category::kWorkspace)];
  numbers->activations_at_workspace_peak =
      numbers->with_workspace.bytes - numbers->workspace;
  return absl::OkStatus();
}

absl::Status PreparedEntry::BrokenConstraints(
    const Sizes& sizes, std::vector<size_t>* broken) const {
  const auto& clauses = parts_.trace.constraints;
  absl::InlinedVector<int64_t, 64> sides(2 * clauses.size());
  if (const expr::Error error =
          constraint_values_.Run(sizes.span(), absl::MakeSpan(sides));
      error != expr::Error::kNone) {
    return Overflow(error, "a `where` clause of the model");
  }
  for (size_t i = 0; i < clauses.size(); ++i) {
    if (!Holds(clauses[i].relation, sides[2 * i], sides[2 * i + 1])) {
      broken->push_back(i);
    }
  }
  return absl::OkStatus();
}

Confidence PreparedEntry::WorkspaceConfidence(int64_t step) const {
  const auto it =
      std::lower_bound(workspace_steps_.begin(), workspace_steps_.end(),
                       std::pair(step, Confidence::kExact));
  return it != workspace_steps_.end() && it->first == step ? it->second
                                                           : Confidence::kExact;
}

absl::Status PreparedEntry::Combine(const Numbers& numbers,
                                    const runtime::ProcessMemory& process,
                                    Summary* summary) const {
  bool fits = true;
  const auto add = [&](int64_t* sum, int64_t part) {
    fits = fits && !__builtin_add_overflow(*sum, part, sum);
  };
  for (int64_t bytes : numbers.held.bytes) {
    add(&summary->persistent_bytes, bytes);
  }
  int64_t declared = summary->persistent_bytes;
  add(&declared, numbers.held.declared_cache_bytes -
                     numbers.held.bytes[static_cast<size_t>(Held::kCache)]);
  summary->activation_bytes = numbers.peak.bytes;
  summary->workspace_bytes = numbers.workspace;
  summary->peak_step = graph().num_steps() == 0 ? -1 : numbers.peak.moment;
  add(&summary->graph_peak_bytes, declared);
  add(&summary->graph_peak_bytes, numbers.peak.bytes);
  if (numbers.held.bytes[static_cast<size_t>(Held::kCache)] > 0) {
    summary->confidence = parts_.kv_layout.confidence();
  }
  if (numbers.workspace > 0) {
    summary->confidence =
        Weakest(summary->confidence,
                WorkspaceConfidence(numbers.with_workspace.moment));
  }
  summary->confidence = Weakest(summary->confidence, parts_.activations);
  for (const runtime::ProcessItem& item : process.items) {
    if (item.bytes) {
      add(&summary->runtime_bytes, *item.bytes);
      summary->confidence = Weakest(summary->confidence, item.confidence);
    } else {
      ++summary->num_unknown;
    }
  }
  summary->num_unknown += static_cast<int32_t>(unknown_.size());
  add(&summary->expected_peak_bytes, summary->persistent_bytes);
  add(&summary->expected_peak_bytes, numbers.with_workspace.bytes);
  add(&summary->expected_peak_bytes, summary->runtime_bytes);
  summary->expected_peak_bytes =
      std::max(summary->expected_peak_bytes, summary->graph_peak_bytes);
  return fits ? absl::OkStatus()
              : absl::OutOfRangeError(
                    "the peak at these sizes overflows 64 bits");
}

runtime::ProcessMemory PreparedEntry::Process(const Config& config) const {
  runtime::ProcessSettings settings;
  settings.context_bytes = config.context_bytes;
  settings.compiled = config.compiled;
  settings.training = parts_.training.has_value();
  settings.process_groups = parts_.process_groups;
  settings.channels = parts_.channels;
  settings.cublas_workspace_config = config.cublas_workspace_config;
  return parts_.backend->MemoryOfProcess(settings);
}

absl::Status PreparedEntry::Peaks(const Config& config, const SizeGrid& grid,
                                  int64_t begin, size_t policy,
                                  absl::Span<PointPeak> points) const {
  if (training_ != nullptr || policy > 0) {
    return Prepared::Peaks(config, grid, begin, policy, points);
  }
  Config first = config;
  grid.Put(begin, &first);
  Sizes sizes;
  // Sizes of a grid are at least 1, so that what is wrong is so at every point.
  LINNET_RETURN_IF_ERROR(ReadSizes(first, &sizes));
  int64_t runtime = 0;
  for (const runtime::ProcessItem& item : Process(config).items) {
    runtime += item.bytes.value_or(0);
  }
  const bool cache_follows =
      !first.cache_len && !grid.sizes(Role::kContext).empty();
  for (size_t i = 0; i < points.size(); ++i) {
    const auto at = grid.At(begin + static_cast<int64_t>(i));
    for (size_t r = 0; r < parts_.roles.size(); ++r) {
      const Role role = parts_.roles[r];
      int64_t size = at[static_cast<size_t>(role)];
      if (size == 0 && role == Role::kCache && cache_follows) {
        size = at[static_cast<size_t>(Role::kContext)];
      }
      if (size > 0) sizes.values[r] = size;
    }
    points[i] = PeakAt(sizes, runtime);
  }
  return absl::OkStatus();
}

PointPeak PreparedEntry::PeakAt(const Sizes& sizes,
                                int64_t runtime_bytes) const {
  constexpr PointPeak kOverflow = {0, 0, PointState::kOverflow};
  std::array<int64_t, kNumHeld + 1> held{};
  if (held_values_.Run(sizes.span(), absl::MakeSpan(held)) !=
      expr::Error::kNone) {
    return kOverflow;
  }
  const graph::Peak own = peak_->Evaluate(sizes.span());
  const graph::Peak all = with_workspace_->Evaluate(sizes.span());
  if (!own.ok() || !all.ok()) return kOverflow;
  // As Combine() has it: caches as declared, and as laid out.
  PointPeak point = {own.bytes, all.bytes, PointState::kOk};
  bool fits = !__builtin_add_overflow(point.expected_bytes, runtime_bytes,
                                      &point.expected_bytes);
  const auto add = [&](int64_t* sum, int64_t part) {
    fits = fits && !__builtin_add_overflow(*sum, part, sum);
  };
  for (size_t i = 0; i < kNumHeld; ++i) {
    const bool cache = i == static_cast<size_t>(Held::kCache);
    add(&point.expected_bytes, held[i]);
    add(&point.graph_bytes, cache ? held[kNumHeld] : held[i]);
  }
  if (!fits) return kOverflow;
  point.expected_bytes = std::max(point.expected_bytes, point.graph_bytes);
  std::vector<size_t> broken;
  if (!BrokenConstraints(sizes, &broken).ok()) return kOverflow;
  if (!broken.empty()) point.state = PointState::kBroken;
  return point;
}

absl::StatusOr<Summary> Prepared::SummarizePolicy(const Config& config,
                                                  size_t policy) const {
  if (policy == 0) return Summarize(config);
  return NoSuchPolicy(policy);
}

absl::StatusOr<Summary> PreparedEntry::SummarizePolicy(const Config& config,
                                                       size_t policy) const {
  if (training_ == nullptr) return Prepared::SummarizePolicy(config, policy);
  return policy < training_->num_policies() ? SummarizeTraining(config, policy)
                                            : NoSuchPolicy(policy);
}

absl::StatusOr<Summary> PreparedEntry::Summarize(const Config& config) const {
  if (training_ != nullptr) return SummarizeTraining(config, 0);
  Sizes sizes;
  LINNET_RETURN_IF_ERROR(ReadSizes(config, &sizes));
  Numbers numbers;
  LINNET_RETURN_IF_ERROR(Compute(sizes, &numbers));
  std::vector<size_t> broken;
  LINNET_RETURN_IF_ERROR(BrokenConstraints(sizes, &broken));
  Summary summary;
  summary.constraints_hold = broken.empty();
  LINNET_RETURN_IF_ERROR(Combine(numbers, Process(config), &summary));
  return summary;
}

std::vector<FreeSize> PreparedEntry::FreeSizes() const {
  std::vector<FreeSize> sizes;
  for (const Role role : parts_.roles) {
    sizes.push_back({std::string(RoleName(role)), 1});
  }
  return sizes;
}

std::string PreparedEntry::StepText(int64_t step) const {
  if (training_ != nullptr) return training_->PlaceText(0, step);
  if (parts_.place && step == graph().num_steps()) {
    return "the end of the step, where the results of all micro-batches are "
           "joined";
  }
  if (step < 0 || step >= graph().num_steps()) return "";
  const graph::Step& at = graph().step(graph::StepId{static_cast<int>(step)});
  std::string text = absl::StrCat("step ", step, ": ", graph().text(at.label));
  const absl::string_view scope = graph().text(at.scope);
  if (!scope.empty()) absl::StrAppend(&text, " in `", scope, "`");
  return text;
}

int64_t PreparedEntry::ByteSize() const {
  size_t bytes = sizeof(*this) + graph().ByteSize() + pool_->ByteSize() +
                 held_values_.ByteSize() + constraint_values_.ByteSize();
  for (const auto* function : {&peak_, &with_workspace_}) {
    if (*function) bytes += (*function)->ByteSize();
  }
  if (training_ != nullptr) bytes += training_->ByteSize();
  bytes += (timeline_.intervals.capacity() + workspaces_.capacity()) *
           sizeof(graph::Interval);
  bytes += workspace_steps_.capacity() * sizeof(workspace_steps_[0]);
  for (const trace::TracedConstraint& clause : parts_.trace.constraints) {
    bytes += sizeof(clause) + clause.text.capacity();
  }
  for (const auto& [path, owner] : parts_.trace.ties) {
    bytes += sizeof(std::pair<std::string, std::string>) + path.capacity() +
             owner.capacity();
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace linnet::planner
