// Between Planner.Sweep and the engine.

#ifndef LINNET_SERVER_RPC_CONVERT_SWEEP_H_
#define LINNET_SERVER_RPC_CONVERT_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/planner/devices.h"
#include "core/planner/planner.h"
#include "core/planner/sweep.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::server {

// What needs a trace of its own.
struct SweepTrace {
  std::string dtype;
  planner::ParallelConfig parallel;
};

struct SweepQuestion {
  planner::Config base;  // With sizes of the first point.
  std::vector<SweepTrace> traces;
  std::vector<std::string> policies;  // One empty name for inference.
  planner::SizeGrid grid;
  int64_t grid_points = 0;  // Of one variant.
  std::vector<planner::DeviceSummary> devices;
  bool time = false;
};

// Checks what the fields promise. InvalidArgument about the first that breaks
// its rule, NotFound for a device that there is none of, ResourceExhausted with
// the limit for more points than it.
absl::StatusOr<SweepQuestion> ToQuestion(const v1::SweepRequest& from,
                                         const planner::Limits& limits);

v1::SweepPlan ToPlan(const SweepQuestion& question);

// The configuration of one trace.
planner::Config ConfigOf(const SweepQuestion& question, size_t trace);

// `count` points from `first` on of one trace under a policy; `config` is that
// trace's, where the files of the model may be left out.
absl::Status FillPoints(const planner::Prepared& prepared,
                        const planner::Config& config,
                        const SweepQuestion& question, size_t trace,
                        size_t policy, int64_t first, size_t count,
                        v1::SweepPoints& to);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_CONVERT_SWEEP_H_
