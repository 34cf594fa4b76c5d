// What requests to the planner may ask.

#include <limits>
#include <string>

#include "core/planner/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rpc/convert_compare.h"
#include "server/rpc/convert_maximize.h"
#include "server/rpc/convert_sweep.h"
#include "server/rpc/convert_time.h"

namespace linnet::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Request>
Request Named() {
  Request request;
  request.mutable_config()->mutable_model()->set_name("gpt2");
  return request;
}

template <typename Request>
std::string ErrorOf(const Request& request,
                    const planner::Limits& limits = {}) {
  const auto question = ToQuestion(request, limits);
  return question.ok() ? "fine" : std::string(question.status().message());
}

v1::TimeRequest Time() {
  auto request = Named<v1::TimeRequest>();
  request.mutable_device()->set_name("l4");
  return request;
}

TEST(QuestionTest, TimeNeedsADevice) {
  EXPECT_EQ(ErrorOf(Time()), "fine");
  v1::TimeRequest request = Time();
  request.clear_device();
  EXPECT_THAT(ErrorOf(request), HasSubstr("one of `name` and `profile_json`"));
  request = Time();
  request.mutable_device()->set_profile_json("{}");
  EXPECT_THAT(ErrorOf(request), HasSubstr("one of `name` and `profile_json`"));
  request.mutable_device()->clear_name();
  EXPECT_THAT(ErrorOf(request), HasSubstr("`name` is missing"));
  request = Time();
  request.set_replicas(0);
  EXPECT_THAT(ErrorOf(request), HasSubstr("replicas"));
  request = Time();
  request.set_operations(1001);
  EXPECT_THAT(ErrorOf(request), HasSubstr("operations"));
  request.set_operations(-1);
  EXPECT_THAT(ErrorOf(request), HasSubstr("operations"));
}

TEST(QuestionTest, ABudgetIsSaidOnce) {
  auto request = Named<v1::MaximizeRequest>();
  request.set_goal(v1::GOAL_BATCH);
  EXPECT_THAT(ErrorOf(request), HasSubstr("must have one of"));
  request.mutable_budget()->set_device("l4");
  EXPECT_EQ(ErrorOf(request), "fine");
  request.mutable_budget()->set_profile_json("{}");
  EXPECT_THAT(ErrorOf(request), HasSubstr("must have one of"));
}

v1::CompareRequest Compare() {
  auto request = Named<v1::CompareRequest>();
  v1::DevicePool& pool = *request.add_pools();
  pool.mutable_device()->set_name("l4");
  pool.set_devices(4);
  return request;
}

