#include "client/api/client.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/api/daemon.h"
#include "core/base/status_macros.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/create_channel_posix.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "grpcpp/support/status.h"
#include "linnet/v1/devices.grpc.pb.h"
#include "linnet/v1/error.pb.h"
#include "linnet/v1/models.grpc.pb.h"
#include "linnet/v1/planner.grpc.pb.h"

namespace linnet::client {
namespace {

constexpr absl::string_view kDetailPayload = "linnet.v1.ErrorDetail";

// A report of a large model is bigger than the four megabytes gRPC allows.
constexpr int kMaxAnswerBytes = 256 << 20;

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  // Each of these costs a look-up at start that cannot find anything here.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  return arguments;
}

absl::Status ToStatus(const grpc::Status& from) {
  if (from.ok()) return absl::OkStatus();
  absl::Status to(static_cast<absl::StatusCode>(from.error_code()),
                  from.error_message());
  v1::StatusTrailer trailer;
  if (trailer.ParseFromString(from.error_details())) {
    for (const auto& any : trailer.details()) {
      v1::ErrorDetail detail;
      if (any.UnpackTo(&detail)) {
        to.SetPayload(kDetailPayload, absl::Cord(detail.SerializeAsString()));
      }
    }
  }
  return to;
}

// How long the server asked to wait; nothing when a retry would not help.
std::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  const v1::ErrorDetail detail = DetailOf(status);
  if (!absl::IsResourceExhausted(status) || !detail.has_retry_delay()) {
    return std::nullopt;
  }
  return absl::Seconds(detail.retry_delay().seconds()) +
         absl::Nanoseconds(detail.retry_delay().nanos());
}

class GrpcClient final : public Client {
 public:
  explicit GrpcClient(const ConnectOptions& options) : options_(options) {
    address_ = options.server;
    const char* environment = std::getenv("LINNET_SERVER");
    if (address_.empty() && environment != nullptr) address_ = environment;
  }

  absl::Status Open() {
    if (!address_.empty()) {
      const std::string target = absl::StartsWith(address_, "/")
                                     ? absl::StrCat("unix:", address_)
                                     : address_;
      SetChannel(grpc::CreateCustomChannel(
          target, grpc::InsecureChannelCredentials(), Arguments()));
      return absl::OkStatus();
    }
    LINNET_ASSIGN_OR_RETURN(const int fd, DialDaemon(options_.autostart));
    SetChannel(
        grpc::CreateCustomInsecureChannelFromFd("linnetd", fd, Arguments()));
    return absl::OkStatus();
  }

  absl::StatusOr<v1::AnalyzeResponse> Analyze(
      const v1::AnalyzeRequest& request) override {
    v1::AnalyzeResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return planner_->Analyze(&context, request, &response);
    }));
    return response;
  }

  absl::StatusOr<v1::TimeResponse> Time(
      const v1::TimeRequest& request) override {
    v1::TimeResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return planner_->Time(&context, request, &response);
    }));
    return response;
  }

  absl::StatusOr<v1::CompareResponse> Compare(
      const v1::CompareRequest& request) override {
    v1::CompareResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return planner_->Compare(&context, request, &response);
    }));
    return response;
  }

  absl::Status Sweep(
      const v1::SweepRequest& request,
      const std::function<bool(const v1::SweepResponse&)>& take) override {
    // What was taken is not taken again.
    bool begun = false;
    return Call(
        [&](grpc::ClientContext& context) {
          const auto reader = planner_->Sweep(&context, request);
          v1::SweepResponse part;
          while (reader->Read(&part)) {
            begun = true;
            if (take(part)) continue;
            context.TryCancel();
            while (reader->Read(&part)) {
            }
            break;
          }
          return reader->Finish();
        },
        [&begun] { return begun; }, absl::InfiniteFuture());
  }

  absl::StatusOr<v1::MaximizeResponse> Maximize(
      const v1::MaximizeRequest& request) override {
    v1::MaximizeResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return planner_->Maximize(&context, request, &response);
    }));
    return response;
  }

  absl::StatusOr<v1::DevicesListResponse> ListDevices() override {
    v1::DevicesListResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return devices_->List(&context, {}, &response);
    }));
    return response;
  }

  absl::StatusOr<v1::ModelsListResponse> ListModels() override {
    v1::ModelsListResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return models_->List(&context, {}, &response);
    }));
    return response;
  }

  absl::StatusOr<v1::ModelsDescribeResponse> DescribeModel(
      const v1::ModelsDescribeRequest& request) override {
    v1::ModelsDescribeResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return models_->Describe(&context, request, &response);
    }));
    return response;
  }

  absl::StatusOr<v1::ModelsCheckResponse> CheckSources(
      const v1::ModelsCheckRequest& request) override {
    v1::ModelsCheckResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return models_->Check(&context, request, &response);
    }));
    return response;
  }

  absl::StatusOr<v1::ModelsExplainResponse> ExplainModel(
      const v1::ModelsExplainRequest& request) override {
    v1::ModelsExplainResponse response;
    LINNET_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return models_->Explain(&context, request, &response);
    }));
    return response;
  }

 private:
  void SetChannel(const std::shared_ptr<grpc::Channel>& channel) {
    planner_ = v1::Planner::NewStub(channel);
    models_ = v1::Models::NewStub(channel);
    devices_ = v1::Devices::NewStub(channel);
  }

  absl::Status Call(
      const std::function<grpc::Status(grpc::ClientContext&)>& call) {
    return Call(
        call, [] { return false; }, absl::Now() + options_.timeout);
  }

  // `begun`: whether a part of the answer was taken, so that the call must not
  // be made again.
  absl::Status Call(
      const std::function<grpc::Status(grpc::ClientContext&)>& call,
      const std::function<bool()>& begun, absl::Time deadline) {
    bool reopened = false;
    while (true) {
      grpc::ClientContext context;
      if (deadline != absl::InfiniteFuture()) {
        context.set_deadline(absl::ToChronoTime(deadline));
      }
      const absl::Status status = ToStatus(call(context));
      if (status.ok() || begun()) return status;
      if (absl::IsUnavailable(status)) {
        if (!address_.empty() || reopened) {
          return absl::UnavailableError(absl::StrCat(
              "cannot reach the server", address_.empty() ? "" : " at ",
              address_, ": ", status.message()));
        }
        reopened = true;
        LINNET_RETURN_IF_ERROR(Open());
        continue;
      }
      const std::optional<absl::Duration> delay = RetryDelay(status);
      if (!delay || absl::Now() + *delay >= deadline) return status;
      absl::SleepFor(*delay);
    }
  }

  const ConnectOptions options_;
  std::string address_;  // Empty: this user's daemon.
  std::unique_ptr<v1::Planner::Stub> planner_;
  std::unique_ptr<v1::Models::Stub> models_;
  std::unique_ptr<v1::Devices::Stub> devices_;
};

}  // namespace

v1::ErrorDetail DetailOf(const absl::Status& status) {
  v1::ErrorDetail detail;
  if (const auto payload = status.GetPayload(kDetailPayload)) {
    detail.ParseFromString(std::string(*payload));
  }
  return detail;
}

absl::Status ModelError(absl::string_view message) {
  v1::ErrorDetail detail;
  detail.set_model_at_fault(true);
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kDetailPayload, absl::Cord(detail.SerializeAsString()));
  return status;
}

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(
    const ConnectOptions& options) {
  auto client = std::make_unique<GrpcClient>(options);
  LINNET_RETURN_IF_ERROR(client->Open());
  return client;
}

}  // namespace linnet::client
