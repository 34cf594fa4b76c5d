// Patterns over names and paths.

#ifndef LINNET_CORE_BASE_GLOB_H_
#define LINNET_CORE_BASE_GLOB_H_

#include "absl/strings/string_view.h"

namespace linnet {

// Whether the whole of `text` matches: `*` stands for any text, dots included,
// and `?` for one character. Linear time but for backtracking to the last `*`.
bool MatchesGlob(absl::string_view text, absl::string_view pattern);

}  // namespace linnet

#endif  // LINNET_CORE_BASE_GLOB_H_
