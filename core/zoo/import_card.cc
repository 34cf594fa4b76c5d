// Architectures whose program is that of a built-in card, with sizes of their
// own.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/zoo/import_family.h"
#include "core/zoo/registry.h"

namespace linnet::zoo {
namespace {

constexpr int64_t kDefaultMaxSeq = 8192;

// Adds parameters by name, with `path` and `tensor` in front of both.
class ParameterList {
 public:
  ParameterList(std::string path, std::string tensor, ImportedModel* model)
      : path_(std::move(path)), tensor_(std::move(tensor)), model_(model) {}

  void Add(absl::string_view path, absl::string_view tensor,
           std::vector<int64_t> shape, int64_t values_per_element = 1) {
    ImportedParameter parameter;
    parameter.path = absl::StrCat(path_, path);
    parameter.tensor = absl::StrCat(tensor_, tensor);
    parameter.shape = std::move(shape);
    parameter.values_per_element = values_per_element;
    AddParameter(std::move(parameter), model_);
  }
  void Optional(absl::string_view path, absl::string_view tensor,
                std::vector<int64_t> shape) {
    Add(path, tensor, std::move(shape));
    model_->parameters.back().required = false;
  }
  // A weight and a bias of the same rows.
  void Affine(absl::string_view path, absl::string_view tensor,
              std::vector<int64_t> shape) {
    const int64_t rows = shape[0];
    Add(absl::StrCat(path, ".weight"), absl::StrCat(tensor, ".weight"),
        std::move(shape));
    Add(absl::StrCat(path, ".bias"), absl::StrCat(tensor, ".bias"), {rows});
  }
  // A weight stored [in, out] and a bias.
  void Transposed(absl::string_view path, absl::string_view tensor, int64_t in,
                  int64_t out) {
    Add(absl::StrCat(path, ".weight"), absl::StrCat(tensor, ".weight"),
        {in, out});
    Add(absl::StrCat(path, ".bias"), absl::StrCat(tensor, ".bias"), {out});
  }

