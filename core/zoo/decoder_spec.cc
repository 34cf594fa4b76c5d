#include "core/zoo/decoder_spec.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/base/embedded.h"
#include "core/zoo/import_family.h"

namespace linnet {

extern const EmbeddedFile kFamilyFiles[];
extern const int kFamilyFilesCount;

namespace zoo {
namespace {

std::string FamilyFile(absl::string_view path) {
  for (int i = 0; i < kFamilyFilesCount; ++i) {
    if (kFamilyFiles[i].path == path) {
      return std::string(kFamilyFiles[i].content);
    }
  }
  LINNET_CHECK(false) << "there is no embedded file " << std::string(path);
  return "";
}

// Adds the parameters of one decoder, in the order of the program.
class DecoderBuilder {
 public:
  DecoderBuilder(const DecoderSpec& spec, ImportedModel* model)
      : spec_(spec), names_(spec.names), model_(model) {}

  void Run() {
    Add("embedding.weight", absl::StrCat(names_.embedding, ".weight"),
        {spec_.vocab, spec_.h});
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      Layer(static_cast<int64_t>(i), spec_.layers[i]);
    }
    Norm("norm", names_.norm, spec_.h);
    Add("lm_head.weight",
        absl::StrCat(spec_.tied ? names_.embedding : names_.head, ".weight"),
        {spec_.vocab, spec_.h});
    Files();
    Generics();
  }

 private:
  void Add(std::string path, std::string tensor, std::vector<int64_t> shape,
           int64_t copies = 1) {
    ImportedParameter parameter;
    parameter.path = std::move(path);
    parameter.tensor = std::move(tensor);
    parameter.shape = std::move(shape);
    parameter.copies = copies;
    AddParameter(std::move(parameter), model_);
  }

  void Norm(absl::string_view path, absl::string_view tensor, int64_t width) {
    Add(absl::StrCat(path, ".weight"), absl::StrCat(tensor, ".weight"),
        {width});
    if (!spec_.norm_bias) return;
    Add(absl::StrCat(path, ".bias"), absl::StrCat(tensor, ".bias"), {width});
  }

  void Linear(absl::string_view path, absl::string_view tensor, int64_t in,
              int64_t out, bool bias) {
    Add(absl::StrCat(path, ".weight"), absl::StrCat(tensor, ".weight"),
        {out, in});
    if (bias) {
      Add(absl::StrCat(path, ".bias"), absl::StrCat(tensor, ".bias"), {out});
    }
  }

  void Layer(int64_t index, const DecoderLayerSpec& layer) {
    const std::string path = absl::StrCat("layers.", index, ".");
    const std::string tensor = WithNumber(names_.layer, index);
    const auto norm = [&](absl::string_view member, const std::string& name) {
      if (!name.empty()) {
        Norm(absl::StrCat(path, member), absl::StrCat(tensor, name), spec_.h);
      }
    };
    norm("attention_norm", names_.attention_norm);
    const std::string attention = absl::StrCat(path, "attention.");
    if (spec_.latent) {
      LatentAttention(attention, tensor);
    } else {
      GroupedAttention(attention, tensor);
      if (layer.rotary) {
        model_->present.push_back(absl::StrCat(attention, "rotary"));
      }
      if (layer.window) {
        model_->present.push_back(absl::StrCat(attention, "window"));
      }
    }
    norm("attention_post_norm", names_.attention_post_norm);
    norm("mlp_norm", names_.mlp_norm);
    if (layer.moe) {
      Experts(absl::StrCat(path, "experts."), tensor);
    } else {
      FeedForward(absl::StrCat(path, "mlp."), tensor, names_.gate, names_.up,
                  names_.down, spec_.inner);
    }
    norm("mlp_post_norm", names_.mlp_post_norm);
  }

  void GroupedAttention(const std::string& path, const std::string& tensor) {
    const int64_t queries = spec_.heads * spec_.head_dim;
    const int64_t keys = spec_.kv_heads * spec_.head_dim;
    const std::string in = absl::StrCat(path, "projections.");
    if (!names_.qkv.empty()) {
      Linear(absl::StrCat(in, "qkv_proj"), absl::StrCat(tensor, names_.qkv),
             spec_.h, queries + 2 * keys, spec_.qkv_bias);
    } else {
      const std::pair<const char*, const std::string*> parts[] = {
          {"q_proj", &names_.q}, {"k_proj", &names_.k}, {"v_proj", &names_.v}};
      for (const auto& [member, name] : parts) {
        Linear(absl::StrCat(in, member), absl::StrCat(tensor, *name), spec_.h,
               name == &names_.q ? queries : keys, spec_.qkv_bias);
      }
    }
    if (spec_.qk_norm != QkNorm::kNone) {
      const bool all = spec_.qk_norm == QkNorm::kAllHeads;
      const std::string& owner = all ? in : path;
      Norm(absl::StrCat(owner, "q_norm"), absl::StrCat(tensor, names_.q_norm),
           all ? queries : spec_.head_dim);
      Norm(absl::StrCat(owner, "k_norm"), absl::StrCat(tensor, names_.k_norm),
           all ? keys : spec_.head_dim);
    }
    Linear(absl::StrCat(path, "o_proj"), absl::StrCat(tensor, names_.o),
           queries, spec_.h, spec_.o_bias);
  }

