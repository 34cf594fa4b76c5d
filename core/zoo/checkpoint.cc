// Finds the tensors that a program's parameters are read from.

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/base/bytes.h"
#include "core/zoo/import_family.h"

namespace linnet::zoo {
namespace {

constexpr size_t kShownProblems = 4;
constexpr absl::string_view kWeight = ".weight";
constexpr absl::string_view kBias = ".bias";

// What quantised forms store in place of `X.weight`, after X.
constexpr absl::string_view kPackedWeights[] = {".qweight", ".weight_packed",
                                                "_blocks"};
// What they store beside it.
constexpr absl::string_view kBeside[] = {
    ".qzeros",
    ".scales",
    ".g_idx",
    ".weight_scale",
    ".weight_scale_2",
    ".weight_scale_inv",
    ".weight_shape",
    ".weight_zero_point",
    ".weight_g_idx",
    ".weight_global_scale",
    ".input_scale",
    ".weight.absmax",
    ".weight.quant_map",
    ".weight.nested_absmax",
    ".weight.nested_quant_map",
    ".weight.quant_state.bitsandbytes__nf4",
    ".weight.quant_state.bitsandbytes__fp4",
    ".SCB",
    ".weight_format",
    ".k_scale",
    ".v_scale",
    "_scales",
    "_scale",
    "_scale_inv"};
// Buffers that programs make anew.
constexpr absl::string_view kMadeAnew[] = {
    ".rotary_emb.inv_freq",   ".attn.bias",
    ".attn.masked_bias",      ".attention.bias",
    ".attention.masked_bias", ".position_ids"};

bool IsFloat(absl::string_view dtype) {
  return dtype == "F32" || dtype == "F16" || dtype == "BF16" ||
         dtype == "F64" || absl::StartsWith(dtype, "F8_");
}

// The ways in which checkpoints of one architecture spell a name.
std::vector<std::string> Spellings(absl::string_view name) {
  std::vector<std::string> spellings = {std::string(name)};
  for (absl::string_view prefix :
       {"model.", "transformer.", "bert.", "roberta.", "vit."}) {
    absl::string_view rest = name;
    if (absl::ConsumePrefix(&rest, prefix)) {
      spellings.emplace_back(rest);
      spellings.push_back(absl::StrCat("model.language_model.", rest));
    } else {
      spellings.push_back(absl::StrCat(prefix, name));
    }
  }
  spellings.push_back(absl::StrCat("language_model.", name));
  const size_t plain = spellings.size();
  for (size_t i = 0; i < plain; ++i) {
    for (const auto& [from, to] :
         {std::pair("LayerNorm.weight", "LayerNorm.gamma"),
          std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
      if (absl::EndsWith(spellings[i], from)) {
        spellings.push_back(absl::StrReplaceAll(spellings[i], {{from, to}}));
      }
    }
  }
  return spellings;
}

class Matcher {
 public:
  Matcher(const Checkpoint& checkpoint, ImportedModel* model)
      : checkpoint_(checkpoint),
        model_(model),
        used_(checkpoint.tensors.size(), false) {
    for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
      by_name_.emplace(checkpoint.tensors[i].name, i);
    }
  }

  absl::Status Run(absl::string_view config_path) {
    OwnHead();
    for (size_t i = 0; i < model_->parameters.size(); ++i) Match(i);
    if (num_problems_ > 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          config_path, ": the checkpoint disagrees with the config: ",
          absl::StrJoin(problems_, "; "),
          num_problems_ > problems_.size()
              ? absl::StrCat("; and ", num_problems_ - problems_.size(),
                             " more")
              : ""));
    }
    SetDType();
    TakeRest();
    if (checkpoint_.complete) {
      model_->weight_bytes = bytes_;
    } else {
      model_->notes.push_back(
          "the headers of some safetensors files were not given: weights are "
          "counted from the config");
    }
    return absl::OkStatus();
  }

