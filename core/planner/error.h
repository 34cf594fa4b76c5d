// Statuses with the payloads of planner.h.

#ifndef LINNET_CORE_PLANNER_ERROR_H_
#define LINNET_CORE_PLANNER_ERROR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace linnet::planner {

// "`what` not found" with the names of `known` that come close, in the message
// and as kSuggestionsPayload. `code` is NotFound or InvalidArgument.
absl::Status UnknownName(absl::StatusCode code, absl::string_view message,
                         absl::string_view name,
                         absl::Span<const absl::string_view> known);

// ResourceExhausted with kLimitPayload.
absl::Status LimitPassed(absl::string_view message, absl::string_view limit,
                         int64_t value);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_ERROR_H_