  void LatentAttention(const std::string& path, const std::string& tensor) {
    const std::string from = absl::StrCat(tensor, "self_attn.");
    const int64_t query = spec_.heads * (spec_.head_dim + spec_.rotary_dim);
    const std::string queries = absl::StrCat(path, "queries.");
    if (spec_.query_rank > 0) {
      Linear(absl::StrCat(queries, "a_proj"), absl::StrCat(from, "q_a_proj"),
             spec_.h, spec_.query_rank, spec_.qkv_bias);
      Norm(absl::StrCat(queries, "a_norm"), absl::StrCat(from, "q_a_layernorm"),
           spec_.query_rank);
      Linear(absl::StrCat(queries, "b_proj"), absl::StrCat(from, "q_b_proj"),
             spec_.query_rank, query, false);
    } else {
      Linear(absl::StrCat(queries, "proj"), absl::StrCat(from, "q_proj"),
             spec_.h, query, false);
    }
    Linear(absl::StrCat(path, "kv_a_proj"),
           absl::StrCat(from, "kv_a_proj_with_mqa"), spec_.h,
           spec_.kv_rank + spec_.rotary_dim, spec_.qkv_bias);
    Norm(absl::StrCat(path, "kv_a_norm"), absl::StrCat(from, "kv_a_layernorm"),
         spec_.kv_rank);
    Linear(absl::StrCat(path, "kv_b_proj"), absl::StrCat(from, "kv_b_proj"),
           spec_.kv_rank, spec_.heads * (spec_.head_dim + spec_.value_dim),
           false);
    Linear(absl::StrCat(path, "o_proj"), absl::StrCat(from, "o_proj"),
           spec_.heads * spec_.value_dim, spec_.h, spec_.o_bias);
  }

  void FeedForward(const std::string& path, const std::string& tensor,
                   const std::string& gate, const std::string& up,
                   const std::string& down, int64_t inner) {
    if (!names_.gate_up.empty()) {
      Linear(absl::StrCat(path, "gate_up"),
             absl::StrCat(tensor, names_.gate_up), spec_.h, 2 * inner,
             spec_.mlp_bias);
    } else {
      if (spec_.gated) {
        Linear(absl::StrCat(path, "gate"), absl::StrCat(tensor, gate), spec_.h,
               inner, spec_.mlp_bias);
      }
      Linear(absl::StrCat(path, "up"), absl::StrCat(tensor, up), spec_.h, inner,
             spec_.mlp_bias);
    }
    Linear(absl::StrCat(path, "down"), absl::StrCat(tensor, down), inner,
           spec_.h, spec_.mlp_bias);
  }

  void Experts(const std::string& path, const std::string& tensor) {
    const int64_t inner = spec_.expert_inner;
    Linear(absl::StrCat(path, "router"), absl::StrCat(tensor, names_.router),
           spec_.h, spec_.experts, false);
    if (!names_.correction.empty()) {
      Add(absl::StrCat(path, "correction"),
          absl::StrCat(tensor, names_.correction), {spec_.experts});
    }
    if (!names_.experts_gate_up.empty()) {
      Add(absl::StrCat(path, "gate_up"),
          absl::StrCat(tensor, names_.experts_gate_up),
          {spec_.experts, spec_.h, 2 * inner});
      Add(absl::StrCat(path, "down"), absl::StrCat(tensor, names_.experts_down),
          {spec_.experts, inner, spec_.h});
    } else {
      const auto expert = [&](absl::string_view member, const std::string& name,
                              std::vector<int64_t> shape) {
        Add(absl::StrCat(path, member), absl::StrCat(tensor, name, ".weight"),
            std::move(shape), spec_.experts);
      };
      expert("gate", names_.expert_gate, {inner, spec_.h});
      expert("up", names_.expert_up, {inner, spec_.h});
      expert("down", names_.expert_down, {spec_.h, inner});
    }
    if (spec_.shared_inner > 0) {
      FeedForward(absl::StrCat(path, "shared."), tensor, names_.shared_gate,
                  names_.shared_up, names_.shared_down, spec_.shared_inner);
      if (!names_.shared_switch.empty()) {
        Linear(absl::StrCat(path, "shared_gate"),
               absl::StrCat(tensor, names_.shared_switch), spec_.h, 1, false);
      }
    }
  }

  // One of the files `src/<module>.<variant>.linnet`.
  void Variant(absl::string_view module, absl::string_view variant) {
    model_->files.emplace_back(
        absl::StrCat("src/", module, ".linnet"),
        FamilyFile(
            absl::StrCat("decoder/src/", module, ".", variant, ".linnet")));
  }

