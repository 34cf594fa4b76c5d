#include "core/zoo/import.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "core/zoo/import_family.h"
#include "core/zoo/import_gguf.h"

namespace linnet::zoo {
namespace {

using nlohmann::json;

constexpr absl::string_view kConfigFile = "config.json";
constexpr absl::string_view kIndexFile = "model.safetensors.index.json";
constexpr absl::string_view kSingleFile = "model.safetensors";

std::string DirectoryOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos
             ? std::string()
             : std::string(path.substr(0, slash + 1));
}

std::string LastPart(absl::string_view path) {
  while (absl::EndsWith(path, "/")) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

// The text model inside a model of several kinds; null: there is none.
const json* TextConfig(const json& config) {
  const auto it = config.find("text_config");
  return it != config.end() && it->is_object() && it->contains("model_type")
             ? &*it
             : nullptr;
}

// Reads the headers beside a config: those the index names, or the one file.
absl::StatusOr<std::optional<Checkpoint>> ReadHeaders(
    const std::string& directory, const FindFile& find) {
  std::set<std::string> names;
  const std::string index_path = absl::StrCat(directory, kIndexFile);
  if (const auto index = find(index_path)) {
    LINNET_ASSIGN_OR_RETURN(const auto files,
                            ParseSafetensorsIndex(*index, index_path));
    for (const auto& [tensor, file] : files) names.insert(file);
  } else if (find(absl::StrCat(directory, kSingleFile))) {
    names.insert(std::string(kSingleFile));
  }
  if (names.empty()) return std::optional<Checkpoint>();
  Checkpoint checkpoint;
  absl::flat_hash_map<std::string, std::string> owners;
  for (const std::string& name : names) {
    const auto content = find(absl::StrCat(directory, name));
    if (!content) {
      checkpoint.complete = false;
      continue;
    }
    LINNET_ASSIGN_OR_RETURN(
        SafetensorsHeader header,
        ParseSafetensors(*content, absl::StrCat(directory, name)));
    for (StoredTensor& tensor : header.tensors) {
      const auto [it, added] = owners.emplace(tensor.name, name);
      if (!added) {
        return absl::InvalidArgumentError(absl::StrCat(
            directory, name, ": the tensor `", absl::CHexEscape(tensor.name),
            "` is in ", it->second, " too"));
      }
      checkpoint.tensors.push_back(std::move(tensor));
      checkpoint.files.push_back(name);
    }
  }
  return std::optional<Checkpoint>(std::move(checkpoint));
}

const Family* FindFamily(absl::string_view model_type) {
  for (absl::Span<const Family> list : {DecoderFamilies(), CardFamilies()}) {
    for (const Family& family : list) {
      if (family.model_type == model_type) return &family;
    }
  }
  return nullptr;
}

// What the stored form of the weights is called; empty: they are not packed.
std::string QuantMethod(ConfigReader& config) {
  const json* quantization = config.Object("quantization_config");
  if (quantization == nullptr) return "";
  ConfigReader reader(*quantization, config.path());
  return reader.Text("quant_method", "an unnamed method");
}

}  // namespace

bool IsImport(absl::string_view root_file) {
  return LastPart(root_file) == kConfigFile ||
         absl::EndsWithIgnoreCase(root_file, ".gguf");
}

std::vector<absl::string_view> KnownModelTypes() {
  std::vector<absl::string_view> names;
  for (absl::Span<const Family> list : {DecoderFamilies(), CardFamilies()}) {
    for (const Family& family : list) names.push_back(family.model_type);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<ImportedModel> ImportConfig(const json& whole,
                                           absl::string_view path) {
  if (!whole.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": must be a JSON object"));
  }
  ImportedModel model;
  const json* text = TextConfig(whole);
  if (text != nullptr) {
    model.notes.push_back(
        "the checkpoint has parts for images or sound; only its text model is "
        "planned");
  }
  ConfigReader outer(whole, path);
  ConfigReader config(text != nullptr ? *text : whole, path);
  const std::string type = config.Text("model_type", "");
  LINNET_RETURN_IF_ERROR(config.status());
  const Family* family = FindFamily(type);
  if (family == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ",
        type.empty() ? std::string("`model_type` is missing")
                     : absl::StrCat("the architecture `",
                                    absl::CHexEscape(type.substr(0, 80)),
                                    "` (`model_type`) is not known"),
        "; known are ", absl::StrJoin(KnownModelTypes(), ", ")));
  }
  const std::vector<std::string> architectures = outer.Texts("architectures");
  const std::string quant = QuantMethod(outer);
  LINNET_RETURN_IF_ERROR(outer.status());
  family->import(config, &model);
  LINNET_RETURN_IF_ERROR(config.status());
  if (model.parameter_count < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": the sizes give more parameters than 63 bits can count"));
  }
  model.card.family = type;
  model.card.title = architectures.empty() ? type : architectures[0];
  model.card.summary = absl::StrCat("Imported from ", LastPart(path), ".");
  model.card.has_weights = true;
  if (!quant.empty() && quant != "mxfp4") {
    model.notes.push_back(
        absl::StrCat("the weights are stored as ", quant.substr(0, 40),
                     "; copies that kernels widen them to are not counted"));
  }
  return model;
}

