// Early return on a Status that is not OK.

#ifndef LINNET_CORE_BASE_STATUS_MACROS_H_
#define LINNET_CORE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define LINNET_RETURN_IF_ERROR(expression)                                \
  do {                                                                    \
    if (absl::Status linnet_status = (expression); !linnet_status.ok()) { \
      return linnet_status;                                               \
    }                                                                     \
  } while (false)

#define LINNET_CONCAT_INNER_(a, b) a##b
#define LINNET_CONCAT_(a, b) LINNET_CONCAT_INNER_(a, b)

// LINNET_ASSIGN_OR_RETURN(auto value, MakeValue());
#define LINNET_ASSIGN_OR_RETURN(target, expression)                            \
  LINNET_ASSIGN_OR_RETURN_(LINNET_CONCAT_(linnet_statusor_, __LINE__), target, \
                           expression)
// A declaration, as `target` may be, takes no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define LINNET_ASSIGN_OR_RETURN_(temp, target, expression) \
  auto temp = (expression);                                \
  if (!temp.ok()) return std::move(temp).status();         \
  target = *std::move(temp)
// NOLINTEND(bugprone-macro-parentheses)

#endif  // LINNET_CORE_BASE_STATUS_MACROS_H_