 private:
  void Problem(std::string text) {
    ++num_problems_;
    if (problems_.size() < kShownProblems) {
      problems_.push_back(std::move(text));
    }
  }

  // The tensor of this name in any spelling; -1 when there is none. The first
  // one found tells how the others are spelt.
  int64_t Find(absl::string_view name) {
    if (const auto it = by_name_.find(name); it != by_name_.end()) {
      return static_cast<int64_t>(it->second);
    }
    for (const std::string& spelling : Spellings(name)) {
      if (const auto it = by_name_.find(spelling); it != by_name_.end()) {
        return static_cast<int64_t>(it->second);
      }
    }
    return -1;
  }

  // A tied model that stores its head all the same keeps it.
  void OwnHead() {
    ImportedParameter& head = model_->parameters.back();
    if (head.path != "lm_head.weight" ||
        head.tensor != model_->parameters.front().tensor) {
      return;
    }
    for (absl::string_view name : {"lm_head.weight", "embed_out.weight"}) {
      if (Find(name) < 0) continue;
      head.tensor = std::string(name);
      model_->parameter_count += ElementCount(head.shape);
    }
  }

  void Match(size_t index) {
    ImportedParameter& parameter = model_->parameters[index];
    if (parameter.copies == 1) {
      const int64_t found = MatchTensor(parameter, parameter.tensor);
      if (found >= 0) {
        parameter.tensor = checkpoint_.tensors[static_cast<size_t>(found)].name;
      }
    } else {
      for (int64_t copy = 0; copy < parameter.copies; ++copy) {
        const std::string name =
            absl::StrReplaceAll(parameter.tensor, {{"*", absl::StrCat(copy)}});
        // One missing expert says enough.
        if (MatchTensor(parameter, name) < 0) break;
      }
    }
    model_->bindings[index].second = parameter.tensor;
  }

  // Takes the tensor `name` and what is stored in its place: its number, or -1.
  int64_t MatchTensor(const ImportedParameter& parameter,
                      const std::string& name) {
    const int64_t found = Find(name);
    if (found >= 0) {
      CheckShape(parameter, checkpoint_.tensors[static_cast<size_t>(found)]);
      Take(found, parameter);
      return found;
    }
    absl::string_view stem = name;
    if (!absl::ConsumeSuffix(&stem, kWeight)) stem = name;
    for (absl::string_view packed : kPackedWeights) {
      const int64_t other = Find(absl::StrCat(stem, packed));
      if (other < 0) continue;
      Take(other, parameter);
      return other;
    }
    if (parameter.required && checkpoint_.complete) {
      Problem(absl::StrCat("`", name, "` of shape ", ShapeText(parameter.shape),
                           " is missing"));
    }
    return -1;
  }

  void CheckShape(const ImportedParameter& parameter,
                  const StoredTensor& tensor) {
    if (tensor.shape == parameter.shape || !IsFloat(tensor.dtype)) return;
    Problem(absl::StrCat("`", absl::CHexEscape(tensor.name), "` is ",
                         ShapeText(tensor.shape), ", but the config gives ",
                         ShapeText(parameter.shape)));
  }

  void Take(int64_t found, const ImportedParameter& parameter) {
    const size_t i = static_cast<size_t>(found);
    if (used_[i]) return;
    used_[i] = true;
    const StoredTensor& tensor = checkpoint_.tensors[i];
    bytes_ += tensor.bytes;
    absl::string_view stem = tensor.name;
    for (absl::string_view packed : kPackedWeights) {
      if (absl::ConsumeSuffix(&stem, packed)) break;
    }
    absl::ConsumeSuffix(&stem, kWeight);
    stems_.emplace(std::string(stem), &parameter - model_->parameters.data());
  }

  // The dtype of activations is that of the first parameter.
  void SetDType() {
    const ImportedParameter& first = model_->parameters.front();
    const int64_t found = Find(first.tensor);
    if (found < 0) return;
    const std::string& dtype =
        checkpoint_.tensors[static_cast<size_t>(found)].dtype;
    const absl::string_view name = dtype == "BF16"  ? "bf16"
                                   : dtype == "F16" ? "f16"
                                   : dtype == "F32" ? "f32"
                                                    : "";
    if (name.empty()) return;
    for (GenericValue& generic : model_->card.generics) {
      if (generic.name == "T") generic.value = std::string(name);
    }
  }

