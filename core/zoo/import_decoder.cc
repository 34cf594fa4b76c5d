// The architectures of the general decoder source, by the keys that the
// `transformers` library writes for each.

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/zoo/decoder_spec.h"
#include "core/zoo/import_family.h"

namespace linnet::zoo {
namespace {

// A cache longer than this is asked for with --cache-len.
constexpr int64_t kDefaultMaxSeq = 8192;
constexpr int64_t kMaxExperts = 65536;

// What a family's configuration class takes for keys that are left out.
struct Defaults {
  bool tied = false;
  int64_t head_dim = 0;  // 0: hidden_size / num_attention_heads.
  int64_t max_positions = 8192;
  double eps = 1e-6;
  double theta = 10000.0;
  const char* eps_key = "rms_norm_eps";
  const char* activation_key = "hidden_act";
  const char* activation = "silu";
};

void ReadActivation(ConfigReader& config, const char* key,
                    absl::string_view missing, DecoderSpec* spec) {
  const std::string name = config.Text(key, missing);
  if (name == "silu" || name == "swish") {
    spec->activation = "Silu";
  } else if (name == "gelu_new" || name == "gelu_pytorch_tanh" ||
             name == "gelu_fast") {
    spec->activation = "Gelu";
  } else if (name == "gelu") {
    spec->activation = "GeluErf";
  } else if (name == "relu") {
    spec->activation = "Relu";
  } else {
    config.Fail(absl::StrCat("`", key,
                             "` must be one of silu, gelu, gelu_new, "
                             "gelu_pytorch_tanh and relu"));
  }
}

void ReadRope(ConfigReader& config, double theta, DecoderSpec* spec,
              ImportedModel* model) {
  const nlohmann::json* scaling = config.Object("rope_parameters");
  if (scaling == nullptr) scaling = config.Object("rope_scaling");
  spec->theta = config.Real("rope_theta", theta);
  if (scaling == nullptr) return;
  ConfigReader rope(*scaling, absl::StrCat(config.path(), ": rope_scaling"));
  const std::string type = rope.Text("rope_type", rope.Text("type", "default"));
  spec->theta = rope.Real("rope_theta", spec->theta);
  if (type == "llama3") {
    spec->frequencies = "Llama3";
    spec->rope_factor = rope.Real("factor", std::nullopt);
    spec->low_freq_factor = rope.Real("low_freq_factor", std::nullopt);
    spec->high_freq_factor = rope.Real("high_freq_factor", std::nullopt);
    spec->original_positions =
        rope.Real("original_max_position_embeddings", std::nullopt);
  } else if (type != "default") {
    model->notes.push_back(absl::StrCat(
        "rotary positions are counted without their `", type.substr(0, 40),
        "` scaling, which changes numbers but no sizes"));
  }
  if (!rope.ok()) {
    config.Fail(rope.status().message().substr(config.path().size() + 2));
  }
}

// Heads and their width, with the contradictions they may have.
void ReadHeads(ConfigReader& config, const Defaults& defaults,
               DecoderSpec* spec) {
  spec->heads = config.Integer("num_attention_heads", std::nullopt);
  spec->kv_heads = config.Integer("num_key_value_heads", spec->heads);
  if (spec->kv_heads > spec->heads) {
    config.Fail(absl::StrCat("`num_key_value_heads` (", spec->kv_heads,
                             ") is larger than `num_attention_heads` (",
                             spec->heads, ")"));
  }
  config.CheckDivides("num_attention_heads", spec->heads, "num_key_value_heads",
                      spec->kv_heads);
  if (defaults.head_dim > 0 || config.Has("head_dim")) {
    spec->head_dim = config.Integer("head_dim", defaults.head_dim);
  } else {
    config.CheckDivides("hidden_size", spec->h, "num_attention_heads",
                        spec->heads);
    spec->head_dim = spec->heads > 0 ? spec->h / spec->heads : 0;
  }
  if (spec->head_dim % 2 != 0) {
    config.Fail(
        absl::StrCat("the width of a head (`head_dim`, else "
                     "`hidden_size` / `num_attention_heads`) must be "
                     "even, but is ",
                     spec->head_dim));
  }
}

// What nearly every family says in the same way.
DecoderSpec ReadCommon(ConfigReader& config, const Defaults& defaults,
                       ImportedModel* model) {
  DecoderSpec spec;
  spec.vocab = config.Integer("vocab_size", std::nullopt);
  spec.h = config.Integer("hidden_size", std::nullopt);
  ReadHeads(config, defaults, &spec);
  spec.inner = config.Integer("intermediate_size", std::nullopt);
  spec.layers.resize(static_cast<size_t>(
      config.Integer("num_hidden_layers", std::nullopt, 1, kMaxConfigLayers)));
  spec.max_seq = std::min(
      config.Integer("max_position_embeddings", defaults.max_positions),
      kDefaultMaxSeq);
  spec.eps = config.Real(defaults.eps_key, defaults.eps);
  ReadActivation(config, defaults.activation_key, defaults.activation, &spec);
  ReadRope(config, defaults.theta, &spec, model);
  spec.tied = config.Bool("tie_word_embeddings", defaults.tied);
  spec.dtype = ConfigDType(config, "bf16");
  const double turning = config.Real("partial_rotary_factor", 1.0);
  if (turning <= 0.0 || turning > 1.0) {
    config.Fail("`partial_rotary_factor` must be above 0 and at most 1");
  }
  spec.rotary_dim = static_cast<int64_t>(
      std::floor(static_cast<double>(spec.head_dim) * turning));
  if (spec.rotary_dim % 2 != 0) {
    config.Fail(
        absl::StrCat("the turning part of a head "
                     "(`partial_rotary_factor`) must be even, but is ",
                     spec.rotary_dim));
  }
  return spec;
}

// Which layers look back only `window` positions: as `layer_types` says, else
// as `windowed` does.
template <typename Windowed>
void SetWindows(ConfigReader& config, int64_t window, Windowed windowed,
                DecoderSpec* spec) {
  const std::vector<std::string> types = config.Texts("layer_types");
  if (!types.empty() && types.size() != spec->layers.size()) {
    config.Fail(absl::StrCat("`layer_types` has ", types.size(),
                             " entries, but `num_hidden_layers` is ",
                             spec->layers.size()));
    return;
  }
  spec->window = window;
  for (size_t i = 0; i < spec->layers.size(); ++i) {
    spec->layers[i].window =
        window > 0 && (types.empty() ? windowed(static_cast<int64_t>(i))
                                     : types[i] == "sliding_attention" ||
                                           types[i] == "chunked_attention");
  }
}

// Every layer, when the window is smaller than the context.
void SetPlainWindow(ConfigReader& config, DecoderSpec* spec) {
  const int64_t window = config.Integer("sliding_window", 0);
  const int64_t context = config.Integer("max_position_embeddings", 1);
  SetWindows(
      config, window < context ? window : 0, [](int64_t) { return true; },
      spec);
}

void Finish(ConfigReader& config, const DecoderSpec& spec,
            ImportedModel* model) {
  if (!config.ok()) return;
  BuildDecoder(spec, model);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (!spec.layers[i].window) continue;
    model->card.windows.push_back(
        {absl::StrCat("layers.", i, ".*"), absl::StrCat(spec.window)});
  }
}

void Llama(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {.max_positions = 2048}, model);
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.mlp_bias = config.Bool("mlp_bias", false);
  Finish(config, spec, model);
}

