#include "client/render/compare.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::CompareResponse Response() {
  v1::CompareResponse response;
  response.set_grows("context");
  v1::PoolLayouts& pool = *response.add_pools();
  pool.set_devices(4);
  pool.mutable_device()->set_name("h100-80gb");
  pool.mutable_device()->set_source("measured: H100 SXM");
  v1::Layout& best = *pool.add_layouts();
  best.set_name("PP 2 x 8 1f1b, 2 replicas");
  best.mutable_parallel()->set_pipeline(2);
  best.mutable_parallel()->set_microbatches(8);
  best.set_replicas(2);
  best.set_devices(4);
  best.set_size(8192);
  best.mutable_time()->set_seconds(0.0846);
  best.mutable_time()->set_tokens_per_second(193607);
  best.mutable_time()->set_limit(v1::TIME_LIMIT_COMPUTE);
  best.set_peak_bytes(8901000000);
  v1::Layout& refused = *pool.add_layouts();
  refused.set_name("TP 2, 2 replicas");
  refused.set_refused("the model's `where` clauses: none fits");
  return response;
}

TEST(CompareTest, ReadsAsTheDocumentation) {
  v1::CompareRequest request;
  EXPECT_EQ(RenderCompare(request, Response()),
            "Predicted throughput on 4 x h100-80gb (measured: H100 SXM)\n\n"
            "layout                     length  tokens/s limit        peak\n"
            "PP 2 x 8 1f1b, 2 replicas    8192   193,607 compute  8.29 GiB\n"
            "TP 2, 2 replicas                          - the model's `where` "
            "clauses: "
            "none fits\n");
}

TEST(CompareTest, ColumnsFollowTheQuestion) {
  v1::CompareRequest request;
  EXPECT_THAT(RenderCompare(request, Response()), Not(HasSubstr("step")));
  request.set_objective(v1::OBJECTIVE_LATENCY);
  EXPECT_THAT(RenderCompare(request, Response()), HasSubstr("84.6 ms"));
  request.set_objective(v1::OBJECTIVE_PER_DEVICE);
  EXPECT_THAT(RenderCompare(request, Response()), HasSubstr("48,402"));
  v1::CompareResponse none = Response();
  none.mutable_pools(0)->mutable_layouts()->DeleteSubrange(0, 1);
  EXPECT_THAT(RenderCompare(request, none),
              HasSubstr("No layout can be used."));
}

TEST(CompareTest, JsonTellsRefusalsApart) {
  const auto json = nlohmann::json::parse(CompareJson(Response()));
  const auto& layouts = json["pools"][0]["layouts"];
  EXPECT_EQ(layouts[0]["size"], 8192);
  EXPECT_EQ(layouts[0]["refused"], nullptr);
  EXPECT_EQ(layouts[0]["pipeline"], 2);
  EXPECT_FALSE(layouts[1].contains("size"));
  EXPECT_EQ(json["together"], nullptr);
  EXPECT_EQ(json["grows"], "context");
}

TEST(CompareTest, PoolsAddUp) {
  v1::CompareResponse response = Response();
  *response.add_pools() = response.pools(0);
  response.mutable_pools(1)->mutable_device()->set_name("l4");
  v1::PoolsTogether& together = *response.mutable_together();
  *together.add_layouts() = response.pools(0).layouts(0);
  together.add_layouts();
  together.set_tokens_per_second(193607);
  together.set_seconds(0.0846);
  EXPECT_THAT(RenderCompare({}, response),
              HasSubstr("\nTogether 193,607 tokens/s, a step every 84.6 ms:\n"
                        "  h100-80gb: PP 2 x 8 1f1b, 2 replicas, context 8192, "
                        "193,607 tokens/s by itself\n"
                        "  l4: not used\n"));
  const auto json = nlohmann::json::parse(CompareJson(response));
  EXPECT_EQ(json["pools"].size(), 2u);
  EXPECT_EQ(json["together"]["layouts"][1], nullptr);
}

}  // namespace
}  // namespace linnet::client
