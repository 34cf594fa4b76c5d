#include "client/render/json.h"

#include <map>
#include <string>

#include "client/render/dump.h"
#include "client/render/report.h"
#include "client/render/timeline.h"
#include "linnet/v1/model.pb.h"
#include "linnet/v1/models.pb.h"
#include "linnet/v1/planner.pb.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

// Keeps keys in the order they are written.
using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(bool known, const T& value) {
  return known ? Json(value) : Json(nullptr);
}

Json TextOrNull(const std::string& text) { return OrNull(!text.empty(), text); }

template <typename Texts>
Json List(const Texts& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

Json LoraJson(const v1::Lora& lora) {
  return {{"rank", OrNull(lora.has_rank(), lora.rank())},
          {"targets", List(lora.targets())},
          {"dtype", TextOrNull(lora.dtype())},
          {"base_format", TextOrNull(lora.base_format())}};
}

Json Training(const v1::TrainingSettings& training) {
  return {
      {"optimizer", TextOrNull(training.optimizer())},
      {"master_dtype", TextOrNull(training.master_dtype())},
      {"gradient_dtype", TextOrNull(training.gradient_dtype())},
      {"trainable", List(training.trainable())},
      {"checkpoints", List(training.checkpoints())},
      {"shards", OrNull(training.has_shards(), training.shards())},
      {"zero_stage", OrNull(training.has_zero_stage(), training.zero_stage())},
      {"lora", OrNull(training.has_lora(), LoraJson(training.lora()))}};
}

Json ParallelJson(const v1::Parallel& parallel) {
  return {{"tensor", OrNull(parallel.has_tensor(), parallel.tensor())},
          {"pipeline", OrNull(parallel.has_pipeline(), parallel.pipeline())},
          {"microbatches",
           OrNull(parallel.has_microbatches(), parallel.microbatches())},
          {"schedule", TextOrNull(parallel.schedule())},
          {"virtual_stages",
           OrNull(parallel.has_virtual_stages(), parallel.virtual_stages())},
          {"sequence", parallel.sequence()},
          {"expert", OrNull(parallel.has_expert(), parallel.expert())},
          {"stages", List(parallel.stages())}};
}

Json Devices(const v1::AnalyzeResponse& response) {
  Json list = Json::array();
  for (const v1::DeviceMemory& device : response.devices()) {
    list.push_back(
        {{"name", device.name()},
         {"holds", device.holds()},
         {"graph_peak", OrNull(device.has_graph_bytes(), device.graph_bytes())},
         {"expected_peak",
          OrNull(device.has_expected_bytes(), device.expected_bytes())},
         {"runtime",
          OrNull(device.has_runtime_bytes(), device.runtime_bytes())}});
  }
  return list;
}

Json Configuration(const v1::Configuration& config, const std::string& model) {
  Json bindings = Json::object();
  const std::map<std::string, std::string> sorted(config.bindings().begin(),
                                                  config.bindings().end());
  for (const auto& [generic, value] : sorted) bindings[generic] = value;
  return {
      {"model", model},
      {"entry", TextOrNull(config.entry())},
      {"root", TextOrNull(config.root())},
      {"backend", config.backend() == v1::BACKEND_GENERIC ? "generic" : "cuda"},
      {"numerics", config.numerics() == v1::NUMERICS_EXACT        ? "exact"
                   : config.numerics() == v1::NUMERICS_EQUIVALENT ? "equivalent"
                                                                  : "fast"},
      {"dtype", TextOrNull(config.dtype())},
      {"batch", OrNull(config.has_batch(), config.batch())},
      {"context", OrNull(config.has_context(), config.context())},
      {"cache", OrNull(config.has_cache_len(), config.cache_len())},
      {"bindings", bindings},
      {"optionals", List(config.optionals())},
      {"no_bindings", config.ignore_weight_bindings()},
      {"kv_dtype", TextOrNull(config.kv_dtype())},
      {"kv_layout",
       config.kv_layout() == v1::KV_LAYOUT_ROLLING ? "rolling" : "full"},
      {"kv_block_size", OrNull(config.has_kv_block_size_tokens(),
                               config.kv_block_size_tokens())},
      {"context_bytes",
       OrNull(config.has_context_bytes(), config.context_bytes())},
      {"compiled", config.compiled()},
      {"cublas_workspace_config", OrNull(config.has_cublas_workspace_config(),
                                         config.cublas_workspace_config())},
      {"training", OrNull(config.has_training(), Training(config.training()))},
      {"parallel",
       OrNull(config.has_parallel(), ParallelJson(config.parallel()))},
  };
}

Json Components(const v1::AnalyzeResponse& response) {
  Json list = Json::array();
  for (const v1::Component& component : response.components()) {
    list.push_back({
        {"name", component.name()},
        {"category", component.category()},
        {"bytes", OrNull(component.has_bytes(), component.bytes())},
        {"confidence", std::string(ConfidenceText(component.confidence()))},
        {"formula", TextOrNull(component.formula())},
        {"note", TextOrNull(component.note())},
        {"device", TextOrNull(component.device())},
    });
  }
  return list;
}

Json Summary(const v1::ModelSummary& model) {
  return {
      {"name", model.name()},
      {"title", TextOrNull(model.title())},
      {"summary", TextOrNull(model.summary())},
      {"license", TextOrNull(model.license())},
      {"family", TextOrNull(model.family())},
      {"entries", List(model.entries())},
  };
}

template <typename Tensors>
Json TensorList(const Tensors& tensors) {
  Json list = Json::array();
  for (const v1::TensorType& tensor : tensors) {
    list.push_back({{"name", tensor.name()}, {"type", tensor.type()}});
  }
  return list;
}

// Names of files and models come from outside and may not be UTF-8.
Json Report(const v1::AnalyzeResponse& response, const std::string& model) {
  Json symbols = Json::object();
  for (const v1::Symbol& symbol : response.symbols()) {
    symbols[symbol.name()] = symbol.value();
  }
  Json formulas = Json::object();
  for (const v1::Formula& formula : response.formulas()) {
    formulas[formula.name()] = formula.text();
  }
  const v1::Peak& peak = response.peak();
  const v1::Allocation& allocation = response.allocation();
  const Json allocation_json = {
      {"naive", allocation.naive_bytes()},
      {"planned", allocation.planned_bytes()},
      {"lower_bound", allocation.lower_bound_bytes()}};
  Json out = {
      {"version", 1},
      {"configuration", Configuration(response.config(), model)},
      {"symbols", symbols},
      {"components", Components(response)},
      {"peak",
       {{"graph", OrNull(peak.has_graph_bytes(), peak.graph_bytes())},
        {"expected", OrNull(peak.has_expected_bytes(), peak.expected_bytes())},
        {"at", TextOrNull(peak.at())},
        {"confidence", std::string(ConfidenceText(peak.confidence()))}}},
      {"allocation", OrNull(response.has_allocation(), allocation_json)},
      {"recompute", OrNull(response.training().has_recomputed_part(),
                           response.training().recomputed_part())},
      {"devices", Devices(response)},
      {"formulas", formulas},
      {"unknown", List(response.unknown())},
      {"warnings", List(response.warnings())},
      {"assumptions", List(response.assumptions())},
  };
  if (response.has_timeline()) {
    out["timeline"] = TimelineJson(response.timeline());
  }
  return out;
}

}  // namespace

