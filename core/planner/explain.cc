#include "core/planner/explain.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/library/native_kernel.h"
#include "core/planner/prepared.h"

namespace linnet::planner {
namespace {

using library::NativeImplementation;
using library::NativeRank;

absl::string_view RankText(NativeRank rank) {
  switch (rank) {
    case NativeRank::kExact:
      return "gives the body's numbers bit for bit";
    case NativeRank::kIeeeEquivalent:
      return "agrees with the body but for signs of zero and NaN";
    case NativeRank::kNumericallyEquivalent:
      return "does the body's arithmetic in another order";
    case NativeRank::kApproximate:
      break;
  }
  return "computes in the input dtype instead of f32, or approximates";
}

// The closest implementation of `op`, whatever the policy.
const NativeImplementation* Closest(absl::string_view op) {
  for (const NativeImplementation& each : library::NativeImplementations()) {
    if (each.op == op) return &each;
  }
  return nullptr;
}

std::string Reason(const trace::LibraryCall& call, absl::string_view numerics) {
  if (call.native != nullptr) {
    return absl::StrCat("`", numerics, "` admits it: it ",
                        RankText(call.native->rank));
  }
  const NativeImplementation* closest = Closest(call.name);
  if (closest == nullptr) return "no native implementation is known";
  return absl::StrCat("`", numerics, "` does not admit ", closest->name,
                      ", which ", RankText(closest->rank));
}

}  // namespace

absl::StatusOr<Explanation> Explain(const Config& config, const Limits& limits,
                                    const StopFunction& stop) {
  LINNET_ASSIGN_OR_RETURN(const std::shared_ptr<const Prepared> prepared,
                          Prepare(config, limits, stop));
  const auto& entry = static_cast<const PreparedEntry&>(*prepared);
  Explanation explanation;
  explanation.model = entry.model_name();
  explanation.entry = entry.entry_name();
  explanation.numerics = config.numerics;
  for (const trace::LibraryCall& call : entry.library_calls()) {
    explanation.calls.push_back(
        {call.name, call.count,
         call.native == nullptr ? "" : std::string(call.native->name),
         Reason(call, config.numerics), call.first_scope});
  }
  return explanation;
}

}  // namespace linnet::planner
