// The client library: finds a server, starts one when asked to, calls it.

#ifndef LINNET_CLIENT_API_CLIENT_H_
#define LINNET_CLIENT_API_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "linnet/v1/devices.pb.h"
#include "linnet/v1/error.pb.h"
#include "linnet/v1/models.pb.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {

struct ConnectOptions {
  // `host:port`, `unix:/path` or `/path`. Empty: LINNET_SERVER, else the daemon
  // of this user.
  std::string server;

  // Starts this user's daemon when none answers. Other servers are never
  // started.
  bool autostart = true;

  // For one call, retries included; a sweep takes what its points take.
  absl::Duration timeout = absl::Seconds(60);
};

// The detail that the status of a failed call carries; empty when it has none.
v1::ErrorDetail DetailOf(const absl::Status& status);

// InvalidArgument about a file of the model: DetailOf() it says so.
absl::Status ModelError(absl::string_view message);

// Thread-compatible. Its calls return what the protocol lists for them, and
// Unavailable, for a person to read, when the server cannot be reached. A busy
// server is asked again, with the delay it names, while time is left; a daemon
// of this user that goes away in between is started again once.
class Client {
 public:
  // Unavailable when there is no server; FailedPrecondition when this user's
  // socket folder is not private.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(
      const ConnectOptions& options);

  virtual ~Client() = default;

  virtual absl::StatusOr<v1::AnalyzeResponse> Analyze(
      const v1::AnalyzeRequest& request) = 0;
  virtual absl::StatusOr<v1::TimeResponse> Time(
      const v1::TimeRequest& request) = 0;
  virtual absl::StatusOr<v1::CompareResponse> Compare(
      const v1::CompareRequest& request) = 0;
  // Calls `take` with each part as it comes, until it returns false, which ends
  // the sweep with CANCELLED.
  virtual absl::Status Sweep(
      const v1::SweepRequest& request,
      const std::function<bool(const v1::SweepResponse&)>& take) = 0;
  virtual absl::StatusOr<v1::MaximizeResponse> Maximize(
      const v1::MaximizeRequest& request) = 0;
  virtual absl::StatusOr<v1::DevicesListResponse> ListDevices() = 0;
  virtual absl::StatusOr<v1::ModelsListResponse> ListModels() = 0;
  virtual absl::StatusOr<v1::ModelsDescribeResponse> DescribeModel(
      const v1::ModelsDescribeRequest& request) = 0;
  virtual absl::StatusOr<v1::ModelsCheckResponse> CheckSources(
      const v1::ModelsCheckRequest& request) = 0;
  virtual absl::StatusOr<v1::ModelsExplainResponse> ExplainModel(
      const v1::ModelsExplainRequest& request) = 0;
};

}  // namespace linnet::client

#endif  // LINNET_CLIENT_API_CLIENT_H_