void Mistral(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {}, model);
  SetPlainWindow(config, &spec);
  Finish(config, spec, model);
}

// Which layers have no rotary positions: those with 0 in `no_rope_layers`, else
// every `no_rope_layer_interval`-th.
void SetRotary(ConfigReader& config, DecoderSpec* spec) {
  const std::vector<int64_t> turning = config.Integers("no_rope_layers");
  const int64_t interval = config.Integer("no_rope_layer_interval", 4);
  if (!turning.empty() && turning.size() != spec->layers.size()) {
    config.Fail(absl::StrCat("`no_rope_layers` has ", turning.size(),
                             " entries, but `num_hidden_layers` is ",
                             spec->layers.size()));
    return;
  }
  for (size_t i = 0; i < spec->layers.size(); ++i) {
    spec->layers[i].rotary = turning.empty()
                                 ? (static_cast<int64_t>(i) + 1) % interval != 0
                                 : turning[i] != 0;
  }
}

void SmolLm3(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {.tied = true}, model);
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.mlp_bias = config.Bool("mlp_bias", false);
  SetRotary(config, &spec);
  if (config.Bool("use_sliding_window", false)) SetPlainWindow(config, &spec);
  Finish(config, spec, model);
}

void ReadExperts(ConfigReader& config, const char* experts_key,
                 const char* top_key, DecoderSpec* spec) {
  spec->experts = config.Integer(experts_key, std::nullopt, 1, kMaxExperts);
  spec->top_k = config.Integer(top_key, std::nullopt, 1, kMaxExperts);
  if (spec->top_k > spec->experts) {
    config.Fail(absl::StrCat("`", top_key, "` (", spec->top_k,
                             ") is larger than `", experts_key, "` (",
                             spec->experts, ")"));
  }
}

