#include "server/rpc/convert_sweep.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/planner/layouts.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_time.h"
#include "server/rpc/status.h"

namespace linnet::server {
namespace {

using planner::Role;

constexpr int kMaxDevices = 64;
constexpr int64_t kMaxVariants = 1024;
// Of one role, so that no request makes the server hold more.
constexpr int64_t kMaxAxisSizes = int64_t{1} << 20;

struct RoleRow {
  v1::SizeRole proto;
  Role role;
};
constexpr RoleRow kRoles[] = {{v1::SIZE_ROLE_BATCH, Role::kBatch},
                              {v1::SIZE_ROLE_CONTEXT, Role::kContext},
                              {v1::SIZE_ROLE_CACHE, Role::kCache}};

absl::Status FillGrid(const v1::SweepRequest& from,
                      const planner::Limits& limits, SweepQuestion& to) {
  std::vector<bool> seen(planner::kNumRoles);
  for (const v1::SizeAxis& axis : from.sizes()) {
    std::optional<Role> role;
    for (const RoleRow& row : kRoles) {
      if (row.proto == axis.role()) role = row.role;
    }
    if (!role) return FieldError("sizes.role", "must be set to a known role");
    if (seen[static_cast<size_t>(*role)]) {
      return FieldError("sizes.role", "comes twice");
    }
    seen[static_cast<size_t>(*role)] = true;
    if (axis.ranges().empty()) {
      return FieldError("sizes.ranges", "must not be empty");
    }
    std::vector<planner::SizeRange> ranges;
    for (const v1::SizeRange& range : axis.ranges()) {
      if (range.has_step() && range.has_factor()) {
        return FieldError("sizes.ranges", "must have a step or a factor");
      }
      ranges.push_back({range.first(), range.last(),
                        range.has_step() ? range.step() : 1,
                        range.has_factor() ? range.factor() : 1});
      if (range.has_factor() && range.factor() < 2) {
        return FieldError("sizes.ranges.factor", "must be at least 2");
      }
    }
    LINNET_ASSIGN_OR_RETURN(
        std::vector<int64_t> sizes,
        planner::ExpandRanges(
            ranges, std::min(limits.max_sweep_points, kMaxAxisSizes)));
    to.grid.Set(*role, std::move(sizes));
  }
  return absl::OkStatus();
}

absl::Status TooManyPoints(const planner::Limits& limits) {
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      "the sweep has more than the ", limits.max_sweep_points,
      " points that this server answers at once; split it by one of its axes, "
      "take larger steps, or raise limits.max_sweep_points"));
  status.SetPayload(
      planner::kLimitPayload,
      absl::Cord(absl::StrCat("max_sweep_points=", limits.max_sweep_points)));
  return status;
}

