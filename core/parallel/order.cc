#include "core/parallel/order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace linnet::parallel {
namespace {

constexpr std::array<absl::string_view, 4> kSchedules = {
    "1f1b", "gpipe", "interleaved-1f1b", "zero-bubble"};

// Rounds of micro-batches after which states repeat: fewer than two before the
// first backward pass, one full period, and the last ones.
constexpr int64_t kRounds = 5;

size_t Index(int64_t i) { return static_cast<size_t>(i); }

// Which chunk and micro-batch the `index`-th forward or backward pass is.
class Turns {
 public:
  Turns(int64_t round, int64_t chunks) : round_(round), chunks_(chunks) {}

  Pass Forward(int64_t index) const {
    return {PassKind::kForward, Chunk(index), Microbatch(index)};
  }
  Pass Backward(int64_t index, PassKind kind) const {
    const auto last = static_cast<int32_t>(chunks_ - 1);
    return {kind, last - Chunk(index), Microbatch(index)};
  }

 private:
  int32_t Chunk(int64_t index) const {
    return static_cast<int32_t>(index / round_ % chunks_);
  }
  int64_t Microbatch(int64_t index) const {
    return index / (round_ * chunks_) * round_ + index % round_;
  }

  int64_t round_, chunks_;
};

// How far weights' gradients run behind; empty when with the backward pass.
std::optional<int64_t> WeightsDelay(const PipelineShape& shape,
                                    int64_t device) {
  if (shape.schedule != Schedule::kZeroBubble) return std::nullopt;
  return device;
}

int64_t FirstForwards(const PipelineShape& shape, int64_t round,
                      int64_t device) {
  const int64_t total = shape.microbatches * shape.chunks;
  if (shape.schedule == Schedule::kGPipe) return total;
  const int64_t hops = shape.devices - 1 - device;
  const bool interleaved = shape.schedule == Schedule::kInterleaved1F1B;
  return std::min(total,
                  (shape.chunks - 1) * round + (interleaved ? 2 : 1) * hops);
}

bool Covers(const Held& a, const Held& b) {
  for (size_t c = 0; c < a.forward.size(); ++c) {
    if (a.forward[c] < b.forward[c] || a.weights[c] < b.weights[c]) {
      return false;
    }
  }
  return true;
}

// Whether b lies on the line from a to c: the way from a to b and that from b
// to c are multiples of each other, and in the same direction.
bool Between(const Held& a, const Held& b, const Held& c) {
  int64_t along = 0, further = 0;  // The first part of each that is not 0.
  const auto follows = [&](int64_t x, int64_t y, int64_t z) {
    if (along == 0 && further == 0) {
      along = y - x;
      further = z - y;
      return along * further > 0 || (along == 0 && further == 0);
    }
    return (y - x) * further == (z - y) * along;
  };
  for (size_t i = 0; i < a.forward.size(); ++i) {
    if (!follows(a.forward[i], b.forward[i], c.forward[i]) ||
        !follows(a.weights[i], b.weights[i], c.weights[i])) {
      return false;
    }
  }
  return true;
}

void AddState(Held state, std::vector<Held>* states) {
  if (!states->empty() && states->back() == state) return;
  const size_t n = states->size();
  if (n >= 2 && Between((*states)[n - 2], (*states)[n - 1], state)) {
    states->back() = std::move(state);
    return;
  }
  states->push_back(std::move(state));
}

std::vector<Held> Largest(const std::vector<Held>& states) {
  std::vector<Held> largest;
  for (const Held& state : states) {
    const auto covers = [&](const Held& other) { return Covers(other, state); };
    if (std::any_of(largest.begin(), largest.end(), covers)) continue;
    std::erase_if(largest,
                  [&](const Held& other) { return Covers(state, other); });
    largest.push_back(state);
  }
  return largest;
}

}  // namespace

absl::string_view ScheduleName(Schedule schedule) {
  return kSchedules[static_cast<size_t>(schedule)];
}

std::optional<Schedule> ParseSchedule(absl::string_view name) {
  for (size_t i = 0; i < kSchedules.size(); ++i) {
    if (kSchedules[i] == name) return static_cast<Schedule>(i);
  }
  return std::nullopt;
}

std::vector<absl::string_view> ScheduleNames() {
  return {kSchedules.begin(), kSchedules.end()};
}

std::optional<int64_t> MicrobatchesPerRound(const PipelineShape& shape) {
  const int64_t rounds =
      std::max<int64_t>(1, shape.microbatches / shape.devices);
  if (shape.microbatches % rounds != 0) return std::nullopt;
  return shape.microbatches / rounds;
}

std::vector<Pass> DeviceOrder(const PipelineShape& shape, int64_t device) {
  // With one chunk a round may be all of them.
  const int64_t round =
      shape.chunks == 1 ? shape.microbatches : *MicrobatchesPerRound(shape);
  const Turns turns(round, shape.chunks);
  const int64_t total = shape.microbatches * shape.chunks;
  const int64_t first = FirstForwards(shape, round, device);
  const std::optional<int64_t> delay = WeightsDelay(shape, device);
  std::vector<Pass> order;
  int64_t weights = 0;
  for (int64_t i = 0; i < first; ++i) order.push_back(turns.Forward(i));
  for (int64_t i = 0; i < total; ++i) {
    if (first + i < total) order.push_back(turns.Forward(first + i));
    order.push_back(turns.Backward(i, PassKind::kBackward));
    if (delay && i >= *delay) {
      order.push_back(turns.Backward(weights++, PassKind::kWeights));
    }
  }
  while (delay && weights < total) {
    order.push_back(turns.Backward(weights++, PassKind::kWeights));
  }
  return order;
}

HeldStates FindHeldStates(const PipelineShape& shape, int64_t device) {
  const size_t chunks = Index(shape.chunks);
  HeldStates states;
  if (shape.schedule == Schedule::kGPipe) {
    const Held others = {std::vector<int64_t>(chunks, shape.microbatches - 1),
                         std::vector<int64_t>(chunks)};
    states.forward.assign(chunks, {others});
    states.backward.assign(chunks, {others});
    return states;
  }
  PipelineShape short_run = shape;
  const int64_t round =
      shape.chunks == 1 ? shape.devices : *MicrobatchesPerRound(shape);
  short_run.microbatches = std::min(shape.microbatches, kRounds * round);
  states.forward.resize(chunks);
  states.backward.resize(chunks);
  Held now = {std::vector<int64_t>(chunks), std::vector<int64_t>(chunks)};
  const bool delayed = WeightsDelay(shape, device).has_value();
  for (const Pass& pass : DeviceOrder(short_run, device)) {
    const size_t chunk = Index(pass.chunk);
    if (pass.kind == PassKind::kBackward) --now.forward[chunk];
    if (pass.kind == PassKind::kWeights) --now.weights[chunk];
    Held beside = now;
    for (size_t c = 0; c < chunk; ++c) --beside.forward[c];
    AddState(std::move(beside), pass.kind == PassKind::kForward
                                    ? &states.forward[chunk]
                                    : &states.backward[chunk]);
    if (pass.kind == PassKind::kForward) ++now.forward[chunk];
    if (pass.kind == PassKind::kBackward && delayed) ++now.weights[chunk];
  }
  for (auto* of : {&states.forward, &states.backward}) {
    for (std::vector<Held>& each : *of) each = Largest(each);
  }
  return states;
}

}  // namespace linnet::parallel
