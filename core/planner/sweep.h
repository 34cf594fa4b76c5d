// A model at many sizes.

#ifndef LINNET_CORE_PLANNER_SWEEP_H_
#define LINNET_CORE_PLANNER_SWEEP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/planner/bind.h"
#include "core/planner/planner.h"

namespace linnet::planner {

// From `first` to `last`, both included where they are met: every `step`-th,
// or, when `factor` is above 1, each `factor` times the one before.
struct SizeRange {
  int64_t first = 1, last = 1;
  int64_t step = 1, factor = 1;
};

// The sizes of some ranges, in the order given. InvalidArgument: a size below
// 1 or above kMaxSweepSize, a last one before its first, a step below 1, a
// factor below 1, or more sizes than `most`.
inline constexpr int64_t kMaxSweepSize = int64_t{1} << 40;
absl::StatusOr<std::vector<int64_t>> ExpandRanges(
    absl::Span<const SizeRange> ranges, int64_t most);

// Every combination of the sizes of some roles; those of a later role change
// faster.
class SizeGrid {
 public:
  // None: the role keeps what a configuration gives it.
  void Set(Role role, std::vector<int64_t> sizes) {
    sizes_[static_cast<size_t>(role)] = std::move(sizes);
  }
  const std::vector<int64_t>& sizes(Role role) const {
    return sizes_[static_cast<size_t>(role)];
  }
  // Of points; empty when it passes 64 bits.
  std::optional<int64_t> count() const;
  // The sizes of a point, for the roles that have some; 0 for others.
  std::array<int64_t, kNumRoles> At(int64_t point) const;
  void Put(int64_t point, Config* config) const;

 private:
  std::array<std::vector<int64_t>, kNumRoles> sizes_;
};

enum class PointState : uint8_t {
  kOk,
  kBroken,    // A clause of the model does not hold; the peaks are there.
  kOverflow,  // A number passes 64 bits.
  kInvalid,   // Such a size cannot be, as one that does not divide.
};

struct PointPeak {
  int64_t graph_bytes = 0;
  int64_t expected_bytes = 0;
  PointState state = PointState::kOk;
};

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_SWEEP_H_
