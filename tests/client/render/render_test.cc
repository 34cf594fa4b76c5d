#include <string>

#include "absl/status/status.h"
#include "client/render/diagnostic.h"
#include "client/render/json.h"
#include "client/render/report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "linnet/v1/error.pb.h"
#include "linnet/v1/planner.pb.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void Add(const std::string& name, int64_t bytes, v1::Confidence confidence,
         v1::AnalyzeResponse& response) {
  v1::Component& component = *response.add_components();
  component.set_name(name);
  component.set_bytes(bytes);
  component.set_confidence(confidence);
}

v1::AnalyzeResponse Llama() {
  constexpr int64_t kMiB = 1 << 20;
  v1::AnalyzeResponse response;
  Add("Weights", 16060522496, v1::CONFIDENCE_EXACT, response);
  Add("KV cache", 1073741824, v1::CONFIDENCE_EXACT, response);
  Add("Peak activations", 2168979456, v1::CONFIDENCE_EXACT, response);
  Add("CUDA context", 621 * kMiB, v1::CONFIDENCE_ESTIMATED, response);
  Add("CUDA libraries", 74 * kMiB, v1::CONFIDENCE_ESTIMATED, response);
  Add("cuBLAS workspace", 32 * kMiB, v1::CONFIDENCE_ESTIMATED, response);
  response.add_components()->set_name("Allocator fragmentation");
  v1::Peak& peak = *response.mutable_peak();
  peak.set_graph_bytes(19303243776);
  peak.set_expected_bytes(19303243776 + 727 * kMiB);
  peak.set_confidence(v1::CONFIDENCE_ESTIMATED);
  peak.set_at("step 1603: linear in `lm_head`");
  response.mutable_allocation()->set_naive_bytes(65380000000);
  response.mutable_allocation()->set_planned_bytes(2168979456);
  response.mutable_allocation()->set_lower_bound_bytes(2168979456);
  response.add_unknown(
      "Allocator fragmentation: the caching allocator's unused reserve "
      "depends on the allocation order");
  return response;
}

TEST(ReportTest, ReadsAsTheDocumentation) {
  EXPECT_EQ(RenderReport(Llama()),
            R"(Weights                  14.96 GiB  [exact]
KV cache                  1.00 GiB  [exact]
Peak activations          2.02 GiB  [exact]
CUDA context            621.00 MiB  [estimated]
CUDA libraries           74.00 MiB  [estimated]
cuBLAS workspace         32.00 MiB  [estimated]
------------------------------------
Graph peak               17.98 GiB
Expected peak            18.69 GiB  [estimated]

Peak at step 1603: linear in `lm_head`.
Transient storage: 60.89 GiB with a buffer per tensor, 2.02 GiB planned, 2.02 GiB live at most.

Not included (unknown):
  - Allocator fragmentation: the caching allocator's unused reserve depends on the allocation order
)");
}

TEST(ReportTest, ALongNameMovesTheColumn) {
  v1::AnalyzeResponse response;
  Add("Optimizer states (sgd-momentum)", 5, v1::CONFIDENCE_EXACT, response);
  response.mutable_peak()->set_expected_bytes(5);
  const std::string text = RenderReport(response);
  EXPECT_THAT(text, HasSubstr("Optimizer states (sgd-momentum) 5 B  [exact]\n"
                              "-------------------------------------\n"
                              "Graph peak                  unknown\n"
                              "Expected peak                   5 B"));
}

TEST(ReportTest, WarningsAndAssumptionsFollow) {
  v1::AnalyzeResponse response = Llama();
  response.add_warnings("both branches were traced");
  response.add_assumptions("an assumption");
  EXPECT_THAT(RenderReport(response),
              HasSubstr("\n\nWarnings:\n  - both branches were traced\n"
                        "\nAssumptions:\n  - an assumption\n"));
}

TEST(JsonTest, HasEveryKeyAndNullForTheUnknown) {
  v1::AnalyzeResponse response = Llama();
  response.mutable_config()->set_batch(1);
  const auto json = nlohmann::json::parse(ReportJson(response, "dir/llama"));
  for (const char* key : {"version", "configuration", "symbols", "components",
                          "peak", "allocation", "recompute", "devices",
                          "formulas", "unknown", "warnings", "assumptions"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json.size(), 12u);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["configuration"]["model"], "dir/llama");
  EXPECT_EQ(json["configuration"]["batch"], 1);
  EXPECT_TRUE(json["configuration"]["context"].is_null());
  EXPECT_TRUE(json["components"][6]["bytes"].is_null());
  EXPECT_EQ(json["components"][6]["confidence"], "unknown");
  EXPECT_EQ(json["peak"]["graph"], 19303243776);
  EXPECT_EQ(json["allocation"]["lower_bound"], 2168979456);
}