 private:
  const std::string path_, tensor_;
  ImportedModel* const model_;
};

// Takes the sources, root and entry of a built-in card.
void UseCard(absl::string_view name, ImportedModel* model) {
  const BuiltinModel* builtin = FindBuiltin(name);
  LINNET_CHECK(builtin != nullptr) << "the built-in cards are ours";
  for (const EmbeddedFile& file : builtin->files) {
    const absl::string_view path = file.path.substr(name.size() + 1);
    if (path == "nest.toml") {
      const absl::StatusOr<Card> card = ParseCard(file.content, file.path);
      LINNET_CHECK(card.ok()) << "the built-in cards are tested";
      model->card.source_path = card->source_path;
      model->card.root = card->root;
      model->card.entry = card->entry;
    } else if (path != "bindings.json") {
      model->files.emplace_back(std::string(path), std::string(file.content));
    }
  }
}

void SetGenerics(
    std::initializer_list<std::pair<absl::string_view, int64_t>> sizes,
    const std::string& dtype, ImportedModel* model) {
  for (const auto& [name, value] : sizes) {
    model->card.generics.push_back({std::string(name), absl::StrCat(value)});
  }
  model->card.generics.push_back({"T", dtype});
}

int64_t Layers(ConfigReader& config, absl::string_view key) {
  return config.Integer(key, std::nullopt, 1, kMaxConfigLayers);
}

void Gpt2(ConfigReader& config, ImportedModel* model) {
  const int64_t vocab = config.Integer("vocab_size", std::nullopt);
  const int64_t h = config.Integer("n_embd", std::nullopt);
  const int64_t heads = config.Integer("n_head", std::nullopt);
  const int64_t layers = Layers(config, "n_layer");
  const int64_t positions = config.Integer("n_positions", 1024);
  config.CheckDivides("n_embd", h, "n_head", heads);
  if (config.Integer("n_inner", 4 * h) != 4 * h) {
    config.Fail(
        absl::StrCat("`n_inner` must be 4 times `n_embd` (", 4 * h, ")"));
  }
  const std::string dtype = ConfigDType(config, "f32");
  if (!config.ok()) return;
  UseCard("gpt2", model);
  SetGenerics({{"Vocab", vocab},
               {"MaxPositions", positions},
               {"H", h},
               {"Heads", heads},
               {"Layers", layers},
               {"MaxSeq", std::min(positions, kDefaultMaxSeq)},
               {"Batch", 1}},
              dtype, model);
  ParameterList top("", "", model);
  top.Add("wte", "wte.weight", {vocab, h});
  top.Add("wpe", "wpe.weight", {positions, h});
  for (int64_t i = 0; i < layers; ++i) {
    ParameterList layer(absl::StrCat("blocks.", i, "."),
                        absl::StrCat("h.", i, "."), model);
    layer.Affine("ln_1", "ln_1", {h});
    layer.Transposed("attn.qkv", "attn.c_attn", h, 3 * h);
    layer.Transposed("attn.out", "attn.c_proj", h, h);
    layer.Affine("ln_2", "ln_2", {h});
    layer.Transposed("mlp.up", "mlp.c_fc", h, 4 * h);
    layer.Transposed("mlp.down", "mlp.c_proj", 4 * h, h);
  }
  top.Affine("ln_f", "ln_f", {h});
}

// One decoder layer of gpt-oss; `experts` is where its expert weights lie.
struct GptOssSizes {
  int64_t h, heads, kv_heads, head_dim, inner, experts;
};

void GptOssLayer(const GptOssSizes& s, ParameterList& layer) {
  layer.Add("input_layernorm.weight", "input_layernorm.weight", {s.h});
  layer.Affine("self_attn.q_proj", "self_attn.q_proj",
               {s.heads * s.head_dim, s.h});
  layer.Affine("self_attn.k_proj", "self_attn.k_proj",
               {s.kv_heads * s.head_dim, s.h});
  layer.Affine("self_attn.v_proj", "self_attn.v_proj",
               {s.kv_heads * s.head_dim, s.h});
  layer.Affine("self_attn.o_proj", "self_attn.o_proj",
               {s.h, s.heads * s.head_dim});
  layer.Add("self_attn.sinks", "self_attn.sinks", {s.heads});
  layer.Add("post_attention_layernorm.weight",
            "post_attention_layernorm.weight", {s.h});
  layer.Affine("mlp.router", "mlp.router", {s.experts, s.h});
  // Blocks of 32 values: 16 bytes, and a scale that is no parameter.
  layer.Add("mlp.gate_up_blocks", "mlp.experts.gate_up_proj_blocks",
            {s.experts, 2 * s.inner, s.h / 32, 16}, 2);
  layer.Add("mlp.gate_up_scales", "mlp.experts.gate_up_proj_scales",
            {s.experts, 2 * s.inner, s.h / 32}, 0);
  layer.Add("mlp.gate_up_bias", "mlp.experts.gate_up_proj_bias",
            {s.experts, 2 * s.inner});
  layer.Add("mlp.down_blocks", "mlp.experts.down_proj_blocks",
            {s.experts, s.h, s.inner / 32, 16}, 2);
  layer.Add("mlp.down_scales", "mlp.experts.down_proj_scales",
            {s.experts, s.h, s.inner / 32}, 0);
  layer.Add("mlp.down_bias", "mlp.experts.down_proj_bias", {s.experts, s.h});
}

// Layers must alternate between a window and the whole context, in this order.
void CheckAlternating(ConfigReader& config, int64_t layers) {
  if (layers % 2 != 0) {
    config.Fail(
        absl::StrCat("`num_hidden_layers` must be even, but is ", layers));
  }
  const std::vector<std::string> types = config.Texts("layer_types");
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == (i % 2 == 0 ? "sliding_attention" : "full_attention")) {
      continue;
    }
    config.Fail(
        "`layer_types` must alternate between sliding_attention and "
        "full_attention");
    return;
  }
}

