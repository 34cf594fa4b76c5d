#include "core/planner/prepare.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/dtype.h"
#include "core/base/hash.h"
#include "core/base/status_macros.h"
#include "core/library/native_kernel.h"
#include "core/parallel/expert_split.h"
#include "core/parallel/sequence_split.h"
#include "core/parallel/tensor_split.h"
#include "core/planner/bind.h"
#include "core/planner/error.h"
#include "core/planner/layouts.h"
#include "core/planner/model.h"
#include "core/planner/pipeline.h"
#include "core/planner/planner.h"
#include "core/planner/prepared.h"
#include "core/planner/training_config.h"
#include "core/trace/tracer.h"

namespace linnet::planner {
namespace {

// Of the generic that splits a program across processes.
constexpr absl::string_view kShardsGeneric = "Shards";

// Settings that are names, read.
struct Settings {
  const runtime::Backend* backend = nullptr;
  library::Numerics numerics = library::Numerics::kFast;
  runtime::KvLayout kv_layout;
};

absl::StatusOr<Settings> ReadSettings(const Config& config) {
  Settings settings;
  settings.backend = runtime::FindBackend(config.backend);
  if (settings.backend == nullptr) {
    return UnknownName(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("there is no backend `", config.backend, "`"),
        config.backend, runtime::BackendNames());
  }
  const auto numerics = library::ParseNumerics(config.numerics);
  if (!numerics) {
    const std::vector<absl::string_view> known = {"exact", "equivalent",
                                                  "fast"};
    return UnknownName(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("there is no numerics policy `", config.numerics, "`"),
        config.numerics, known);
  }
  settings.numerics = *numerics;
  if (!config.kv_dtype.empty()) {
    settings.kv_layout.dtype = ParseDType(config.kv_dtype);
    if (!settings.kv_layout.dtype) {
      std::vector<absl::string_view> known;
      for (DType each : kAllDTypes) known.push_back(DTypeName(each));
      return UnknownName(
          absl::StatusCode::kInvalidArgument,
          absl::StrCat("`", config.kv_dtype, "` (--kv-dtype) is no dtype"),
          config.kv_dtype, known);
    }
  }
  if (config.kv_block_size && *config.kv_block_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cache's block size must be at least 1, but is ",
                     *config.kv_block_size));
  }
  settings.kv_layout.block_size = config.kv_block_size;
  settings.kv_layout.rolling = config.kv_layout == "rolling";
  if (!settings.kv_layout.rolling && config.kv_layout != "full") {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no cache layout `", config.kv_layout,
                     "` (--kv-layout); use `full` or `rolling`"));
  }
  return settings;
}

// A generic's value as the configuration, else the card gives it.
std::string ValueOf(absl::string_view generic, const zoo::Card& card,
                    const Config& config) {
  for (const auto& [name, value] : config.bindings) {
    if (name == generic) return value;
  }
  for (const zoo::GenericValue& each : card.generics) {
    if (each.name == generic) return each.value;
  }
  return "";
}

absl::StatusOr<std::vector<runtime::CacheWindow>> WindowsOf(
    const zoo::Card& card, const Config& config) {
  std::vector<runtime::CacheWindow> windows;
  for (const zoo::GenericValue& each : card.windows) {
    runtime::CacheWindow window = {each.name, 0};
    if (!absl::SimpleAtoi(each.value, &window.positions) &&
        !absl::SimpleAtoi(ValueOf(each.value, card, config),
                          &window.positions)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the card's window of `", each.name, "` is `", each.value,
          "`, which is no number and no generic with a number"));
    }
    if (window.positions < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the card's window of `", each.name,
                       "` must be at least 1, but is ", window.positions));
    }
    windows.push_back(std::move(window));
  }
  return windows;
}

trace::Weights WeightsOf(const Model& model, const Config& config) {
  trace::Weights weights;
  weights.present = config.optionals;
  if (!config.no_bindings) weights.bindings = model.bindings;
  return weights;
}

// How many processes the root block's program is written for.
int64_t Processes(const lang::Program& program, lang::BlockId root,
                  const trace::ConcreteArgs& args) {
  if (!root.valid()) return 1;
  const std::vector<lang::Generic>& generics = program.blocks[root].generics;
  for (size_t i = 0; i < generics.size(); ++i) {
    if (program.name(generics[i].name) == kShardsGeneric &&
        args[i].dim.is_constant()) {
      return args[i].dim.constant();
    }
  }
  return 1;
}

