#include "server/rpc/devices_service.h"

#include "core/planner/devices.h"
#include "grpcpp/support/status.h"

namespace linnet::server {

grpc::ServerUnaryReactor* DevicesService::List(
    grpc::CallbackServerContext* call,
    const v1::DevicesListRequest* /*request*/,
    v1::DevicesListResponse* response) {
  CallScope scope(context_, Method::kDevicesList);
  for (const planner::DeviceSummary& device : planner::ListDevices()) {
    v1::Device& out = *response->add_devices();
    out.set_name(device.name);
    out.set_title(device.title);
    out.set_memory_bytes(device.memory_bytes);
    out.set_source(device.source);
    out.set_rates_source(device.rates_source);
    out.mutable_scaled()->Assign(device.scaled.begin(), device.scaled.end());
  }
  scope.set_code(0);
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace linnet::server
