#include "server/rpc/status.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "core/planner/planner.h"
#include "gtest/gtest.h"
#include "linnet/v1/error.pb.h"
#include "nlohmann/json.hpp"
#include "server/cache/trace_cache.h"

namespace linnet::server {
namespace {

v1::ErrorDetail DetailOf(const grpc::Status& status) {
  v1::StatusTrailer trailer;
  EXPECT_TRUE(trailer.ParseFromString(status.error_details()));
  EXPECT_EQ(trailer.code(), status.error_code());
  v1::ErrorDetail detail;
  EXPECT_TRUE(trailer.details(0).UnpackTo(&detail));
  return detail;
}

nlohmann::json OneDiagnostic() {
  const nlohmann::json location = {
      {"file", "net.linnet"},
      {"start", {{"line", 12}, {"column", 5}, {"offset", 301}}},
      {"end", {{"line", 12}, {"column", 40}, {"offset", 336}}}};
  return {{"code", "E2203"},
          {"severity", "error"},
          {"message", "counts differ"},
          {"label", "here"},
          {"location", location},
          {"related", {{{"location", nullptr}, {"message", "declared"}}}},
          {"notes", {"a note"}},
          {"help", {"a help"}}};
}

absl::Status WithDiagnostics(int count) {
  nlohmann::json list = nlohmann::json::array();
  std::string rendered;
  for (int i = 0; i < count; ++i) {
    list.push_back(OneDiagnostic());
    absl::StrAppend(&rendered, "error[E2203]: counts differ\n\n");
  }
  absl::Status status = absl::InvalidArgumentError("the model has errors");
  status.SetPayload(planner::kDiagnosticsPayload,
                    absl::Cord(nlohmann::json{{"diagnostics", list}}.dump()));
  status.SetPayload(planner::kRenderedPayload, absl::Cord(rendered));
  return status;
}

TEST(StatusTest, CarriesDiagnostics) {
  const grpc::Status status = ToGrpcStatus(WithDiagnostics(1));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const v1::ErrorDetail detail = DetailOf(status);
  ASSERT_EQ(detail.diagnostics_size(), 1);
  const v1::Diagnostic& diagnostic = detail.diagnostics(0);
  EXPECT_EQ(diagnostic.code(), "E2203");
  EXPECT_EQ(diagnostic.severity(), v1::SEVERITY_ERROR);
  EXPECT_EQ(diagnostic.location().start().column(), 5);
  EXPECT_EQ(diagnostic.location().end().offset_bytes(), 336);
  EXPECT_FALSE(diagnostic.related(0).has_location());
  EXPECT_EQ(diagnostic.notes(0), "a note");
  EXPECT_EQ(diagnostic.help(0), "a help");
}

TEST(StatusTest, StaysBelowWhatClientsAccept) {
  absl::Status status = WithDiagnostics(1000);
  status.SetPayload(planner::kSuggestionsPayload,
                    absl::Cord(std::string(100'000, 'x')));
  const grpc::Status wire = ToGrpcStatus(status);
  EXPECT_LT(wire.error_details().size(), 6144u);
  const v1::ErrorDetail detail = DetailOf(wire);
  EXPECT_GT(detail.diagnostics_size(), 0);
  EXPECT_EQ(detail.diagnostics_size() + detail.omitted_diagnostics(), 1000);
  EXPECT_EQ(detail.rendered().size() % 29, 28u) << "whole reports only";
  const grpc::Status long_message =
      ToGrpcStatus(absl::InternalError(std::string(5000, 'y')));
  EXPECT_LT(long_message.error_message().size(), 1100u);
}

TEST(StatusTest, ABusyServerSaysWhenToRetry) {
  absl::Status status = absl::ResourceExhaustedError("busy");
  status.SetPayload(kRetryPayload, absl::Cord("1500"));
  const v1::ErrorDetail detail = DetailOf(ToGrpcStatus(status));
  EXPECT_EQ(detail.retry_delay().seconds(), 1);
  EXPECT_EQ(detail.retry_delay().nanos(), 500'000'000);
  EXPECT_FALSE(detail.has_limit());
}

TEST(StatusTest, ABrokenPayloadIsLeftOut) {
  absl::Status status = absl::InvalidArgumentError("x");
  status.SetPayload(planner::kDiagnosticsPayload, absl::Cord("{not json"));
  status.SetPayload(planner::kLimitPayload, absl::Cord("nonsense"));
  const v1::ErrorDetail detail = DetailOf(ToGrpcStatus(status));
  EXPECT_EQ(detail.diagnostics_size(), 0);
  EXPECT_FALSE(detail.has_limit());
}

}  // namespace
}  // namespace linnet::server