absl::Status FillTraces(const v1::SweepRequest& from,
                        const planner::Limits& limits, SweepQuestion& to) {
  LINNET_ASSIGN_OR_RETURN(to.base, ToConfig(from.config(), limits));
  to.grid.Put(0, &to.base);
  to.policies = {""};
  if (to.base.training) {
    to.policies = to.base.training->checkpoints;
    if (to.policies.empty()) to.policies.push_back("none");
  }
  const auto at_least_one = [](int64_t n) { return std::max<int64_t>(n, 1); };
  if (from.dtypes_size() > kMaxVariants || from.layouts_size() > kMaxVariants ||
      at_least_one(from.dtypes_size()) * at_least_one(from.layouts_size()) *
              static_cast<int64_t>(to.policies.size()) >
          kMaxVariants) {
    return FieldError("layouts", absl::StrCat("make more than ", kMaxVariants,
                                              " variants; split the sweep"));
  }
  std::vector<std::string> dtypes(from.dtypes().begin(), from.dtypes().end());
  if (dtypes.empty()) dtypes.push_back(to.base.dtype);
  std::vector<planner::ParallelConfig> layouts;
  for (const v1::Parallel& layout : from.layouts()) {
    LINNET_ASSIGN_OR_RETURN(planner::ParallelConfig parallel,
                            ToParallel(layout));
    layouts.push_back(std::move(parallel));
  }
  if (layouts.empty()) layouts.push_back(to.base.parallel);
  for (const std::string& dtype : dtypes) {
    for (const planner::ParallelConfig& layout : layouts) {
      to.traces.push_back({dtype, layout});
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SweepQuestion> ToQuestion(const v1::SweepRequest& from,
                                         const planner::Limits& limits) {
  SweepQuestion question;
  if (from.devices_size() > kMaxDevices) {
    return FieldError("devices", absl::StrCat("must be at most ", kMaxDevices));
  }
  for (const v1::DeviceChoice& each : from.devices()) {
    LINNET_ASSIGN_OR_RETURN(planner::DeviceSummary device, ToDevice(each));
    question.devices.push_back(std::move(device));
  }
  question.time = from.time();
  if (question.time && question.devices.empty()) {
    return FieldError("time", "needs at least one device");
  }
  LINNET_RETURN_IF_ERROR(FillGrid(from, limits, question));
  LINNET_RETURN_IF_ERROR(FillTraces(from, limits, question));
  const std::optional<int64_t> count = question.grid.count();
  const auto variants =
      static_cast<int64_t>(question.traces.size() * question.policies.size());
  if (!count || *count > limits.max_sweep_points / variants) {
    return TooManyPoints(limits);
  }
  question.grid_points = *count;
  return question;
}

v1::SweepPlan ToPlan(const SweepQuestion& question) {
  v1::SweepPlan plan;
  for (const SweepTrace& trace : question.traces) {
    for (const std::string& policy : question.policies) {
      v1::SweepVariant& variant = *plan.add_variants();
      variant.set_dtype(trace.dtype);
      FillParallel(trace.parallel, *variant.mutable_parallel());
      variant.set_layout(planner::LayoutName(trace.parallel, 1, ""));
      variant.set_checkpoint(policy);
    }
  }
  plan.set_points(question.grid_points * plan.variants_size());
  for (const RoleRow& row : kRoles) {
    const std::vector<int64_t>& sizes = question.grid.sizes(row.role);
    if (sizes.empty()) continue;
    v1::SizeValues& values = *plan.add_sizes();
    values.set_role(row.proto);
    values.mutable_values()->Assign(sizes.begin(), sizes.end());
  }
  for (const planner::DeviceSummary& device : question.devices) {
    v1::SweepDevice& to = *plan.add_devices();
    FillDevice(device, *to.mutable_rates());
    to.set_memory_bytes(device.memory_bytes);
  }
  return plan;
}

planner::Config ConfigOf(const SweepQuestion& question, size_t trace) {
  planner::Config config = question.base;
  config.dtype = question.traces[trace].dtype;
  config.parallel = question.traces[trace].parallel;
  return config;
}

absl::Status FillPoints(const planner::Prepared& prepared,
                        const planner::Config& config,
                        const SweepQuestion& question, size_t trace,
                        size_t policy, int64_t first, size_t count,
                        v1::SweepPoints& to) {
  std::vector<planner::PointPeak> points(count);
  LINNET_RETURN_IF_ERROR(prepared.Peaks(config, question.grid, first, policy,
                                        absl::MakeSpan(points)));
  to.set_variant(
      static_cast<int32_t>(trace * question.policies.size() + policy));
  to.set_first(first);
  to.mutable_graph_bytes()->Reserve(static_cast<int>(count));
  to.mutable_expected_bytes()->Reserve(static_cast<int>(count));
  bool all_ok = true;
  for (const planner::PointPeak& point : points) {
    to.add_graph_bytes(point.graph_bytes);
    to.add_expected_bytes(point.expected_bytes);
    all_ok = all_ok && point.state == planner::PointState::kOk;
  }
  if (!all_ok) {
    for (const planner::PointPeak& point : points) {
      to.add_states(static_cast<v1::PointState>(point.state));
    }
  }
  if (!question.time) return absl::OkStatus();
  planner::Config at = config;
  planner::TimeQuery query;
  query.policy = policy;
  for (size_t i = 0; i < count; ++i) {
    question.grid.Put(first + static_cast<int64_t>(i), &at);
    for (const planner::DeviceSummary& device : question.devices) {
      query.profile = device.profile.get();
      // What has no peak has no time either.
      const auto time = prepared.Time(at, query);
      to.add_seconds(time.ok() ? time->seconds : 0.0);
    }
  }
  return absl::OkStatus();
}

}  // namespace linnet::server