void Mixtral(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {.eps = 1e-5}, model);
  SetPlainWindow(config, &spec);
  ReadExperts(config, "num_local_experts", "num_experts_per_tok", &spec);
  spec.expert_inner = spec.inner;
  spec.normalised_experts = true;
  spec.names.router = "block_sparse_moe.gate";
  spec.names.expert_gate = "block_sparse_moe.experts.*.w1";
  spec.names.expert_up = "block_sparse_moe.experts.*.w3";
  spec.names.expert_down = "block_sparse_moe.experts.*.w2";
  for (DecoderLayerSpec& layer : spec.layers) layer.moe = true;
  Finish(config, spec, model);
}

// The window of Qwen's dense models, off unless `use_sliding_window`.
void SetQwenWindow(ConfigReader& config, DecoderSpec* spec) {
  if (!config.Bool("use_sliding_window", false)) return;
  const int64_t first = config.Integer("max_window_layers", 28, 0);
  SetWindows(
      config, config.Integer("sliding_window", 4096),
      [first](int64_t i) { return i >= first; }, spec);
}

void Qwen2(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {.max_positions = 32768}, model);
  spec.qkv_bias = true;
  SetQwenWindow(config, &spec);
  Finish(config, spec, model);
}

void Qwen3(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec =
      ReadCommon(config, {.head_dim = 128, .max_positions = 32768}, model);
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.qk_norm = QkNorm::kPerHead;
  SetQwenWindow(config, &spec);
  Finish(config, spec, model);
}

// The experts of Qwen's mixtures, and which layers have them.
void SetQwenExperts(ConfigReader& config, DecoderSpec* spec) {
  ReadExperts(config, "num_experts", "num_experts_per_tok", spec);
  spec->expert_inner = config.Integer("moe_intermediate_size", std::nullopt);
  spec->normalised_experts = config.Bool("norm_topk_prob", false);
  const int64_t step = config.Integer("decoder_sparse_step", 1);
  const std::vector<int64_t> dense = config.Integers("mlp_only_layers");
  for (size_t i = 0; i < spec->layers.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i);
    spec->layers[i].moe =
        (index + 1) % step == 0 &&
        std::find(dense.begin(), dense.end(), index) == dense.end();
  }
}

void Qwen2Moe(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {.max_positions = 32768}, model);
  spec.qkv_bias = true;
  SetQwenExperts(config, &spec);
  spec.shared_inner =
      config.Integer("shared_expert_intermediate_size", std::nullopt);
  spec.names.shared_gate = "mlp.shared_expert.gate_proj";
  spec.names.shared_up = "mlp.shared_expert.up_proj";
  spec.names.shared_down = "mlp.shared_expert.down_proj";
  spec.names.shared_switch = "mlp.shared_expert_gate";
  SetQwenWindow(config, &spec);
  Finish(config, spec, model);
}

void Qwen3Moe(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec =
      ReadCommon(config, {.head_dim = 128, .max_positions = 32768}, model);
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.qk_norm = QkNorm::kPerHead;
  SetQwenExperts(config, &spec);
  SetQwenWindow(config, &spec);
  Finish(config, spec, model);
}

// The common part of Gemma's generations.
DecoderSpec ReadGemma(ConfigReader& config, const char* activation_key,
                      ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config,
                                {.tied = true,
                                 .head_dim = 256,
                                 .activation_key = activation_key,
                                 .activation = "gelu_pytorch_tanh"},
                                model);
  spec.norm_kind = "OffsetRms";
  spec.embedding_factor = std::sqrt(static_cast<double>(spec.h));
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  return spec;
}

void SetSandwichNorms(DecoderSpec* spec) {
  spec->names.attention_post_norm = "post_attention_layernorm";
  spec->names.mlp_norm = "pre_feedforward_layernorm";
  spec->names.mlp_post_norm = "post_feedforward_layernorm";
}

