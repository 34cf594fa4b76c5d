// The engine's front door: a model and a configuration in, a report out. The
// only part of core that the server includes.
//
// The work is split by what it depends on. Prepare() reads, checks and traces a
// model (milliseconds) under everything that decides the program's structure;
// the sizes of the roles (batch, context, cache) stay symbols. Prepared is
// immutable and shared: any number of threads may call its const methods, which
// cost microseconds.

#ifndef LINNET_CORE_PLANNER_PLANNER_H_
#define LINNET_CORE_PLANNER_PLANNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/confidence.h"

namespace linnet::device {
struct Profile;  // core/device/profile.h
}  // namespace linnet::device

namespace linnet::planner {

// Payloads that a non-OK status of this folder may carry.
// The diagnostics of a model's sources as the JSON of language.md 11.1.
inline constexpr absl::string_view kDiagnosticsPayload =
    "linnet/diagnostics+json";
// The same as text for a person: source lines, carets, help.
inline constexpr absl::string_view kRenderedPayload = "linnet/diagnostics+text";
// Names close to one that was not found, best first, one per line.
inline constexpr absl::string_view kSuggestionsPayload = "linnet/suggestions";
// Present when the model's own files are at fault, not the rest of the request.
inline constexpr absl::string_view kModelPayload = "linnet/model";
// The limit that was passed, as `name=value`.
inline constexpr absl::string_view kLimitPayload = "linnet/limit";

struct SourceFile {
  std::string path;  // Relative to the bundle, with '/'; no `..`, not absolute.
  std::string content;
};

// A model: the name of a built-in one, or the content of its files.
struct ModelRef {
  std::string name;
  std::vector<SourceFile> files;
  // The file of `files` to start from: a `.linnet` file, a `nest.toml`, a
  // `config.json` of the Hub (beside it the headers of its safetensors files
  // and their index, when they are there) or the header of a `.gguf` file.
  std::string root_file;
};

// Bounds on what one request may cost. Each, when passed, stops the work with
// RESOURCE_EXHAUSTED and names itself in kLimitPayload.
struct Limits {
  int64_t max_source_bytes = int64_t{16} << 20;  // All files of a bundle.
  int32_t max_files = 4096;                      // Files of a bundle.
  int32_t max_steps = 1'000'000;                 // Steps of one trace.
  int32_t max_objects = 2'000'000;               // Tensors of one trace.
  int32_t max_call_depth = 256;                  // Nested calls of one trace.
  int64_t max_sweep_points = 100'000'000;        // Points of one sweep.
};

// Low-rank adapters beside linear layers, whose weights are then frozen.
struct LoraConfig {
  int64_t rank = 8;  // At least 1.
  // Patterns over paths of linear layers, or their last parts, such as
  // `q_proj`; default: every linear layer of a block array.
  std::vector<std::string> targets;
  std::string dtype = "f32";  // Of the adapters.
  // How the weights of linear layers in block arrays are stored: `plain`, `nf4`
  // or `nf4-double`.
  std::string base_format = "plain";
};

// A training step of the entry instead of one run of it. The entry returns the
// loss: one float, or one per row.
struct TrainingConfig {
  // `sgd`, `sgd-momentum`, `adam`, `adamw`, `adamw-8bit` or `adafactor`.
  std::string optimizer = "adamw";
  std::string master_dtype;    // Default: no master weights.
  std::string gradient_dtype;  // Default: that of what is updated.
  // Patterns over parameter paths, `*` for any text; default: every parameter.
  std::vector<std::string> trainable;
  // Policies to compare, each `none`, `block`, or patterns over block paths
  // with commas between; default: `none`.
  std::vector<std::string> checkpoints;
  int64_t shards = 1;  // Processes that split every parameter; at least 1.
  // What they split: 1 master weights and optimizer states, 2 gradients too,
  // 3 parameters too. 1 and 2 ask for at least two shards.
  int32_t zero_stage = 3;
  std::optional<LoraConfig> lora;
};

// How several devices share one step.
struct ParallelConfig {
  // Not empty: what is prepared compares every layout of pools of so many
  // devices (layouts.h), and nothing else here may be given.
  std::vector<int64_t> compare_devices;
  int64_t tensor = 1;  // Processes that split every weight.
  // The tensor processes split what they would all hold alike, too, by the
  // sequence.
  bool sequence = false;
  int64_t expert = 1;        // Processes that split the experts of a mixture.
  int64_t pipeline = 1;      // Devices of a pipeline, each one process.
  int64_t microbatches = 0;  // At least as many as devices; 0: as many.
  // `1f1b`, `gpipe`, `interleaved-1f1b` or `zero-bubble`, of a training step.
  std::string schedule = "1f1b";
  // Stages per device; 0: 2 under `interleaved-1f1b`, else 1.
  int64_t virtual_stages = 0;
  // The blocks where all stages but the first begin; default: balanced by the
  // bytes of parameters.
  std::vector<std::string> stages;
};

// analysis.md section 1. Empty strings and unset optionals mean "not given".
struct Config {
  ModelRef model;
  std::string entry;              // Default: the only one, or `forward`.
  std::string root;               // The root block.
  std::string backend = "cuda";   // `cuda` or `generic`.
  std::string numerics = "fast";  // `exact`, `equivalent` or `fast`.
  std::string dtype;              // Of every float dtype generic of the root.
  std::optional<int64_t> batch;   // Each at least 1.
  std::optional<int64_t> context;
  std::optional<int64_t> cache_len;
  std::vector<std::pair<std::string, std::string>> bindings;  // Generic, value.
  std::vector<std::string> optionals;  // Paths of optional members present.
  bool no_bindings = false;            // Ignore the card's weight bindings.
  std::string kv_dtype;
  std::optional<int64_t> kv_block_size;  // Tokens of one page.
  // `full` or `rolling`: a layer with a window keeps all positions of its cache
  // or only those of the window.
  std::string kv_layout = "full";
  std::optional<int64_t> context_bytes;  // Of the CUDA context, when known.
  bool compiled = false;
  // The job's CUBLAS_WORKSPACE_CONFIG, when set.
  std::optional<std::string> cublas_workspace_config;
  std::optional<TrainingConfig> training;
  ParallelConfig parallel;
};

struct Component {
  std::string name;              // `KV cache`
  std::string category;          // `kv_cache`
  std::optional<int64_t> bytes;  // Empty: unknown.
  Confidence confidence = Confidence::kUnknown;
  std::string formula;  // Over the roles; empty when long.
  std::string note;
  std::string device;  // Empty on one device.
};

// What a report of a training step says beside the memory. Such a report has no
// buffer plan, and its peak is that of the expected memory.
struct TrainingReport {
  std::string checkpoint;  // The policy.
  // What is computed again, as a part of the step's FLOPs without it; empty
  // without checkpointing.
  std::optional<double> recompute;
  int64_t peak_position = 0;  // Of the moments below.
  int64_t num_positions = 0;  // All steps, computed again and backward ones.
};

// One of several devices that are not alike.
struct DeviceReport {
  std::string name;   // `stage 0`
  std::string holds;  // `embedding, layers.0-15`
  int64_t graph_peak_bytes = 0;
  int64_t expected_peak_bytes = 0;
  int64_t runtime_bytes = 0;  // Of the process, as far as known.
};

struct Report {
  Config config;  // As analysed, defaults filled in; `model.files` left out.
  std::string model_name;
  std::vector<std::pair<std::string, int64_t>> symbols;  // Role, value.
  std::vector<Component> components;
  int64_t graph_peak_bytes = 0;
  int64_t expected_peak_bytes = 0;
  Confidence confidence = Confidence::kExact;  // Of the expected peak.
  int64_t peak_step = -1;  // -1 when the entry makes nothing.
  std::string peak_label;  // `linear`
  std::string peak_scope;  // `lm_head`; empty for the root.
  std::string peak_at;     // "step 1603: linear in `lm_head`"
  int64_t num_steps = 0;
  // Transient storage: a buffer per tensor, the planned arena, live at most.
  int64_t naive_bytes = 0;
  int64_t planned_bytes = 0;
  int64_t lower_bound_bytes = 0;
  std::vector<std::pair<std::string, std::string>> formulas;  // Name, text.
  std::vector<std::string> unknown;
  std::vector<std::string> warnings;
  std::vector<std::string> assumptions;
  std::optional<TrainingReport> training;
  // The stages of a pipeline; the report is then that of the one that needs
  // most.
  std::vector<DeviceReport> devices;
};

// The numbers alone, for callers that ask many times.
struct Summary {
  int64_t graph_peak_bytes = 0;
  int64_t expected_peak_bytes = 0;
  int64_t persistent_bytes = 0;  // As laid out.
  int64_t activation_bytes = 0;  // The peak of live activations.
  int64_t workspace_bytes = 0;   // At the step of the expected peak.
  int64_t runtime_bytes = 0;     // Context, libraries, cuBLAS workspace.
  int64_t peak_step = -1;
  Confidence confidence = Confidence::kExact;
  int32_t num_unknown = 0;
  bool constraints_hold = true;  // The model's `where` clauses.
};

// What is in memory at every step of an entry, or at every position of a
// training step, beside what stays throughout.
struct MemoryTimeline {
  struct Category {
    std::string name;            // `activations`
    std::vector<int64_t> bytes;  // By position.
  };
  struct Tensor {
    std::string name;  // As declared, or what it is kept for; may be empty.
    std::string category;
    int64_t bytes = 0;
    int64_t step = -1;         // That makes it; -1 for inputs and gradients.
    std::string label, scope;  // Of that step.
  };
  int64_t num_positions = 0;
  std::vector<Category> categories;  // Those with bytes at some position.
  int64_t peak_position = 0;         // Of the categories' sum; the first one.
  std::string peak_at;               // As in a report.
  std::vector<Tensor> live_at_peak;  // The largest first.
};

// What a step's time is asked for.
struct TimeQuery {
  const device::Profile* profile = nullptr;  // Outlives the call.
  // Copies of the layout, each with data of its own; in training they sum their
  // gradients.
  int64_t replicas = 1;
  size_t policy = 0;      // Of the checkpoint policies of a training step.
  size_t operations = 0;  // The most expensive ones to name.
  // By the reference's rules alone, where ours differ.
  bool reference_rules = false;
};

// Several calls of one kind and size in a step.
struct OperationTime {
  std::string label;   // `linear`
  std::string native;  // `torch.nn.functional.linear`; may be empty.
  std::string scope;   // Of the first one: `layers.0.mlp`.
  int64_t calls = 0;
  double device_seconds = 0, host_seconds = 0;  // Of all of them, backward too.
  std::string limit;                            // Of the device's seconds.
  bool measured = true;  // False: no rate of a profile is meant for it.
};

// Predicted; in seconds. The parts add up to `seconds`.
struct StepTime {
  std::string model_name;
  double seconds = 0;
  // Of the device while it computes, moves bytes, and talks to others; waiting
  // for the host's calls; waiting for other stages of a pipeline.
  double compute = 0, memory = 0, communication = 0, host = 0, bubble = 0;
  std::string limit;   // The largest: `compute`, `memory`, `communication`,
                       // or `host`.
  int64_t tokens = 0;  // Of all replicas: elements of the entry's first input
                       // when it has integers, else its first axis.
  std::vector<OperationTime> operations;  // The most expensive first.
  std::string stage;  // Of the operations; empty when there is no pipeline.
  std::vector<std::string> assumptions;

  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
  }
};

