#include "core/zoo/import_gguf.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/zoo/gguf.h"
#include "core/zoo/safetensors.h"

namespace linnet::zoo {
namespace {

using nlohmann::json;

struct Architecture {
  absl::string_view gguf, model_type;
};
constexpr Architecture kArchitectures[] = {{"bert", "bert"},
                                           {"command-r", "cohere"},
                                           {"deepseek2", "deepseek_v2"},
                                           {"falcon", "falcon"},
                                           {"gemma", "gemma"},
                                           {"gemma2", "gemma2"},
                                           {"gemma3", "gemma3_text"},
                                           {"gpt-oss", "gpt_oss"},
                                           {"gpt2", "gpt2"},
                                           {"gptneox", "gpt_neox"},
                                           {"granite", "granite"},
                                           {"llama", "llama"},
                                           {"llama4", "llama4_text"},
                                           {"olmo2", "olmo2"},
                                           {"phi3", "phi3"},
                                           {"qwen2", "qwen2"},
                                           {"qwen2moe", "qwen2_moe"},
                                           {"qwen3", "qwen3"},
                                           {"qwen3moe", "qwen3_moe"},
                                           {"smollm3", "smollm3"}};

// A key of the metadata, the keys of a config it stands for.
struct KeyName {
  absl::string_view gguf;
  absl::string_view config;
};
constexpr KeyName kKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.layer_norm_epsilon", "layer_norm_eps"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.scale", "attention_multiplier"},
    {"embedding_scale", "embedding_multiplier"},
    {"residual_scale", "residual_multiplier"},
    {"logit_scale", "logit_scale"},
    {"rope.freq_base", "rope_theta"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
    {"expert_shared_count", "n_shared_experts"},
    {"expert_weights_scale", "routed_scaling_factor"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"rope.dimension_count", "qk_rope_head_dim"},
    {"attention.value_length", "v_head_dim"}};

const GgufTensor* FindTensor(const GgufHeader& header, absl::string_view name) {
  for (const GgufTensor& tensor : header.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

bool HasSuffix(const GgufHeader& header, absl::string_view suffix) {
  return std::any_of(header.tensors.begin(), header.tensors.end(),
                     [&](const GgufTensor& tensor) {
                       return absl::EndsWith(tensor.name, suffix);
                     });
}

// Copies the keys that a config has another name for.
absl::Status CopyKeys(const GgufHeader& header, absl::string_view architecture,
                      absl::string_view path, json* config) {
  for (const KeyName& key : kKeys) {
    const std::string name = absl::StrCat(architecture, ".", key.gguf);
    const GgufValue* value = header.Find(name);
    if (value == nullptr) continue;
    json& target = (*config)[std::string(key.config)];
    switch (value->kind) {
      case GgufValue::Kind::kInteger:
        target = value->integer;
        break;
      case GgufValue::Kind::kReal:
        // A number that is none says nothing.
        target = std::isfinite(value->real) ? json(value->real) : json();
        break;
      case GgufValue::Kind::kList: {
        const std::vector<int64_t>& each = value->integers;
        if (each.empty() || std::count(each.begin(), each.end(), each[0]) !=
                                static_cast<int64_t>(each.size())) {
          return absl::InvalidArgumentError(absl::StrCat(
              path, ": `", name,
              "` differs from layer to layer; that form is not known"));
        }
        target = each[0];
        break;
      }
      case GgufValue::Kind::kBool:
      case GgufValue::Kind::kText:
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": `", name, "` must be a number"));
    }
  }
  return absl::OkStatus();
}

// What families call by names of their own, and what tensors tell.
void Specialise(const GgufHeader& header, absl::string_view model_type,
                json* config) {
  json& c = *config;
  const bool experts = c.contains("num_experts") &&
                       c["num_experts"].is_number_integer() &&
                       c["num_experts"].get<int64_t>() > 0;
  if (model_type == "llama" && experts) {
    c["model_type"] = "mixtral";
    c["num_local_experts"] = c["num_experts"];
  }
  if (model_type == "gpt_oss" || model_type == "llama4_text") {
    c["num_local_experts"] = c["num_experts"];
    if (c.contains("moe_intermediate_size")) {
      if (model_type == "llama4_text") {
        c["intermediate_size_mlp"] = c["intermediate_size"];
      }
      c["intermediate_size"] = c["moe_intermediate_size"];
    }
  }
  if (model_type == "gpt2") {
    c["n_embd"] = c["hidden_size"];
    c["n_head"] = c["num_attention_heads"];
    c["n_layer"] = c["num_hidden_layers"];
    c["n_positions"] = c["max_position_embeddings"];
    c["n_inner"] = c["intermediate_size"];
  }
  if (model_type == "falcon") {
    c["num_kv_heads"] = c["num_key_value_heads"];
    c["ffn_hidden_size"] = c["intermediate_size"];
    c["new_decoder_architecture"] = HasSuffix(header, ".attn_norm_2.weight");
  }
  if (model_type == "granite" && c.contains("logit_scale")) {
    c["logits_scaling"] = c["logit_scale"];
  }
  if (model_type == "deepseek_v2") {
    c["n_routed_experts"] = c["num_experts"];
    if (HasSuffix(header, ".exp_probs_b.bias")) {
      c["topk_method"] = "noaux_tc";
      c["scoring_func"] = "sigmoid";
    }
    if (const GgufValue* wide =
            header.Find("deepseek2.attention.key_length_mla")) {
      c["head_dim"] = wide->integer;
    }
    if (const GgufValue* wide =
            header.Find("deepseek2.attention.value_length_mla")) {
      c["v_head_dim"] = wide->integer;
    }
    if (c.contains("head_dim") && c["head_dim"].is_number_integer() &&
        c.contains("qk_rope_head_dim") &&
        c["qk_rope_head_dim"].is_number_integer()) {
      // Bounded first: both are from outside.
      const int64_t whole =
          std::clamp<int64_t>(c["head_dim"].get<int64_t>(), 0, kMaxKeptList);
      const int64_t turning = std::clamp<int64_t>(
          c["qk_rope_head_dim"].get<int64_t>(), 0, kMaxKeptList);
      c["qk_nope_head_dim"] = whole - turning;
    }
    c["norm_topk_prob"] = true;
    c.erase("head_dim");
  } else if (model_type != "phi3" && c.contains("qk_rope_head_dim") &&
             c.contains("head_dim") &&
             c["qk_rope_head_dim"].is_number_integer() &&
             c["head_dim"].is_number_integer() &&
             c["head_dim"].get<int64_t>() > 0) {
    const double part =
        static_cast<double>(c["qk_rope_head_dim"].get<int64_t>()) /
        static_cast<double>(c["head_dim"].get<int64_t>());
    if (part > 0.0 && part <= 1.0) c["partial_rotary_factor"] = part;
  }
  if (HasSuffix(header, ".attn_q.bias")) c["attention_bias"] = true;
}

// The layers that tensors speak of, and the shape of the table of tokens.
absl::Status CheckTensors(const GgufHeader& header, absl::string_view path,
                          const ImportedModel& model, int64_t layers) {
  int64_t highest = -1;
  for (const GgufTensor& tensor : header.tensors) {
    absl::string_view rest = tensor.name;
    int64_t number = 0;
    if (absl::ConsumePrefix(&rest, "blk.") &&
        absl::SimpleAtoi(rest.substr(0, rest.find('.')), &number)) {
      highest = std::max(highest, number);
    }
  }
  if (highest + 1 != layers) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has tensors of ", highest + 1,
                     " layers (`blk.N`), but the metadata gives ", layers));
  }
  const GgufTensor* table = FindTensor(header, "token_embd.weight");
  if (table == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the tensor `token_embd.weight` is missing"));
  }
  const std::vector<int64_t>& want = model.parameters.front().shape;
  if (table->shape != want) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": `token_embd.weight` is ", ShapeText(table->shape),
                     ", but the metadata gives ", ShapeText(want)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImportedModel> ImportGguf(absl::string_view bytes,
                                         absl::string_view path) {
  LINNET_ASSIGN_OR_RETURN(const GgufHeader header, ParseGguf(bytes, path));
  const GgufValue* name = header.Find("general.architecture");
  if (name == nullptr || name->kind != GgufValue::Kind::kText) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": `general.architecture` is missing"));
  }
  const auto* architecture = std::find_if(
      std::begin(kArchitectures), std::end(kArchitectures),
      [&](const Architecture& each) { return each.gguf == name->text; });
  if (architecture == std::end(kArchitectures)) {
    std::vector<absl::string_view> known;
    for (const Architecture& each : kArchitectures) known.push_back(each.gguf);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the architecture `",
                     absl::CHexEscape(name->text.substr(0, 80)),
                     "` is not known; known are ", absl::StrJoin(known, ", ")));
  }
  json config = json::object();
  config["model_type"] = std::string(architecture->model_type);
  LINNET_RETURN_IF_ERROR(CopyKeys(header, architecture->gguf, path, &config));
  if (const GgufTensor* table = FindTensor(header, "token_embd.weight");
      table != nullptr && table->shape.size() == 2) {
    config["vocab_size"] = table->shape[0];
  }
  config["torch_dtype"] = "float16";
  config["tie_word_embeddings"] =
      FindTensor(header, "output.weight") == nullptr;
  Specialise(header, architecture->model_type, &config);
  LINNET_ASSIGN_OR_RETURN(ImportedModel model, ImportConfig(config, path));
  LINNET_RETURN_IF_ERROR(CheckTensors(
      header, path, model, config["num_hidden_layers"].get<int64_t>()));
  model.weight_bytes = header.data_bytes;
  if (const GgufValue* title = header.Find("general.name");
      title != nullptr && title->kind == GgufValue::Kind::kText) {
    model.card.title = title->text.substr(0, 200);
  }
  model.notes.push_back(
      "weights are counted as the file stores them; activations are f16");
  return model;
}

}  // namespace linnet::zoo