void SetGemmaScale(ConfigReader& config, DecoderSpec* spec) {
  const double scalar = config.Real("query_pre_attn_scalar", 256.0);
  if (scalar <= 0.0) config.Fail("`query_pre_attn_scalar` must be above 0");
  spec->attention_scale = 1.0 / std::sqrt(scalar);
}

void Gemma(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadGemma(config, "hidden_activation", model);
  Finish(config, spec, model);
}

void Gemma2(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadGemma(config, "hidden_activation", model);
  SetSandwichNorms(&spec);
  SetGemmaScale(config, &spec);
  if (config.Has("final_logit_softcapping")) {
    spec.logits = "Capped";
    spec.logit_factor = config.Real("final_logit_softcapping", 30.0);
  }
  SetWindows(
      config, config.Integer("sliding_window", 4096),
      [](int64_t i) { return i % 2 == 0; }, &spec);
  Finish(config, spec, model);
}

void Gemma3(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadGemma(config, "hidden_activation", model);
  SetSandwichNorms(&spec);
  SetGemmaScale(config, &spec);
  spec.qk_norm = QkNorm::kPerHead;
  const int64_t pattern = config.Integer("sliding_window_pattern", 6);
  SetWindows(
      config, config.Integer("sliding_window", 4096),
      [pattern](int64_t i) { return (i + 1) % pattern != 0; }, &spec);
  Finish(config, spec, model);
}

void Phi3(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec =
      ReadCommon(config, {.max_positions = 4096, .eps = 1e-5}, model);
  spec.names.qkv = "self_attn.qkv_proj";
  spec.names.gate_up = "mlp.gate_up_proj";
  SetPlainWindow(config, &spec);
  Finish(config, spec, model);
}

void GptNeoX(ConfigReader& config, ImportedModel* model) {
  Defaults defaults;
  defaults.max_positions = 2048;
  defaults.eps = 1e-5;
  defaults.eps_key = "layer_norm_eps";
  defaults.activation = "gelu";
  DecoderSpec spec = ReadCommon(config, defaults, model);
  const double turning = config.Real("rotary_pct", 0.25);
  if (turning <= 0.0 || turning > 1.0) {
    config.Fail("`rotary_pct` must be above 0 and at most 1");
  }
  spec.rotary_dim = static_cast<int64_t>(
      std::floor(static_cast<double>(spec.head_dim) * turning));
  if (spec.rotary_dim % 2 != 0) {
    config.Fail(
        absl::StrCat("the turning part of a head (`rotary_pct`) must "
                     "be even, but is ",
                     spec.rotary_dim));
  }
  spec.theta = config.Real("rotary_emb_base", 10000.0);
  spec.norm_kind = "Layer";
  spec.norm_bias = true;
  spec.gated = false;
  spec.mlp_bias = true;
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", true);
  if (config.Bool("use_parallel_residual", true)) spec.residual = "Parallel";
  spec.names.embedding = "gpt_neox.embed_in";
  spec.names.norm = "gpt_neox.final_layer_norm";
  spec.names.head = "embed_out";
  spec.names.layer = "gpt_neox.layers.#.";
  spec.names.qkv = "attention.query_key_value";
  spec.names.o = "attention.dense";
  spec.names.up = "mlp.dense_h_to_4h";
  spec.names.down = "mlp.dense_4h_to_h";
  Finish(config, spec, model);
}

