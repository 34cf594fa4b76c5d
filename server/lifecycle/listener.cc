#include "server/lifecycle/listener.h"

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "server/config/config.h"

namespace linnet::server {

absl::StatusOr<std::unique_ptr<Listener>> Listener::Start(
    const Settings& settings, Context& context) {
  auto listener = absl::WrapUnique(new Listener(context));
  static const bool plugins_ready = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  static_cast<void>(plugins_ready);

  grpc::ServerBuilder builder;
  builder.RegisterService(&listener->planner_service_);
  builder.RegisterService(&listener->models_service_);
  builder.RegisterService(&listener->devices_service_);
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(settings.limits_max_message_bytes));
  // Without it two servers could listen on one port, each getting some calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);

  const std::string unix_address = absl::StrCat("unix:", settings.socket);
  int unix_bound = 1;
  int tcp_port = 1;
  if (!settings.socket.empty()) {
    builder.AddListeningPort(unix_address, grpc::InsecureServerCredentials(),
                             &unix_bound);
  }
  if (!settings.listen.empty()) {
    builder.AddListeningPort(settings.listen, grpc::InsecureServerCredentials(),
                             &tcp_port);
  }
  // The folder keeps others out already; the socket itself does too.
  const mode_t mask = umask(0077);
  listener->server_ = builder.BuildAndStart();
  umask(mask);
  if (unix_bound == 0 || tcp_port == 0 || listener->server_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ",
                     unix_bound == 0 ? settings.socket : settings.listen));
  }
  if (!settings.socket.empty()) listener->addresses_.push_back(unix_address);
  if (!settings.listen.empty()) {
    listener->addresses_.push_back(absl::StrCat(
        settings.listen.substr(0, settings.listen.rfind(':')), ":", tcp_port));
  }
  return listener;
}

void Listener::Drain(absl::Time deadline) {
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(absl::ToChronoTime(deadline));
  server_->Wait();
}

}  // namespace linnet::server
