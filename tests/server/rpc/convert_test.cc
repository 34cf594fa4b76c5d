#include "server/rpc/convert.h"

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "linnet/v1/model.pb.h"
#include "server/rpc/status.h"
#include "tests/support/fake_prepared.h"

namespace linnet::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

v1::Configuration Named() {
  v1::Configuration config;
  config.mutable_model()->set_name("m");
  return config;
}

v1::Configuration Bundled() {
  v1::Configuration config;
  v1::SourceBundle& bundle = *config.mutable_model()->mutable_bundle();
  v1::SourceFile& file = *bundle.add_files();
  file.set_path("src/a.linnet");
  file.set_content("module a\n");
  bundle.set_root_file("src/a.linnet");
  return config;
}

TEST(ConvertTest, UnsetFieldsTakeTheirDefaults) {
  const auto config = ToConfig(Named(), {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->model.name, "m");
  EXPECT_EQ(config->backend, "cuda");
  EXPECT_EQ(config->numerics, "fast");
  EXPECT_FALSE(config->batch.has_value());
  EXPECT_FALSE(config->cublas_workspace_config.has_value());
}

TEST(ConvertTest, BindingsAreSorted) {
  v1::Configuration from = Named();
  (*from.mutable_bindings())["b"] = "2";
  (*from.mutable_bindings())["a"] = "1";
  (*from.mutable_bindings())["c"] = "3";
  EXPECT_THAT(ToConfig(from, {})->bindings,
              ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "3")));
}

