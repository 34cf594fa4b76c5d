// The training rows of tests/golden/report/expected.json: every printed digit.

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/planner/planner.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/program.h"
#include "tests/support/source_dir.h"

namespace linnet::planner {
namespace {

using testing_support::PrepareOrFail;

std::string Gib(double bytes) {
  return absl::StrFormat("%.2f", bytes / static_cast<double>(kGiB));
}

// Graph and workspaces: everything but the process's own memory.
TEST(ExpectedMemoryTest, MatchesEveryTrainingRow) {
  const nlohmann::json expected = nlohmann::json::parse(
      testing_support::ReadSourceFile("tests/golden/report/expected.json"));
  int rows = 0;
  for (const nlohmann::json& row : expected["memory"]) {
    const nlohmann::json& settings = row["config"];
    if (!settings.contains("training")) continue;
    ++rows;
    SCOPED_TRACE(row.dump());
    Config config;
    config.model.name = row["model"];
    config.entry = row["entry"];
    config.no_bindings = true;
    config.context = settings["seq_len"];
    config.training.emplace().optimizer = settings["optimizer"];
    const auto prepared = PrepareOrFail(config);
    ASSERT_NE(prepared, nullptr);
    const auto report = prepared->Analyze(config);
    ASSERT_TRUE(report.ok()) << report.status();
    int64_t runtime = 0;
    int64_t sum = 0;
    for (const Component& part : report->components) {
      sum += part.bytes.value_or(0);
      if (part.category == "runtime") runtime += part.bytes.value_or(0);
    }
    EXPECT_EQ(sum, report->expected_peak_bytes);
    const int64_t predicted = report->expected_peak_bytes - runtime;
    EXPECT_EQ(Gib(static_cast<double>(predicted)),
              absl::StrFormat("%.2f", row["predicted_gib"].get<double>()));
    RecordProperty(absl::StrFormat("row%d", rows), std::to_string(predicted));
    // Outside the allocator.
    EXPECT_EQ(runtime,
              expected["outside_allocator_mib"]["estimates"]["training"]
                      .get<int64_t>() *
                  kMiB);
    const auto summary = prepared->Summarize(config);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->expected_peak_bytes, report->expected_peak_bytes);
    EXPECT_EQ(prepared->StepText(summary->peak_step), report->peak_at);
  }
  EXPECT_EQ(rows, 6);
}

}  // namespace
}  // namespace linnet::planner
