// Between the protocol and the engine's own types; nothing else knows both.

#ifndef LINNET_SERVER_RPC_CONVERT_H_
#define LINNET_SERVER_RPC_CONVERT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/planner/check_sources.h"
#include "core/planner/explain.h"
#include "core/planner/planner.h"
#include "linnet/v1/model.pb.h"
#include "linnet/v1/models.pb.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::server {

// Checks what the fields of `from` promise (sizes at least 1, known enum
// values, a model that is named or whose files have proper paths), and copies
// it. InvalidArgument about the first field that breaks its rule;
// ResourceExhausted when the files pass `limits`.
absl::StatusOr<planner::Config> ToConfig(const v1::Configuration& from,
                                         const planner::Limits& limits);

// The same for a layout alone.
absl::StatusOr<planner::ParallelConfig> ToParallel(const v1::Parallel& from);
void FillParallel(const planner::ParallelConfig& from, v1::Parallel& parallel);

// `from` as a VIEW_FULL answer, without `totals` and `constraints_hold`.
v1::AnalyzeResponse ToResponse(const planner::Report& from);

v1::Timeline ToTimeline(const planner::MemoryTimeline& from);

// The fields that every view has.
void FillSummary(const planner::Prepared& prepared,
                 const planner::Summary& from, v1::AnalyzeResponse& to);

v1::ModelsListResponse ToResponse(
    const std::vector<planner::ModelSummary>& from);
v1::ModelsDescribeResponse ToResponse(const planner::ModelDescription& from);
v1::ModelsCheckResponse ToResponse(const planner::CheckedSources& from);
v1::ModelsExplainResponse ToResponse(const planner::Explanation& from);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_CONVERT_H_
