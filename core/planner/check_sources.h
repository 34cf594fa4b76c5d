// Checks source files without running anything: what `linnet check` reports.

#ifndef LINNET_CORE_PLANNER_CHECK_SOURCES_H_
#define LINNET_CORE_PLANNER_CHECK_SOURCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/planner/planner.h"

namespace linnet::planner {

struct CheckedSources {
  // language.md 11.1: one object on one line, with its newline.
  std::string json;
  // The same for a person; empty when there is nothing to say.
  std::string text;
  int64_t errors = 0;
  int64_t warnings = 0;
};

// Checks each of `roots` with everything that it imports; a report that several
// roots give is given once. `files` are the bundle. Mistakes in the sources are
// in the result; a status means that there is no answer:
//   INVALID_ARGUMENT: a path that no bundle may have, no root, or one that is
//     not among the files.
//   RESOURCE_EXHAUSTED: a limit (kLimitPayload).
//   CANCELLED: `stop`.
absl::StatusOr<CheckedSources> CheckSources(
    const std::vector<SourceFile>& files, const std::vector<std::string>& roots,
    const Limits& limits = {}, const StopFunction& stop = nullptr);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_CHECK_SOURCES_H_
