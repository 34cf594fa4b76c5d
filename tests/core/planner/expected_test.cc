// The figures of tests/golden/report/expected.json that one device without
// training gives: every printed digit.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/planner/planner.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"

namespace linnet::planner {
namespace {

const nlohmann::json& Expected() {
  static const auto* const kExpected = new nlohmann::json(nlohmann::json::parse(
      testing_support::ReadSourceFile("tests/golden/report/expected.json")));
  return *kExpected;
}

std::string Gib(int64_t bytes) {
  return absl::StrFormat(
      "%.2f", static_cast<double>(bytes) / static_cast<double>(kGiB));
}
std::string Gib(const nlohmann::json& value) {
  return absl::StrFormat("%.2f", value.get<double>());
}

Report AnalyzeOrDie(const Config& config) {
  const auto prepared = Prepare(config);
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  if (!prepared.ok()) return {};
  const auto report = (*prepared)->Analyze(config);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : Report();
}

int64_t BytesOf(const Report& report, const std::string& name) {
  for (const Component& part : report.components) {
    if (part.name == name) return part.bytes.value_or(-1);
  }
  return -1;
}

TEST(ExpectedReportTest, MatchesTheDocument) {
  const nlohmann::json& want = Expected()["report"];
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.batch = 1;
  config.context = 8192;
  const Report report = AnalyzeOrDie(config);
  for (const auto& [name, gib] : want["components_gib"].items()) {
    EXPECT_EQ(Gib(BytesOf(report, name)), Gib(gib)) << name;
  }
  for (const auto& [name, mib] : want["components_mib"].items()) {
    EXPECT_EQ(BytesOf(report, name), mib.get<int64_t>() * kMiB) << name;
  }
  EXPECT_EQ(BytesOf(report, "Weights"), want["weights_bytes"]);
  EXPECT_EQ(BytesOf(report, "KV cache"), want["kv_cache_bytes"]);
  EXPECT_EQ(Gib(report.graph_peak_bytes), Gib(want["graph_peak_gib"]));
  EXPECT_EQ(Gib(report.expected_peak_bytes), Gib(want["expected_peak_gib"]));
  EXPECT_EQ(report.confidence, Confidence::kEstimated);
  EXPECT_EQ(report.peak_at, "step 1603: linear in `lm_head`");
  const nlohmann::json& transient = want["transient_gib"];
  EXPECT_EQ(Gib(report.naive_bytes), Gib(transient["buffer_per_tensor"]));
  EXPECT_EQ(Gib(report.planned_bytes), Gib(transient["planned"]));
  EXPECT_EQ(Gib(report.lower_bound_bytes), Gib(transient["live_at_most"]));
  ASSERT_EQ(report.unknown.size(), 1u);
  EXPECT_EQ(report.unknown[0],
            "Allocator fragmentation: the caching allocator's unused reserve "
            "depends on the allocation order");
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_TRUE(report.assumptions.empty());
}

// Graph and workspaces: everything but the process's own memory.
TEST(ExpectedMemoryTest, MatchesEveryInferenceRow) {
  int rows = 0;
  for (const nlohmann::json& row : Expected()["memory"]) {
    const nlohmann::json& settings = row["config"];
    if (settings.contains("training")) continue;
    ++rows;
    SCOPED_TRACE(row.dump());
    Config config;
    config.model.name = row["model"];
    config.entry = row["entry"];
    config.no_bindings = true;
    if (settings.contains("batch")) config.batch = settings["batch"];
    if (settings.contains("seq_len")) config.context = settings["seq_len"];
    if (settings.contains("cache_len"))
      config.cache_len = settings["cache_len"];
    const Report report = AnalyzeOrDie(config);
    int64_t runtime = 0;
    for (const Component& part : report.components) {
      if (part.category == "runtime") runtime += part.bytes.value_or(0);
    }
    EXPECT_EQ(Gib(report.expected_peak_bytes - runtime),
              Gib(row["predicted_gib"]));
  }
  EXPECT_EQ(rows, 7);
}

TEST(ExpectedFitTest, PeaksOnBothSidesOfTheLargestBatch) {
  const nlohmann::json& want = Expected()["fit"];
  Config config;
  config.model.name = "llama-3.1-8b-instruct";
  config.entry = "decode_rows";
  config.context = 8192;
  config.batch = want["value"];
  const auto prepared = Prepare(config);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const auto fits = (*prepared)->Summarize(config);
  ASSERT_TRUE(fits.ok()) << fits.status();
  const int64_t budget = 78 * kGiB;
  EXPECT_EQ(Gib(fits->expected_peak_bytes), Gib(want["expected_peak_gib"]));
  EXPECT_EQ(absl::StrFormat("%.2f", static_cast<double>(
                                        budget - fits->expected_peak_bytes) /
                                        static_cast<double>(kMiB)),
            absl::StrFormat("%.2f", want["headroom_mib"].get<double>()));
  config.batch = *config.batch + 1;
  const auto larger = (*prepared)->Summarize(config);
  ASSERT_TRUE(larger.ok()) << larger.status();
  EXPECT_GT(larger->expected_peak_bytes, budget);
}

}  // namespace
}  // namespace linnet::planner
