#include "core/planner/error.h"

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/nearest.h"
#include "core/planner/planner.h"

namespace linnet::planner {
namespace {

constexpr size_t kMostSuggestions = 3;

// Names that are one slip of the hand away; without any, those that contain
// what was written: "llama" means one of the Llamas.
std::vector<std::string> Suggest(absl::string_view name,
                                 absl::Span<const absl::string_view> known) {
  std::vector<std::string> near = NearestNames(name, known, kMostSuggestions);
  constexpr size_t kShortest = 3;  // Fewer letters occur in everything.
  if (!near.empty() || name.size() < kShortest) return near;
  const std::string wanted = absl::AsciiStrToLower(name);
  for (absl::string_view each : known) {
    if (near.size() < kMostSuggestions &&
        absl::StrContains(absl::AsciiStrToLower(each), wanted)) {
      near.emplace_back(each);
    }
  }
  return near;
}

}  // namespace

absl::Status UnknownName(absl::StatusCode code, absl::string_view message,
                         absl::string_view name,
                         absl::Span<const absl::string_view> known) {
  const std::vector<std::string> near = Suggest(name, known);
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
