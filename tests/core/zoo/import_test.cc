// Published models: a config as its authors wrote it, and the parameters it
// must give to the digit.

#include "core/zoo/import.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace linnet::zoo {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string GoldenConfig(const std::string& name) {
  std::ifstream in(
      absl::StrCat(LINNET_SOURCE_DIR, "/tests/golden/hf/", name, ".json"),
      std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

using Files = std::map<std::string, std::string>;

absl::StatusOr<ImportedModel> Import(const Files& files,
                                     const std::string& root = "config.json") {
  return ImportModel(
      root, [&](absl::string_view path) -> std::optional<absl::string_view> {
        const auto it = files.find(std::string(path));
        if (it == files.end()) return std::nullopt;
        return absl::string_view(it->second);
      });
}

absl::StatusOr<ImportedModel> ImportText(const std::string& config) {
  return Import({{"config.json", config}});
}

struct PublishedCase {
  const char* name;
  int64_t parameters;
};

// Sources: the parameter counts that the Hub shows for the safetensors of each
// repository, unless another one is named. Tied heads count once.
constexpr PublishedCase kPublished[] = {
    // meta-llama/Llama-3.1-8B, -70B, Llama-3.2-1B
    {"llama-3.1-8b", 8'030'261'248},
    {"llama-3.1-70b", 70'553'706'496},
    {"llama-3.2-1b", 1'235'814'400},
    // HuggingFaceTB/SmolLM2-1.7B, SmolLM2-135M, SmolLM3-3B
    {"smollm2-1.7b", 1'711'376'384},
    {"smollm2-135m", 134'515'008},
    {"smollm3-3b", 3'075'098'624},
    // mistralai/Mistral-7B-v0.3, -v0.1, Mixtral-8x7B-v0.1, -8x22B-v0.1
    {"mistral-7b-v0.3", 7'248'023'552},
    {"mistral-7b-v0.1", 7'241'732'096},
    {"mixtral-8x7b", 46'702'792'704},
    {"mixtral-8x22b", 140'620'634'112},
    // Qwen/Qwen2.5-0.5B, -7B, Qwen3-4B, -8B, -30B-A3B, -235B-A22B,
    // Qwen1.5-MoE-A2.7B
    {"qwen2.5-0.5b", 494'032'768},
    {"qwen2.5-7b", 7'615'616'512},
    {"qwen3-4b", 4'022'468'096},
    {"qwen3-8b", 8'190'735'360},
    {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen3-235b-a22b", 235'093'634'560},
    {"qwen1.5-moe-a2.7b", 14'315'784'192},
    // google/gemma-2-2b, -9b, gemma-3-1b-pt, -270m
    {"gemma-2-2b", 2'614'341'888},
    {"gemma-2-9b", 9'241'705'984},
    {"gemma-3-1b", 999'885'952},
    {"gemma-3-270m", 268'098'176},
    // microsoft/Phi-3-mini-4k-instruct, phi-4
    {"phi-3-mini-4k", 3'821'079'552},
    {"phi-4", 14'659'507'200},
    // openai-community/gpt2, gpt2-medium, gpt2-xl: without the buffers that
    // the files hold
    {"gpt2", 124'439'808},
    {"gpt2-medium", 354'823'168},
    {"gpt2-xl", 1'557'611'200},
    // openai/gpt-oss-20b, -120b: the model card (arXiv 2508.10925)
    {"gpt-oss-20b", 20'914'757'184},
    {"gpt-oss-120b", 116'829'156'672},
    // deepseek-ai/DeepSeek-V3 without its multi-token module, -V2-Lite
    {"deepseek-v3", 671'026'419'200},
    {"deepseek-v2-lite", 15'706'484'224},
    // google-bert/bert-base-uncased, bert-large-uncased: the encoder and pooler
    {"bert-base-uncased", 109'482'240},
    {"bert-large-uncased", 335'141'888},
    // FacebookAI/roberta-base, -large: the encoder without a pooler
    {"roberta-base", 124'055'040},
    {"roberta-large", 354'310'144},
    // google/vit-base-patch16-224, -large-
    {"vit-base-patch16-224", 86'567'656},
    {"vit-large-patch16-224", 304'326'632},
    // openai/whisper-tiny, -large-v3
    {"whisper-tiny", 37'760'640},
    {"whisper-large-v3", 1'543'490'560},
    // tiiuae/falcon-7b, -40b, heads tied
    {"falcon-7b", 6'921'720'704},
    {"falcon-40b", 41'303'293'952},
    // EleutherAI/gpt-neox-20b (arXiv 2204.06745), pythia-160m (its card)
    {"gpt-neox-20b", 20'554'567'680},
    {"pythia-160m", 162'322'944},
    // allenai/OLMo-2-0425-1B, -1124-7B
    {"olmo-2-1b", 1'484'916'736},
    {"olmo-2-7b", 7'298'617'344},
    // ibm-granite/granite-3.0-2b-base, -8b-base
    {"granite-3.0-2b", 2'533'531'648},
    {"granite-3.0-8b", 8'170'848'256},
    // CohereForAI/c4ai-command-r-v01, aya-23-8B
    {"command-r-v01", 34'980'831'232},
    {"aya-23-8b", 8'028'033'024},
    // meta-llama/Llama-4-Scout-17B-16E, -Maverick-17B-128E: the language model,
    // 107.77 B and 400.71 B
    {"llama-4-scout", 107'769'861'120},
    {"llama-4-maverick", 400'711'848'960},
};

class PublishedTest : public ::testing::TestWithParam<PublishedCase> {};

TEST_P(PublishedTest, CountsItsParameters) {
  const auto model = ImportText(GoldenConfig(GetParam().name));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->parameter_count, GetParam().parameters);
  EXPECT_EQ(model->bindings.size(), model->parameters.size());
}

INSTANTIATE_TEST_SUITE_P(
    , PublishedTest, ::testing::ValuesIn(kPublished),
    [](const ::testing::TestParamInfo<PublishedCase>& row) {
      return absl::StrReplaceAll(row.param.name, {{"-", "_"}, {".", "_"}});
    });

// A config with one key changed (null: taken out), and what is said about it.
struct WrongCase {
  const char* name;
  const char* base;
  const char* key;
  const char* value;  // JSON; empty: the key is taken out.
  const char* message;
};

constexpr WrongCase kWrong[] = {
    {"MissingKey", "llama-3.1-8b", "hidden_size", "",
     "config.json: `hidden_size` is missing; it must be an integer"},
    {"NullKey", "llama-3.1-8b", "vocab_size", "null",
     "`vocab_size` is null; it must be an integer of at least 1"},
    {"TextForNumber", "llama-3.1-8b", "hidden_size", "\"4096\"",
     "`hidden_size` must be an integer of at least 1, but is \\\"4096\\\""},
    {"FractionForNumber", "llama-3.1-8b", "hidden_size", "4096.5",
     "`hidden_size` must be an integer of at least 1, but is 4096.5"},
    {"NegativeLayers", "llama-3.1-8b", "num_hidden_layers", "-3",
     "`num_hidden_layers` must be an integer from 1 to 4096, but is -3"},
    {"TooManyLayers", "llama-3.1-8b", "num_hidden_layers", "1000000",
     "`num_hidden_layers` must be an integer"},
    {"HugeNumber", "llama-3.1-8b", "vocab_size", "18446744073709551615",
     "`vocab_size` must be an integer of at most"},
    {"HeadsNotDividing", "llama-3.1-8b", "num_attention_heads", "24",
     "`hidden_size` (4096) is not a multiple of `num_attention_heads` (24)"},
    {"MoreKeyHeads", "llama-3.1-8b", "num_key_value_heads", "64",
     "`num_key_value_heads` (64) is larger than `num_attention_heads` (32)"},
    {"KeyHeadsNotDividing", "llama-3.1-8b", "num_key_value_heads", "5",
     "`num_attention_heads` (32) is not a multiple of `num_key_value_heads` "
     "(5)"},
    {"OddHead", "qwen3-4b", "head_dim", "127", "must be even, but is 127"},
    {"UnknownActivation", "llama-3.1-8b", "hidden_act", "\"mish\"",
     "`hidden_act` must be one of"},
    {"UnknownDType", "llama-3.1-8b", "torch_dtype", "\"int3\"",
     "`torch_dtype` must be one of bfloat16, float16 and float32, but is "
     "`int3`"},
    {"WrongBool", "llama-3.1-8b", "attention_bias", "1",
     "`attention_bias` must be true or false, but is 1"},
    {"WrongObject", "llama-3.1-8b", "rope_scaling", "[1]",
     "`rope_scaling` must be an object, but is [1]"},
    {"MissingInside", "llama-3.1-8b", "rope_scaling",
     "{\"rope_type\": \"llama3\"}", "`factor` is missing"},
    {"UnknownArchitecture", "llama-3.1-8b", "model_type", "\"mamba\"",
     "the architecture `mamba` (`model_type`) is not known; known are bert, "
     "cohere, deepseek_v2"},
    {"NoArchitecture", "llama-3.1-8b", "model_type", "",
     "`model_type` is missing; known are bert"},
    {"TopKAboveExperts", "mixtral-8x7b", "num_experts_per_tok", "9",
     "`num_experts_per_tok` (9) is larger than `num_local_experts` (8)"},
    {"LayerTypes", "gemma-3-270m", "layer_types", "[\"full_attention\"]",
     "`layer_types` has 1 entries, but `num_hidden_layers` is 18"},
    {"InnerOfGpt2", "gpt2", "n_inner", "1000",
     "`n_inner` must be 4 times `n_embd` (3072)"},
    {"Patches", "vit-base-patch16-224", "patch_size", "15",
     "`image_size` (224) is not a multiple of `patch_size` (15)"},
    {"WhisperHeads", "whisper-tiny", "decoder_attention_heads", "8",
     "encoder and decoder must have the same heads"},
    {"QkNormOfCohere", "command-r-v01", "use_qk_norm", "true",
     "`use_qk_norm` is true"},
    {"ValueWidth", "deepseek-v3", "v_head_dim", "4096",
     "`v_head_dim` is larger than"},
    {"TooLarge", "mixtral-8x7b", "hidden_size", "2147483648",
     "more parameters than 63 bits can count"},
};

class WrongConfigTest : public ::testing::TestWithParam<WrongCase> {};

TEST_P(WrongConfigTest, NamesTheKey) {
  json config = json::parse(GoldenConfig(GetParam().base));
  const std::string value = GetParam().value;
  config.erase(GetParam().key);
  if (!value.empty()) config[GetParam().key] = json::parse(value);
  if (std::string(GetParam().name) == "TooLarge") {
    config["intermediate_size"] = 2147483648;
    config["num_local_experts"] = 65536;
  }
  const auto model = ImportText(config.dump());
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(, WrongConfigTest, ::testing::ValuesIn(kWrong),
                         [](const ::testing::TestParamInfo<WrongCase>& row) {
                           return std::string(row.param.name);
                         });

TEST(ImportTest, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "7", "null", "{", "{\"a\":1,\"a\":2}"}) {
    EXPECT_FALSE(ImportText(text).ok()) << text;
  }
  const std::string deep(100'000, '[');
  const auto model = ImportText(deep);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("nested more than 32 deep"));
}

// --- checkpoints

constexpr char kTiny[] = R"({"model_type": "qwen2", "hidden_size": 8,
  "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 16,
  "intermediate_size": 12, "num_hidden_layers": 2, "torch_dtype": "float32"})";

int64_t BytesOf(const std::string& dtype) {
  if (dtype == "F32" || dtype == "I32") return 4;
  return dtype == "BF16" || dtype == "F16" ? 2 : 1;
}

// Tensors, one after the other.
class HeaderWriter {
 public:
  void Add(const std::string& name, const std::string& dtype,
           std::vector<int64_t> shape) {
    int64_t bytes = BytesOf(dtype);
    for (int64_t extent : shape) bytes *= extent;
    header_[name] = {{"dtype", dtype},
                     {"shape", shape},
                     {"data_offsets", {at_, at_ + bytes}}};
    at_ += bytes;
  }
  std::string Text() const {
    const std::string json_text = header_.dump();
    std::string text;
    for (size_t i = 0; i < 8; ++i) {
      text += static_cast<char>((json_text.size() >> (8 * i)) & 0xff);
    }
    return text + json_text;
  }
  int64_t bytes() const { return at_; }

 private:
  json header_ = json::object();
  int64_t at_ = 0;
};

// What the config of `model` says, stored as `dtype`; `change` may edit a row.
template <typename Change>
HeaderWriter Stored(const ImportedModel& model, const std::string& dtype,
                    Change change) {
  HeaderWriter writer;
  for (const ImportedParameter& parameter : model.parameters) {
    std::vector<int64_t> shape = parameter.shape;
    std::string name = parameter.tensor;
    if (change(&name, &shape)) writer.Add(name, dtype, shape);
  }
  return writer;
}

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() : plain_(*ImportText(kTiny)) {}

  absl::StatusOr<ImportedModel> With(const HeaderWriter& writer) {
    return Import(
        {{"config.json", kTiny}, {"model.safetensors", writer.Text()}});
  }
  static bool Keep(std::string*, std::vector<int64_t>*) { return true; }

  ImportedModel plain_;
};

TEST_F(CheckpointTest, CountsStoredBytesAndTakesTheirDType) {
  const HeaderWriter writer = Stored(plain_, "BF16", Keep);
  const auto model = With(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->weight_bytes, writer.bytes());
  EXPECT_EQ(model->weight_bytes, 2 * model->parameter_count);
  EXPECT_EQ(model->card.generics.back().value, "bf16");
}

TEST_F(CheckpointTest, NamesATensorOfAnotherShape) {
  const auto model = With(Stored(
      plain_, "BF16", [](std::string* name, std::vector<int64_t>* shape) {
        if (*name == "model.layers.1.mlp.up_proj.weight") *shape = {11, 8};
        return true;
      }));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("`model.layers.1.mlp.up_proj.weight` is [11, 8], but "
                        "the config gives [12, 8]"));
}

TEST_F(CheckpointTest, NamesAMissingTensor) {
  const auto model =
      With(Stored(plain_, "BF16", [](std::string* name, std::vector<int64_t>*) {
        return !absl::StrContains(*name, "layers.0.self_attn.q_proj");
      }));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("`model.layers.0.self_attn.q_proj.weight` of shape "
                        "[8, 8] is missing"));
}

TEST_F(CheckpointTest, ReadsOtherSpellings) {
  const auto model =
      With(Stored(plain_, "F32", [](std::string* name, std::vector<int64_t>*) {
        if (absl::StartsWith(*name, "model.")) *name = name->substr(6);
        return true;
      }));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->weight_bytes, 4 * model->parameter_count);
  EXPECT_EQ(model->bindings[0].second, "embed_tokens.weight");
}

TEST_F(CheckpointTest, TakesBiasesThatTheConfigDoesNotTellOf) {
  HeaderWriter writer = Stored(plain_, "BF16", Keep);
  writer.Add("model.layers.1.self_attn.o_proj.bias", "BF16", {8});
  const auto model = With(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->parameter_count, plain_.parameter_count + 8);
  EXPECT_EQ(model->bindings.back().first, "layers.1.attention.o_proj.bias");
}

TEST_F(CheckpointTest, SaysWhatNothingReads) {
  HeaderWriter writer = Stored(plain_, "BF16", Keep);
  const int64_t bytes = writer.bytes();
  writer.Add("vision.patch", "BF16", {512});
  writer.Add("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {2});
  const auto model = With(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->weight_bytes, bytes);
  EXPECT_THAT(model->notes,
              Contains(AllOf(HasSubstr("1 tensors"), HasSubstr("1.00 KiB"),
                             HasSubstr("`vision.patch`"))));
}

// Every quantised form: the tensors in place of one weight [12, 8].
struct PackedCase {
  const char* name;
  std::vector<std::tuple<std::string, std::string, std::vector<int64_t>>> parts;
};

class PackedTest : public CheckpointTest,
                   public ::testing::WithParamInterface<PackedCase> {};

TEST_P(PackedTest, CountsAllParts) {
  HeaderWriter writer =
      Stored(plain_, "BF16", [](std::string* name, std::vector<int64_t>*) {
        return *name != "model.layers.0.mlp.up_proj.weight";
      });
  for (const auto& [suffix, dtype, shape] : GetParam().parts) {
    writer.Add(absl::StrCat("model.layers.0.mlp.up_proj", suffix), dtype,
               shape);
  }
  const auto model = With(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->weight_bytes, writer.bytes());
}

INSTANTIATE_TEST_SUITE_P(
    , PackedTest,
    ::testing::Values(
        PackedCase{"Fp8Blocks",
                   {{".weight", "F8_E4M3", {12, 8}},
                    {".weight_scale_inv", "F32", {1, 1}}}},
        PackedCase{"Gptq",
                   {{".qweight", "I32", {1, 12}},
                    {".qzeros", "I32", {1, 2}},
                    {".scales", "F16", {1, 12}},
                    {".g_idx", "I32", {8}}}},
        PackedCase{"Bitsandbytes4",
                   {{".weight", "U8", {48, 1}},
                    {".weight.absmax", "U8", {2}},
                    {".weight.quant_map", "F32", {16}},
                    {".weight.quant_state.bitsandbytes__nf4", "U8", {90}}}},
        PackedCase{"Bitsandbytes8",
                   {{".weight", "I8", {12, 8}}, {".SCB", "F32", {12}}}},
        PackedCase{"CompressedTensors",
                   {{".weight_packed", "I32", {12, 1}},
                    {".weight_scale", "BF16", {12, 1}},
                    {".weight_shape", "I32", {2}}}},
        PackedCase{
            "Mxfp4",
            {{"_blocks", "U8", {12, 1, 4}}, {"_scales", "U8", {12, 1}}}}),
    [](const ::testing::TestParamInfo<PackedCase>& row) {
      return std::string(row.param.name);
    });

TEST_F(CheckpointTest, ReadsAllFilesOfAnIndex) {
  HeaderWriter first, second;
  json map = json::object();
  bool odd = false;
  for (const ImportedParameter& parameter : plain_.parameters) {
    (odd ? first : second).Add(parameter.tensor, "BF16", parameter.shape);
    map[parameter.tensor] = odd ? "a.safetensors" : "b.safetensors";
    odd = !odd;
  }
  Files files = {
      {"m/config.json", kTiny},
      {"m/model.safetensors.index.json", json{{"weight_map", map}}.dump()},
      {"m/a.safetensors", first.Text()},
      {"m/b.safetensors", second.Text()}};
  auto model = Import(files, "m/config.json");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->card.name, "m");
  EXPECT_EQ(model->weight_bytes, first.bytes() + second.bytes());

  files.erase("m/b.safetensors");
  model = Import(files, "m/config.json");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->weight_bytes, std::nullopt);
  EXPECT_THAT(model->notes, Contains(HasSubstr("were not given")));
}

}  // namespace
}  // namespace linnet::zoo
