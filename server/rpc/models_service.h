// The calls of linnet.v1.Models.

#ifndef LINNET_SERVER_RPC_MODELS_SERVICE_H_
#define LINNET_SERVER_RPC_MODELS_SERVICE_H_

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "linnet/v1/models.grpc.pb.h"
#include "server/rpc/context.h"

namespace linnet::server {

class ModelsService final : public v1::Models::CallbackService {
 public:
  // `context` must outlive this and every call.
  explicit ModelsService(Context& context) : context_(context) {}

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* call,
                                 const v1::ModelsListRequest* request,
                                 v1::ModelsListResponse* response) override;

  // Reads the model on the pool; nothing of it is kept.
  grpc::ServerUnaryReactor* Describe(
      grpc::CallbackServerContext* call,
      const v1::ModelsDescribeRequest* request,
      v1::ModelsDescribeResponse* response) override;

  // The same for the sources of a check and the program of an explanation.
  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* call,
                                  const v1::ModelsCheckRequest* request,
                                  v1::ModelsCheckResponse* response) override;
  grpc::ServerUnaryReactor* Explain(
      grpc::CallbackServerContext* call,
      const v1::ModelsExplainRequest* request,
      v1::ModelsExplainResponse* response) override;

 private:
  Context& context_;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_MODELS_SERVICE_H_
