// Between Planner.Time and the engine.

#ifndef LINNET_SERVER_RPC_CONVERT_TIME_H_
#define LINNET_SERVER_RPC_CONVERT_TIME_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/planner/devices.h"
#include "core/planner/planner.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::server {

struct TimeQuestion {
  planner::Config config;
  planner::DeviceSummary device;
  planner::TimeQuery query;  // Its profile is the device's.
};

// Checks what the fields promise. InvalidArgument about the first that breaks
// its rule, NotFound for a device that there is none of.
absl::StatusOr<TimeQuestion> ToQuestion(const v1::TimeRequest& from,
                                        const planner::Limits& limits);
absl::StatusOr<planner::DeviceSummary> ToDevice(const v1::DeviceChoice& from);

v1::TimeLimit ToTimeLimit(absl::string_view limit);
void FillDevice(const planner::DeviceSummary& from, v1::DeviceRates& to);
void FillStepTime(const planner::StepTime& from, v1::StepTime& to);

// The answers under all checkpoint policies.
absl::Status FillTimes(const planner::Prepared& prepared,
                       const TimeQuestion& question, v1::TimeResponse& to);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_CONVERT_TIME_H_
