#include "core/planner/error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/nearest.h"
#include "core/planner/planner.h"

namespace linnet::planner {

absl::Status UnknownName(absl::StatusCode code, absl::string_view message,
                         absl::string_view name,
                         absl::Span<const absl::string_view> known) {
  const std::vector<std::string> near = NearestNames(name, known);
  std::string text(message);
  if (!near.empty()) {
    absl::StrAppend(&text, "; did you mean `", absl::StrJoin(near, "` or `"),
                    "`?");
  } else if (!known.empty() && known.size() <= 40) {
    absl::StrAppend(&text, "; there are `", absl::StrJoin(known, "`, `"), "`");
  }
  absl::Status status(code, text);
  if (!near.empty()) {
    status.SetPayload(kSuggestionsPayload,
                      absl::Cord(absl::StrJoin(near, "\n")));
  }
  return status;
}

absl::Status LimitPassed(absl::string_view message, absl::string_view limit,
                         int64_t value) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kLimitPayload, absl::Cord(absl::StrCat(limit, "=", value)));
  return status;
}

}  // namespace linnet::planner