void GptOss(ConfigReader& config, ImportedModel* model) {
  GptOssSizes s;
  const int64_t vocab = config.Integer("vocab_size", std::nullopt);
  s.h = config.Integer("hidden_size", std::nullopt);
  s.heads = config.Integer("num_attention_heads", std::nullopt);
  s.kv_heads = config.Integer("num_key_value_heads", s.heads);
  s.head_dim = config.Integer("head_dim", 64);
  s.inner = config.Integer("intermediate_size", std::nullopt);
  s.experts = config.Integer("num_local_experts", std::nullopt, 1, 65536);
  const int64_t top_k =
      config.Integer("num_experts_per_tok", std::nullopt, 1, s.experts);
  const int64_t layers = Layers(config, "num_hidden_layers");
  const int64_t window = config.Integer("sliding_window", 128);
  config.CheckDivides("num_attention_heads", s.heads, "num_key_value_heads",
                      s.kv_heads);
  if (s.h % 32 != 0 || s.inner % 32 != 0 || s.head_dim % 2 != 0) {
    config.Fail(
        "`hidden_size` and `intermediate_size` must be multiples of 32 and "
        "`head_dim` even");
  }
  CheckAlternating(config, layers);
  const bool tied = config.Bool("tie_word_embeddings", false);
  const int64_t max_seq = std::min(
      config.Integer("max_position_embeddings", 131072), kDefaultMaxSeq);
  const std::string dtype = ConfigDType(config, "bf16");
  if (!config.ok()) return;
  UseCard("gpt-oss-20b", model);
  SetGenerics({{"Vocab", vocab},
               {"H", s.h},
               {"Heads", s.heads},
               {"KvHeads", s.kv_heads},
               {"HeadDim", s.head_dim},
               {"Inner", s.inner},
               {"Layers", layers},
               {"Experts", s.experts},
               {"TopK", top_k},
               {"Window", window},
               {"MaxSeq", max_seq},
               {"Batch", 1}},
              dtype, model);
  ParameterList top("", "", model);
  top.Add("embed_tokens.weight", "model.embed_tokens.weight", {vocab, s.h});
  for (int64_t i = 0; i < layers; ++i) {
    ParameterList layer(
        absl::StrCat("pairs.", i / 2, i % 2 == 0 ? ".sliding." : ".full."),
        absl::StrCat("model.layers.", i, "."), model);
    GptOssLayer(s, layer);
  }
  top.Add("norm.weight", "model.norm.weight", {s.h});
  top.Add("lm_head.weight",
          tied ? "model.embed_tokens.weight" : "lm_head.weight", {vocab, s.h});
  model->card.parameters = model->parameter_count;
}

// The layers that BERT and RoBERTa share.
void BertLayers(absl::string_view prefix, int64_t d, int64_t inner,
                int64_t layers, ImportedModel* model) {
  for (int64_t i = 0; i < layers; ++i) {
    ParameterList layer(absl::StrCat("layers.", i, "."),
                        absl::StrCat(prefix, "encoder.layer.", i, "."), model);
    layer.Affine("attention.query", "attention.self.query", {d, d});
    layer.Affine("attention.key", "attention.self.key", {d, d});
    layer.Affine("attention.value", "attention.self.value", {d, d});
    layer.Affine("attention.out", "attention.output.dense", {d, d});
    layer.Affine("attention_norm", "attention.output.LayerNorm", {d});
    layer.Affine("up", "intermediate.dense", {inner, d});
    layer.Affine("down", "output.dense", {d, inner});
    layer.Affine("output_norm", "output.LayerNorm", {d});
  }
}