TEST(ConvertTest, TrainingSettingsComeBackInAResponse) {
  v1::Configuration from = Named();
  EXPECT_FALSE(ToConfig(from, {})->training.has_value());
  v1::TrainingSettings& training = *from.mutable_training();
  EXPECT_EQ(ToConfig(from, {})->training->optimizer, "adamw");
  training.set_optimizer("sgd");
  training.set_master_dtype("f32");
  training.set_gradient_dtype("bf16");
  training.add_trainable("layers.*");
  training.add_checkpoints("none");
  training.add_checkpoints("block");
  training.set_shards(4);
  training.set_zero_stage(2);
  v1::Lora& lora = *training.mutable_lora();
  lora.set_rank(16);
  lora.add_targets("q_proj");
  lora.set_dtype("bf16");
  lora.set_base_format("nf4");
  planner::Report report;
  report.config = *ToConfig(from, {});
  report.training = planner::TrainingReport{"none", 0.25, 7, 20};
  const v1::AnalyzeResponse response = ToResponse(report);
  EXPECT_EQ(response.config().training().SerializeAsString(),
            training.SerializeAsString());
  EXPECT_FALSE(response.has_allocation());
  EXPECT_EQ(response.training().checkpoint(), "none");
  EXPECT_EQ(response.training().recomputed_part(), 0.25);
  EXPECT_EQ(response.training().peak_position(), 7);
  EXPECT_EQ(response.training().num_positions(), 20);
  training.set_shards(0);
  EXPECT_EQ(ToConfig(from, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ConvertTest, EverythingGivenComesBackInAResponse) {
  v1::Configuration from = Named();
  from.set_entry("decode");
  from.set_root("Model");
  from.set_backend(v1::BACKEND_GENERIC);
  from.set_numerics(v1::NUMERICS_EXACT);
  from.set_dtype("bf16");
  from.set_batch(2);
  from.set_context(3);
  from.set_cache_len(4);
  (*from.mutable_bindings())["H"] = "5";
  from.add_optionals("bias");
  from.set_ignore_weight_bindings(true);
  from.set_kv_dtype("f16");
  from.set_kv_block_size_tokens(16);
  from.set_kv_layout(v1::KV_LAYOUT_ROLLING);
  v1::Parallel& parallel = *from.mutable_parallel();
  parallel.set_tensor(2);
  parallel.set_pipeline(4);
  parallel.set_microbatches(8);
  parallel.set_schedule("zero-bubble");
  parallel.set_virtual_stages(2);
  parallel.set_sequence(true);
  parallel.add_stages("layers.3");
  from.set_context_bytes(7);
  from.set_compiled(true);
  from.set_cublas_workspace_config(":16:8");
  const auto config = ToConfig(from, {});
  ASSERT_TRUE(config.ok()) << config.status();
  const auto report = planner::FakePrepared().Analyze(*config);
  EXPECT_EQ(ToResponse(*report).config().SerializeAsString(),
            from.SerializeAsString());
}

TEST(ConvertTest, AnUnknownAmountStaysUnset) {
  planner::Report report;
  report.components.resize(2);
  report.components[1].bytes = 0;
  const v1::AnalyzeResponse response = ToResponse(report);
  EXPECT_FALSE(response.components(0).has_bytes());
  EXPECT_TRUE(response.components(1).has_bytes());
  EXPECT_FALSE(response.peak().has_step());
}

struct FaultCase {
  std::string name;
  std::function<void(v1::Configuration&)> edit;  // Of a good bundle.
  std::string field;
};

class ConvertFaultTest : public ::testing::TestWithParam<FaultCase> {};

TEST_P(ConvertFaultTest, NamesTheField) {
  v1::Configuration config = Bundled();
  ASSERT_TRUE(ToConfig(config, {}).ok());
  GetParam().edit(config);
  const absl::Status status = ToConfig(config, {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(MakeErrorDetail(status).field(), GetParam().field);
}

void SetPath(v1::Configuration& config, const std::string& path) {
  v1::SourceBundle& bundle = *config.mutable_model()->mutable_bundle();
  bundle.mutable_files(0)->set_path(path);
  bundle.set_root_file(path);
}

constexpr char kPath[] = "config.model.bundle.files.path";

INSTANTIATE_TEST_SUITE_P(
    Cases, ConvertFaultTest,
    ::testing::ValuesIn<FaultCase>({
        {"NoModel", [](auto& c) { c.clear_model(); }, "config.model"},
        {"EmptyName", [](auto& c) { c.mutable_model()->set_name(""); },
         "config.model.name"},
        {"AbsolutePath", [](auto& c) { SetPath(c, "/etc/passwd"); }, kPath},
        {"ParentPath", [](auto& c) { SetPath(c, "a/../b"); }, kPath},
        {"EmptyPart", [](auto& c) { SetPath(c, "a//b"); }, kPath},
        {"EmptyPath", [](auto& c) { SetPath(c, ""); }, kPath},
        {"SamePathTwice",
         [](auto& c) {
           auto& bundle = *c.mutable_model()->mutable_bundle();
           *bundle.add_files() = bundle.files(0);
         },
         kPath},
        {"RootFileMissing",
         [](auto& c) {
           c.mutable_model()->mutable_bundle()->set_root_file("b");
         },
         "config.model.bundle.root_file"},
        {"ZeroBatch", [](auto& c) { c.set_batch(0); }, "config.batch"},
        {"NegativeContext", [](auto& c) { c.set_context(-1); },
         "config.context"},
        {"ZeroCache", [](auto& c) { c.set_cache_len(0); }, "config.cache_len"},
        {"ZeroBlock", [](auto& c) { c.set_kv_block_size_tokens(0); },
         "config.kv_block_size_tokens"},
        {"NegativeBytes", [](auto& c) { c.set_context_bytes(-1); },
         "config.context_bytes"},
        {"NewBackend",
         [](auto& c) { c.set_backend(static_cast<v1::Backend>(99)); },
         "config.backend"},
        {"NewNumerics",
         [](auto& c) { c.set_numerics(static_cast<v1::Numerics>(99)); },
         "config.numerics"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ConvertTest, LimitsAreAtTheirValueAndOnePastIt) {
  planner::Limits limits;
  limits.max_files = 1;
  limits.max_source_bytes = 9;  // "module a\n" exactly.
  EXPECT_TRUE(ToConfig(Bundled(), limits).ok());
  limits.max_source_bytes = 8;
  absl::Status status = ToConfig(Bundled(), limits).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(MakeErrorDetail(status).limit().name(), "limits.max_source_bytes");
  EXPECT_EQ(MakeErrorDetail(status).limit().value(), 8);
  limits.max_source_bytes = 9;
  limits.max_files = 0;
  status = ToConfig(Bundled(), limits).status();
  EXPECT_EQ(MakeErrorDetail(status).limit().name(), "limits.max_files");
}

TEST(ConvertTest, ATimelineNamesTheLargestTensorsAndSumsTheOthers) {
  planner::MemoryTimeline from;
  from.num_positions = 2;
  from.categories.push_back({"activations", {0, 7}});
  for (int64_t i = 0; i < 1003; ++i) {
    from.live_at_peak.push_back(
        {"", "activations", 5000 - i, i - 1, "add", ""});
  }
  const v1::Timeline to = ToTimeline(from);
  EXPECT_THAT(to.categories(0).bytes(), ElementsAre(0, 7));
  EXPECT_EQ(to.live_at_peak_size(), 1000);
  EXPECT_FALSE(to.live_at_peak(0).has_step());
  EXPECT_EQ(to.live_at_peak(1).step(), 0);
  EXPECT_EQ(to.num_more(), 3);
  EXPECT_EQ(to.more_bytes(), 4000 + 3999 + 3998);
}

}  // namespace
}  // namespace linnet::server