  void Files() {
    model_->files.emplace_back("linnet.toml",
                               FamilyFile("decoder/linnet.toml"));
    for (absl::string_view module :
         {"lib", "kinds", "norm", "activation", "rope", "masks", "layer"}) {
      const std::string path = absl::StrCat("src/", module, ".linnet");
      model_->files.emplace_back(path,
                                 FamilyFile(absl::StrCat("decoder/", path)));
    }
    model_->files.emplace_back("src/config.linnet", ConfigText());
    Variant("attention", spec_.latent ? "latent" : "grouped");
    if (spec_.latent) {
      Variant("queries", spec_.query_rank > 0 ? "low_rank" : "direct");
    } else {
      Variant("projections", names_.qkv.empty() ? "split" : "fused");
    }
    const bool full = spec_.latent || spec_.rotary_dim == spec_.head_dim;
    Variant("rotary", full ? "full" : "partial");
    Variant("feed_forward", !names_.gate_up.empty() ? "fused"
                            : spec_.gated           ? "gated"
                                                    : "plain");
    Variant("experts", names_.experts_gate_up.empty() ? "split" : "fused");
    model_->card.source_path = "src/lib.linnet";
    model_->card.root = "Model";
    model_->card.entry = "forward";
  }

  std::string ConfigText() const {
    const double width = static_cast<double>(
        spec_.latent ? spec_.head_dim + spec_.rotary_dim : spec_.head_dim);
    const double scale = spec_.attention_scale != 0.0 ? spec_.attention_scale
                                                      : 1.0 / std::sqrt(width);
    std::string text =
        "/// The constants of one checkpoint, written by an import.\n"
        "module decoder.config\n\n"
        "use crate.kinds::{\n"
        "    Activation, Frequencies, LogitKind, NormKind, Residual, Router, "
        "Scaling, Weighing\n}\n\n";
    const auto kind = [&](absl::string_view name, absl::string_view type,
                          absl::string_view variant) {
      absl::StrAppend(&text, "pub const ", name, ": ", type, " = ", type, ".",
                      variant, "\n");
    };
    const auto real = [&](absl::string_view name, double value) {
      absl::StrAppend(&text, "pub const ", name, ": f32 = ", FloatText(value),
                      "\n");
    };
    const auto scaled = [](double factor) {
      return factor == 1.0 ? "Plain" : "Scaled";
    };
    kind("NORM", "NormKind", spec_.norm_kind);
    real("EPS", spec_.eps);
    kind("ACTIVATION", "Activation", spec_.activation);
    kind("RESIDUAL", "Residual", spec_.residual);
    kind("RESIDUAL_SCALING", "Scaling", scaled(spec_.residual_factor));
    real("RESIDUAL_FACTOR", spec_.residual_factor);
    kind("EMBEDDING_SCALING", "Scaling", scaled(spec_.embedding_factor));
    real("EMBEDDING_FACTOR", spec_.embedding_factor);
    kind("LOGITS", "LogitKind", spec_.logits);
    real("LOGIT_FACTOR", spec_.logit_factor);
    kind("ROUTER", "Router", spec_.router);
    kind("WEIGHING", "Weighing",
         spec_.normalised_experts ? "Normalised" : "Plain");
    real("EXPERT_FACTOR", spec_.expert_factor);
    real("ATTENTION_SCALE", scale);
    kind("FREQUENCIES", "Frequencies", spec_.frequencies);
    real("THETA", spec_.theta);
    real("FACTOR", spec_.rope_factor);
    real("LOW_FREQ_FACTOR", spec_.low_freq_factor);
    real("HIGH_FREQ_FACTOR", spec_.high_freq_factor);
    real("ORIGINAL_MAX_POSITION_EMBEDDINGS", spec_.original_positions);
    return text;
  }

  void Generics() {
    const std::pair<const char*, int64_t> sizes[] = {
        {"Vocab", spec_.vocab},
        {"H", spec_.h},
        {"Heads", spec_.heads},
        {"KvHeads", spec_.kv_heads},
        {"HeadDim", spec_.head_dim},
        {"RotaryDim", spec_.rotary_dim},
        {"ValueDim", spec_.latent ? spec_.value_dim : spec_.head_dim},
        {"QueryRank", spec_.query_rank},
        {"KvRank", spec_.kv_rank},
        {"Window", spec_.window},
        {"Inner", spec_.inner},
        {"Experts", spec_.experts},
        {"TopK", spec_.top_k},
        {"ExpertInner", spec_.expert_inner},
        {"SharedInner", spec_.shared_inner},
        {"Layers", static_cast<int64_t>(spec_.layers.size())},
        {"MaxSeq", spec_.max_seq},
        {"Batch", 1}};
    for (const auto& [name, value] : sizes) {
      model_->card.generics.push_back({name, absl::StrCat(value)});
    }
    model_->card.generics.push_back({"T", spec_.dtype});
  }

  const DecoderSpec& spec_;
  const DecoderNames& names_;
  ImportedModel* const model_;
};

}  // namespace

void BuildDecoder(const DecoderSpec& spec, ImportedModel* model) {
  DecoderBuilder(spec, model).Run();
}

}  // namespace zoo
}  // namespace linnet
