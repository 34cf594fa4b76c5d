// The gRPC server: addresses, services, limits, health.

#ifndef LINNET_SERVER_LIFECYCLE_LISTENER_H_
#define LINNET_SERVER_LIFECYCLE_LISTENER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/server.h"
#include "server/config/config.h"
#include "server/rpc/context.h"
#include "server/rpc/devices_service.h"
#include "server/rpc/models_service.h"
#include "server/rpc/planner_service.h"

namespace linnet::server {

// Serves from Start() until Drain() or destruction.
class Listener {
 public:
  // Unavailable, naming the address, when one cannot be listened on. `context`
  // must outlive this.
  static absl::StatusOr<std::unique_ptr<Listener>> Start(
      const Settings& settings, Context& context);

  // What clients may dial, such as `unix:/run/linnetd.sock` and
  // `127.0.0.1:40123`.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Takes no new calls, waits for those in flight until `deadline`, cancels the
  // rest, and returns when all have ended.
  void Drain(absl::Time deadline);

 private:
  explicit Listener(Context& context)
      : planner_service_(context),
        models_service_(context),
        devices_service_(context) {}

  PlannerService planner_service_;
  ModelsService models_service_;
  DevicesService devices_service_;
  std::vector<std::string> addresses_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_LIFECYCLE_LISTENER_H_