// Polled now and then during long work; true stops it with CANCELLED.
using StopFunction = std::function<bool()>;

// A size that is given with each question.
struct FreeSize {
  std::string name;      // `batch`, `context` or `cache`.
  int64_t multiple = 1;  // It must be a multiple of this.
};

struct LayoutPlan;  // layouts.h
struct LayoutQuery;
class SizeGrid;  // sweep.h
struct PointPeak;

class Prepared {
 public:
  virtual ~Prepared() = default;

  // The report at the sizes and runtime settings of `config`, with the buffer
  // plan. INVALID_ARGUMENT when a size is below 1 or the sizes given are not
  // those this was prepared for, OUT_OF_RANGE when a number passes 64 bits.
  // REQUIRES: CacheKey(config) is that of the configuration prepared.
  virtual absl::StatusOr<Report> Analyze(const Config& config) const = 0;

  // A report per checkpoint policy of a training step, in the order given; else
  // the one of Analyze(), which is the first.
  virtual absl::StatusOr<std::vector<Report>> AnalyzeAll(
      const Config& config) const;

  // What is in memory when, at the sizes of `config`, under checkpoint policy
  // `policy` of a training step (0 for the first). Fails as Analyze() does, and
  // with INVALID_ARGUMENT for a policy that there is none of. Cost:
  // milliseconds for thousands of steps.
  virtual absl::StatusOr<MemoryTimeline> Timeline(const Config& config,
                                                  size_t policy) const;

