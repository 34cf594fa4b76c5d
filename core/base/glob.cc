#include "core/base/glob.h"

#include <cstddef>

namespace linnet {

bool MatchesGlob(absl::string_view text, absl::string_view pattern) {
  size_t at = 0;
  size_t next = 0;
  size_t star = absl::string_view::npos;  // The last `*` met, and
  size_t resume = 0;                      // where its text ends so far.
  while (at < text.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      star = next++;
      resume = at;
    } else if (next < pattern.size() &&
               (pattern[next] == '?' || pattern[next] == text[at])) {
      ++next;
      ++at;
    } else if (star != absl::string_view::npos) {
      next = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (next < pattern.size() && pattern[next] == '*') ++next;
  return next == pattern.size();
}

}  // namespace linnet
