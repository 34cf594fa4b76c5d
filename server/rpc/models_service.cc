#include "server/rpc/models_service.h"

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/status_macros.h"
#include "core/planner/check_sources.h"
#include "core/planner/explain.h"
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

// One call whose work runs on the pool; stopped when the client goes away.
class PoolCall final : public grpc::ServerUnaryReactor {
 public:
  using Work = std::function<absl::Status(const planner::StopFunction& stop)>;

  PoolCall(Context& context, Method method, Work work)
      : scope_(context, method) {
    // The call lives until Finish(), which only the task calls.
    const bool accepted = context.pool.Submit([this, work = std::move(work)] {
      End(work([this] { return stopped_.load(); }));
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

// Requests and responses outlive the work: gRPC keeps them until Finish().

grpc::ServerUnaryReactor* ModelsService::Describe(
    grpc::CallbackServerContext* /*call*/,
    const v1::ModelsDescribeRequest* request,
    v1::ModelsDescribeResponse* response) {
  return new PoolCall(
      context_, Method::kModelsDescribe,
      [this, request, response](const planner::StopFunction& stop) {
        LINNET_ASSIGN_OR_RETURN(const planner::Config config,
                                ToConfig(request->config(), context_.limits));
        LINNET_ASSIGN_OR_RETURN(
            const planner::ModelDescription description,
            context_.engine.describe(config, context_.limits, stop));
        *response = ToResponse(description);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* ModelsService::Check(
    grpc::CallbackServerContext* /*call*/,
    const v1::ModelsCheckRequest* request, v1::ModelsCheckResponse* response) {
  return new PoolCall(
      context_, Method::kModelsCheck,
      [this, request, response](const planner::StopFunction& stop) {
        std::vector<planner::SourceFile> files;
        for (const v1::SourceFile& file : request->files()) {
          files.push_back({file.path(), file.content()});
        }
        const std::vector<std::string> roots(request->roots().begin(),
                                             request->roots().end());
        LINNET_ASSIGN_OR_RETURN(
            const planner::CheckedSources checked,
            context_.engine.check(files, roots, context_.limits, stop));
        *response = ToResponse(checked);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* ModelsService::Explain(
    grpc::CallbackServerContext* /*call*/,
    const v1::ModelsExplainRequest* request,
    v1::ModelsExplainResponse* response) {
  return new PoolCall(
      context_, Method::kModelsExplain,
      [this, request, response](const planner::StopFunction& stop) {
        LINNET_ASSIGN_OR_RETURN(const planner::Config config,
                                ToConfig(request->config(), context_.limits));
        LINNET_ASSIGN_OR_RETURN(
            const planner::Explanation explanation,
            context_.engine.explain(config, context_.limits, stop));
        *response = ToResponse(explanation);
        return absl::OkStatus();
      });
}

}  // namespace linnet::server