void BertLike(ConfigReader& config, absl::string_view card,
              absl::string_view prefix, bool pooler, ImportedModel* model) {
  const int64_t vocab = config.Integer("vocab_size", std::nullopt);
  const int64_t positions =
      config.Integer("max_position_embeddings", std::nullopt);
  const int64_t types = config.Integer("type_vocab_size", 2);
  const int64_t d = config.Integer("hidden_size", std::nullopt);
  const int64_t heads = config.Integer("num_attention_heads", std::nullopt);
  const int64_t inner = config.Integer("intermediate_size", std::nullopt);
  const int64_t layers = Layers(config, "num_hidden_layers");
  config.CheckDivides("hidden_size", d, "num_attention_heads", heads);
  const std::string kind = config.Text("position_embedding_type", "absolute");
  if (kind != "absolute") {
    config.Fail(absl::StrCat("`position_embedding_type` must be absolute"));
  }
  const std::string dtype = ConfigDType(config, "f32");
  if (!config.ok()) return;
  UseCard(card, model);
  SetGenerics({{"Vocab", vocab},
               {"MaxPositions", positions},
               {"TypeVocab", types},
               {"D", d},
               {"Heads", heads},
               {"Inner", inner},
               {"Layers", layers}},
              dtype, model);
  ParameterList top("", std::string(prefix), model);
  top.Add("embeddings.word_embeddings", "embeddings.word_embeddings.weight",
          {vocab, d});
  top.Add("embeddings.position_embeddings",
          "embeddings.position_embeddings.weight", {positions, d});
  top.Add("embeddings.token_type_embeddings",
          "embeddings.token_type_embeddings.weight", {types, d});
  top.Affine("embeddings.norm", "embeddings.LayerNorm", {d});
  BertLayers(prefix, d, inner, layers, model);
  if (!pooler) return;
  top.Optional("pooler.dense.weight", "pooler.dense.weight", {d, d});
  top.Optional("pooler.dense.bias", "pooler.dense.bias", {d});
}

void Bert(ConfigReader& config, ImportedModel* model) {
  BertLike(config, "bert-base-uncased", "bert.", true, model);
}

void Roberta(ConfigReader& config, ImportedModel* model) {
  BertLike(config, "roberta-base", "roberta.", false, model);
}

void Vit(ConfigReader& config, ImportedModel* model) {
  const int64_t image = config.Integer("image_size", 224);
  const int64_t patch = config.Integer("patch_size", 16);
  const int64_t channels = config.Integer("num_channels", 3);
  const int64_t d = config.Integer("hidden_size", std::nullopt);
  const int64_t heads = config.Integer("num_attention_heads", std::nullopt);
  const int64_t inner = config.Integer("intermediate_size", std::nullopt);
  const int64_t layers = Layers(config, "num_hidden_layers");
  const nlohmann::json* labels = config.Object("id2label");
  const int64_t classes =
      labels == nullptr
          ? config.Integer("num_labels", 2)
          : std::max<int64_t>(1, static_cast<int64_t>(labels->size()));
  config.CheckDivides("hidden_size", d, "num_attention_heads", heads);
  config.CheckDivides("image_size", image, "patch_size", patch);
  if (!config.Bool("qkv_bias", true)) {
    config.Fail("`qkv_bias` is false; that form of the model is not known");
  }
  const std::string dtype = ConfigDType(config, "f32");
  if (!config.ok()) return;
  UseCard("vit-base-patch16-224", model);
  SetGenerics({{"Height", image},
               {"Width", image},
               {"Channels", channels},
               {"Patch", patch},
               {"D", d},
               {"Heads", heads},
               {"Inner", inner},
               {"Layers", layers},
               {"Classes", classes}},
              dtype, model);
  const int64_t side = image / patch;
  ParameterList top("", "", model);
  const std::string patches = "vit.embeddings.patch_embeddings.projection";
  top.Add("patch_weight", absl::StrCat(patches, ".weight"),
          {d, channels, patch, patch});
  top.Add("patch_bias", absl::StrCat(patches, ".bias"), {d});
  top.Add("class_token", "vit.embeddings.cls_token", {1, 1, d});
  top.Add("positions", "vit.embeddings.position_embeddings",
          {1, side * side + 1, d});
  for (int64_t i = 0; i < layers; ++i) {
    ParameterList layer(absl::StrCat("layers.", i, "."),
                        absl::StrCat("vit.encoder.layer.", i, "."), model);
    layer.Affine("norm_before", "layernorm_before", {d});
    layer.Affine("attention.query", "attention.attention.query", {d, d});
    layer.Affine("attention.key", "attention.attention.key", {d, d});
    layer.Affine("attention.value", "attention.attention.value", {d, d});
    layer.Affine("attention.out", "attention.output.dense", {d, d});
    layer.Affine("norm_after", "layernorm_after", {d});
    layer.Affine("up", "intermediate.dense", {inner, d});
    layer.Affine("down", "output.dense", {d, inner});
  }
  top.Affine("norm", "vit.layernorm", {d});
  top.Affine("head", "classifier", {classes, d});
}

