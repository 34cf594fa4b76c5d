// Between Planner.Maximize and the engine.

#ifndef LINNET_SERVER_RPC_CONVERT_MAXIMIZE_H_
#define LINNET_SERVER_RPC_CONVERT_MAXIMIZE_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/planner/maximize.h"
#include "core/planner/planner.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::server {

struct MaximizeQuestion {
  planner::Config config;  // With the size that grows given.
  planner::Goal goal = planner::Goal::kBatch;
  planner::Budget budget;
  std::string device_title, device_source;  // Of a device that was named.
};

// Checks what the fields promise. InvalidArgument about the first that breaks
// its rule, NotFound for a device that there is none of.
absl::StatusOr<MaximizeQuestion> ToQuestion(const v1::MaximizeRequest& from,
                                            const planner::Limits& limits);

void FillMaximum(const planner::Prepared& prepared,
                 const planner::Maximum& from, v1::MaximizeResponse& to);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_CONVERT_MAXIMIZE_H_
