// Every built-in model: its published size, and an answer for every entry.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/planner/bind.h"
#include "core/planner/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

// What the checkpoints hold; the sources are the model sheets.
struct SizeCase {
  std::string model;
  int64_t parameters;
  int64_t bytes;
  int64_t cache_bytes_per_token;  // 0: no cache.
};

class ZooSizeTest : public ::testing::TestWithParam<SizeCase> {};

TEST_P(ZooSizeTest, IsThePublishedOne) {
  Config config;
  config.model.name = GetParam().model;
  const auto model = Describe(config);
  ASSERT_TRUE(model.ok()) << testing_support::FullText(model.status());
  EXPECT_EQ(model->parameter_count, GetParam().parameters);
  EXPECT_EQ(model->parameter_bytes, GetParam().bytes);
  EXPECT_EQ(model->cache_bytes_per_token.value_or(0),
            GetParam().cache_bytes_per_token);
}

std::string TestName(absl::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Sheet, ZooSizeTest,
    ::testing::ValuesIn<SizeCase>({
        {"llama-3.1-8b-instruct", 8030261248, 2 * 8030261248, 131072},
        // The scales are one f32 per output row; embedding, norms and head stay
        // bf16.
        {"llama-3.1-8b-instruct-fp8", 8030261248 + 1376256,
         6979321856 + 5505024 + 2101878784, 131072},
        {"tinyllama-1.1b-chat", 1100048384, 2 * int64_t{1100048384}, 22528},
        {"smollm2-1.7b-instruct", 1711376384, 2 * int64_t{1711376384}, 196608},
        {"mistral-7b-instruct-v0.3", 7248023552, 2 * 7248023552, 131072},
        {"qwen2.5-0.5b-instruct", 494032768, 2 * int64_t{494032768}, 12288},
        {"qwen3-4b", 4022468096, 2 * 4022468096, 147456},
        {"qwen3-8b", 8190735360, 2 * 8190735360, 147456},
        {"phi-3-mini-4k-instruct", 3821079552, 2 * 3821079552, 393216},
        {"gpt2", 124439808, 4 * int64_t{124439808}, 73728},
        {"bert-base-uncased", 109482240, 4 * int64_t{109482240}, 0},
        {"roberta-base", 124055040, 4 * int64_t{124055040}, 0},
        {"all-MiniLM-L6-v2", 22565376, 4 * int64_t{22565376}, 0},
        {"modernbert-base", 149014272, 4 * int64_t{149014272}, 0},
        {"vit-base-patch16-224", 86567656, 4 * int64_t{86567656}, 0},
        {"dinov2-base", 86579712, 4 * int64_t{86579712}, 0},
        {"siglip-base-patch16-224", 203155970, 4 * int64_t{203155970}, 0},
        {"sam-vit-base", 93731556 - 512, 4 * (93731556 - 512), 0},
        {"resnet-18", 11703912 - 4800, 4 * (11703912 - 4800), 0},
        {"resnet-50", 25636712 - 26560, 4 * (25636712 - 26560), 0},
        {"sd-vae-ft-mse", 49490199, 4 * int64_t{49490199}, 0},
        {"sdxl-base-unet", 2567463684, 4 * 2567463684, 0},
    }),
    [](const auto& test) { return TestName(test.param.model); });

// gpt-oss stores two weights in a byte, so elements are not parameters: the
// published count stands on its card, the bytes follow from the program.
TEST(ZooSizeTest, GptOssBytes) {
  Config config;
  config.model.name = "gpt-oss-20b";
  const auto model = Describe(config);
  ASSERT_TRUE(model.ok()) << testing_support::FullText(model.status());
  EXPECT_EQ(model->parameter_bytes, 13761264768);
  EXPECT_EQ(model->cache_bytes_per_token, 49152);
}

TEST(ZooSizeTest, WhisperParameters) {
  for (const auto& [name, parameters, element] :
       {std::tuple("whisper-tiny", int64_t{37760640}, 4),
        std::tuple("whisper-large-v3", int64_t{1543490560}, 2)}) {
    Config config;
    config.model.name = name;
    const auto model = Describe(config);
    ASSERT_TRUE(model.ok()) << testing_support::FullText(model.status());
    EXPECT_EQ(model->parameter_count, parameters) << name;
    EXPECT_EQ(model->parameter_bytes, parameters * element) << name;
  }
}

struct EntryCase {
  std::string model, entry;
};

void AnswerEverything(const std::string& model_name) {
  Config base;
  base.model.name = model_name;
  const auto model = Describe(base);
  ASSERT_TRUE(model.ok()) << testing_support::FullText(model.status());
  ASSERT_FALSE(model->entries.empty());
  for (const EntryDescription& entry : model->entries) {
    Config config = base;
    config.entry = entry.name;
    std::vector<Role> roles;
    for (const std::string& generic : entry.generics) {
      if (const auto role = RoleOf(generic)) {
        roles.push_back(*role);
      } else {
        config.bindings.emplace_back(generic, "2");
      }
    }
    for (const char* numerics : {"exact", "equivalent", "fast"}) {
      SCOPED_TRACE(absl::StrCat(entry.name, " ", numerics));
      config.numerics = numerics;
      int64_t smaller = 0;
      for (int64_t size : {int64_t{4}, int64_t{64}}) {
        // Only the roles that the entry leaves open are given.
        config.batch.reset();
        config.context.reset();
        for (Role role : roles) {
          if (role == Role::kBatch) config.batch = 2;
          if (role == Role::kContext) config.context = size;
        }
        const auto prepared = Prepare(config);
        ASSERT_TRUE(prepared.ok())
            << testing_support::FullText(prepared.status());
        const auto report = (*prepared)->Analyze(config);
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_GT(report->num_steps, 0);
        EXPECT_GT(report->graph_peak_bytes, model->parameter_bytes);
        EXPECT_GE(report->planned_bytes, report->lower_bound_bytes);
        EXPECT_GE(report->graph_peak_bytes, smaller);
        smaller = report->graph_peak_bytes;
      }
    }
  }
}

class ZooEntriesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ZooEntriesTest, AnalyseUnderEveryPolicyAtTwoSizes) {
  AnswerEverything(GetParam());
}

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const ModelSummary& model : ListModels()) names.push_back(model.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, ZooEntriesTest,
                         ::testing::ValuesIn(ModelNames()),
                         [](const auto& test) { return TestName(test.param); });

}  // namespace
}  // namespace linnet::planner
