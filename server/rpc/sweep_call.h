// One call of Planner.Sweep.

#ifndef LINNET_SERVER_RPC_SWEEP_CALL_H_
#define LINNET_SERVER_RPC_SWEEP_CALL_H_

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "linnet/v1/planner.pb.h"
#include "server/rpc/context.h"

namespace linnet::server {

// Streams the answer to `request`; deletes itself when it is over. `context`
// must outlive it.
grpc::ServerWriteReactor<v1::SweepResponse>* StartSweep(
    Context& context, grpc::CallbackServerContext& call,
    const v1::SweepRequest& request);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_SWEEP_CALL_H_