std::string AdaptersText(const training::Adapted& adapted,
                         const training::Lora& lora) {
  std::string text =
      absl::StrCat("adapters of rank ", lora.rank, " in ",
                   DTypeName(lora.dtype), " stand beside ", adapted.adapters,
                   adapted.adapters == 1 ? " linear layer" : " linear layers",
                   ", and what they stand beside is frozen");
  if (adapted.packed > 0) {
    absl::StrAppend(&text, "; ", adapted.packed,
                    " frozen weights are stored as ",
                    training::BaseFormatName(lora.base));
  }
  return text;
}

bool HasShards(const lang::Program& program, lang::BlockId root) {
  return root.valid() &&
         absl::c_any_of(program.blocks[root].generics,
                        [&](const lang::Generic& generic) {
                          return program.name(generic.name) == kShardsGeneric;
                        });
}

absl::Status CheckParallel(const ParallelConfig& parallel) {
  // No machine has more.
  constexpr int64_t kMost = 1 << 20;
  const std::pair<int64_t, absl::string_view> sizes[] = {
      {parallel.tensor, "--tensor-parallel"},
      {parallel.expert, "--expert-parallel"},
      {parallel.pipeline, "--pipeline-parallel"},
      {parallel.microbatches == 0 ? 1 : parallel.microbatches,
       "--microbatches"},
      {parallel.virtual_stages == 0 ? 1 : parallel.virtual_stages,
       "--virtual-stages"}};
  for (const auto& [size, flag] : sizes) {
    if (size < 1 || size > kMost) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, " must lie between 1 and ", kMost, ", not be ", size));
    }
  }
  if (parallel.sequence && parallel.tensor == 1) {
    return absl::InvalidArgumentError(
        "--sequence-parallel splits the sequence over the processes of "
        "--tensor-parallel; say how many those are");
  }
  if (parallel.expert > 1 && parallel.tensor > 1) {
    return absl::InvalidArgumentError(
        "--expert-parallel does not go with --tensor-parallel; take one of "
        "them");
  }
  if (parallel.pipeline > 1) return absl::OkStatus();
  absl::string_view flag;
  if (!parallel.stages.empty()) flag = "--stages";
  if (parallel.virtual_stages > 1) flag = "--virtual-stages";
  if (parallel.microbatches > 1) flag = "--microbatches";
  if (flag.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag,
                   " is for a pipeline; say how many stages with "
                   "--pipeline-parallel"));
}

// `config` with the generic that splits a program bound to the processes.
absl::StatusOr<Config> WithShards(const Config& config, bool for_several) {
  const ParallelConfig& parallel = config.parallel;
  Config bound = config;
  if (parallel.tensor == 1) return bound;
  if (for_several) {
    const std::string processes = absl::StrCat(parallel.tensor);
    for (const auto& [name, value] : config.bindings) {
      if (name != kShardsGeneric || value == processes) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--bind ", name, "=", value, " and --tensor-parallel ",
                       processes, " do not agree"));
    }
    bound.bindings.emplace_back(kShardsGeneric, processes);
    return bound;
  }
  if (config.training || parallel.pipeline > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model has no generic `", kShardsGeneric,
        "`, so it is split as DTensors are, and that way no ",
        config.training ? "training step" : "pipeline",
        " runs; leave --tensor-parallel out, or use a model with `",
        kShardsGeneric, "`"));
  }
  return bound;
}

// Turns the trace into one process's part of it.
absl::Status SplitByRules(int64_t processes, PreparedEntry::Parts* parts) {
  LINNET_ASSIGN_OR_RETURN(
      parallel::SplitOverProcesses split,
      parallel::SplitTensors(*parts->trace.graph, processes));
  parts->trace.graph = std::move(split.graph);
  parts->activations = Confidence::kEstimated;
  parts->redistributes = true;
  ++parts->process_groups;
  if (split.split_weights > 0) parts->channels = runtime::Channels::kExchange;
  parts->weight_bytes.reset();
  parts->notes.push_back(absl::StrCat(
      "the model is split as DTensors are: ", split.split_weights,
      " weights and ", split.split_caches, " caches over ", processes,
      " processes, the others copied; what redistributions take is an "
      "estimate"));
  return absl::OkStatus();
}