void WhisperAttention(absl::string_view name, int64_t d, ParameterList& layer) {
  for (absl::string_view part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    const std::string stem = absl::StrCat(name, ".", part);
    if (part == "k_proj") {
      layer.Add(absl::StrCat(stem, ".weight"), absl::StrCat(stem, ".weight"),
                {d, d});
    } else {
      layer.Affine(stem, stem, {d, d});
    }
  }
}

void Whisper(ConfigReader& config, ImportedModel* model) {
  const int64_t mels = config.Integer("num_mel_bins", 80);
  const int64_t d = config.Integer("d_model", std::nullopt);
  const int64_t heads = config.Integer("encoder_attention_heads", std::nullopt);
  const int64_t inner = config.Integer("encoder_ffn_dim", std::nullopt);
  const int64_t encoders = Layers(config, "encoder_layers");
  const int64_t decoders = Layers(config, "decoder_layers");
  const int64_t vocab = config.Integer("vocab_size", std::nullopt);
  const int64_t audio = config.Integer("max_source_positions", 1500);
  const int64_t tokens = config.Integer("max_target_positions", 448);
  config.CheckDivides("d_model", d, "encoder_attention_heads", heads);
  if (config.Integer("decoder_attention_heads", heads) != heads ||
      config.Integer("decoder_ffn_dim", inner) != inner) {
    config.Fail(
        "encoder and decoder must have the same heads "
        "(`encoder_attention_heads`, `decoder_attention_heads`) and inner "
        "width (`encoder_ffn_dim`, `decoder_ffn_dim`)");
  }
  const std::string dtype = ConfigDType(config, "f32");
  if (!config.ok()) return;
  UseCard("whisper-tiny", model);
  SetGenerics({{"Mels", mels},
               {"Frames", 2 * audio},
               {"MaxTokens", tokens},
               {"D", d},
               {"Heads", heads},
               {"Inner", inner},
               {"EncoderLayers", encoders},
               {"DecoderLayers", decoders},
               {"Vocab", vocab}},
              dtype, model);
  ParameterList top("", "model.", model);
  top.Add("conv1_weight", "encoder.conv1.weight", {d, mels, 3});
  top.Add("conv1_bias", "encoder.conv1.bias", {d});
  top.Add("conv2_weight", "encoder.conv2.weight", {d, d, 3});
  top.Add("conv2_bias", "encoder.conv2.bias", {d});
  top.Add("encoder_positions", "encoder.embed_positions.weight", {audio, d});
  top.Add("token_embedding", "decoder.embed_tokens.weight", {vocab, d});
  top.Add("decoder_positions", "decoder.embed_positions.weight", {tokens, d});
  for (int64_t i = 0; i < encoders + decoders; ++i) {
    const bool decoder = i >= encoders;
    const int64_t n = decoder ? i - encoders : i;
    const absl::string_view side = decoder ? "decoder" : "encoder";
    ParameterList layer(absl::StrCat(side, "_layers.", n, "."),
                        absl::StrCat("model.", side, ".layers.", n, "."),
                        model);
    layer.Affine("self_attn_layer_norm", "self_attn_layer_norm", {d});
    WhisperAttention("self_attn", d, layer);
    if (decoder) {
      layer.Affine("encoder_attn_layer_norm", "encoder_attn_layer_norm", {d});
      WhisperAttention("encoder_attn", d, layer);
    }
    layer.Affine("final_layer_norm", "final_layer_norm", {d});
    layer.Affine("mlp.fc1", "fc1", {inner, d});
    layer.Affine("mlp.fc2", "fc2", {d, inner});
  }
  top.Affine("encoder_norm", "encoder.layer_norm", {d});
  top.Affine("decoder_norm", "decoder.layer_norm", {d});
}

constexpr Family kFamilies[] = {{"bert", Bert},      {"gpt2", Gpt2},
                                {"gpt_oss", GptOss}, {"roberta", Roberta},
                                {"vit", Vit},        {"whisper", Whisper}};

}  // namespace

absl::Span<const Family> CardFamilies() { return kFamilies; }

}  // namespace linnet::zoo
