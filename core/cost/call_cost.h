// What one call costs at given sizes (analysis.md section 13).

#ifndef LINNET_CORE_COST_CALL_COST_H_
#define LINNET_CORE_COST_CALL_COST_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/cost/operation.h"
#include "core/cost/step_time.h"
#include "core/device/profile.h"

namespace linnet::cost {

struct CallCost {
  Seconds forward;
  Seconds backward;  // Zero unless the operation is differentiable.
  Seconds weights;   // The part of `backward` for the gradients of weights.
};

// REQUIRES: `sizes` has those of the operation's work.
CallCost CostOf(const Operation& operation, absl::Span<const int64_t> sizes,
                int64_t processes, const device::Profile& profile,
                Rules rules = Rules::kOwn);

// Of a ring of `processes`: latency and bytes over the link, two ways or one.
double AllReduceSeconds(double bytes, int64_t processes,
                        const device::Profile& profile);
double GatherSeconds(double bytes, int64_t processes,
                     const device::Profile& profile);

}  // namespace linnet::cost

#endif  // LINNET_CORE_COST_CALL_COST_H_
