// The model of generated PyTorch code on a CUDA device.

#ifndef LINNET_CORE_RUNTIME_CUDA_H_
#define LINNET_CORE_RUNTIME_CUDA_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "core/base/bytes.h"
#include "core/runtime/backend.h"

namespace linnet::runtime {

// What a process holds, measured on an H100 SXM with PyTorch 2.14, CUDA 13 and
// NCCL 2.30 (analysis.md section 7); the defaults where no probe of the device
// at hand says otherwise.
inline constexpr int64_t kCudaContextBytes = 621 * kMiB;
inline constexpr int64_t kCudaLibrariesBytes = 74 * kMiB;
// With the kernels of a backward pass and an optimizer loaded as well.
inline constexpr int64_t kCudaTrainingLibrariesBytes = 146 * kMiB;
inline constexpr int64_t kCublasWorkspaceBytes = 32 * kMiB;  // On Hopper.
// With more than one process: the buffers of the one-shot all-reduce, and the
// communicator of each process group joined.
inline constexpr int64_t kAllReduceBytes = 2 * 64 * kKiB;
inline constexpr int64_t kNcclKernelsBytes = 358 * kMiB;
inline constexpr int64_t kCommunicatorBytes = 484 * kMiB;

// Point-to-point channels: to send, to receive, both ways, and those that
// DTensor's exchanges open.
inline constexpr int64_t kSendBytes = 421 * kMiB;
inline constexpr int64_t kReceiveBytes = 677 * kMiB;
inline constexpr int64_t kBothWaysBytes = 745 * kMiB;
inline constexpr int64_t kExchangeBytes = 440 * kMiB;

// PyTorch's caching allocator hands out blocks of multiples of 512 bytes.
inline constexpr int64_t kCudaAlignment = 512;

// The chunked losses keep the logits of one block of rows, in f32, within this
// many bytes.
inline constexpr int64_t kLossBlockBytes = int64_t{1} << 30;

const Backend& CudaBackend();

// Bytes that a CUBLAS_WORKSPACE_CONFIG asks for: the sum of its pairs
// `:KIB:COUNT`. Nothing when it is not of that form or does not fit 64 bits.
std::optional<int64_t> ParseCublasWorkspace(absl::string_view config);

}  // namespace linnet::runtime

#endif  // LINNET_CORE_RUNTIME_CUDA_H_