absl::StatusOr<ImportedModel> ImportModel(absl::string_view root_file,
                                          const FindFile& find) {
  const auto content = find(root_file);
  if (!content) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no file `", root_file, "`"));
  }
  if (absl::EndsWithIgnoreCase(root_file, ".gguf")) {
    LINNET_ASSIGN_OR_RETURN(ImportedModel model,
                            ImportGguf(*content, root_file));
    const std::string file = LastPart(root_file);
    model.card.name = file.substr(0, file.size() - 5);
    return model;
  }
  LINNET_ASSIGN_OR_RETURN(const json config, ParseJson(*content, root_file));
  LINNET_ASSIGN_OR_RETURN(ImportedModel model, ImportConfig(config, root_file));
  const std::string directory = DirectoryOf(root_file);
  ConfigReader reader(config, root_file);
  model.card.name = LastPart(directory);
  if (model.card.name.empty()) {
    model.card.name = LastPart(reader.Text("_name_or_path", ""));
  }
  if (model.card.name.empty()) model.card.name = model.card.family;
  LINNET_ASSIGN_OR_RETURN(const std::optional<Checkpoint> checkpoint,
                          ReadHeaders(directory, find));
  if (checkpoint) {
    LINNET_RETURN_IF_ERROR(MatchCheckpoint(*checkpoint, root_file, &model));
  } else {
    model.notes.push_back(
        "no safetensors headers were given: weights are counted from the "
        "config");
  }
  return model;
}

std::string WithNumber(absl::string_view pattern, int64_t number) {
  return absl::StrReplaceAll(pattern, {{"#", absl::StrCat(number)}});
}

std::string FloatText(double value) {
  // f32 in the program: what it cannot hold is cut to its range.
  constexpr double kLargest = std::numeric_limits<float>::max();
  value = std::max(-kLargest, std::min(kLargest, value));
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    text = absl::StrFormat("%.*g", digits, value);
    double read = 0;
    if (absl::SimpleAtod(text, &read) && read == value) break;
  }
  const size_t exponent = text.find('e');
  std::string mantissa = text.substr(0, exponent);
  if (mantissa.find('.') == std::string::npos) mantissa += ".0";
  if (exponent == std::string::npos) return mantissa;
  int power = 0;
  const bool known = absl::SimpleAtoi(text.substr(exponent + 1), &power);
  return known ? absl::StrCat(mantissa, "e", power) : mantissa;
}

std::string ConfigDType(ConfigReader& config, absl::string_view missing) {
  const std::string name =
      config.Text("torch_dtype", config.Text("dtype", "auto"));
  if (name == "auto") return std::string(missing);
  if (name == "bfloat16") return "bf16";
  if (name == "float16") return "f16";
  if (name == "float32") return "f32";
  config.Fail(absl::StrCat(
      "`torch_dtype` must be one of bfloat16, float16 and float32, but is `",
      absl::CHexEscape(name.substr(0, 40)), "`"));
  return std::string(missing);
}

void AddParameter(ImportedParameter parameter, ImportedModel* model) {
  const bool tied = !model->parameters.empty() &&
                    model->parameters.front().tensor == parameter.tensor;
  if (!tied && model->parameter_count >= 0) {
    const int64_t elements = ElementCount(parameter.shape);
    int64_t values = -1;
    if (elements < 0 ||
        __builtin_mul_overflow(elements, parameter.copies, &values) ||
        __builtin_mul_overflow(values, parameter.values_per_element, &values) ||
        __builtin_add_overflow(model->parameter_count, values,
                               &model->parameter_count)) {
      model->parameter_count = -1;
    }
  }
  model->bindings.emplace_back(parameter.path, parameter.tensor);
  model->parameters.push_back(std::move(parameter));
}

}  // namespace linnet::zoo