std::string ReportJson(const v1::AnalyzeResponse& response,
                       const std::string& model) {
  if (response.other_policies_size() == 0) {
    return Dump(Report(response, model));
  }
  Json list = Json::array({Report(response, model)});
  for (const v1::AnalyzeResponse& other : response.other_policies()) {
    list.push_back(Report(other, model));
  }
  return Dump(list);
}

std::string ModelsJson(const v1::ModelsListResponse& response) {
  Json list = Json::array();
  for (const v1::ModelSummary& model : response.models()) {
    list.push_back(Summary(model));
  }
  return Dump({{"version", 1}, {"models", list}});
}

std::string DescriptionJson(const v1::ModelsDescribeResponse& response) {
  Json generics = Json::array();
  for (const v1::Generic& generic : response.generics()) {
    generics.push_back(
        {{"name", generic.name()},
         {"kind", generic.kind()},
         {"value", OrNull(generic.has_value(), generic.value())}});
  }
  Json entries = Json::array();
  for (const v1::Entry& entry : response.entries()) {
    entries.push_back({{"name", entry.name()},
                       {"generics", List(entry.generics())},
                       {"inputs", TensorList(entry.inputs())},
                       {"result", TextOrNull(entry.result())},
                       {"states", List(entry.states())}});
  }
  Json ties = Json::array();
  for (const v1::Tie& tie : response.ties()) {
    ties.push_back({{"path", tie.path()}, {"owner", tie.owner()}});
  }
  return Dump({
      {"version", 1},
      {"model", Summary(response.model())},
      {"root_block", response.root_block()},
      {"generics", generics},
      {"entries", entries},
      {"parameter_count", response.num_parameters()},
      {"parameter_bytes", response.parameter_bytes()},
      {"parameters", TensorList(response.parameters())},
      {"ties", ties},
      {"states", TensorList(response.states())},
      {"cache_bytes_per_token", OrNull(response.has_cache_bytes_per_token(),
                                       response.cache_bytes_per_token())},
  });
}

}  // namespace linnet::client
