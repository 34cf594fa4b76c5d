// Which native implementation a library op runs with, by numerics policy
// (language.md section 10.4).

#ifndef LINNET_CORE_LIBRARY_NATIVE_KERNEL_H_
#define LINNET_CORE_LIBRARY_NATIVE_KERNEL_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace linnet::library {

// How close an implementation's numbers are to those of the op's body, the
// closest first.
enum class NativeRank : uint8_t {
  kExact,                  // Bit-identical.
  kIeeeEquivalent,         // But for the sign of zero and NaN payloads.
  kNumericallyEquivalent,  // Arithmetic in another order.
  kApproximate,            // In the input dtype instead of f32.
};

// What an implementation is, as far as a backend model tells them apart.
enum class NativeKernel : uint8_t {
  kOther,  // Nothing models its workspace or what it saves.
  kLinear,
  kMatmul,
  kEmbedding,
  kIndexSelect,
  kRmsNorm,
  kLayerNorm,
  kBatchNorm,
  kSoftmax,
  kSigmoid,
  kRelu,
  kTanh,
  kSilu,
  kGelu,
  kMean,
  kCausalMask,
  kAttention,
  kCacheWrite,
  kLinearCrossEntropy,
  kLinearTokenLogProbs,
  kAllReduce,
  kAllGather,
  kShared,
  kReduceScatter,
  kAllToAll,
  kExperts,          // Rows through the experts that are theirs.
  kExpertsShared,    // Each row through several experts.
  kExpertsCombined,  // And the experts' results summed by row.
};

enum class Numerics : uint8_t { kExact, kEquivalent, kFast };

// "exact", "equivalent" or "fast".
absl::string_view NumericsName(Numerics numerics);
std::optional<Numerics> ParseNumerics(absl::string_view name);

struct NativeImplementation {
  absl::string_view op;  // `std.nn.linear::linear`
  NativeRank rank;
  NativeKernel kernel;
  absl::string_view name;  // `torch.nn.functional.linear`
};

// Every implementation, those of one op from the closest on.
absl::Span<const NativeImplementation> NativeImplementations();

// The highest-ranked implementation of `op` that `numerics` admits; null when
// the op's own body runs. Constant time.
const NativeImplementation* SelectNative(absl::string_view op,
                                         Numerics numerics);

// The implementation called `name`; null when there is none. Constant time.
const NativeImplementation* FindNative(absl::string_view name);

}  // namespace linnet::library

#endif  // LINNET_CORE_LIBRARY_NATIVE_KERNEL_H_