  // The numbers of Analyze() without text and buffer plan.
  virtual absl::StatusOr<Summary> Summarize(const Config& config) const = 0;
  // The same under a checkpoint policy of a training step, 0 for the first.
  virtual absl::StatusOr<Summary> SummarizePolicy(const Config& config,
                                                  size_t policy) const;

  // The peaks at `points.size()` points of `grid` from `begin` on, the other
  // sizes as in `config`, under a checkpoint policy. Fails only when the
  // configuration itself is at fault; a point that is says so. See sweep.h.
  // Cost: below a microsecond per point for inference on one device.
  virtual absl::Status Peaks(const Config& config, const SizeGrid& grid,
                             int64_t begin, size_t policy,
                             absl::Span<PointPeak> points) const;

  // How long a step takes at the sizes of `config` on the device of a profile.
  // Fails as Analyze() does, and with UNIMPLEMENTED where nothing predicts it.
  // Cost: microseconds, after the first call.
  virtual absl::StatusOr<StepTime> Time(const Config& config,
                                        const TimeQuery& query) const;

  // Compares layouts; UNIMPLEMENTED for what was prepared for one. See
  // layouts.h.
  virtual absl::StatusOr<LayoutPlan> Compare(const Config& config,
                                             const LayoutQuery& query) const;

