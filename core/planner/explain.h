// Which implementation each library call of an entry gets, and why.

#ifndef LINNET_CORE_PLANNER_EXPLAIN_H_
#define LINNET_CORE_PLANNER_EXPLAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/planner/planner.h"

namespace linnet::planner {

struct ExplainedCall {
  std::string op;              // `std.nn.linear::linear`
  int64_t count = 0;           // Calls in one run of the entry.
  std::string implementation;  // Empty: its body is followed.
  std::string reason;
  std::string first_scope;  // Path of the block that calls it first.
};

struct Explanation {
  std::string model, entry, numerics;
  std::vector<ExplainedCall> calls;  // In the order of their first call.
};

// The calls of an entry under the policy of `config`. A call inside one that
// runs natively is not made and not listed. Fails as Prepare() does.
absl::StatusOr<Explanation> Explain(const Config& config,
                                    const Limits& limits = {},
                                    const StopFunction& stop = nullptr);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_EXPLAIN_H_
