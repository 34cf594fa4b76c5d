#include "core/cost/call_cost.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <utility>

namespace linnet::cost {
namespace {

using device::HostCall;
using device::Profile;

// Products of at most so many rows read their weight at a rate of its own.
constexpr double kSkinnyRows = 64;
// Kernels of one query's attention under a mask: two products around a softmax
// in f32, with their casts.
constexpr double kDecodeKernels = 8;
constexpr int kDecodeNodes = 8;

// Bytes per f32 logit that a chunked loss moves, plain and with gradients, and
// per element of the head and block for the head's gradient.
constexpr double kLogitBytes = 16;
constexpr double kLogitGradientBytes = 46;
constexpr double kHeadGradientBytes = 20;

using Count = std::pair<HostCall, int>;

class Coster {
 public:
  Coster(const Operation& operation, absl::Span<const int64_t> sizes,
         int64_t processes, const Profile& profile, Rules rules)
      : operation_(operation),
        sizes_(sizes),
        processes_(processes),
        profile_(profile),
        rules_(rules) {}

  CallCost Run() const {
    CallCost cost;
    cost.forward = Forward();
    if (operation_.differentiable) {
      cost.backward = Backward(cost.forward);
      if (operation_.trained) cost.weights = Weights(cost.backward);
    }
    return cost;
  }

 private:
  double size(size_t i) const { return static_cast<double>(sizes_[i]); }
  bool f32() const {
    return operation_.dtype != DType::kBF16 && operation_.dtype != DType::kF16;
  }
  double Host(std::initializer_list<Count> calls) const {
    double seconds = 0;
    for (const auto& [call, count] : calls) {
      seconds += count * profile_.host_seconds(call);
    }
    return seconds;
  }

  static Seconds Memory(double host, double seconds) {
    return {host, 0, seconds, 0};
  }
  // The longer of two, by what bounds it.
  static Seconds Longer(double host, double compute, double memory) {
    if (compute >= memory) return {host, compute, 0, 0};
    return {host, 0, memory, 0};
  }

  Seconds Forward() const {
    switch (operation_.work) {
      case Work::kView:
        return {profile_.host_seconds(HostCall::kView), 0, 0, 0};
      case Work::kKernel:
        return Kernel();
      case Work::kProduct:
        return Product();
      case Work::kAttention:
        return Attention();
      case Work::kNorm:
        return Memory(
            Host({{HostCall::kNormalization, 1}, {HostCall::kElementwise, 1}}),
            std::max(profile_.kernel, 2 * size(0) / profile_.elementwise) +
                std::max(profile_.strided_kernel,
                         2 * size(0) / profile_.broadcast));
      case Work::kGather:
        return Memory(
            Host({{HostCall::kGather, 1}}),
            std::max(profile_.kernel, 2 * size(0) / profile_.elementwise));
      case Work::kCacheWrite:
        return CacheWrite();
      case Work::kLoss:
        return Loss(/*gradients=*/operation_.differentiable);
      case Work::kTokenLogProbs:
        return Loss(/*gradients=*/false);
      case Work::kExperts:
      case Work::kUnmeasured:
        return Longer(profile_.host_seconds(HostCall::kProduct),
                      size(0) / profile_.peak(operation_.dtype),
                      std::max(profile_.kernel, size(1) / profile_.bandwidth));
      case Work::kAllReduce:
        return {profile_.reduce - profile_.host_seconds(HostCall::kElementwise),
                0, 0, AllReduceSeconds(size(0), processes_, profile_)};
      case Work::kAllGather:
      case Work::kReduceScatter:
      case Work::kAllToAll:
        return {profile_.dispatch, 0, 0,
                GatherSeconds(size(0), processes_, profile_)};
      case Work::kShared:
        break;
    }
    return {};
  }

  Seconds Backward(const Seconds& forward) const {
    const double node = profile_.host_seconds(HostCall::kBackward);
    Seconds twice = 2.0 * forward;
    twice.host = node;
    switch (operation_.work) {
      case Work::kView:
        return {node, 0, 0, 0};
      case Work::kProduct:
        twice.host = profile_.host_seconds(HostCall::kProductBackward);
        return twice;
      case Work::kAttention:
        return AttentionBackward(forward);
      case Work::kNorm:
        twice.host = 2 * node;
        return twice;
      case Work::kGather:
        return Memory(node,
                      std::max(2 * profile_.kernel,
                               (size(1) + 3 * size(0)) / profile_.elementwise));
      case Work::kLoss:
        return {node, 0, 0, 0};  // Its gradients came with the loss.
      case Work::kTokenLogProbs:
        return Loss(/*gradients=*/true);
      case Work::kAllReduce:
        return {node, 0, 0, 0};  // The gradient is every process's already.
      case Work::kAllGather:
      case Work::kReduceScatter:
      case Work::kAllToAll: {
        Seconds back = forward;
        back.host += node;
        return back;
      }
      case Work::kShared:
        return {profile_.reduce - profile_.host_seconds(HostCall::kElementwise),
                0, 0, AllReduceSeconds(size(0), processes_, profile_)};
      case Work::kKernel:
      case Work::kCacheWrite:
      case Work::kExperts:
      case Work::kUnmeasured:
        break;
    }
    return twice;
  }

  // Of a product one of the two that its backward consists of.
  Seconds Weights(const Seconds& backward) const {
    return operation_.work == Work::kProduct ? 0.5 * backward : Seconds();
  }