// Turns the trace into one process's part by sequence and by expert.
absl::Status SplitWithin(const ParallelConfig& config,
                         PreparedEntry::Parts* parts) {
  if (config.sequence) {
    LINNET_ASSIGN_OR_RETURN(
        parallel::SplitBySequence split,
        parallel::SplitSequence(*parts->trace.graph, config.tensor));
    parts->trace.graph = std::move(split.graph);
    parts->notes.push_back(absl::StrCat(
        "sequence parallel: ", split.scattered,
        " tensors are split by the "
        "sequence over ",
        config.tensor, " processes and gathered ", split.gathers, " times"));
  }
  if (config.expert > 1) {
    LINNET_ASSIGN_OR_RETURN(
        parallel::SplitByExpert split,
        parallel::SplitExperts(*parts->trace.graph, config.expert));
    parts->trace.graph = std::move(split.graph);
    parts->activations = Confidence::kEstimated;
    parts->collective_processes = config.expert;
    parts->channels = runtime::Channels::kExchange;
    parts->weight_bytes.reset();
    ++parts->process_groups;
    parts->notes.push_back(absl::StrCat(
        "expert parallel: ", split.split_weights,
        " parameters hold the "
        "experts of one in ",
        config.expert, " processes, rows are exchanged ", split.exchanges,
        " times; every process is taken to get as many rows "
        "as it sends, where routing may send one up to ",
        config.expert, " times as many"));
  }
  return absl::OkStatus();
}

std::string MainDType(const lang::Program& program, lang::BlockId root,
                      const trace::ConcreteArgs& args) {
  if (!root.valid()) return "";
  const std::vector<lang::Generic>& generics = program.blocks[root].generics;
  for (size_t i = 0; i < generics.size(); ++i) {
    if (generics[i].kind == lang::GenericKind::kFloat) {
      return std::string(DTypeName(args[i].dtype));
    }
  }
  return "";
}

// The tracer names its limits in its messages; the payload repeats them.
absl::Status WithLimit(absl::Status status, const Limits& limits) {
  if (status.code() != absl::StatusCode::kResourceExhausted) return status;
  const std::pair<absl::string_view, int64_t> known[] = {
      {"max_steps", limits.max_steps},
      {"max_objects", limits.max_objects},
      {"max_call_depth", limits.max_call_depth}};
  for (const auto& [name, value] : known) {
    if (absl::StrContains(status.message(), name)) {
      return LimitPassed(status.message(), name, value);
    }
  }
  return status;
}

}  // namespace

std::string CacheKey(const Config& config) {
  Hasher hasher;
  hasher.Add("linnet trace 1").Add(config.model.name);
  std::vector<const SourceFile*> files;
  for (const SourceFile& file : config.model.files) files.push_back(&file);
  std::sort(files.begin(), files.end(),
            [](const SourceFile* a, const SourceFile* b) {
              return a->path < b->path;
            });
  hasher.Add(static_cast<int64_t>(files.size()));
  for (const SourceFile* file : files) {
    hasher.Add(file->path).Add(file->content);
  }
  hasher.Add(config.model.root_file).Add(config.entry).Add(config.root);
  hasher.Add(config.backend).Add(config.numerics).Add(config.dtype);
  for (Role role : {Role::kBatch, Role::kContext, Role::kCache}) {
    hasher.Add(IsFree(config, role));
  }
  hasher.Add(static_cast<int64_t>(config.bindings.size()));
  for (const auto& [name, value] : config.bindings) {
    hasher.Add(name).Add(value);
  }
  hasher.Add(static_cast<int64_t>(config.optionals.size()));
  for (const std::string& path : config.optionals) hasher.Add(path);
  hasher.Add(config.no_bindings).Add(config.kv_dtype);
  hasher.Add(config.kv_block_size.value_or(0)).Add(config.kv_layout);
  AddTraining(config, &hasher);
  const ParallelConfig& parallel = config.parallel;
  hasher.Add(static_cast<int64_t>(parallel.compare_devices.size()));
  for (const int64_t devices : parallel.compare_devices) hasher.Add(devices);
  hasher.Add(parallel.tensor).Add(parallel.sequence).Add(parallel.expert);
  hasher.Add(parallel.pipeline).Add(parallel.microbatches);
  hasher.Add(parallel.schedule).Add(parallel.virtual_stages);
  hasher.Add(static_cast<int64_t>(parallel.stages.size()));
  for (const std::string& each : parallel.stages) hasher.Add(each);
  return hasher.Finish().Hex();
}

absl::StatusOr<std::shared_ptr<const Prepared>> Prepare(
    const Config& config, const Limits& limits, const StopFunction& stop) {
  if (!config.parallel.compare_devices.empty()) {
    return PreparedLayouts::Make(config, limits, stop);
  }
  LINNET_ASSIGN_OR_RETURN(PreparedEntry::Parts parts,
                          TraceParts(config, limits, stop));
  return PrepareParts(std::move(parts), config.parallel);
}

