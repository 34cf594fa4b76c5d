#include "server/metrics/metrics.h"

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::server {
namespace {

using ::testing::HasSubstr;

TEST(MetricsTest, CountsRequestsByMethodAndCode) {
  Metrics metrics;
  metrics.RequestStarted(Method::kAnalyze);
  metrics.RequestStarted(Method::kAnalyze);
  metrics.RequestDone(Method::kAnalyze, 5, absl::Milliseconds(3));
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("linnet_requests_total{code=\"NOT_FOUND\","
                              "method=\"Planner.Analyze\"} 1"));
  EXPECT_THAT(text, HasSubstr("linnet_requests_in_flight{method=\"Planner."
                              "Analyze\"} 1"));
  EXPECT_THAT(text, HasSubstr("linnet_request_seconds_count{method=\"Planner."
                              "Analyze\"} 1"));
}

TEST(MetricsTest, ServesOnAFreePort) {
  Metrics metrics;
  const auto server = MetricsServer::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT((*server)->port(), 0);
}

}  // namespace
}  // namespace linnet::server