// Falcon's configuration names fewer keys than the others.
void Falcon(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec;
  spec.vocab = config.Integer("vocab_size", std::nullopt);
  spec.h = config.Integer("hidden_size", std::nullopt);
  spec.heads = config.Integer("num_attention_heads", std::nullopt);
  spec.layers.resize(static_cast<size_t>(
      config.Integer("num_hidden_layers", std::nullopt, 1, kMaxConfigLayers)));
  config.CheckDivides("hidden_size", spec.h, "num_attention_heads", spec.heads);
  spec.head_dim = spec.rotary_dim = spec.h / spec.heads;
  if (spec.head_dim % 2 != 0) {
    config.Fail("`hidden_size` / `num_attention_heads` must be even");
  }
  const bool new_form = config.Bool("new_decoder_architecture", false);
  spec.kv_heads = new_form ? config.Integer("num_kv_heads", spec.heads)
                  : config.Bool("multi_query", true) ? 1
                                                     : spec.heads;
  config.CheckDivides("num_attention_heads", spec.heads, "num_kv_heads",
                      spec.kv_heads);
  spec.inner = config.Integer("ffn_hidden_size", 4 * spec.h);
  spec.max_seq =
      std::min(config.Integer("max_position_embeddings", 2048), kDefaultMaxSeq);
  spec.eps = config.Real("layer_norm_epsilon", 1e-5);
  spec.theta = config.Real("rope_theta", 10000.0);
  ReadActivation(config, "activation", "gelu", &spec);
  spec.tied = config.Bool("tie_word_embeddings", true);
  spec.dtype = ConfigDType(config, "bf16");
  spec.norm_kind = "Layer";
  spec.norm_bias = true;
  spec.gated = false;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = config.Bool("bias", false);
  if (config.Bool("alibi", false)) {
    for (DecoderLayerSpec& layer : spec.layers) layer.rotary = false;
    model->notes.push_back(
        "attention biases by distance (alibi) are counted as part of the "
        "attention kernel");
  }
  const bool parallel = new_form || config.Bool("parallel_attn", true);
  if (parallel) {
    spec.residual = "Parallel";
    spec.names.mlp_norm = "";
    if (new_form && config.Integer("num_ln_in_parallel_attn", 2) == 2) {
      spec.names.attention_norm = "ln_attn";
      spec.names.mlp_norm = "ln_mlp";
    }
  }
  spec.names.embedding = "transformer.word_embeddings";
  spec.names.norm = "transformer.ln_f";
  spec.names.layer = "transformer.h.#.";
  spec.names.qkv = "self_attention.query_key_value";
  spec.names.o = "self_attention.dense";
  spec.names.up = "mlp.dense_h_to_4h";
  spec.names.down = "mlp.dense_4h_to_h";
  Finish(config, spec, model);
}

void Olmo2(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec =
      ReadCommon(config, {.max_positions = 2048, .eps = 1e-5}, model);
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.qk_norm = QkNorm::kAllHeads;
  spec.names.attention_norm = "";
  spec.names.attention_post_norm = "post_attention_layernorm";
  spec.names.mlp_norm = "";
  spec.names.mlp_post_norm = "post_feedforward_layernorm";
  Finish(config, spec, model);
}

void Granite(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {.max_positions = 2048}, model);
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.mlp_bias = config.Bool("mlp_bias", false);
  spec.attention_scale = config.Real("attention_multiplier", 1.0);
  spec.embedding_factor = config.Real("embedding_multiplier", 1.0);
  spec.residual_factor = config.Real("residual_multiplier", 1.0);
  const double divisor = config.Real("logits_scaling", 1.0);
  if (divisor == 0.0) config.Fail("`logits_scaling` must not be 0");
  if (divisor != 1.0) {
    spec.logits = "Scaled";
    spec.logit_factor = 1.0 / divisor;
  }
  Finish(config, spec, model);
}

void Cohere(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(
      config, {.tied = true, .eps = 1e-5, .eps_key = "layer_norm_eps"}, model);
  if (config.Bool("use_qk_norm", false)) {
    config.Fail(
        "`use_qk_norm` is true, which gives every head a norm of its own; "
        "that form of the model is not known");
  }
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.norm_kind = "Layer";
  spec.residual = "Parallel";
  spec.names.mlp_norm = "";
  spec.logits = "Scaled";
  spec.logit_factor = config.Real("logit_scale", 0.0625);
  Finish(config, spec, model);
}

void Llama4(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(
      config, {.head_dim = 128, .eps = 1e-5, .theta = 500000.0}, model);
  ReadExperts(config, "num_local_experts", "num_experts_per_tok", &spec);
  spec.expert_inner = spec.shared_inner = spec.inner;
  spec.inner = config.Integer("intermediate_size_mlp", 16384);
  spec.router = "Sigmoid";
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  spec.names.gate = "feed_forward.gate_proj";
  spec.names.up = "feed_forward.up_proj";
  spec.names.down = "feed_forward.down_proj";
  spec.names.router = "feed_forward.router";
  spec.names.experts_gate_up = "feed_forward.experts.gate_up_proj";
  spec.names.experts_down = "feed_forward.experts.down_proj";
  spec.names.shared_gate = "feed_forward.shared_expert.gate_proj";
  spec.names.shared_up = "feed_forward.shared_expert.up_proj";
  spec.names.shared_down = "feed_forward.shared_expert.down_proj";
  SetRotary(config, &spec);
  const std::vector<int64_t> listed = config.Integers("moe_layers");
  const int64_t step = config.Integer("interleave_moe_layer_step", 1);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i);
    spec.layers[i].moe =
        listed.empty()
            ? (index + 1) % step == 0
            : std::find(listed.begin(), listed.end(), index) != listed.end();
  }
  const DecoderSpec& read = spec;
  SetWindows(
      config, config.Integer("attention_chunk_size", 0, 0),
      [&read](int64_t i) { return read.layers[static_cast<size_t>(i)].rotary; },
      &spec);
  model->notes.push_back(
      "norms of queries and keys that have no weights are left out");
  Finish(config, spec, model);
}

