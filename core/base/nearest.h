// "Did you mean": the known names closest to one that is not known.

#ifndef LINNET_CORE_BASE_NEAREST_H_
#define LINNET_CORE_BASE_NEAREST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace linnet {

// The names of `known` within a small edit distance of `name` (one insertion,
// deletion, substitution, change of case at half a step, or swap of two
// neighbours per step; at most a third of the name's length, at least one),
// the closest first, those of one distance in the order of `known`, at most
// `limit`. Names longer than 128 bytes are never close.
// Cost: O(known x length^2) at worst, less for names of another length.
std::vector<std::string> NearestNames(absl::string_view name,
                                      absl::Span<const absl::string_view> known,
                                      size_t limit = 3);

}  // namespace linnet

#endif  // LINNET_CORE_BASE_NEAREST_H_
