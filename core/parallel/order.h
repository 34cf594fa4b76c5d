// In which order a pipeline's device runs its passes, and what it therefore
// holds beside the micro-batch that it works on.

#ifndef LINNET_CORE_PARALLEL_ORDER_H_
#define LINNET_CORE_PARALLEL_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace linnet::parallel {

enum class Schedule : uint8_t {
  k1F1B,             // Backward as soon as it can run.
  kGPipe,            // All of the forward, then all of the backward.
  kInterleaved1F1B,  // 1F1B where each device has several chunks of the model.
  // 1F1B whose backward pass makes the gradients of activations first; those of
  // weights come later, where the device would wait.
  kZeroBubble,
};

// "1f1b", "gpipe", "interleaved-1f1b" or "zero-bubble".
absl::string_view ScheduleName(Schedule schedule);
std::optional<Schedule> ParseSchedule(absl::string_view name);
std::vector<absl::string_view> ScheduleNames();

struct PipelineShape {
  Schedule schedule = Schedule::k1F1B;
  int64_t devices = 1;
  int64_t chunks = 1;  // Of the model, on each device: chunk c of device d is
                       // stage c x devices + d of devices x chunks.
  int64_t microbatches = 1;
};

// How many micro-batches go through a chunk before the device turns to its
// next one: n / floor(n / devices), at least `devices`. Empty when the
// micro-batches do not divide into as many equal rounds.
std::optional<int64_t> MicrobatchesPerRound(const PipelineShape& shape);

enum class PassKind : uint8_t {
  kForward,
  kBackward,  // Under zero-bubble without the gradients of weights.
  kWeights,   // Those.
};

struct Pass {
  PassKind kind = PassKind::kForward;
  int32_t chunk = 0;
  int64_t microbatch = 0;

  friend bool operator==(const Pass&, const Pass&) = default;
};

// The passes of one device, in order. As PyTorch's schedules run them:
//   1f1b              min(n, devices - 1 - d) forward passes, then a forward
//                     and a backward pass in turn, then backward passes
//   interleaved-1f1b  (chunks - 1) x round + 2 (devices - 1 - d) forward passes
//                     first; chunks take turns of one round of micro-batches,
//                     backward in the opposite order
//   zero-bubble       (chunks - 1) x round + devices - 1 - d first; weights'
//                     gradients d micro-batches behind the backward passes
// REQUIRES: MicrobatchesPerRound(shape) when there are several chunks.
std::vector<Pass> DeviceOrder(const PipelineShape& shape, int64_t device);

// What a device holds while it runs a pass, by chunk: micro-batches between
// their forward and their backward pass, and those between that and the pass of
// their weights' gradients. Counted beside a micro-batch that runs in the
// pass's chunk and is held by the chunks before; where a pass of weights'
// gradients finds nothing there, the count is -1.
struct Held {
  std::vector<int64_t> forward;
  std::vector<int64_t> weights;

  friend bool operator==(const Held&, const Held&) = default;
};

// By chunk: every state in which a forward, and a backward or weights', pass
// finds the device, without those that hold no more of any kind than another,
// and without those on the line between their neighbours, which hold no more
// than one of the two whatever the sizes.
struct HeldStates {
  std::vector<std::vector<Held>> forward;
  std::vector<std::vector<Held>> backward;
};

// Cost: for schedules other than gpipe up to 15 x devices x chunks passes,
// whatever the number of micro-batches: rounds after the fifth add no state.
HeldStates FindHeldStates(const PipelineShape& shape, int64_t device);

}  // namespace linnet::parallel

#endif  // LINNET_CORE_PARALLEL_ORDER_H_
