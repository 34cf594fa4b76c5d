// How a number of a report was obtained.

#ifndef LINNET_CORE_BASE_CONFIDENCE_H_
#define LINNET_CORE_BASE_CONFIDENCE_H_

#include <cstdint>
#include <ostream>

#include "absl/strings/string_view.h"

namespace linnet {

// From the strongest to the weakest.
enum class Confidence : uint8_t {
  kExact,      // The program's own tensors.
  kModeled,    // What a backend implementation is known to allocate.
  kEstimated,  // Measured on one machine.
  kUnknown,    // Nothing models it; counted in no sum.
};

// "exact", "backend-modeled", "estimated" or "unknown".
constexpr absl::string_view ConfidenceName(Confidence confidence) {
  switch (confidence) {
    case Confidence::kExact:
      return "exact";
    case Confidence::kModeled:
      return "backend-modeled";
    case Confidence::kEstimated:
      return "estimated";
    case Confidence::kUnknown:
      break;
  }
  return "unknown";
}

// The confidence of a sum of two parts.
constexpr Confidence Weakest(Confidence a, Confidence b) {
  return a < b ? b : a;
}

inline std::ostream& operator<<(std::ostream& os, Confidence confidence) {
  return os << ConfidenceName(confidence);
}

}  // namespace linnet

#endif  // LINNET_CORE_BASE_CONFIDENCE_H_