  // The sizes that questions vary, in the order of the roles.
  virtual std::vector<FreeSize> FreeSizes() const { return {}; }

  // Where the peak of a summary lies: "step 1603: linear in `lm_head`". Of a
  // training step, "the backward pass (position 1668 of 3339): …".
  virtual std::string StepText(int64_t step) const = 0;

  // What it occupies, for a cache bounded in bytes.
  virtual int64_t ByteSize() const = 0;
};

// A key for everything that Prepare() depends on: equal keys, equal results.
// Sizes of roles and runtime settings are not part of it; whether a role is
// given is. Stable across processes of one version.
std::string CacheKey(const Config& config);

// Reads, checks and traces the model of `config`.
//   NOT_FOUND: no such model or entry (kSuggestionsPayload).
//   INVALID_ARGUMENT: the model has errors (kDiagnosticsPayload), a generic has
//     no value, or a setting is not one of its values.
//   RESOURCE_EXHAUSTED: a limit was passed (kLimitPayload).
//   CANCELLED: `stop` said so.
absl::StatusOr<std::shared_ptr<const Prepared>> Prepare(
    const Config& config, const Limits& limits = {},
    const StopFunction& stop = nullptr);

struct ModelSummary {
  std::string name, title, summary, license, family;
  std::vector<std::string> entries;
};

// The built-in models, by name.
std::vector<ModelSummary> ListModels();

struct TensorDescription {
  std::string name;  // Of an input; the path of a state.
  std::string type;  // `i32[B, S]`, over the generics that are not bound.
};

struct EntryDescription {
  std::string name;
  std::vector<std::string> generics;  // Still to be bound: `B`, `S`.
  std::vector<TensorDescription> inputs;
  std::string result;
  std::vector<std::string> states;  // Paths it reads or writes, `[*]` for all.
};

struct GenericDescription {
  std::string name;
  std::string kind;   // `Dim`, `Float`, …
  std::string value;  // From the card or the declaration; empty when unbound.
};

struct ModelDescription {
  ModelSummary model;
  std::string root_block;
  std::string main_entry;  // What runs when none is named; may be empty.
  std::vector<GenericDescription> generics;
  std::vector<EntryDescription> entries;
  int64_t parameter_count = 0;  // Tied ones once, absent optional ones not.
  int64_t parameter_bytes = 0;
  std::vector<TensorDescription> parameters;  // Path and type of each present.
  std::vector<std::pair<std::string, std::string>> ties;  // Path, owner.
  std::vector<TensorDescription> states;
  // Bytes that one more position of every KV cache takes at batch 1; empty
  // when the model has none.
  std::optional<int64_t> cache_bytes_per_token;
};

// Entries, generics, parameters and states of a model. Uses `model`, `root`,
// `dtype`, `bindings`, `optionals` and `no_bindings` of `config`. Fails as
// Prepare() does.
absl::StatusOr<ModelDescription> Describe(const Config& config,
                                          const Limits& limits = {},
                                          const StopFunction& stop = nullptr);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_PLANNER_H_
