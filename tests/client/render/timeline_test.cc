#include "client/render/timeline.h"

#include <string>

#include "client/render/json.h"
#include "client/render/report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "linnet/v1/planner.pb.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = 1 << 20;

v1::Timeline Small() {
  v1::Timeline timeline;
  timeline.set_num_positions(4);
  v1::CategoryTimeline& inputs = *timeline.add_categories();
  inputs.set_category("inputs");
  for (int i = 0; i < 4; ++i) inputs.add_bytes(kMiB);
  v1::CategoryTimeline& activations = *timeline.add_categories();
  activations.set_category("activations");
  for (const int64_t mib : {0, 4, 8, 2}) activations.add_bytes(mib * kMiB);
  timeline.set_peak_position(2);
  timeline.set_peak_at("step 2: add");
  const auto add = [&](const std::string& name, const std::string& label,
                       const std::string& scope) {
    v1::LiveTensor& tensor = *timeline.add_live_at_peak();
    tensor.set_name(name);
    tensor.set_category(label.empty() ? "inputs" : "activations");
    tensor.set_bytes(label.empty() ? kMiB : 4 * kMiB);
    tensor.set_label(label);
    tensor.set_scope(scope);
    if (!label.empty()) tensor.set_step(1);
  };
  add("", "linear", "layers.0.mlp");
  add("", "linear", "layers.17.mlp");
  add("x", "", "");
  return timeline;
}

TEST(TimelineTest, ShowsTheCourseOfEachCategory) {
  const std::string text = RenderTimeline(Small());
  EXPECT_THAT(text, HasSubstr("Over the step, 4 positions:\n"));
  EXPECT_THAT(text, HasSubstr("  inputs       ▁▁▁▁  at most 1.00 MiB\n"));
  EXPECT_THAT(text, HasSubstr("  activations   ▄█▂  at most 8.00 MiB\n"));
}

TEST(TimelineTest, TensorsOfAllLayersAreOneLine) {
  const std::string text = RenderTimeline(Small());
  EXPECT_THAT(text, HasSubstr("In memory at the peak, step 2: add:\n"
                              "  8.00 MiB  activations  2 x  linear in "
                              "`layers.*.mlp`\n"
                              "  1.00 MiB  inputs            x\n"));
  EXPECT_THAT(text, Not(HasSubstr("more of")));
}

TEST(TimelineTest, SaysWhatItLeavesOut) {
  v1::Timeline timeline = Small();
  timeline.set_num_more(7);
  timeline.set_more_bytes(3 * kMiB);
  EXPECT_THAT(RenderTimeline(timeline),
              HasSubstr("  and 7 more of 3.00 MiB together\n"));
}

TEST(TimelineTest, PartOfAReportOnlyWhenAskedFor) {
  v1::AnalyzeResponse response;
  EXPECT_THAT(RenderReport(response), Not(HasSubstr("Over the step")));
  EXPECT_FALSE(
      nlohmann::json::parse(ReportJson(response, "m")).contains("timeline"));
  *response.mutable_timeline() = Small();
  EXPECT_THAT(RenderReport(response), HasSubstr("Over the step"));
  const auto json = nlohmann::json::parse(ReportJson(response, "m"));
  EXPECT_EQ(json["timeline"]["categories"]["activations"][2], 8 * kMiB);
  EXPECT_EQ(json["timeline"]["live_at_peak"][0]["step"], 1);
  EXPECT_TRUE(json["timeline"]["live_at_peak"][2]["step"].is_null());
}

}  // namespace
}  // namespace linnet::client
