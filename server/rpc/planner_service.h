// The calls of linnet.v1.Planner.

#ifndef LINNET_SERVER_RPC_PLANNER_SERVICE_H_
#define LINNET_SERVER_RPC_PLANNER_SERVICE_H_

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "linnet/v1/planner.grpc.pb.h"
#include "server/rpc/context.h"

namespace linnet::server {

// A call whose trace is kept is answered on the thread that received it; one
// whose trace is missing waits without a thread.
class PlannerService final : public v1::Planner::CallbackService {
 public:
  // `context` must outlive this and every call.
  explicit PlannerService(Context& context) : context_(context) {}

  grpc::ServerUnaryReactor* Analyze(grpc::CallbackServerContext* call,
                                    const v1::AnalyzeRequest* request,
                                    v1::AnalyzeResponse* response) override;
  grpc::ServerUnaryReactor* Time(grpc::CallbackServerContext* call,
                                 const v1::TimeRequest* request,
                                 v1::TimeResponse* response) override;
  grpc::ServerUnaryReactor* Compare(grpc::CallbackServerContext* call,
                                    const v1::CompareRequest* request,
                                    v1::CompareResponse* response) override;
  grpc::ServerWriteReactor<v1::SweepResponse>* Sweep(
      grpc::CallbackServerContext* call,
      const v1::SweepRequest* request) override;
  grpc::ServerUnaryReactor* Maximize(grpc::CallbackServerContext* call,
                                     const v1::MaximizeRequest* request,
                                     v1::MaximizeResponse* response) override;

 private:
  Context& context_;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_PLANNER_SERVICE_H_