TEST(QuestionTest, ComparisonsHaveBounds) {
  const auto question = ToQuestion(Compare(), {});
  ASSERT_TRUE(question.ok()) << question.status();
  EXPECT_THAT(question->config.parallel.compare_devices, ElementsAre(4));
  EXPECT_EQ(question->query.objective, planner::Objective::kThroughput);
  for (const int64_t devices : {int64_t{0}, int64_t{-1}, int64_t{1} << 20}) {
    v1::CompareRequest request = Compare();
    request.mutable_pools(0)->set_devices(devices);
    EXPECT_THAT(ErrorOf(request), HasSubstr("devices"));
  }
  for (const double seconds : {-1.0, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
    v1::CompareRequest request = Compare();
    request.set_max_step_seconds(seconds);
    EXPECT_THAT(ErrorOf(request), HasSubstr("max_step_seconds"));
  }
  v1::CompareRequest request = Compare();
  request.clear_pools();
  EXPECT_THAT(ErrorOf(request), HasSubstr("must be 1 to 16"));
  for (int i = 0; i < 17; ++i) *request.add_pools() = Compare().pools(0);
  EXPECT_THAT(ErrorOf(request), HasSubstr("must be 1 to 16"));
  request = Compare();
  request.set_reserve_percent(101);
  EXPECT_THAT(ErrorOf(request), HasSubstr("percent"));
  request = Compare();
  request.set_objective(static_cast<v1::Objective>(77));
  EXPECT_THAT(ErrorOf(request), HasSubstr("objective"));
}

v1::SweepRequest Sweep(int64_t first, int64_t last) {
  auto request = Named<v1::SweepRequest>();
  v1::SizeAxis& axis = *request.add_sizes();
  axis.set_role(v1::SIZE_ROLE_BATCH);
  v1::SizeRange& range = *axis.add_ranges();
  range.set_first(first);
  range.set_last(last);
  return request;
}

TEST(QuestionTest, SweepsAreCounted) {
  v1::SweepRequest request = Sweep(1, 100);
  request.add_dtypes("f32");
  request.add_dtypes("bf16");
  request.add_layouts()->set_tensor(1);
  request.add_layouts()->set_tensor(2);
  request.add_layouts()->set_pipeline(4);
  const auto question = ToQuestion(request, {});
  ASSERT_TRUE(question.ok()) << question.status();
  EXPECT_EQ(question->traces.size(), 6u);
  const v1::SweepPlan plan = ToPlan(*question);
  EXPECT_EQ(plan.points(), 600);
  EXPECT_EQ(plan.variants_size(), 6);
  EXPECT_EQ(plan.variants(4).layout(), "TP 2");
  EXPECT_EQ(plan.variants(4).dtype(), "bf16");
  EXPECT_EQ(plan.sizes(0).values_size(), 100);
  EXPECT_EQ(ConfigOf(*question, 4).parallel.tensor, 2);
  // The first point's sizes are given, so that they are symbols.
  EXPECT_EQ(question->base.batch, 1);
  planner::Limits limits;
  limits.max_sweep_points = 599;
  const auto refused = ToQuestion(request, limits);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.status().GetPayload(planner::kLimitPayload),
            "max_sweep_points=599");
}

TEST(QuestionTest, SweepsThatCannotBe) {
  EXPECT_EQ(ErrorOf(Sweep(1, 4)), "fine");
  EXPECT_THAT(ErrorOf(Sweep(0, 4)), HasSubstr("at least 1"));
  EXPECT_THAT(ErrorOf(Sweep(5, 4)), HasSubstr("not from 5 to 4"));
  EXPECT_THAT(ErrorOf(Sweep(1, int64_t{1} << 21)),
              HasSubstr("at most 1048576 sizes"));
  v1::SweepRequest request = Sweep(1, 4);
  request.mutable_sizes(0)->mutable_ranges(0)->set_step(1);
  request.mutable_sizes(0)->mutable_ranges(0)->set_factor(2);
  EXPECT_THAT(ErrorOf(request), HasSubstr("a step or a factor"));
  request.mutable_sizes(0)->mutable_ranges(0)->clear_step();
  request.mutable_sizes(0)->mutable_ranges(0)->set_factor(1);
  EXPECT_THAT(ErrorOf(request), HasSubstr("at least 2"));
  request = Sweep(1, 4);
  *request.add_sizes() = request.sizes(0);
  EXPECT_THAT(ErrorOf(request), HasSubstr("comes twice"));
  request = Sweep(1, 4);
  request.mutable_sizes(0)->clear_ranges();
  EXPECT_THAT(ErrorOf(request), HasSubstr("must not be empty"));
  request.mutable_sizes(0)->clear_role();
  EXPECT_THAT(ErrorOf(request), HasSubstr("known role"));
  request = Sweep(1, 4);
  request.set_time(true);
  EXPECT_THAT(ErrorOf(request), HasSubstr("at least one device"));
  for (int i = 0; i < 2000; ++i) request.add_dtypes("f32");
  request.set_time(false);
  EXPECT_THAT(ErrorOf(request), HasSubstr("more than 1024 variants"));
  request = Sweep(1, 4);
  for (int i = 0; i < 65; ++i) request.add_devices()->set_name("l4");
  EXPECT_THAT(ErrorOf(request), HasSubstr("at most 64"));
  request = Sweep(1, 4);
  request.add_layouts()->set_tensor(0);
  EXPECT_THAT(ErrorOf(request), HasSubstr("tensor"));
}

}  // namespace
}  // namespace linnet::server
