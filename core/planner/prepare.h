// The two halves of Prepare(): what a layout over processes decides, and what
// one over a pipeline's stages does.

#ifndef LINNET_CORE_PLANNER_PREPARE_H_
#define LINNET_CORE_PLANNER_PREPARE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/planner/planner.h"
#include "core/planner/prepared.h"

namespace linnet::planner {

// One process's program: read, checked, traced and split as `config` says, but
// for its pipeline. Fails as Prepare() does.
absl::StatusOr<PreparedEntry::Parts> TraceParts(const Config& config,
                                                const Limits& limits,
                                                const StopFunction& stop);

// The program as it is, or on the stages of a pipeline.
absl::StatusOr<std::shared_ptr<const Prepared>> PrepareParts(
    PreparedEntry::Parts parts, const ParallelConfig& parallel);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_PREPARE_H_
