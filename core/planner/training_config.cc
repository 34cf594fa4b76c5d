#include "core/planner/training_config.h"

#include <optional>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/base/dtype.h"
#include "core/base/glob.h"
#include "core/base/status_macros.h"
#include "core/lang/type_text.h"
#include "core/planner/error.h"
#include "core/training/gradient_flow.h"
#include "core/training/lora.h"
#include "core/training/moments.h"
#include "core/training/paths.h"

namespace linnet::planner {
namespace {

// Of one request: checkpoint policies, patterns of a list, bytes of a pattern.
constexpr size_t kMaxPolicies = 16;
constexpr size_t kMaxPatterns = 64;
constexpr size_t kMaxPatternBytes = 256;

absl::Status CheckPatterns(const std::vector<std::string>& patterns,
                           absl::string_view flag) {
  if (patterns.size() > kMaxPatterns) {
    return LimitPassed(
        absl::StrCat("there are ", patterns.size(), " patterns (", flag,
                     "), more than ", kMaxPatterns),
        "max_patterns", kMaxPatterns);
  }
  for (const std::string& pattern : patterns) {
    if (pattern.size() > kMaxPatternBytes) {
      return LimitPassed(absl::StrCat("a pattern (", flag, ") is longer than ",
                                      kMaxPatternBytes, " bytes"),
                         "max_pattern_bytes", kMaxPatternBytes);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<DType>> ReadFloat(const std::string& name,
                                               absl::string_view flag) {
  if (name.empty()) return std::optional<DType>();
  const std::optional<DType> dtype = ParseDType(name);
  if (dtype && IsFloat(*dtype)) return dtype;
  std::vector<absl::string_view> known;
  for (DType each : kAllDTypes) {
    if (IsFloat(each)) known.push_back(DTypeName(each));
  }
  return UnknownName(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("`", name, "` (", flag, ") is no float dtype"), name, known);
}

std::vector<absl::string_view> Views(const std::set<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

absl::Status NoMatch(absl::string_view what, absl::string_view pattern,
                     const std::set<std::string>& known) {
  return UnknownName(absl::StatusCode::kInvalidArgument,
                     absl::StrCat("no ", what, " matches `", pattern, "`"),
                     pattern, Views(known));
}

bool IsFloatRef(const lang::Program& program, lang::DTypeRef dtype) {
  return dtype.is_var()
             ? program.dtype_vars[dtype.var].kind == lang::GenericKind::kFloat
             : IsFloat(dtype.dtype);
}

// One float, or one per row.
bool IsLoss(const lang::Program& program, lang::FunctionId entry) {
  const lang::Type& type = program.types->get(program.functions[entry].result);
  switch (type.kind) {
    case lang::TypeKind::kScalar:
      return IsFloatRef(program, type.dtype);
    case lang::TypeKind::kTensor:
      return IsFloatRef(program, type.dtype) &&
             (type.shape.empty() ||
              (type.shape.size() == 1 && !type.shape[0].is_pack()));
    default:
      return false;
  }
}

absl::Status CheckTrainable(const graph::Graph& graph,
                            const training::Options& options) {
  const auto paths = training::FloatParameterPaths(graph);
  if (paths.empty()) {
    return absl::InvalidArgumentError(
        options.shards > 1
            ? "the model has no float parameter, so there is nothing to train "
              "and nothing to shard"
            : "the model has no float parameter, so there is nothing to train");
  }
  for (const std::string& pattern : options.trainable) {
    if (absl::c_any_of(paths, [&](absl::string_view path) {
          return MatchesGlob(path, pattern);
        })) {
      continue;
    }
    std::set<std::string> known;
    for (absl::string_view path : paths) {
      std::string general = training::GeneralPath(path);
      for (size_t at = general.find('.'); at != std::string::npos;
           at = general.find('.', at + 1)) {
        known.insert(general.substr(0, at) + ".*");
      }
      known.insert(std::move(general));
    }
    return NoMatch("float parameter (--trainable)", pattern, known);
  }
  return absl::OkStatus();
}

absl::Status CheckPolicy(const graph::Graph& graph,
                         const training::CheckpointPolicy& policy) {
  const auto reaches = [&](auto matches) {
    return absl::c_any_of(graph.steps(), [&](const graph::Step& step) {
      return matches(graph.text(step.scope));
    });
  };
  if (policy.every_element && !reaches([](absl::string_view scope) {
        return !training::ArrayElement(scope).empty();
      })) {
    return absl::InvalidArgumentError(
        "the entry runs no array of blocks to checkpoint with `block`; name "
        "blocks instead, such as `encoder`");
  }
  for (const std::string& pattern : policy.patterns) {
    const training::CheckpointPolicy one = {pattern, false, {pattern}};
    if (reaches([&](absl::string_view scope) {
          return !training::CheckpointedBlock(scope, one).empty();
        })) {
      continue;
    }
    const auto blocks = training::BlockPatterns(graph);
    std::set<std::string> known(blocks.begin(), blocks.end());
    known.insert({"block", "none"});
    return NoMatch("block that the entry runs (--checkpoint)", pattern, known);
  }
  return absl::OkStatus();
}

}  // namespace

namespace {

absl::StatusOr<training::Lora> ReadLora(const LoraConfig& config) {
  // More than the width of any layer; adapters of it are no low-rank ones.
  constexpr int64_t kMaxRank = 1 << 16;
  training::Lora lora;
  if (config.rank < 1 || config.rank > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the rank of adapters (--lora-rank) must lie between 1 and ", kMaxRank,
        ", not be ", config.rank));
  }
  lora.rank = config.rank;
  LINNET_RETURN_IF_ERROR(CheckPatterns(config.targets, "--lora-target"));
  lora.targets = config.targets;
  LINNET_ASSIGN_OR_RETURN(const std::optional<DType> dtype,
                          ReadFloat(config.dtype, "--lora-dtype"));
  if (dtype) lora.dtype = *dtype;
  const auto format = training::ParseBaseFormat(config.base_format);
  if (!format) {
    return UnknownName(absl::StatusCode::kInvalidArgument,
                       absl::StrCat("there is no format `", config.base_format,
                                    "` of frozen weights (--lora-base)"),
                       config.base_format, training::BaseFormatNames());
  }
  lora.base = *format;
  return lora;
}

absl::Status CheckStage(const TrainingConfig& config) {
  if (config.zero_stage < 1 || config.zero_stage > 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no ZeRO stage ", config.zero_stage,
        " (--zero-stage): 1 splits optimizer states, 2 gradients too, 3 "
        "parameters too"));
  }
  if (config.zero_stage < 3 && config.shards < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ZeRO stage ", config.zero_stage,
        " splits over several processes; say over how many with --shards"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingSettings> ReadTraining(const TrainingConfig& config) {
  TrainingSettings settings;
  const auto optimizer = training::ParseOptimizer(config.optimizer);
  if (!optimizer) {
    return UnknownName(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("there is no optimizer `", config.optimizer, "`"),
        config.optimizer, training::OptimizerNames());
  }
  settings.options.optimizer = *optimizer;
  LINNET_ASSIGN_OR_RETURN(settings.options.master_dtype,
                          ReadFloat(config.master_dtype, "--master-dtype"));
  LINNET_ASSIGN_OR_RETURN(settings.options.gradient_dtype,
                          ReadFloat(config.gradient_dtype, "--gradient-dtype"));
  LINNET_RETURN_IF_ERROR(CheckPatterns(config.trainable, "--trainable"));
  settings.options.trainable = config.trainable;
  LINNET_RETURN_IF_ERROR(CheckStage(config));
  settings.options.zero_stage = config.zero_stage;
  if (config.lora) {
    LINNET_ASSIGN_OR_RETURN(settings.options.lora, ReadLora(*config.lora));
  }
  if (config.shards < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the number of shards must be at least 1, but is ", config.shards));
  }
  settings.options.shards = config.shards;
  if (config.checkpoints.size() > kMaxPolicies) {
    return LimitPassed(
        absl::StrCat("there are ", config.checkpoints.size(),
                     " checkpoint policies, more than ", kMaxPolicies),
        "max_policies", kMaxPolicies);
  }
  for (const std::string& text : config.checkpoints) {
    training::CheckpointPolicy policy = training::ParsePolicy(text);
    LINNET_RETURN_IF_ERROR(CheckPatterns(policy.patterns, "--checkpoint"));
    if (policy.none() && text != "none") {
      return absl::InvalidArgumentError(
          "a checkpoint policy is empty; it is `none`, `block` or a pattern "
          "over block paths");
    }
    settings.policies.push_back(std::move(policy));
  }
  if (settings.policies.empty()) {
    settings.policies.push_back(training::ParsePolicy("none"));
  }
  return settings;
}

absl::Status CheckLoss(const lang::Program& program, const Target& target) {
  if (IsLoss(program, target.entry)) return absl::OkStatus();
  const lang::Function& entry = program.functions[target.entry];
  std::string text = absl::StrCat(
      "training needs an entry that returns its loss, one float or one per "
      "row, but `",
      program.name(entry.name), "` returns ",
      lang::TypeText(program, entry.result));
  std::vector<absl::string_view> losses;
  for (lang::FunctionId each : EntriesOf(program, target.root)) {
    if (IsLoss(program, each)) {
      losses.push_back(program.name(program.functions[each].name));
    }
  }
  if (losses.empty()) {
    absl::StrAppend(&text, "; no entry of the model does");
  } else {
    absl::StrAppend(&text, "; use `", absl::StrJoin(losses, "` or `"), "`");
  }
  return absl::InvalidArgumentError(text);
}

absl::Status CheckTraining(const graph::Graph& graph,
                           const TrainingSettings& settings) {
  LINNET_RETURN_IF_ERROR(CheckTrainable(graph, settings.options));
  const training::GradientFlow flow(graph, settings.options.trainable);
  if (flow.num_differentiable() == 0) {
    return absl::InvalidArgumentError(
        "the entry computes nothing from a trained parameter, so there is no "
        "gradient to take");
  }
  for (const training::CheckpointPolicy& policy : settings.policies) {
    LINNET_RETURN_IF_ERROR(CheckPolicy(graph, policy));
  }
  return absl::OkStatus();
}

absl::StatusOr<training::Adapted> Adapt(const graph::Graph& graph,
                                        TrainingSettings* settings) {
  const training::Lora& lora = *settings->options.lora;
  const std::vector<std::string> layers = training::LinearLayers(graph);
  if (layers.empty()) {
    return absl::InvalidArgumentError(
        "the entry runs no linear layer as one kernel, so there is nothing to "
        "put adapters beside");
  }
  for (const std::string& pattern : lora.targets) {
    if (absl::c_any_of(layers, [&](const std::string& layer) {
          return training::NamesLayer(layer, pattern);
        })) {
      continue;
    }
    std::set<std::string> known;
    for (const std::string& layer : layers) {
      known.insert(training::GeneralPath(layer));
      known.insert(layer.substr(layer.rfind('.') + 1));
    }
    return NoMatch("linear layer (--lora-target)", pattern, known);
  }
  LINNET_ASSIGN_OR_RETURN(training::Adapted adapted,
                          training::AddAdapters(graph, lora));
  if (adapted.adapters == 0) {
    return absl::InvalidArgumentError(
        "no linear layer of the entry lies in a block array; name layers with "
        "--lora-target");
  }
  for (const char* name : {"*.lora_A.weight", "*.lora_B.weight"}) {
    settings->options.trainable.push_back(name);
  }
  return adapted;
}

void AddTraining(const Config& config, Hasher* hasher) {
  hasher->Add(config.training.has_value());
  if (!config.training) return;
  const TrainingConfig& training = *config.training;
  hasher->Add(training.optimizer).Add(training.master_dtype);
  hasher->Add(training.gradient_dtype).Add(training.shards);
  hasher->Add(training.zero_stage).Add(training.lora.has_value());
  const LoraConfig lora = training.lora.value_or(LoraConfig());
  hasher->Add(lora.rank).Add(lora.dtype).Add(lora.base_format);
  for (const auto* list :
       {&training.trainable, &training.checkpoints, &lora.targets}) {
    hasher->Add(static_cast<int64_t>(list->size()));
    for (const std::string& each : *list) hasher->Add(each);
  }
}

}  // namespace linnet::planner
