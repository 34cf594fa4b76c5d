// Checkpoints of the Hub through the whole engine: every entry of every family
// analyses, and what the program declares is what the config says.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/planner/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing_support::FullText;

std::string GoldenConfig(const std::string& name) {
  std::ifstream in(
      absl::StrCat(LINNET_SOURCE_DIR, "/tests/golden/hf/", name, ".json"),
      std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Config Imported(const std::string& config) {
  Config request;
  request.model.files.push_back({"config.json", config});
  request.model.root_file = "config.json";
  return request;
}

Report AnalyzeOrFail(const Config& config) {
  const auto prepared = Prepare(config);
  if (!prepared.ok()) {
    ADD_FAILURE() << FullText(prepared.status());
    return {};
  }
  auto report = (*prepared)->Analyze(config);
  if (!report.ok()) {
    ADD_FAILURE() << FullText(report.status());
    return {};
  }
  return *std::move(report);
}

int64_t BytesOf(const Report& report, const std::string& name) {
  for (const Component& part : report.components) {
    if (part.name == name) return part.bytes.value_or(-1);
  }
  return -1;
}

struct FamilyCase {
  const char* name;     // Of the golden config.
  int64_t parameters;   // That the program declares; tied ones once.
  int64_t cache_bytes;  // Of one position at batch 1; 0: there is none.
};

// One of each form of the general source, and of each card that serves as one.
constexpr FamilyCase kFamilies[] = {
    {"llama-3.1-8b", 8'030'261'248, 131'072},
    {"smollm3-3b", 3'075'098'624, 73'728},
    {"mistral-7b-v0.1", 7'241'732'096, 131'072},
    {"mixtral-8x7b", 46'702'792'704, 131'072},
    {"qwen2.5-0.5b", 494'032'768, 12'288},
    {"qwen3-4b", 4'022'468'096, 147'456},
    {"qwen3-30b-a3b", 30'532'122'624, 98'304},
    {"qwen1.5-moe-a2.7b", 14'315'784'192, 196'608},
    {"gemma-2-2b", 2'614'341'888, 106'496},
    {"gemma-3-1b", 999'885'952, 26'624},
    {"phi-4", 14'659'507'200, 204'800},
    // 576 values of 61 layers: what DeepSeek-V3's report calls the compressed
    // cache, 70,272 bytes in bf16.
    {"deepseek-v3", 671'026'419'200, 70'272},
    {"deepseek-v2-lite", 15'706'484'224, 31'104},
    {"falcon-7b", 6'921'720'704, 8'192},
    {"falcon-40b", 41'303'293'952, 122'880},
    {"gpt-neox-20b", 20'554'567'680, 1'081'344},
    {"olmo-2-1b", 1'484'916'736, 131'072},
    {"granite-3.0-2b", 2'533'531'648, 81'920},
    {"command-r-v01", 34'980'831'232, 1'310'720},
    {"llama-4-scout", 107'769'861'120, 196'608},
    {"llama-4-maverick", 400'711'848'960, 196'608},
    {"gpt2", 124'439'808, 73'728},
    {"bert-base-uncased", 109'482'240, 0},
    {"roberta-base", 124'055'040, 0},
    {"vit-base-patch16-224", 86'567'656, 0},
};

class FamilyTest : public ::testing::TestWithParam<FamilyCase> {
 protected:
  Config config_ = Imported(GoldenConfig(GetParam().name));
};

TEST_P(FamilyTest, DeclaresWhatTheConfigSays) {
  const auto description = Describe(config_);
  ASSERT_TRUE(description.ok()) << FullText(description.status());
  EXPECT_EQ(description->parameter_count, GetParam().parameters);
  EXPECT_EQ(description->cache_bytes_per_token.value_or(0),
            GetParam().cache_bytes);
}

// Decoders share the entries of the built-in ones.
TEST_P(FamilyTest, EveryEntryAnalyses) {
  config_.batch = 2;
  config_.context = 16;
  const auto description = Describe(config_);
  ASSERT_TRUE(description.ok()) << FullText(description.status());
  ASSERT_FALSE(description->entries.empty());
  for (const EntryDescription& entry : description->entries) {
    SCOPED_TRACE(entry.name);
    config_.entry = entry.name;
    config_.bindings = {};
    for (const char* generic : {"M", "Steps", "MaxNew"}) {
      if (absl::c_linear_search(entry.generics, generic)) {
        config_.bindings.emplace_back(generic, "2");
      }
    }
    const Report report = AnalyzeOrFail(config_);
    EXPECT_GT(report.graph_peak_bytes, 0);
    EXPECT_GT(report.num_steps, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FamilyTest, ::testing::ValuesIn(kFamilies),
    [](const ::testing::TestParamInfo<FamilyCase>& row) {
      return absl::StrReplaceAll(row.param.name, {{"-", "_"}, {".", "_"}});
    });

// The general source is the built-in one, step by step, where both can say it.
struct TwinCase {
  const char* imported;
  const char* builtin;
};

class TwinTest : public ::testing::TestWithParam<TwinCase> {};

TEST_P(TwinTest, HasTheMemoryOfTheCard) {
  for (const char* entry :
       {"forward", "next_token", "decode", "prefill", "decode_rows",
        "prefill_packed", "step_packed", "loss_packed"}) {
    SCOPED_TRACE(entry);
    Config imported = Imported(GoldenConfig(GetParam().imported));
    imported.entry = entry;
    imported.batch = 2;
    imported.context = 1024;
    imported.cache_len = 2048;
    Config builtin = imported;
    builtin.model = {};
    builtin.model.name = GetParam().builtin;
    const Report mine = AnalyzeOrFail(imported);
    const Report card = AnalyzeOrFail(builtin);
    EXPECT_EQ(mine.num_steps, card.num_steps);
    EXPECT_EQ(mine.graph_peak_bytes, card.graph_peak_bytes);
    EXPECT_EQ(mine.peak_step, card.peak_step);
    EXPECT_EQ(mine.naive_bytes, card.naive_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , TwinTest,
    ::testing::Values(TwinCase{"llama-3.1-8b", "llama-3.1-8b-instruct"},
                      TwinCase{"mistral-7b-v0.3", "mistral-7b-instruct-v0.3"},
                      TwinCase{"qwen2.5-0.5b", "qwen2.5-0.5b-instruct"},
                      TwinCase{"qwen3-4b", "qwen3-4b"}),
    [](const ::testing::TestParamInfo<TwinCase>& row) {
      return absl::StrReplaceAll(row.param.imported, {{"-", "_"}, {".", "_"}});
    });

TEST(ImportTest, ARollingLayoutKeepsTheWindowAlone) {
  Config config = Imported(GoldenConfig("gemma-3-1b"));
  config.entry = "decode";
  config.batch = 1;
  config.context = 4096;
  // 22 of 26 layers look back 512 positions; 1 head of 256 values in bf16, for
  // keys and for values.
  constexpr int64_t kPosition = 2 * 256 * 2;
  const Report full = AnalyzeOrFail(config);
  EXPECT_EQ(BytesOf(full, "KV cache"), 26 * 4096 * kPosition);
  EXPECT_THAT(full.assumptions,
              Contains(HasSubstr("44 of 52 KV caches belong to layers with a "
                                 "window, and are counted in full")));
  config.kv_layout = "rolling";
  const Report rolling = AnalyzeOrFail(config);
  EXPECT_EQ(BytesOf(rolling, "KV cache"), (4 * 4096 + 22 * 512) * kPosition);
  EXPECT_THAT(rolling.assumptions,
              Contains(HasSubstr("44 of 52 KV caches keep the positions of "
                                 "their layer's window only")));
  // What the program declares is the exact part.
  EXPECT_EQ(rolling.graph_peak_bytes, full.graph_peak_bytes);
  EXPECT_EQ(full.expected_peak_bytes - rolling.expected_peak_bytes,
            22 * (4096 - 512) * kPosition);
  config.context = 100;
  EXPECT_EQ(BytesOf(AnalyzeOrFail(config), "KV cache"), 26 * 100 * kPosition);
}

TEST(ImportTest, CardsNameTheirWindows) {
  Config config;
  config.entry = "decode";
  config.context = 4096;
  config.kv_layout = "rolling";
  config.model.name = "gpt-oss-20b";
  // 12 layers look back 128 positions: 8 heads of 64 values in bf16, twice.
  EXPECT_EQ(BytesOf(AnalyzeOrFail(config), "KV cache"),
            12 * (4096 + 128) * 2 * 8 * 64 * 2);
  config.model.name = "phi-3-mini-4k-instruct";
  EXPECT_EQ(BytesOf(AnalyzeOrFail(config), "KV cache"),
            int64_t{32} * 2047 * 2 * 32 * 96 * 2);
  config.model.name = "tinyllama-1.1b-chat";
  EXPECT_THAT(AnalyzeOrFail(config).warnings,
              Contains(HasSubstr("no layer with a window is known")));
}

TEST(ImportTest, StoredBytesAreTheWeights) {
  const std::string json =
      R"({"model.embed_tokens.weight": {"dtype": "U8", "shape": [100],
          "data_offsets": [0, 100]}})";
  std::string header;
  for (size_t i = 0; i < 8; ++i) {
    header += static_cast<char>((json.size() >> (8 * i)) & 0xff);
  }
  header += json;
  Config config = Imported(
      R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2,
          "vocab_size": 16, "intermediate_size": 8, "num_hidden_layers": 1,
          "tie_word_embeddings": true})");
  config.batch = 1;
  config.context = 4;
  // 16·8 + 4·8·8 + 3·8·8 + 3·8 values in bf16.
  EXPECT_EQ(BytesOf(AnalyzeOrFail(config), "Weights"), 2 * 600);
  config.model.files.push_back({"model.safetensors", header});
  const auto prepared = Prepare(config);
  ASSERT_FALSE(prepared.ok());
  EXPECT_THAT(std::string(prepared.status().message()),
              HasSubstr("`model.layers.0.input_layernorm.weight` of shape [8] "
                        "is missing"));
}

TEST(ImportTest, CannotLeaveBindingsOut) {
  Config config = Imported(GoldenConfig("qwen3-4b"));
  config.batch = 1;
  config.context = 4;
  config.no_bindings = true;
  const auto prepared = Prepare(config);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Describe(config).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace linnet::planner