absl::StatusOr<std::shared_ptr<const Prepared>> PrepareParts(
    PreparedEntry::Parts parts, const ParallelConfig& parallel) {
  if (parallel.pipeline > 1) {
    return PreparedPipeline::Make(std::move(parts), parallel);
  }
  return PreparedEntry::Make(std::move(parts));
}

absl::StatusOr<PreparedEntry::Parts> TraceParts(const Config& config,
                                                const Limits& limits,
                                                const StopFunction& stop) {
  LINNET_ASSIGN_OR_RETURN(const Settings settings, ReadSettings(config));
  std::optional<TrainingSettings> training;
  if (config.training) {
    LINNET_ASSIGN_OR_RETURN(training, ReadTraining(*config.training));
  }
  LINNET_ASSIGN_OR_RETURN(const Model model, LoadModel(config.model, limits));
  if (stop && stop()) return absl::CancelledError("the request was stopped");
  LINNET_RETURN_IF_ERROR(CheckBindings(model, config));
  const lang::Program& program = *model.program->source;
  LINNET_ASSIGN_OR_RETURN(const Target target, FindTarget(model, config));
  if (training) LINNET_RETURN_IF_ERROR(CheckLoss(program, target));
  LINNET_RETURN_IF_ERROR(CheckParallel(config.parallel));
  const bool for_several = HasShards(program, target.root);
  LINNET_ASSIGN_OR_RETURN(const Config bound, WithShards(config, for_several));

  auto pool = std::make_shared<expr::Pool>();
  Binder binder(model, bound, pool.get());
  trace::TraceRequest request;
  request.root = target.root;
  request.entry = target.entry;
  LINNET_ASSIGN_OR_RETURN(request.root_args, binder.BindRoot(target.root));
  LINNET_ASSIGN_OR_RETURN(request.entry_args,
                          binder.BindEntry(target.entry, request.root_args));
  LINNET_RETURN_IF_ERROR(binder.CheckAllUsed());
  for (Role role : binder.roles()) request.roles.push_back(binder.symbol(role));
  request.weights = WeightsOf(model, config);
  request.numerics = settings.numerics;
  request.processes = Processes(program, target.root, request.root_args);
  request.limits.max_steps = limits.max_steps;
  request.limits.max_objects = limits.max_objects;
  request.limits.max_call_depth = limits.max_call_depth;
  request.stop = stop;

  PreparedEntry::Parts parts;
  std::string adapters;
  absl::StatusOr<trace::Trace> trace =
      trace::TraceEntry(*model.program, request, pool);
  if (!trace.ok()) return WithLimit(trace.status(), limits);
  parts.trace = *std::move(trace);
  if (training && training->options.lora) {
    LINNET_ASSIGN_OR_RETURN(training::Adapted adapted,
                            Adapt(*parts.trace.graph, &*training));
    parts.trace.graph = std::move(adapted.graph);
    adapters = AdaptersText(adapted, *training->options.lora);
  }
  if (training) {
    LINNET_RETURN_IF_ERROR(CheckTraining(*parts.trace.graph, *training));
  }
  parts.training = std::move(training);
  parts.model_name = model.name;
  parts.entry_name =
      std::string(program.name(program.functions[target.entry].name));
  if (target.root.valid()) {
    parts.root_name =
        std::string(program.name(program.blocks[target.root].name));
  }
  parts.main_dtype = MainDType(program, target.root, request.root_args);
  parts.roles = binder.roles();
  parts.backend = settings.backend;
  parts.kv_layout = settings.kv_layout;
  LINNET_ASSIGN_OR_RETURN(parts.kv_layout.windows,
                          WindowsOf(model.card, config));
  parts.no_bindings = config.no_bindings;
  parts.notes = model.notes;
  if (!adapters.empty()) parts.notes.push_back(std::move(adapters));
  // Another dtype or split means other weights than those stored.
  if (config.dtype.empty() && request.processes == 1) {
    parts.weight_bytes = model.weight_bytes;
  }
  parts.tensor_processes = request.processes;
  parts.collective_processes = request.processes;
  parts.process_groups = (request.processes > 1) +
                         (parts.training && parts.training->options.shards > 1);
  if (config.parallel.tensor > 1 && !for_several) {
    LINNET_RETURN_IF_ERROR(SplitByRules(config.parallel.tensor, &parts));
  }
  LINNET_RETURN_IF_ERROR(SplitWithin(config.parallel, &parts));
  return parts;
}

}  // namespace linnet::planner
