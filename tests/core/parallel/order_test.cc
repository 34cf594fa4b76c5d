// Orders of passes by hand, as PyTorch's and Megatron's schedules run them, and
// what follows from them against plain counting.

#include "core/parallel/order.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/random.h"

namespace linnet::parallel {
namespace {

using ::testing::ElementsAre;

// "F0.1": forward of micro-batch 1 in chunk 0; B, and W for weights.
std::string Text(const std::vector<Pass>& order) {
  return absl::StrJoin(order, " ", [](std::string* out, const Pass& pass) {
    absl::StrAppend(out, std::string(1, "FBW"[static_cast<size_t>(pass.kind)]),
                    pass.chunk, ".", pass.microbatch);
  });
}

TEST(OrderTest, OneForwardOneBackward) {
  const PipelineShape shape = {Schedule::k1F1B, 2, 1, 3};
  EXPECT_EQ(Text(DeviceOrder(shape, 0)), "F0.0 F0.1 B0.0 F0.2 B0.1 B0.2");
  EXPECT_EQ(Text(DeviceOrder(shape, 1)), "F0.0 B0.0 F0.1 B0.1 F0.2 B0.2");
}

TEST(OrderTest, GPipeRunsAllForward) {
  EXPECT_EQ(Text(DeviceOrder({Schedule::kGPipe, 2, 1, 2}, 1)),
            "F0.0 F0.1 B0.0 B0.1");
}

TEST(OrderTest, ChunksTakeTurns) {
  const PipelineShape shape = {Schedule::kInterleaved1F1B, 2, 2, 4};
  // Four forward passes first: one round of the other chunk, two per hop.
  EXPECT_EQ(Text(DeviceOrder(shape, 0)),
            "F0.0 F0.1 F1.0 F1.1 F0.2 B1.0 F0.3 B1.1 F1.2 B0.0 F1.3 B0.1 "
            "B1.2 B1.3 B0.2 B0.3");
  EXPECT_EQ(Text(DeviceOrder(shape, 1)),
            "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 F0.2 B0.0 F0.3 B0.1 F1.2 B1.2 "
            "F1.3 B1.3 B0.2 B0.3");
}

TEST(OrderTest, WeightsRunBehind) {
  const PipelineShape shape = {Schedule::kZeroBubble, 2, 1, 3};
  EXPECT_EQ(Text(DeviceOrder(shape, 0)),
            "F0.0 F0.1 B0.0 W0.0 F0.2 B0.1 W0.1 B0.2 W0.2");
  EXPECT_EQ(Text(DeviceOrder(shape, 1)),
            "F0.0 B0.0 F0.1 B0.1 W0.0 F0.2 B0.2 W0.1 W0.2");
}

TEST(OrderTest, RoundsOfMicrobatches) {
  EXPECT_EQ(MicrobatchesPerRound({Schedule::k1F1B, 4, 2, 8}), 4);
  EXPECT_EQ(MicrobatchesPerRound({Schedule::k1F1B, 4, 2, 6}), 6);
  EXPECT_EQ(MicrobatchesPerRound({Schedule::k1F1B, 4, 2, 9}), std::nullopt);
  EXPECT_EQ(MicrobatchesPerRound({Schedule::k1F1B, 4, 2, 10}), 5);
}

std::vector<PipelineShape> Shapes() {
  std::vector<PipelineShape> shapes;
  for (const Schedule schedule :
       {Schedule::k1F1B, Schedule::kGPipe, Schedule::kInterleaved1F1B,
        Schedule::kZeroBubble}) {
    const bool several = schedule == Schedule::kInterleaved1F1B ||
                         schedule == Schedule::kZeroBubble;
    for (int64_t devices = 2; devices <= 5; ++devices) {
      for (int64_t chunks = 1; chunks <= (several ? 3 : 1); ++chunks) {
        if (chunks == 1 && schedule == Schedule::kInterleaved1F1B) continue;
        for (int64_t n = devices; n <= 9 * devices; ++n) {
          const PipelineShape shape = {schedule, devices, chunks, n};
          if (chunks > 1 && !MicrobatchesPerRound(shape)) continue;
          shapes.push_back(shape);
        }
      }
    }
  }
  return shapes;
}

std::string ShapeText(const PipelineShape& shape) {
  return absl::StrCat(ScheduleName(shape.schedule), ", ", shape.devices,
                      " devices, ", shape.chunks, " chunks, ",
                      shape.microbatches, " micro-batches");
}

// Every device does everything once, and no order waits for another for ever:
// a forward pass for that of the stage before, a backward pass for its own
// forward and the backward of the stage after, weights for their backward.
TEST(OrderTest, OrdersRunToTheEnd) {
  for (const PipelineShape& shape : Shapes()) {
    SCOPED_TRACE(ShapeText(shape));
    const int64_t stages = shape.devices * shape.chunks;
    const auto at = [&](int64_t stage, int64_t microbatch) {
      return static_cast<size_t>(stage * shape.microbatches + microbatch);
    };
    const auto cells = static_cast<size_t>(stages * shape.microbatches);
    std::vector<bool> done[3] = {std::vector<bool>(cells),
                                 std::vector<bool>(cells),
                                 std::vector<bool>(cells)};
    std::vector<std::vector<Pass>> orders;
    std::vector<size_t> next(static_cast<size_t>(shape.devices));
    size_t left = 0;
    for (int64_t d = 0; d < shape.devices; ++d) {
      orders.push_back(DeviceOrder(shape, d));
      left += orders.back().size();
    }
    const size_t kinds = shape.schedule == Schedule::kZeroBubble ? 3 : 2;
    EXPECT_EQ(left, cells * kinds);
    bool moved = true;
    while (left > 0 && moved) {
      moved = false;
      for (int64_t d = 0; d < shape.devices; ++d) {
        auto& i = next[static_cast<size_t>(d)];
        const auto& order = orders[static_cast<size_t>(d)];
        if (i == order.size()) continue;
        const Pass& pass = order[i];
        const int64_t stage = pass.chunk * shape.devices + d;
        const auto kind = static_cast<size_t>(pass.kind);
        const size_t cell = at(stage, pass.microbatch);
        bool ready = false;
        switch (pass.kind) {
          case PassKind::kForward:
            ready = stage == 0 || done[0][at(stage - 1, pass.microbatch)];
            break;
          case PassKind::kBackward:
            ready = done[0][cell] && (stage + 1 == stages ||
                                      done[1][at(stage + 1, pass.microbatch)]);
            break;
          case PassKind::kWeights:
            ready = done[1][cell];
            break;
        }
        if (!ready) continue;
        ASSERT_FALSE(done[kind][cell]) << "twice";
        done[kind][cell] = true;
        ++i;
        --left;
        moved = true;
      }
    }
    ASSERT_EQ(left, 0u) << "devices wait for each other";
  }
}

// What all passes find, counted plainly over every micro-batch.
HeldStates Plain(const PipelineShape& shape, int64_t device) {
  const auto chunks = static_cast<size_t>(shape.chunks);
  const Held none = {std::vector<int64_t>(chunks),
                     std::vector<int64_t>(chunks)};
  Held now = none;
  HeldStates states = {std::vector<std::vector<Held>>(chunks),
                       std::vector<std::vector<Held>>(chunks)};
  for (const Pass& pass : DeviceOrder(shape, device)) {
    const auto c = static_cast<size_t>(pass.chunk);
    if (pass.kind == PassKind::kBackward) --now.forward[c];
    if (pass.kind == PassKind::kWeights) --now.weights[c];
    Held beside = now;
    for (size_t i = 0; i < c; ++i) --beside.forward[i];
    (pass.kind == PassKind::kForward ? states.forward : states.backward)[c]
        .push_back(beside);
    if (pass.kind == PassKind::kForward) ++now.forward[c];
    if (pass.kind == PassKind::kBackward &&
        shape.schedule == Schedule::kZeroBubble) {
      ++now.weights[c];
    }
  }
  EXPECT_EQ(now, none) << "something is never released";
  return states;
}

int64_t Most(const std::vector<Held>& states,
             const std::vector<int64_t>& sizes) {
  int64_t most = INT64_MIN;
  for (const Held& held : states) {
    int64_t sum = 0;
    for (size_t c = 0; c < held.forward.size(); ++c) {
      sum +=
          held.forward[c] * sizes[2 * c] + held.weights[c] * sizes[2 * c + 1];
    }
    most = std::max(most, sum);
  }
  return most;
}

TEST(OrderTest, StatesHoldAsMuchAsPlainCounting) {
  Random random(1);
  for (const PipelineShape& shape : Shapes()) {
    for (int64_t d = 0; d < shape.devices; ++d) {
      SCOPED_TRACE(absl::StrCat(ShapeText(shape), ", device ", d));
      const HeldStates states = FindHeldStates(shape, d), all = Plain(shape, d);
      for (int i = 0; i < 10; ++i) {
        std::vector<int64_t> sizes;
        for (int64_t c = 0; c < 2 * shape.chunks; ++c) {
          sizes.push_back(random.Below(1000));
        }
        for (size_t c = 0; c < states.forward.size(); ++c) {
          ASSERT_EQ(Most(states.forward[c], sizes),
                    Most(all.forward[c], sizes));
          ASSERT_EQ(Most(states.backward[c], sizes),
                    Most(all.backward[c], sizes));
        }
      }
    }
  }
}

TEST(OrderTest, OneForwardOneBackwardHoldsAStageForEachToTheLast) {
  std::vector<int64_t> held;
  for (int64_t d = 0; d < 4; ++d) {
    const HeldStates states = FindHeldStates({Schedule::k1F1B, 4, 1, 8}, d);
    EXPECT_EQ(states.forward, states.backward);
    ASSERT_EQ(states.forward[0].size(), 1u);
    held.push_back(states.forward[0][0].forward[0]);
  }
  EXPECT_THAT(held, ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(
      FindHeldStates({Schedule::kGPipe, 4, 1, 8}, 3).backward[0][0].forward[0],
      7);
}

// Zero bubble keeps as many micro-batches on every device as 1F1B does on the
// first one.
TEST(OrderTest, ZeroBubbleHoldsTheSameOnEveryDevice) {
  for (int64_t d = 0; d < 4; ++d) {
    const HeldStates states =
        FindHeldStates({Schedule::kZeroBubble, 4, 1, 12}, d);
    for (const Held& held : states.backward[0]) {
      EXPECT_EQ(held.forward[0] + held.weights[0], 3) << d;
    }
  }
}

TEST(OrderTest, StatesAreFewHoweverManyMicrobatches) {
  const PipelineShape shape = {Schedule::kInterleaved1F1B, 128, 4, 1 << 20};
  const HeldStates states = FindHeldStates(shape, 0);
  for (const auto& of : states.backward) EXPECT_LE(of.size(), 8u);
}

TEST(OrderTest, NamesRoundTrip) {
  for (const absl::string_view name : ScheduleNames()) {
    ASSERT_TRUE(ParseSchedule(name).has_value()) << name;
    EXPECT_EQ(ScheduleName(*ParseSchedule(name)), name);
  }
  EXPECT_EQ(ParseSchedule("zb"), std::nullopt);
}

}  // namespace
}  // namespace linnet::parallel