  // By rows of the least input against the largest output.
  Seconds Kernel() const {
    const double host = profile_.host_seconds(operation_.call);
    if (operation_.strided || size(2) < size(1)) {
      return Memory(host, std::max(profile_.strided_kernel,
                                   size(0) / profile_.broadcast));
    }
    return Memory(host,
                  std::max(profile_.kernel, size(0) / profile_.elementwise));
  }

  Seconds Product() const {
    const double rate = profile_.ProductFlops(operation_.dtype, size(3),
                                              size(4), operation_.transposed);
    const double bandwidth =
        size(2) <= kSkinnyRows ? profile_.skinny : profile_.bandwidth;
    const HostCall call =
        operation_.batched ? HostCall::kBatched : HostCall::kProduct;
    return Longer(Host({{call, 1}, {HostCall::kView, operation_.views}}),
                  size(0) / rate,
                  std::max(profile_.kernel, size(1) / bandwidth));
  }

  bool OneQuery() const {
    return size(2) == 1 && operation_.mask != Mask::kNone;
  }
  // A mask that is none costs as a causal one: the same kernel, all scores.
  bool causal() const { return operation_.mask != Mask::kMasked; }
  double AttentionSeconds(bool backward) const {
    const double part = operation_.mask == Mask::kCausal ? 0.5 : 1.0;
    return part * size(0) /
           profile_.AttentionFlops(causal(), backward, f32(), sizes_[3]);
  }

  Seconds Attention() const {
    if (OneQuery()) {
      return Memory(Host({{HostCall::kView, 4},
                          {HostCall::kBatched, 2},
                          {HostCall::kCast, 2},
                          {HostCall::kElementwise, 2},
                          {HostCall::kMask, 1},
                          {HostCall::kReduction, 1}}),
                    std::max(kDecodeKernels * profile_.kernel,
                             size(4) / profile_.decode));
    }
    return Longer(profile_.host_seconds(HostCall::kAttention),
                  AttentionSeconds(/*backward=*/false),
                  std::max(profile_.kernel, size(1) / profile_.bandwidth));
  }

  Seconds AttentionBackward(const Seconds& forward) const {
    const double node = profile_.host_seconds(HostCall::kBackward);
    if (OneQuery()) {
      Seconds twice = 2.0 * forward;
      twice.host = kDecodeNodes * node;
      return twice;
    }
    return Longer(node + profile_.host_seconds(HostCall::kAttention),
                  AttentionSeconds(/*backward=*/true),
                  std::max(profile_.kernel, 2 * size(1) / profile_.bandwidth));
  }

  // The index is made first: each call but a view launches a kernel.
  Seconds CacheWrite() const {
    double host = 0;
    double kernels = 2;
    switch (operation_.write) {
      case 0:  // index_copy
        host = Host({{HostCall::kWrite, 1},
                     {HostCall::kView, 1},
                     {HostCall::kCast, 1}});
        kernels = 1;
        break;
      case 1:  // index_put
        host = Host({{HostCall::kWrite, 1},
                     {HostCall::kElementwise, 1},
                     {HostCall::kCast, 1},
                     {HostCall::kView, 1}});
        break;
      default:  // index_put, by token
        host = Host({{HostCall::kWrite, 1},
                     {HostCall::kCast, 2},
                     {HostCall::kView, 2}});
        break;
    }
    if (rules_ == Rules::kReference) kernels = 0;
    return Memory(host, kernels * profile_.kernel +
                            std::max(profile_.kernel,
                                     2 * size(0) / profile_.elementwise));
  }

  // A chunked loss, block by block: its products, and its passes over logits.
  Seconds Loss(bool gradients) const {
    const double rows = size(0), block = size(1), vocabulary = size(2),
                 width = size(3);
    if (rows <= 0 || block <= 0) return {};
    const double blocks = std::ceil(rows / block);
    const double products = gradients ? 3 : 1;
    const double flops = 2 * rows * vocabulary * width * products;
    double bytes =
        rows * vocabulary * (gradients ? kLogitGradientBytes : kLogitBytes);
    if (gradients) bytes += blocks * vocabulary * width * kHeadGradientBytes;
    const double host =
        blocks * Host({{HostCall::kProduct, gradients ? 3 : 1},
                       {HostCall::kElementwise, gradients ? 11 : 5}});
    return {host,
            flops / profile_.ProductFlops(operation_.dtype, vocabulary, width),
            bytes / profile_.elementwise, 0};
  }

  const Operation& operation_;
  const absl::Span<const int64_t> sizes_;
  const int64_t processes_;
  const Profile& profile_;
  const Rules rules_;
};

}  // namespace

CallCost CostOf(const Operation& operation, absl::Span<const int64_t> sizes,
                int64_t processes, const Profile& profile, Rules rules) {
  return Coster(operation, sizes, processes, profile, rules).Run();
}

double AllReduceSeconds(double bytes, int64_t processes,
                        const Profile& profile) {
  if (processes < 2) return 0;
  const auto p = static_cast<double>(processes);
  return profile.latency + 2 * (p - 1) / p * bytes / profile.link;
}

double GatherSeconds(double bytes, int64_t processes, const Profile& profile) {
  if (processes < 2) return 0;
  const auto p = static_cast<double>(processes);
  return profile.latency + (p - 1) / p * bytes / profile.link;
}

}  // namespace linnet::cost
