#include "server/rpc/convert.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/base/confidence.h"
#include "core/base/status_macros.h"
#include "core/planner/planner.h"
#include "server/rpc/diagnostics.h"
#include "server/rpc/status.h"

namespace linnet::server {
namespace {

absl::Status LimitError(absl::string_view name, int64_t limit,
                        absl::string_view what) {
  absl::Status status = absl::ResourceExhaustedError(
      absl::StrCat(what, " pass the limit `limits.", name, "` of ", limit));
  status.SetPayload(planner::kLimitPayload,
                    absl::Cord(absl::StrCat(name, "=", limit)));
  return status;
}

bool IsProperPath(absl::string_view path) {
  if (path.empty() || path.size() > 1024) return false;
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return !absl::StrContains(path, '\0') && !absl::StrContains(path, '\n');
}

absl::Status FillBundle(const v1::SourceBundle& from,
                        const planner::Limits& limits, planner::ModelRef& to) {
  if (from.files_size() > limits.max_files) {
    return LimitError("max_files", limits.max_files, "the model's files");
  }
  int64_t bytes = 0;
  for (const v1::SourceFile& file : from.files()) {
    bytes += static_cast<int64_t>(file.content().size());
  }
  if (bytes > limits.max_source_bytes) {
    return LimitError("max_source_bytes", limits.max_source_bytes,
                      "the bytes of the model's files");
  }
  absl::flat_hash_set<absl::string_view> paths;
  for (const v1::SourceFile& file : from.files()) {
    if (!IsProperPath(file.path())) {
      return FieldError("config.model.bundle.files.path",
                        "must be relative, without empty, `.` or `..` parts");
    }
    if (!paths.insert(file.path()).second) {
      return FieldError("config.model.bundle.files.path",
                        absl::StrCat("has `", file.path(), "` twice"));
    }
    to.files.push_back({file.path(), file.content()});
  }
  if (!paths.contains(from.root_file())) {
    return FieldError("config.model.bundle.root_file",
                      "must be the path of one of the files");
  }
  to.root_file = from.root_file();
  return absl::OkStatus();
}

absl::Status FillModel(const v1::ModelRef& from, const planner::Limits& limits,
                       planner::ModelRef& to) {
  switch (from.source_case()) {
    case v1::ModelRef::kName:
      if (from.name().empty()) {
        return FieldError("config.model.name", "must not be empty");
      }
      to.name = from.name();
      return absl::OkStatus();
    case v1::ModelRef::kBundle:
      return FillBundle(from.bundle(), limits, to);
    case v1::ModelRef::SOURCE_NOT_SET:
      break;
  }
  return FieldError("config.model", "must be a name or a bundle");
}

absl::Status CheckSize(absl::string_view field, bool set, int64_t value,
                       std::optional<int64_t>& to) {
  if (!set) return absl::OkStatus();
  if (value < 1) return FieldError(field, "must be at least 1");
  to = value;
  return absl::OkStatus();
}

absl::StatusOr<std::string> BackendName(v1::Backend backend) {
  switch (backend) {
    case v1::BACKEND_UNSPECIFIED:
    case v1::BACKEND_CUDA:
      return "cuda";
    case v1::BACKEND_GENERIC:
      return "generic";
    default:
      return FieldError("config.backend", "is one this server does not know");
  }
}

absl::StatusOr<std::string> KvLayoutName(v1::KvLayout layout) {
  switch (layout) {
    case v1::KV_LAYOUT_UNSPECIFIED:
    case v1::KV_LAYOUT_FULL:
      return "full";
    case v1::KV_LAYOUT_ROLLING:
      return "rolling";
    default:
      return FieldError("config.kv_layout", "is one this server does not know");
  }
}

absl::StatusOr<std::string> NumericsName(v1::Numerics numerics) {
  switch (numerics) {
    case v1::NUMERICS_EXACT:
      return "exact";
    case v1::NUMERICS_EQUIVALENT:
      return "equivalent";
    case v1::NUMERICS_UNSPECIFIED:
    case v1::NUMERICS_FAST:
      return "fast";
    default:
      return FieldError("config.numerics", "is one this server does not know");
  }
}

absl::StatusOr<planner::TrainingConfig> ToTraining(
    const v1::TrainingSettings& from) {
  planner::TrainingConfig to;
  if (from.has_optimizer()) to.optimizer = from.optimizer();
  to.master_dtype = from.master_dtype();
  to.gradient_dtype = from.gradient_dtype();
  to.trainable.assign(from.trainable().begin(), from.trainable().end());
  to.checkpoints.assign(from.checkpoints().begin(), from.checkpoints().end());
  if (from.has_shards()) {
    if (from.shards() < 1) {
      return FieldError("config.training.shards", "must be at least 1");
    }
    to.shards = from.shards();
  }
  if (from.has_zero_stage()) to.zero_stage = from.zero_stage();
  if (from.has_lora()) {
    const v1::Lora& lora = from.lora();
    to.lora.emplace();
    if (lora.has_rank()) to.lora->rank = lora.rank();
    to.lora->targets.assign(lora.targets().begin(), lora.targets().end());
    if (lora.has_dtype()) to.lora->dtype = lora.dtype();
    if (lora.has_base_format()) to.lora->base_format = lora.base_format();
  }
  return to;
}

v1::TrainingSettings ToTrainingSettings(const planner::TrainingConfig& from) {
  v1::TrainingSettings to;
  to.set_optimizer(from.optimizer);
  if (!from.master_dtype.empty()) to.set_master_dtype(from.master_dtype);
  if (!from.gradient_dtype.empty()) to.set_gradient_dtype(from.gradient_dtype);
  for (const std::string& each : from.trainable) to.add_trainable(each);
  for (const std::string& each : from.checkpoints) to.add_checkpoints(each);
  to.set_shards(from.shards);
  to.set_zero_stage(from.zero_stage);
  if (from.lora) {
    v1::Lora& lora = *to.mutable_lora();
    lora.set_rank(from.lora->rank);
    for (const std::string& each : from.lora->targets) lora.add_targets(each);
    lora.set_dtype(from.lora->dtype);
    lora.set_base_format(from.lora->base_format);
  }
  return to;
}

}  // namespace

absl::StatusOr<planner::ParallelConfig> ToParallel(const v1::Parallel& from) {
  planner::ParallelConfig to;
  const auto read = [](absl::string_view field, bool set, int64_t value,
                       int64_t& into) {
    if (!set) return absl::OkStatus();
    if (value < 1) {
      return FieldError(absl::StrCat("config.parallel.", field),
                        "must be at least 1");
    }
    into = value;
    return absl::OkStatus();
  };
  LINNET_RETURN_IF_ERROR(
      read("tensor", from.has_tensor(), from.tensor(), to.tensor));
  LINNET_RETURN_IF_ERROR(
      read("pipeline", from.has_pipeline(), from.pipeline(), to.pipeline));
  LINNET_RETURN_IF_ERROR(read("microbatches", from.has_microbatches(),
                              from.microbatches(), to.microbatches));
  LINNET_RETURN_IF_ERROR(
      read("expert", from.has_expert(), from.expert(), to.expert));
  LINNET_RETURN_IF_ERROR(read("virtual_stages", from.has_virtual_stages(),
                              from.virtual_stages(), to.virtual_stages));
  to.sequence = from.sequence();
  if (from.has_schedule()) to.schedule = from.schedule();
  to.stages.assign(from.stages().begin(), from.stages().end());
  return to;
}

void FillParallel(const planner::ParallelConfig& from, v1::Parallel& parallel) {
  parallel.set_tensor(from.tensor);
  if (from.sequence) parallel.set_sequence(true);
  if (from.expert > 1) parallel.set_expert(from.expert);
  parallel.set_pipeline(from.pipeline);
  if (from.pipeline == 1) return;
  if (from.microbatches > 0) parallel.set_microbatches(from.microbatches);
  parallel.set_schedule(from.schedule);
  if (from.virtual_stages > 1) {
    parallel.set_virtual_stages(from.virtual_stages);
  }
  for (const std::string& each : from.stages) parallel.add_stages(each);
}

namespace {

bool IsParallel(const planner::ParallelConfig& parallel) {
  return parallel.tensor > 1 || parallel.pipeline > 1 || parallel.expert > 1;
}

v1::Confidence ToConfidence(Confidence from) {
  switch (from) {
    case Confidence::kExact:
      return v1::CONFIDENCE_EXACT;
    case Confidence::kModeled:
      return v1::CONFIDENCE_BACKEND_MODELED;
    case Confidence::kEstimated:
      return v1::CONFIDENCE_ESTIMATED;
    case Confidence::kUnknown:
      break;
  }
  return v1::CONFIDENCE_UNKNOWN;
}

v1::Configuration ToConfiguration(const planner::Config& from) {
  v1::Configuration to;
  if (!from.model.name.empty()) to.mutable_model()->set_name(from.model.name);
  if (!from.entry.empty()) to.set_entry(from.entry);
  if (!from.root.empty()) to.set_root(from.root);
  to.set_backend(from.backend == "generic" ? v1::BACKEND_GENERIC
                                           : v1::BACKEND_CUDA);
  to.set_numerics(from.numerics == "exact"        ? v1::NUMERICS_EXACT
                  : from.numerics == "equivalent" ? v1::NUMERICS_EQUIVALENT
                                                  : v1::NUMERICS_FAST);
  if (!from.dtype.empty()) to.set_dtype(from.dtype);
  if (from.batch) to.set_batch(*from.batch);
  if (from.context) to.set_context(*from.context);
  if (from.cache_len) to.set_cache_len(*from.cache_len);
  for (const auto& [generic, value] : from.bindings) {
    (*to.mutable_bindings())[generic] = value;
  }
  for (const std::string& path : from.optionals) to.add_optionals(path);
  to.set_ignore_weight_bindings(from.no_bindings);
  if (!from.kv_dtype.empty()) to.set_kv_dtype(from.kv_dtype);
  if (from.kv_block_size) to.set_kv_block_size_tokens(*from.kv_block_size);
  to.set_kv_layout(from.kv_layout == "rolling" ? v1::KV_LAYOUT_ROLLING
                                               : v1::KV_LAYOUT_FULL);
  if (from.context_bytes) to.set_context_bytes(*from.context_bytes);
  to.set_compiled(from.compiled);
  if (from.cublas_workspace_config) {
    to.set_cublas_workspace_config(*from.cublas_workspace_config);
  }
  if (from.training) {
    *to.mutable_training() = ToTrainingSettings(*from.training);
  }
  if (IsParallel(from.parallel)) {
    FillParallel(from.parallel, *to.mutable_parallel());
  }
  return to;
}

void FillTrainingStep(const planner::TrainingReport& from,
                      v1::TrainingStep& to) {
  to.set_checkpoint(from.checkpoint);
  if (from.recompute) to.set_recomputed_part(*from.recompute);
  to.set_peak_position(from.peak_position);
  to.set_num_positions(from.num_positions);
}

void FillPeak(const planner::Report& from, v1::Peak& to) {
  to.set_graph_bytes(from.graph_peak_bytes);
  to.set_expected_bytes(from.expected_peak_bytes);
  to.set_confidence(ToConfidence(from.confidence));
  if (from.peak_step >= 0) to.set_step(from.peak_step);
  to.set_label(from.peak_label);
  to.set_scope(from.peak_scope);
  to.set_at(from.peak_at);
  to.set_num_steps(from.num_steps);
}

void FillModelSummary(const planner::ModelSummary& from, v1::ModelSummary& to) {
  to.set_name(from.name);
  to.set_title(from.title);
  to.set_summary(from.summary);
  to.set_license(from.license);
  to.set_family(from.family);
  for (const std::string& entry : from.entries) to.add_entries(entry);
}

void FillTensor(const planner::TensorDescription& from, v1::TensorType& to) {
  to.set_name(from.name);
  to.set_type(from.type);
}

}  // namespace

absl::StatusOr<planner::Config> ToConfig(const v1::Configuration& from,
                                         const planner::Limits& limits) {
  planner::Config to;
  LINNET_RETURN_IF_ERROR(FillModel(from.model(), limits, to.model));
  to.entry = from.entry();
  to.root = from.root();
  LINNET_ASSIGN_OR_RETURN(to.backend, BackendName(from.backend()));
  LINNET_ASSIGN_OR_RETURN(to.numerics, NumericsName(from.numerics()));
  to.dtype = from.dtype();
  LINNET_RETURN_IF_ERROR(
      CheckSize("config.batch", from.has_batch(), from.batch(), to.batch));
  LINNET_RETURN_IF_ERROR(CheckSize("config.context", from.has_context(),
                                   from.context(), to.context));
  LINNET_RETURN_IF_ERROR(CheckSize("config.cache_len", from.has_cache_len(),
                                   from.cache_len(), to.cache_len));
  LINNET_RETURN_IF_ERROR(
      CheckSize("config.kv_block_size_tokens", from.has_kv_block_size_tokens(),
                from.kv_block_size_tokens(), to.kv_block_size));
  if (from.has_context_bytes()) {
    if (from.context_bytes() < 0) {
      return FieldError("config.context_bytes", "must not be negative");
    }
    to.context_bytes = from.context_bytes();
  }
  for (const auto& [generic, value] : from.bindings()) {
    to.bindings.emplace_back(generic, value);
  }
  // A map has no order of its own; equal requests must have equal keys.
  std::sort(to.bindings.begin(), to.bindings.end());
  to.optionals.assign(from.optionals().begin(), from.optionals().end());
  to.no_bindings = from.ignore_weight_bindings();
  to.kv_dtype = from.kv_dtype();
  LINNET_ASSIGN_OR_RETURN(to.kv_layout, KvLayoutName(from.kv_layout()));
  to.compiled = from.compiled();
  if (from.has_cublas_workspace_config()) {
    to.cublas_workspace_config = from.cublas_workspace_config();
  }
  if (from.has_training()) {
    LINNET_ASSIGN_OR_RETURN(to.training, ToTraining(from.training()));
  }
  if (from.has_parallel()) {
    LINNET_ASSIGN_OR_RETURN(to.parallel, ToParallel(from.parallel()));
  }
  return to;
}

v1::AnalyzeResponse ToResponse(const planner::Report& from) {
  v1::AnalyzeResponse to;
  to.set_model_name(from.model_name);
  *to.mutable_config() = ToConfiguration(from.config);
  for (const auto& [name, value] : from.symbols) {
    v1::Symbol& symbol = *to.add_symbols();
    symbol.set_name(name);
    symbol.set_value(value);
  }
  for (const planner::Component& component : from.components) {
    v1::Component& out = *to.add_components();
    out.set_name(component.name);
    out.set_category(component.category);
    if (component.bytes) out.set_bytes(*component.bytes);
    out.set_confidence(ToConfidence(component.confidence));
    out.set_formula(component.formula);
    out.set_note(component.note);
    out.set_device(component.device);
  }
  FillPeak(from, *to.mutable_peak());
  if (from.training) {
    FillTrainingStep(*from.training, *to.mutable_training());
  } else {
    v1::Allocation& allocation = *to.mutable_allocation();
    allocation.set_naive_bytes(from.naive_bytes);
    allocation.set_planned_bytes(from.planned_bytes);
    allocation.set_lower_bound_bytes(from.lower_bound_bytes);
  }
  for (const auto& [name, text] : from.formulas) {
    v1::Formula& formula = *to.add_formulas();
    formula.set_name(name);
    formula.set_text(text);
  }
  for (const planner::DeviceReport& device : from.devices) {
    v1::DeviceMemory& out = *to.add_devices();
    out.set_name(device.name);
    out.set_holds(device.holds);
    out.set_graph_bytes(device.graph_peak_bytes);
    out.set_expected_bytes(device.expected_peak_bytes);
    out.set_runtime_bytes(device.runtime_bytes);
  }
  for (const std::string& text : from.unknown) to.add_unknown(text);
  for (const std::string& text : from.warnings) to.add_warnings(text);
  for (const std::string& text : from.assumptions) to.add_assumptions(text);
  return to;
}

v1::Timeline ToTimeline(const planner::MemoryTimeline& from) {
  constexpr size_t kMaxTensors = 1000;
  v1::Timeline to;
  to.set_num_positions(from.num_positions);
  for (const auto& category : from.categories) {
    v1::CategoryTimeline& out = *to.add_categories();
    out.set_category(category.name);
    out.mutable_bytes()->Add(category.bytes.begin(), category.bytes.end());
  }
  to.set_peak_position(from.peak_position);
  to.set_peak_at(from.peak_at);
  int64_t more = 0;
  for (size_t i = 0; i < from.live_at_peak.size(); ++i) {
    const auto& tensor = from.live_at_peak[i];
    if (i >= kMaxTensors) {
      more += tensor.bytes;
      continue;
    }
    v1::LiveTensor& out = *to.add_live_at_peak();
    out.set_name(tensor.name);
    out.set_category(tensor.category);
    out.set_bytes(tensor.bytes);
    if (tensor.step >= 0) out.set_step(tensor.step);
    out.set_label(tensor.label);
    out.set_scope(tensor.scope);
  }
  to.set_num_more(static_cast<int64_t>(from.live_at_peak.size()) -
                  to.live_at_peak_size());
  to.set_more_bytes(more);
  return to;
}

void FillSummary(const planner::Prepared& prepared,
                 const planner::Summary& from, v1::AnalyzeResponse& to) {
  v1::Totals& totals = *to.mutable_totals();
  totals.set_persistent_bytes(from.persistent_bytes);
  totals.set_activation_bytes(from.activation_bytes);
  totals.set_workspace_bytes(from.workspace_bytes);
  totals.set_runtime_bytes(from.runtime_bytes);
  totals.set_num_unknown(from.num_unknown);
  to.set_constraints_hold(from.constraints_hold);
  if (to.has_peak()) return;
  v1::Peak& peak = *to.mutable_peak();
  peak.set_graph_bytes(from.graph_peak_bytes);
  peak.set_expected_bytes(from.expected_peak_bytes);
  peak.set_confidence(ToConfidence(from.confidence));
  if (from.peak_step >= 0) {
    peak.set_step(from.peak_step);
    peak.set_at(prepared.StepText(from.peak_step));
  }
}

v1::ModelsListResponse ToResponse(
    const std::vector<planner::ModelSummary>& from) {
  v1::ModelsListResponse to;
  for (const planner::ModelSummary& model : from) {
    FillModelSummary(model, *to.add_models());
  }
  return to;
}

v1::ModelsDescribeResponse ToResponse(const planner::ModelDescription& from) {
  v1::ModelsDescribeResponse to;
  FillModelSummary(from.model, *to.mutable_model());
  to.set_root_block(from.root_block);
  to.set_main_entry(from.main_entry);
  for (const planner::GenericDescription& generic : from.generics) {
    v1::Generic& out = *to.add_generics();
    out.set_name(generic.name);
    out.set_kind(generic.kind);
    if (!generic.value.empty()) out.set_value(generic.value);
  }
  for (const planner::EntryDescription& entry : from.entries) {
    v1::Entry& out = *to.add_entries();
    out.set_name(entry.name);
    for (const std::string& generic : entry.generics) out.add_generics(generic);
    for (const auto& input : entry.inputs) FillTensor(input, *out.add_inputs());
    out.set_result(entry.result);
    for (const std::string& state : entry.states) out.add_states(state);
  }
  to.set_num_parameters(from.parameter_count);
  to.set_parameter_bytes(from.parameter_bytes);
  for (const auto& item : from.parameters) {
    FillTensor(item, *to.add_parameters());
  }
  for (const auto& [path, owner] : from.ties) {
    v1::Tie& tie = *to.add_ties();
    tie.set_path(path);
    tie.set_owner(owner);
  }
  for (const auto& item : from.states) FillTensor(item, *to.add_states());
  if (from.cache_bytes_per_token) {
    to.set_cache_bytes_per_token(*from.cache_bytes_per_token);
  }
  return to;
}

v1::ModelsCheckResponse ToResponse(const planner::CheckedSources& from) {
  v1::ModelsCheckResponse to;
  for (v1::Diagnostic& diagnostic : ParseDiagnostics(from.json)) {
    *to.add_diagnostics() = std::move(diagnostic);
  }
  to.set_num_errors(from.errors);
  to.set_num_warnings(from.warnings);
  to.set_text(from.text);
  return to;
}

v1::ModelsExplainResponse ToResponse(const planner::Explanation& from) {
  v1::ModelsExplainResponse to;
  to.set_model(from.model);
  to.set_entry(from.entry);
  to.set_numerics(from.numerics);
  for (const planner::ExplainedCall& call : from.calls) {
    v1::LibraryCall& out = *to.add_calls();
    out.set_op(call.op);
    out.set_count(call.count);
    if (!call.implementation.empty()) {
      out.set_implementation(call.implementation);
    }
    out.set_reason(call.reason);
    out.set_first_scope(call.first_scope);
  }
  return to;
}

}  // namespace linnet::server