  // The parameter of a stem of the checkpoint; -1: none.
  int64_t OwnerOf(absl::string_view stem) const {
    const auto it = stems_.find(stem);
    return it == stems_.end() ? -1 : it->second;
  }

  // What no parameter names: parts of quantised weights and biases belong to
  // one all the same.
  void TakeRest() {
    std::vector<absl::string_view> unread;
    int64_t unread_bytes = 0;
    for (size_t i = 0; i < checkpoint_.tensors.size(); ++i) {
      const StoredTensor& tensor = checkpoint_.tensors[i];
      if (used_[i] || IsMadeAnew(tensor.name)) continue;
      if (IsBeside(tensor.name)) {
        bytes_ += tensor.bytes;
      } else if (AddBias(tensor)) {
        bytes_ += tensor.bytes;
      } else {
        unread.push_back(tensor.name);
        unread_bytes += tensor.bytes;
      }
    }
    if (unread.empty()) return;
    const size_t shown = std::min<size_t>(unread.size(), 3);
    std::vector<std::string> names;
    for (size_t i = 0; i < shown; ++i) {
      names.push_back(absl::StrCat("`", absl::CHexEscape(unread[i]), "`"));
    }
    model_->notes.push_back(absl::StrCat(
        unread.size(), " tensors of the checkpoint (",
        FormatBytes(unread_bytes),
        ") are read by no parameter and not counted: ",
        absl::StrJoin(names, ", "), unread.size() > shown ? ", …" : ""));
  }

  static bool IsMadeAnew(absl::string_view name) {
    return std::any_of(
        std::begin(kMadeAnew), std::end(kMadeAnew),
        [&](absl::string_view suffix) { return absl::EndsWith(name, suffix); });
  }

  bool IsBeside(absl::string_view name) const {
    for (absl::string_view suffix : kBeside) {
      absl::string_view stem = name;
      if (absl::ConsumeSuffix(&stem, suffix) && OwnerOf(stem) >= 0) return true;
    }
    return false;
  }

  // A bias that the config does not tell of, of an affine map that has one
  // if the weights do.
  bool AddBias(const StoredTensor& tensor) {
    absl::string_view stem = tensor.name;
    if (!absl::ConsumeSuffix(&stem, kBias)) return false;
    const int64_t owner = OwnerOf(stem);
    if (owner < 0) return false;
    const ImportedParameter weight =
        model_->parameters[static_cast<size_t>(owner)];
    absl::string_view path = weight.path;
    if (weight.copies != 1 || weight.shape.size() != 2 ||
        !absl::ConsumeSuffix(&path, kWeight) || tensor.shape.size() != 1 ||
        tensor.shape[0] != weight.shape[0] ||
        absl::StrContains(path, "embedding")) {
      return false;
    }
    ImportedParameter bias;
    bias.path = absl::StrCat(path, kBias);
    bias.tensor = tensor.name;
    bias.shape = tensor.shape;
    bias.required = false;
    AddParameter(std::move(bias), model_);
    return true;
  }

  const Checkpoint& checkpoint_;
  ImportedModel* const model_;
  absl::flat_hash_map<absl::string_view, size_t> by_name_;
  std::vector<bool> used_;
  absl::flat_hash_map<std::string, int64_t> stems_;  // To the parameter.
  int64_t bytes_ = 0;
  std::vector<std::string> problems_;
  size_t num_problems_ = 0;
};

}  // namespace

absl::Status MatchCheckpoint(const Checkpoint& checkpoint,
                             absl::string_view config_path,
                             ImportedModel* model) {
  return Matcher(checkpoint, model).Run(config_path);
}

}  // namespace linnet::zoo
