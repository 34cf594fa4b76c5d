// The calls over a real connection, with an engine of the test's own.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/planner/planner.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "linnet/v1/error.pb.h"
#include "linnet/v1/models.grpc.pb.h"
#include "linnet/v1/planner.grpc.pb.h"
#include "server/cache/trace_cache.h"
#include "server/cache/worker_pool.h"
#include "server/metrics/metrics.h"
#include "server/rpc/context.h"
#include "server/rpc/models_service.h"
#include "server/rpc/planner_service.h"
#include "tests/support/fake_prepared.h"

namespace linnet::server {
namespace {

using Trace = std::shared_ptr<const planner::Prepared>;

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() {
    context_.engine.cache_key = [](const planner::Config& config) {
      return config.model.name;
    };
    context_.engine.prepare =
        [this](const planner::Config& config, const planner::Limits&,
               const planner::StopFunction& stop) -> absl::StatusOr<Trace> {
      return Prepare(config, stop);
    };
    grpc::ServerBuilder builder;
    builder.RegisterService(&planner_service_);
    builder.RegisterService(&models_service_);
    server_ = builder.BuildAndStart();
    const auto channel = server_->InProcessChannel({});
    planner_ = v1::Planner::NewStub(channel);
    models_ = v1::Models::NewStub(channel);
  }

  ~ServiceTest() override {
    server_->Shutdown();
    server_->Wait();
    pool_.Finish();
  }

  // "held" waits until it is let go or stopped; other names are answered.
  absl::StatusOr<Trace> Prepare(const planner::Config& config,
                                const planner::StopFunction& stop) {
    if (config.model.name == "held") {
      started_.Notify();
      while (!go_.WaitForNotificationWithTimeout(absl::Milliseconds(1))) {
        if (stop()) {
          stopped_.Notify();
          return absl::CancelledError("stopped");
        }
      }
    }
    planner::Report report;
    report.model_name = config.model.name;
    report.graph_peak_bytes = 10;
    report.expected_peak_bytes = 12;
    report.peak_step = 3;
    report.peak_at = "step 3: linear";
    return std::make_shared<planner::FakePrepared>(100, report);
  }

  static v1::AnalyzeRequest Request(const std::string& name) {
    v1::AnalyzeRequest request;
    request.mutable_config()->mutable_model()->set_name(name);
    return request;
  }