v1::AnalyzeResponse TrainingStep(const std::string& policy) {
  v1::AnalyzeResponse response = Llama();
  response.clear_allocation();
  response.mutable_config()->mutable_training()->set_optimizer("sgd");
  response.mutable_training()->set_checkpoint(policy);
  response.mutable_peak()->set_at("the optimizer step (position 9 of 10)");
  return response;
}

TEST(ReportTest, SeveralPoliciesStandUnderHeadings) {
  v1::AnalyzeResponse response = TrainingStep("none");
  EXPECT_THAT(RenderReport(response),
              ::testing::AllOf(
                  Not(HasSubstr("Checkpointing")), Not(HasSubstr("Transient")),
                  HasSubstr("\nPeak in the optimizer step (position 9 of 10).\n"
                            "\nNot included")));
  *response.add_other_policies() = TrainingStep("block");
  response.mutable_other_policies(0)->mutable_training()->set_recomputed_part(
      0.3333);
  const std::string text = RenderReport(response);
  EXPECT_EQ(text.find("Checkpointing: none\n\nWeights "), 0u);
  EXPECT_THAT(text, HasSubstr("\n\nCheckpointing: block\n\nWeights "));
  EXPECT_THAT(text, HasSubstr("Computed again: 33.3% of the step's FLOPs.\n"));
}

TEST(JsonTest, SeveralPoliciesAreAnArray) {
  v1::AnalyzeResponse response = TrainingStep("none");
  const auto one = nlohmann::json::parse(ReportJson(response, "m"));
  EXPECT_EQ(one["configuration"]["training"]["optimizer"], "sgd");
  EXPECT_TRUE(one["allocation"].is_null());
  EXPECT_TRUE(one["recompute"].is_null());
  *response.add_other_policies() = TrainingStep("block");
  response.mutable_other_policies(0)->mutable_training()->set_recomputed_part(
      0.25);
  const auto both = nlohmann::json::parse(ReportJson(response, "m"));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], one);
  EXPECT_EQ(both[1]["recompute"], 0.25);
}

TEST(JsonTest, SurvivesTextThatIsNoUtf8) {
  EXPECT_TRUE(nlohmann::json::accept(ReportJson({}, "bad\xff.linnet")));
}

TEST(FailureTest, SuggestsNames) {
  v1::ErrorDetail detail;
  detail.add_suggestions("llama");
  detail.add_suggestions("lama");
  EXPECT_EQ(RenderFailure(absl::NotFoundError("no model `llma`"), detail,
                          /*colour=*/false),
            "error: no model `llma`\nhelp: did you mean `llama`, `lama`?\n");
}

TEST(FailureTest, RendersDiagnosticsOfAServerThatDidNot) {
  v1::ErrorDetail detail;
  v1::Diagnostic& diagnostic = *detail.add_diagnostics();
  diagnostic.set_code("E1101");
  diagnostic.set_message("unexpected `}`");
  diagnostic.mutable_location()->set_file("a.linnet");
  diagnostic.mutable_location()->mutable_start()->set_line(3);
  diagnostic.mutable_location()->mutable_start()->set_column(9);
  const absl::Status status = absl::InvalidArgumentError("1 error");
  EXPECT_EQ(RenderFailure(status, detail, /*colour=*/false),
            "error[E1101]: unexpected `}`\n  a.linnet:3:9\n\n"
            "error: 1 error\n");
  detail.set_rendered("error[E1101]: as rendered\n");
  EXPECT_EQ(RenderFailure(status, detail, /*colour=*/false),
            "error[E1101]: as rendered\n\nerror: 1 error\n");
}

TEST(FailureTest, ColoursOnlyWhenAsked) {
  const absl::Status status = absl::NotFoundError("x");
  EXPECT_THAT(RenderFailure(status, {}, /*colour=*/true), HasSubstr("\033["));
  EXPECT_THAT(RenderFailure(status, {}, /*colour=*/false),
              Not(HasSubstr("\033[")));
}

TEST(FailureTest, KeepsControlCharactersFromTheTerminal) {
  EXPECT_EQ(RenderFailure(absl::NotFoundError("a\033[2Jb"), {}, false),
            "error: a?[2Jb\n");
}

}  // namespace
}  // namespace linnet::client
