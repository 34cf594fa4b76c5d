// The largest size of a model that fits a device.

#ifndef LINNET_CORE_PLANNER_MAXIMIZE_H_
#define LINNET_CORE_PLANNER_MAXIMIZE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/planner/planner.h"

namespace linnet::planner {

// What grows. The cache follows a context that grows, unless it has a length of
// its own.
enum class Goal : uint8_t { kBatch, kContext, kKvCache };

// The size of `config` that grows.
std::optional<int64_t>& SizeOf(Config& config, Goal goal);

struct Budget {
  int64_t device_bytes = 0;      // All of the device's memory.
  int64_t reserve_bytes = 0;     // Left free of it,
  double reserve_percent = 0.0;  // and so much of all of it.
};

// Device memory less the reserves. InvalidArgument when a part is negative, the
// percentage is above 100, or less than one byte is left.
absl::StatusOr<int64_t> BudgetBytes(const Budget& budget);

// What the search ended at.
enum class StoppedBy : uint8_t {
  kMemory,  // One more does not fit.
  kModel,   // One more breaks a `where` clause of the model.
  kSearch,  // Sizes above kMaxSize are not looked at.
};
inline constexpr int64_t kMaxSize = int64_t{1} << 24;

struct Maximum {
  int64_t budget_bytes = 0;
  // The largest size that fits; empty when not even the smallest does.
  std::optional<int64_t> value;
  int64_t smallest = 1;  // Sizes are multiples of it.
  StoppedBy stopped_by = StoppedBy::kMemory;
  std::string clause;          // The clause that breaks, for kModel.
  Summary at;                  // At `value`, or at the smallest size.
  int64_t headroom_bytes = 0;  // Of the budget; negative when nothing fits.
  int64_t evaluations = 0;     // Sizes that were looked at.
};

// `config` with the role that grows given, so that it is prepared as a symbol.
Config WithGoal(Config config, Goal goal);

// Doubles the size until it does not fit, then bisects: memory never shrinks as
// a size grows. `config` is WithGoal() of what `prepared` was made from. Cost:
// some fifty calls of Summarize().
// `policy`: of the checkpoint policies of a training step.
// InvalidArgument when the entry has no size of that kind, or needs one more.
absl::StatusOr<Maximum> Maximize(const Prepared& prepared, const Config& config,
                                 Goal goal, const Budget& budget,
                                 const StopFunction& stop = nullptr,
                                 size_t policy = 0);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_MAXIMIZE_H_
