// What a device does per second: the rates that step times are made of
// (analysis.md section 15).

#ifndef LINNET_CORE_DEVICE_PROFILE_H_
#define LINNET_CORE_DEVICE_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/dtype.h"

namespace linnet::device {

// Calls of the eager program that cost the host time of their own.
enum class HostCall : uint8_t {
  kView,
  kElementwise,
  kProduct,
  kBatched,  // A product whose right operand is batched.
  kAttention,
  kNormalization,
  kWrite,  // Into a cache.
  kGather,
  kJoin,
  kCast,
  kReduction,
  kMask,
  kBackward,         // A node of autograd.
  kProductBackward,  // That of a product.
};
inline constexpr size_t kNumHostCalls =
    static_cast<size_t>(HostCall::kProductBackward) + 1;

// "view", "elementwise", ..., "product_backward".
absl::string_view HostCallName(HostCall call);

// 8192 rows by a weight of `n` outputs and `k` inputs.
struct ProductRate {
  double n = 0, k = 0;
  double flops = 0;  // Per second.
};

// Fused attention. A causal one counts half of the scores.
struct AttentionRate {
  bool causal = false, backward = false, f32 = false;
  int32_t width = 0;  // Of a head.
  double flops = 0;   // Per second.
};

// All rates are per second, of one device; times are in seconds.
struct Profile {
  std::string name;    // `h100-80gb`
  std::string source;  // `measured: H100 SXM, PyTorch 2.14.1+cu130`
  // Rates that were not measured but scaled from another device's by data
  // sheets; a source says from which.
  std::vector<std::string> scaled;

  int64_t memory_bytes = 0;
  double peak_bf16 = 0, peak_f16 = 0, peak_f32 = 0;  // FLOPs of products.
  // Rectangular grids, sorted by n, then k.
  std::vector<ProductRate> products_bf16, products_f32;
  // By weights whose outputs lie along rows of memory, as GPT-2's do; empty
  // where they were not measured.
  std::vector<ProductRate> transposed_bf16, transposed_f32;
  std::vector<AttentionRate> attention;

  // Bytes.
  double bandwidth = 0;    // A large copy, read and written.
  double elementwise = 0;  // A sum of two tensors.
  double broadcast = 0;    // A product with a broadcast operand.
  double skinny = 0;       // The weight of a product of 16 rows.
  double decode = 0;       // The cache, by one query per row under a mask.
  double link = 0;         // Bus bandwidth of an all-reduce.

  double latency = 0;         // Of a small all-reduce.
  double reduce = 0;          // Of one as a model calls it, with the host's.
  double kernel = 0;          // A small kernel behind long work,
  double strided_kernel = 0;  // and one with a strided operand.
  double dispatch = 0;        // An eager call, on average over a layer.
  std::array<double, kNumHostCalls> host = {};

  double host_seconds(HostCall call) const {
    return host[static_cast<size_t>(call)];
  }
  double peak(DType dtype) const;
  // FLOP/s of a product by a weight of n outputs and k inputs: bilinear in
  // log2(n) and log2(k) between what was measured, in proportion below, held
  // beyond, never above the peak. f16 goes by bf16.
  // `transposed`: at those rates, where there are some.
  double ProductFlops(DType dtype, double n, double k,
                      bool transposed = false) const;
  bool HasTransposed(DType dtype) const;
  // Of the nearest width measured, of two the smaller; 0 when none of the kind
  // was.
  double AttentionFlops(bool causal, bool backward, bool f32,
                        int64_t width) const;
};

// Reads a profile of version 1. InvalidArgument, naming `path` and the field:
// no JSON, a field missing or of another form, a rate that is not a positive
// finite number, grids with holes, another version.
absl::StatusOr<Profile> ParseProfile(absl::string_view text,
                                     absl::string_view path);

// The figures of data sheets that rates are scaled by.
struct Sheet {
  double bf16 = 0, f32 = 0;  // Dense FLOPs per second.
  double bandwidth = 0;      // Bytes per second of its memory,
  double link = 0;           // and to another device, one way.
};

// `measured`, whose device has the sheet `from`, for a device with the sheet
// `to`: compute by bf16, that of f32 by f32, bandwidths by bandwidth, the link
// by the link; host times, latencies and kernel floors as they are.
Profile Scale(const Profile& measured, const Sheet& from, const Sheet& to);

}  // namespace linnet::device

#endif  // LINNET_CORE_DEVICE_PROFILE_H_
