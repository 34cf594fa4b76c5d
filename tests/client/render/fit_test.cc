#include "client/render/fit.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

v1::MaximizeResponse Fits() {
  v1::MaximizeResponse response;
  response.set_budget_bytes(78 * 1024 * kMiB);
  response.set_value(62);
  response.set_smallest(1);
  response.set_stopped_by(v1::STOPPED_BY_MEMORY);
  response.mutable_peak()->set_expected_bytes(83411557888);
  response.set_headroom_bytes(340623360);
  return response;
}

TEST(FitTest, ReadsAsTheDocumentation) {
  v1::MaximizeRequest request;
  request.set_goal(v1::GOAL_BATCH);
  EXPECT_EQ(RenderFit(request, Fits()),
            "Maximum batch size: 62\n\n"
            "Estimated peak memory: 77.68 GiB\n"
            "Headroom: 324.84 MiB of a 78.00 GiB budget\n");
  request.set_goal(v1::GOAL_CONTEXT);
  EXPECT_THAT(RenderFit(request, Fits()),
              HasSubstr("Maximum context length: 62"));
}

TEST(FitTest, SaysWhatLimits) {
  v1::MaximizeRequest request;
  request.set_goal(v1::GOAL_BATCH);
  v1::MaximizeResponse response = Fits();
  response.set_stopped_by(v1::STOPPED_BY_MODEL);
  response.set_clause("B <= 62");
  EXPECT_THAT(RenderFit(request, response),
              HasSubstr("Limited by the model's clause `B <= 62`"));
  response.set_stopped_by(v1::STOPPED_BY_SEARCH);
  EXPECT_THAT(RenderFit(request, response), HasSubstr("Limited by the search"));
}

TEST(FitTest, SaysByHowMuchNothingFits) {
  v1::MaximizeRequest request;
  request.set_goal(v1::GOAL_BATCH);
  request.mutable_budget()->set_device("l4");
  v1::MaximizeResponse response = Fits();
  response.clear_value();
  response.set_device_title("NVIDIA L4 24 GB");
  response.set_headroom_bytes(-3 * kMiB);
  EXPECT_EQ(RenderFit(request, response),
            "No batch size fits: 1 needs 77.68 GiB, 3.00 MiB more than a 78.00 "
            "GiB budget of NVIDIA L4 24 GB.\n");
  const auto json = nlohmann::json::parse(FitJson(request, response));
  EXPECT_TRUE(json["value"].is_null());
  EXPECT_EQ(json["headroom"], -3 * kMiB);
  EXPECT_EQ(json["device"]["name"], "l4");
}

}  // namespace
}  // namespace linnet::client
