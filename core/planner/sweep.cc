#include "core/planner/sweep.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace linnet::planner {

absl::StatusOr<std::vector<int64_t>> ExpandRanges(
    absl::Span<const SizeRange> ranges, int64_t most) {
  std::vector<int64_t> sizes;
  for (const SizeRange& range : ranges) {
    if (range.first < 1 || range.last > kMaxSweepSize ||
        range.last < range.first) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a range of sizes must go from at least 1 up to at most ",
          kMaxSweepSize, ", not from ", range.first, " to ", range.last));
    }
    if (range.step < 1 || range.factor < 1) {
      return absl::InvalidArgumentError(
          "a range of sizes must grow: by a step, or a factor, of at least 1");
    }
    for (int64_t size = range.first; size <= range.last;
         size = range.factor > 1 ? size * range.factor : size + range.step) {
      if (static_cast<int64_t>(sizes.size()) == most) {
        return absl::InvalidArgumentError(
            absl::StrCat("a sweep has at most ", most,
                         " sizes of one kind; take larger steps, or split it"));
      }
      sizes.push_back(size);
      // The next one may be past 64 bits.
      if (range.factor > kMaxSweepSize / size || range.step > kMaxSweepSize) {
        break;
      }
    }
  }
  return sizes;
}

std::optional<int64_t> SizeGrid::count() const {
  int64_t count = 1;
  for (const std::vector<int64_t>& sizes : sizes_) {
    if (sizes.empty()) continue;
    if (__builtin_mul_overflow(count, static_cast<int64_t>(sizes.size()),
                               &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::array<int64_t, kNumRoles> SizeGrid::At(int64_t point) const {
  std::array<int64_t, kNumRoles> at{};
  for (size_t i = kNumRoles; i-- > 0;) {
    if (sizes_[i].empty()) continue;
    const auto n = static_cast<int64_t>(sizes_[i].size());
    at[i] = sizes_[i][static_cast<size_t>(point % n)];
    point /= n;
  }
  return at;
}

void SizeGrid::Put(int64_t point, Config* config) const {
  const std::array<int64_t, kNumRoles> at = At(point);
  const auto put = [&](Role role, std::optional<int64_t>& size) {
    if (at[static_cast<size_t>(role)] > 0) size = at[static_cast<size_t>(role)];
  };
  put(Role::kBatch, config->batch);
  put(Role::kContext, config->context);
  put(Role::kCache, config->cache_len);
}

absl::Status Prepared::Peaks(const Config& config, const SizeGrid& grid,
                             int64_t begin, size_t policy,
                             absl::Span<PointPeak> points) const {
  Config at = config;
  for (size_t i = 0; i < points.size(); ++i) {
    grid.Put(begin + static_cast<int64_t>(i), &at);
    PointPeak& point = points[i];
    const absl::StatusOr<Summary> summary = SummarizePolicy(at, policy);
    if (summary.ok()) {
      point = {
          summary->graph_peak_bytes, summary->expected_peak_bytes,
          summary->constraints_hold ? PointState::kOk : PointState::kBroken};
    } else if (absl::IsOutOfRange(summary.status())) {
      point = {0, 0, PointState::kOverflow};
    } else if (absl::IsInvalidArgument(summary.status())) {
      point = {0, 0, PointState::kInvalid};
    } else {
      return summary.status();
    }
  }
  return absl::OkStatus();
}

}  // namespace linnet::planner
