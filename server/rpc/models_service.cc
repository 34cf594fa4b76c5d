#include "server/rpc/models_service.h"

#include <atomic>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/planner/planner.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/status.h"
#include "linnet/v1/models.pb.h"
#include "server/cache/trace_cache.h"
#include "server/rpc/convert.h"
#include "server/rpc/status.h"

namespace linnet::server {
namespace {

class DescribeCall final : public grpc::ServerUnaryReactor {
 public:
  DescribeCall(Context& context, const v1::ModelsDescribeRequest& request,
               v1::ModelsDescribeResponse& response)
      : scope_(context, Method::kModelsDescribe) {
    absl::StatusOr<planner::Config> config =
        ToConfig(request.config(), context.limits);
    if (!config.ok()) {
      End(config.status());
      return;
    }
    // The call lives until Finish(), which only the task calls.
    const bool accepted = context.pool.Submit(
        [this, &context, &response, config = *std::move(config)] {
          const auto description = context.engine.describe(
              config, context.limits, [this] { return stopped_.load(); });
          if (description.ok()) response = ToResponse(*description);
          End(description.status());
        });
    if (!accepted) End(BusyError(context.pool));
  }

 private:
  void OnDone() override { delete this; }
  void OnCancel() override { stopped_ = true; }

  void End(const absl::Status& status) {
    scope_.set_code(static_cast<int>(status.code()));
    Finish(ToGrpcStatus(status));
  }

  CallScope scope_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

grpc::ServerUnaryReactor* ModelsService::List(
    grpc::CallbackServerContext* call, const v1::ModelsListRequest* /*request*/,
    v1::ModelsListResponse* response) {
  CallScope scope(context_, Method::kModelsList);
  *response = ToResponse(context_.engine.list());
  scope.set_code(0);
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* ModelsService::Describe(
    grpc::CallbackServerContext* /*call*/,
    const v1::ModelsDescribeRequest* request,
    v1::ModelsDescribeResponse* response) {
  return new DescribeCall(context_, *request, *response);
}

}  // namespace linnet::server
