// The one place where a status of ours becomes one of gRPC.

#ifndef LINNET_SERVER_RPC_STATUS_H_
#define LINNET_SERVER_RPC_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/status.h"
#include "linnet/v1/error.pb.h"

namespace linnet::server {

// InvalidArgument about one field of a request, such as `config.batch`.
absl::Status FieldError(absl::string_view field, absl::string_view message);

// What the payloads of `status` (core/planner/planner.h, FieldError, BusyError)
// say, cut to what fits into a trailer.
v1::ErrorDetail MakeErrorDetail(const absl::Status& status);

// The same code and message, with MakeErrorDetail() in a StatusTrailer.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_STATUS_H_
