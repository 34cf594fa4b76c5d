#include "client/render/time.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::TimeResponse Response() {
  v1::TimeResponse response;
  response.set_model_name("llama");
  v1::StepTime& step = *response.add_steps();
  step.set_seconds(0.25);
  step.set_compute_seconds(0.2);
  step.set_memory_seconds(0.04);
  step.set_bubble_seconds(0.01);
  step.set_limit(v1::TIME_LIMIT_COMPUTE);
  step.set_tokens(8192);
  step.set_tokens_per_second(32768);
  step.set_stage("stage 1");
  v1::OperationTime& operation = *step.add_operations();
  operation.set_label("linear");
  operation.set_scope("layers.0");
  operation.set_calls(32);
  operation.set_device_seconds(0.1);
  operation.set_host_seconds(5e-4);
  operation.set_limit(v1::TIME_LIMIT_COMPUTE);
  step.add_assumptions("no rate is measured for `conv2d`");
  response.mutable_device()->set_name("h200");
  response.mutable_device()->set_title("NVIDIA H200");
  response.mutable_device()->set_source("rates of h100-80gb");
  response.mutable_device()->add_scaled("link");
  return response;
}

TEST(TimeTest, SecondsHaveThreeDigits) {
  EXPECT_EQ(SecondsText(0.262261), "262 ms");
  EXPECT_EQ(SecondsText(0.0117), "11.7 ms");
  EXPECT_EQ(SecondsText(0.0078), "7.80 ms");
  EXPECT_EQ(SecondsText(1.5), "1.50 s");
  EXPECT_EQ(SecondsText(123.4), "123 s");
  EXPECT_EQ(SecondsText(0.00083), "830 us");
  EXPECT_EQ(SecondsText(0.9996), "1.00 s");
  EXPECT_EQ(SecondsText(0.0), "0.00 us");
}

TEST(TimeTest, CountsHaveCommas) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999.6), "1,000");
  EXPECT_EQ(CountText(193607.2), "193,607");
  EXPECT_EQ(CountText(1234567), "1,234,567");
}

TEST(TimeTest, ReadsAsTheDocumentation) {
  EXPECT_EQ(RenderTime(Response()),
            "Step time: 250 ms, 32,768 tokens/s (8,192 per step)\n"
            "\n"
            "Compute   200 ms  80.0%\n"
            "Memory   40.0 ms  16.0%\n"
            "Bubble   10.0 ms   4.0%  a stage waits for others\n"
            "\n"
            "Limited by compute.\n"
            "\n"
            "Most expensive, of one micro-batch on stage 1:\n"
            "  operation  first in  calls  device    host  bound by\n"
            "  linear     layers.0     32  100 ms  500 us  compute (no rate)\n"
            "\n"
            "Assumptions:\n"
            "  - no rate is measured for `conv2d`\n"
            "\n"
            "Predicted with the rates of NVIDIA H200: rates of h100-80gb\n");
}

TEST(TimeTest, PoliciesHaveHeadings) {
  v1::TimeResponse response = Response();
  EXPECT_THAT(RenderTime(response), Not(HasSubstr("== checkpoint")));
  response.mutable_steps(0)->set_checkpoint("none");
  response.add_steps()->set_checkpoint("block");
  EXPECT_THAT(RenderTime(response), HasSubstr("== checkpoint: block =="));
}

TEST(TimeTest, JsonHasTheParts) {
  const auto json = nlohmann::json::parse(TimeJson(Response()));
  EXPECT_EQ(json["steps"][0]["parts"]["bubble"], 0.01);
  EXPECT_EQ(json["steps"][0]["operations"][0]["calls"], 32);
  EXPECT_EQ(json["steps"][0]["checkpoint"], nullptr);
  EXPECT_EQ(json["device"]["scaled"][0], "link");
  EXPECT_EQ(json["version"], 1);
}

}  // namespace
}  // namespace linnet::client
