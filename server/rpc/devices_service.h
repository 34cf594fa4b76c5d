// The calls of linnet.v1.Devices.

#ifndef LINNET_SERVER_RPC_DEVICES_SERVICE_H_
#define LINNET_SERVER_RPC_DEVICES_SERVICE_H_

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "linnet/v1/devices.grpc.pb.h"
#include "server/rpc/context.h"

namespace linnet::server {

class DevicesService final : public v1::Devices::CallbackService {
 public:
  // `context` must outlive this and every call.
  explicit DevicesService(Context& context) : context_(context) {}

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* call,
                                 const v1::DevicesListRequest* request,
                                 v1::DevicesListResponse* response) override;

 private:
  Context& context_;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_DEVICES_SERVICE_H_