  Metrics metrics_;
  WorkerPool pool_{1, 1, metrics_};
  TraceCache cache_{1000, pool_, metrics_};
  Activity activity_{absl::Now()};
  Context context_{.engine = {},
                   .limits = {},
                   .cache = cache_,
                   .pool = pool_,
                   .metrics = metrics_,
                   .activity = activity_};
  PlannerService planner_service_{context_};
  ModelsService models_service_{context_};
  absl::Notification started_;
  absl::Notification stopped_;
  absl::Notification go_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::Planner::Stub> planner_;
  std::unique_ptr<v1::Models::Stub> models_;
};

TEST_F(ServiceTest, AnswersInFull) {
  grpc::ClientContext call;
  v1::AnalyzeResponse response;
  const grpc::Status status = planner_->Analyze(&call, Request("m"), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.model_name(), "m");
  EXPECT_EQ(response.peak().graph_bytes(), 10);
  EXPECT_EQ(response.peak().at(), "step 3: linear");
  EXPECT_TRUE(response.has_config());
  EXPECT_TRUE(response.has_totals());
}

TEST_F(ServiceTest, ASummaryHasThePeakAlone) {
  v1::AnalyzeRequest request = Request("m");
  request.set_view(v1::VIEW_SUMMARY);
  grpc::ClientContext call;
  v1::AnalyzeResponse response;
  ASSERT_TRUE(planner_->Analyze(&call, request, &response).ok());
  EXPECT_EQ(response.peak().expected_bytes(), 12);
  EXPECT_EQ(response.peak().at(), "step 3");
  EXPECT_TRUE(response.constraints_hold());
  EXPECT_FALSE(response.has_config());
  EXPECT_FALSE(response.has_allocation());
}

TEST_F(ServiceTest, AViewOfTomorrowIsRefused) {
  v1::AnalyzeRequest request = Request("m");
  request.set_view(static_cast<v1::View>(77));
  grpc::ClientContext call;
  v1::AnalyzeResponse response;
  EXPECT_EQ(planner_->Analyze(&call, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServiceTest, ADeadlineStopsTheTrace) {
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() +
                    std::chrono::milliseconds(50));
  v1::AnalyzeResponse response;
  EXPECT_EQ(planner_->Analyze(&call, Request("held"), &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  stopped_.WaitForNotification();
}

TEST_F(ServiceTest, ACancelledCallStopsTheTrace) {
  grpc::ClientContext call;
  std::thread canceller([&] {
    started_.WaitForNotification();
    call.TryCancel();
  });
  v1::AnalyzeResponse response;
  EXPECT_EQ(planner_->Analyze(&call, Request("held"), &response).error_code(),
            grpc::StatusCode::CANCELLED);
  canceller.join();
  stopped_.WaitForNotification();
}

TEST_F(ServiceTest, AFullQueueIsSaidWithADelay) {
  grpc::Status held;
  std::thread first([&] {
    grpc::ClientContext call;
    v1::AnalyzeResponse response;
    held = planner_->Analyze(&call, Request("held"), &response);
  });
  started_.WaitForNotification();    // The only thread is taken,
  ASSERT_TRUE(pool_.Submit([] {}));  // and the only place in the queue.
  grpc::ClientContext call;
  v1::AnalyzeResponse response;
  const grpc::Status status = planner_->Analyze(&call, Request("m"), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::StatusTrailer trailer;
  ASSERT_TRUE(trailer.ParseFromString(status.error_details()));
  v1::ErrorDetail detail;
  ASSERT_TRUE(trailer.details(0).UnpackTo(&detail));
  EXPECT_TRUE(detail.has_retry_delay());
  go_.Notify();
  first.join();
  EXPECT_TRUE(held.ok());
}

TEST_F(ServiceTest, ModelsAreListedAndDescribed) {
  context_.engine.list = [] {
    planner::ModelSummary summary;
    summary.name = "m";
    summary.entries = {"forward"};
    return std::vector<planner::ModelSummary>{summary};
  };
  context_.engine.describe = [](const planner::Config& config,
                                const planner::Limits&,
                                const planner::StopFunction&)
      -> absl::StatusOr<planner::ModelDescription> {
    if (config.model.name != "m") {
      absl::Status status = absl::NotFoundError("no such model");
      status.SetPayload(planner::kSuggestionsPayload, absl::Cord("m\nn\n"));
      return status;
    }
    planner::ModelDescription description;
    description.generics = {{"H", "Dim", "8"}, {"B", "Dim", ""}};
    return description;
  };
  {
    grpc::ClientContext call;
    v1::ModelsListResponse response;
    ASSERT_TRUE(models_->List(&call, {}, &response).ok());
    EXPECT_EQ(response.models(0).entries(0), "forward");
  }
  v1::ModelsDescribeRequest request;
  request.mutable_config()->mutable_model()->set_name("m");
  v1::ModelsDescribeResponse response;
  {
    grpc::ClientContext call;
    ASSERT_TRUE(models_->Describe(&call, request, &response).ok());
    EXPECT_EQ(response.generics(0).value(), "8");
    EXPECT_FALSE(response.generics(1).has_value());
  }
  request.mutable_config()->mutable_model()->set_name("k");
  grpc::ClientContext call;
  const grpc::Status status = models_->Describe(&call, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  v1::StatusTrailer trailer;
  ASSERT_TRUE(trailer.ParseFromString(status.error_details()));
  v1::ErrorDetail detail;
  ASSERT_TRUE(trailer.details(0).UnpackTo(&detail));
  EXPECT_EQ(detail.suggestions_size(), 2);
}

}  // namespace
}  // namespace linnet::server
