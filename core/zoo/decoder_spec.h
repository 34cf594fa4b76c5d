// The general decoder source and what one checkpoint makes of it.

#ifndef LINNET_CORE_ZOO_DECODER_SPEC_H_
#define LINNET_CORE_ZOO_DECODER_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/zoo/import.h"

namespace linnet::zoo {

// Checkpoint names, `#` for the number of the layer and `*` for that of the
// expert; those of a layer follow `layer`. Without ".weight" and ".bias".
struct DecoderNames {
  std::string embedding = "model.embed_tokens";
  std::string norm = "model.norm";
  std::string head = "lm_head";
  std::string layer = "model.layers.#.";
  std::string attention_norm = "input_layernorm";  // Empty: there is none.
  std::string attention_post_norm;
  std::string mlp_norm = "post_attention_layernorm";
  std::string mlp_post_norm;
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj",
              v = "self_attn.v_proj", o = "self_attn.o_proj";
  std::string qkv;  // Instead of the three when not empty.
  std::string q_norm = "self_attn.q_norm", k_norm = "self_attn.k_norm";
  std::string gate = "mlp.gate_proj", up = "mlp.up_proj",
              down = "mlp.down_proj";
  std::string gate_up;  // Instead of the two when not empty.
  std::string router = "mlp.gate";
  std::string correction;  // A whole name.
  std::string expert_gate = "mlp.experts.*.gate_proj",
              expert_up = "mlp.experts.*.up_proj",
              expert_down = "mlp.experts.*.down_proj";
  // Whole names of tensors over all experts, instead of the three.
  std::string experts_gate_up, experts_down;
  std::string shared_gate = "mlp.shared_experts.gate_proj",
              shared_up = "mlp.shared_experts.up_proj",
              shared_down = "mlp.shared_experts.down_proj";
  std::string shared_switch;  // The gate of the shared expert.
};

enum class QkNorm : uint8_t { kNone, kPerHead, kAllHeads };

struct DecoderLayerSpec {
  bool rotary = true;
  bool window = false;
  bool moe = false;
};

// Everything an architecture decides. Defaults are those of Llama.
struct DecoderSpec {
  DecoderNames names;
  int64_t vocab = 0, h = 0, heads = 0, kv_heads = 0, head_dim = 0;
  int64_t rotary_dim = 0, inner = 0, window = 0, max_seq = 0;
  // Of compressed attention (`latent`).
  bool latent = false;
  int64_t value_dim = 0, query_rank = 0, kv_rank = 0;
  // Of mixtures of experts.
  int64_t experts = 0, top_k = 0, expert_inner = 0, shared_inner = 0;
  std::vector<DecoderLayerSpec> layers;
  std::string dtype = "bf16";
  bool tied = false;
  bool qkv_bias = false, o_bias = false, mlp_bias = false, norm_bias = false;
  QkNorm qk_norm = QkNorm::kNone;
  bool gated = true;
  // Constants of `crate.config`, as written there.
  std::string norm_kind = "Rms", activation = "Silu", residual = "Sequential";
  std::string frequencies = "Plain", logits = "Plain", router = "Softmax";
  bool normalised_experts = false;
  double eps = 1e-6, theta = 10000.0, attention_scale = 0.0;  // 0: 1/sqrt(d).
  double residual_factor = 1.0, embedding_factor = 1.0, logit_factor = 1.0;
  double expert_factor = 1.0;
  double rope_factor = 8.0, low_freq_factor = 1.0, high_freq_factor = 4.0;
  double original_positions = 8192.0;
};

// Fills sources, generics, parameters, bindings and presence of `model`.
void BuildDecoder(const DecoderSpec& spec, ImportedModel* model);

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_DECODER_SPEC_H_