void DeepSeek(ConfigReader& config, ImportedModel* model) {
  DecoderSpec spec = ReadCommon(config, {.max_positions = 4096}, model);
  spec.latent = true;
  spec.kv_heads = spec.heads;
  spec.kv_rank = config.Integer("kv_lora_rank", std::nullopt);
  spec.query_rank = config.Integer("q_lora_rank", 0);
  spec.head_dim = config.Integer("qk_nope_head_dim", std::nullopt);
  spec.rotary_dim = config.Integer("qk_rope_head_dim", std::nullopt);
  spec.value_dim = config.Integer("v_head_dim", std::nullopt);
  if (spec.rotary_dim % 2 != 0 || spec.head_dim % 2 != 0) {
    config.Fail("`qk_nope_head_dim` and `qk_rope_head_dim` must be even");
  }
  if (spec.rotary_dim > spec.head_dim) {
    config.Fail("`qk_rope_head_dim` is larger than `qk_nope_head_dim`");
  }
  if (spec.value_dim > spec.head_dim + spec.rotary_dim) {
    config.Fail(
        "`v_head_dim` is larger than `qk_nope_head_dim` + `qk_rope_head_dim`");
  }
  spec.qkv_bias = spec.o_bias = config.Bool("attention_bias", false);
  if (config.Has("n_routed_experts")) {
    ReadExperts(config, "n_routed_experts", "num_experts_per_tok", &spec);
    spec.expert_inner = config.Integer("moe_intermediate_size", std::nullopt);
    spec.shared_inner =
        spec.expert_inner * config.Integer("n_shared_experts", 0, 0, 1024);
    spec.normalised_experts = config.Bool("norm_topk_prob", false);
    spec.expert_factor = config.Real("routed_scaling_factor", 1.0);
    if (config.Text("scoring_func", "softmax") == "sigmoid") {
      spec.router = "Sigmoid";
    }
    if (config.Text("topk_method", "greedy") == "noaux_tc") {
      spec.names.correction = "mlp.gate.e_score_correction_bias";
    }
    const int64_t first = config.Integer("first_k_dense_replace", 0, 0);
    const int64_t step = config.Integer("moe_layer_freq", 1);
    for (size_t i = 0; i < spec.layers.size(); ++i) {
      const int64_t index = static_cast<int64_t>(i);
      spec.layers[i].moe = index >= first && index % step == 0;
    }
  }
  const int64_t extra = config.Integer("num_nextn_predict_layers", 0, 0);
  if (extra > 0) {
    model->notes.push_back(
        absl::StrCat("the module that predicts more tokens (",
                     extra == 1 ? "1 layer" : absl::StrCat(extra, " layers"),
                     ") is left out"));
  }
  model->notes.push_back(
      "the cache holds one compressed row per position and layer");
  Finish(config, spec, model);
}

constexpr Family kFamilies[] = {{"cohere", Cohere},
                                {"deepseek_v2", DeepSeek},
                                {"deepseek_v3", DeepSeek},
                                {"falcon", Falcon},
                                {"gemma", Gemma},
                                {"gemma2", Gemma2},
                                {"gemma3_text", Gemma3},
                                {"gpt_neox", GptNeoX},
                                {"granite", Granite},
                                {"llama", Llama},
                                {"llama4_text", Llama4},
                                {"mistral", Mistral},
                                {"mixtral", Mixtral},
                                {"olmo2", Olmo2},
                                {"phi3", Phi3},
                                {"qwen2", Qwen2},
                                {"qwen2_moe", Qwen2Moe},
                                {"qwen3", Qwen3},
                                {"qwen3_moe", Qwen3Moe},
                                {"smollm3", SmolLm3}};

}  // namespace

absl::Span<const Family> DecoderFamilies() { return kFamilies; }

}  // namespace linnet::zoo
