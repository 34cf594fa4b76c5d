// Between Planner.Compare and the engine.

#ifndef LINNET_SERVER_RPC_CONVERT_COMPARE_H_
#define LINNET_SERVER_RPC_CONVERT_COMPARE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/planner/devices.h"
#include "core/planner/layouts.h"
#include "core/planner/planner.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::server {

struct CompareQuestion {
  planner::Config config;                       // With the numbers of devices.
  std::vector<planner::DeviceSummary> devices;  // By pool.
  planner::LayoutQuery query;  // Its profiles are the devices'; without `stop`.
};

// Checks what the fields promise. InvalidArgument about the first that breaks
// its rule, NotFound for a device that there is none of.
absl::StatusOr<CompareQuestion> ToQuestion(const v1::CompareRequest& from,
                                           const planner::Limits& limits);

void FillPlan(const planner::LayoutPlan& from, const CompareQuestion& question,
              v1::CompareResponse& to);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_CONVERT_COMPARE_H_
