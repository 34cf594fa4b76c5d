#include "core/parallel/schedule.h"

#include <algorithm>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

namespace linnet::parallel {
namespace {

using expr::Expr;
using graph::Category;
using graph::Interval;
using graph::ObjectId;
using training::Part;

Expr BytesOf(absl::Span<const ObjectId> values, const graph::Graph& graph,
             bool floats_only, expr::Pool& pool) {
  Expr sum = pool.Zero();
  for (ObjectId id : values) {
    const graph::Object& object = graph.object(id);
    if (floats_only && !IsFloat(object.dtype)) continue;
    sum = pool.Add(sum, object.full_bytes);
  }
  return sum;
}

Expr Times(int64_t factor, Expr e, expr::Pool& pool) {
  return pool.Mul(pool.Constant(factor), e);
}

void AddInterval(Expr bytes, int64_t begin, int64_t end, Category category,
                 graph::Timeline* timeline) {
  if (bytes.is_zero() || begin > end) return;
  timeline->intervals.push_back({bytes, begin, end, category, {}, {}});
}

// Moments, both ends included.
struct Span {
  int64_t begin = 0, end = -1;
  bool contains(int64_t moment) const {
    return begin <= moment && moment <= end;
  }
};

class TrainingHolder {
 public:
  TrainingHolder(const StagePlace& place, const training::StepModel& model,
                 const training::Moments& moments, expr::Pool& pool,
                 graph::Timeline* timeline)
      : place_(place),
        model_(model),
        graph_(model.graph()),
        moments_(moments),
        pool_(pool),
        timeline_(*timeline),
        before_optimizer_(moments.optimizer() - 1) {
    FindPasses();
  }

  void Run() {
    const Schedule schedule = place_.shape.schedule;
    if (schedule == Schedule::kZeroBubble) KeepForWeights();
    ReturnGradientsLater();
    const std::vector<Expr> kept = ForwardBytes();
    const std::vector<Expr> kept_for_weights =
        schedule == Schedule::kZeroBubble ? BackwardBytes() : kept;
    if (schedule != Schedule::kGPipe) {
      for (Interval& interval : timeline_.intervals) {
        if (interval.category == Category::kGradients) interval.begin = 0;
      }
    }
    if (model_.options().splits_parameters()) HoldGathered();
    Hold(kept, kept_for_weights);
  }

 private:
  struct Passes {
    Span forward, backward;
  };

  int64_t n() const { return place_.shape.microbatches; }

  // Chunks run forward one after the other, and backward in opposite order.
  void FindPasses() {
    passes_.resize(place_.chunks.size());
    int64_t begin = moments_.first_backward();
    for (size_t c = passes_.size(); c-- > 0;) {
      const Chunk& chunk = place_.chunks[c];
      passes_[c].forward = {chunk.first_step,
                            chunk.first_step + chunk.num_steps - 1};
      int64_t end = begin - 1;
      if (chunk.num_steps > 0) end = moments_.backward(chunk.first_step);
      if (c == 0) end = before_optimizer_;
      passes_[c].backward = {begin, end};
      begin = end + 1;
    }
  }

  // The chunk that an activation, an input or bytes beside them are of, or -1.
  int64_t ChunkOf(const Interval& interval) const {
    const bool input = interval.object.valid() &&
                       !graph_.object(interval.object).producer.valid();
    for (size_t c = 0; c < passes_.size(); ++c) {
      const Chunk& chunk = place_.chunks[c];
      if (input ? absl::c_linear_search(chunk.inputs, interval.object) ||
                      absl::c_linear_search(chunk.received, interval.object)
                : passes_[c].forward.contains(interval.begin) ||
                      passes_[c].backward.contains(interval.begin)) {
        return static_cast<int64_t>(c);
      }
    }
    return -1;
  }

  static bool IsHeld(const Interval& interval) {
    return interval.category == Category::kActivations ||
           interval.category == Category::kInputs;
  }

  // What is kept for the backward pass of a chunk stays to its end, and so do
  // the gradients of what trained weights made.
  void KeepForWeights() {
    weights_make_.assign(static_cast<size_t>(graph_.num_objects()), false);
    for (int32_t s = 0; s < graph_.num_steps(); ++s) {
      const graph::StepId step = {s};
      if (!model_.flow().differentiable(s) ||
          !absl::c_any_of(graph_.inputs(step), [&](ObjectId id) {
            const ObjectId owner = graph_.object(id).owner;
            return model_.is_parameter(owner) && model_.flow().trained(owner);
          })) {
        continue;
      }
      for (ObjectId id : graph_.outputs(step)) {
        weights_make_[static_cast<size_t>(graph_.object(id).owner.index)] =
            true;
      }
    }
    for (Interval& interval : timeline_.intervals) {
      const bool gradient = IsWeightsGradient(interval);
      if (!gradient && interval.category != Category::kActivations) continue;
      if (interval.end < moments_.first_backward() ||
          interval.end > before_optimizer_) {
        continue;
      }
      if (!gradient && moments_.At(interval.end).part != Part::kBackward) {
        continue;
      }
      for (const Passes& passes : passes_) {
        if (passes.backward.contains(interval.end)) {
          interval.end = passes.backward.end;
          break;
        }
      }
    }
  }

  bool IsWeightsGradient(const Interval& interval) const {
    return interval.category == Category::kBackwardTemporaries &&
           interval.object.valid() &&
           weights_make_[static_cast<size_t>(interval.object.index)];
  }

  // The gradient of what a chunk sends comes when its backward pass begins.
  void ReturnGradientsLater() {
    for (size_t c = 0; c < passes_.size(); ++c) {
      for (Interval& interval : timeline_.intervals) {
        if (interval.category == Category::kBackwardTemporaries &&
            interval.begin < passes_[c].backward.begin &&
            IsSent(place_.chunks[c], interval.object)) {
          interval.begin = passes_[c].backward.begin;
        }
      }
    }
  }

  bool IsSent(const Chunk& chunk, ObjectId object) const {
    return absl::c_any_of(chunk.sent, [&](ObjectId id) {
      return graph_.object(id).owner == object;
    });
  }

  // By chunk: what a micro-batch leaves there after its forward pass.
  std::vector<Expr> ForwardBytes() const {
    std::vector<Expr> bytes(passes_.size(), pool_.Zero());
    for (const Interval& interval : timeline_.intervals) {
      if (!IsHeld(interval) || interval.begin >= moments_.first_backward()) {
        continue;
      }
      const int64_t c = ChunkOf(interval);
      if (c < 0) continue;
      const auto i = static_cast<size_t>(c);
      if (interval.end < passes_[i].forward.end) continue;
      bytes[i] = pool_.Add(bytes[i], interval.bytes);
    }
    return bytes;
  }

  // By chunk: what it leaves after its backward pass, for its weights'.
  std::vector<Expr> BackwardBytes() const {
    std::vector<Expr> bytes(passes_.size(), pool_.Zero());
    for (const Interval& interval : timeline_.intervals) {
      if (!IsHeld(interval) && !IsWeightsGradient(interval)) continue;
      const int64_t c = ChunkOf(interval);
      if (c < 0) continue;
      const auto i = static_cast<size_t>(c);
      const int64_t end = passes_[i].backward.end;
      if (interval.begin > end || interval.end < end) continue;
      bytes[i] = pool_.Add(bytes[i], interval.bytes);
    }
    return bytes;
  }

  void HoldGathered() {
    std::erase_if(timeline_.intervals, [](const Interval& interval) {
      return interval.category == Category::kCommunication;
    });
    const auto& totals = model_.totals();
    AddInterval(totals.bytes.gathered, 0, before_optimizer_,
                Category::kCommunication, &timeline_);
    AddInterval(totals.largest_gradient, moments_.first_backward(),
                before_optimizer_, Category::kCommunication, &timeline_);
  }

  void Hold(const std::vector<Expr>& kept,
            const std::vector<Expr>& kept_for_weights) {
    const HeldStates states = FindHeldStates(place_.shape, place_.device);
    std::vector<Expr> received;
    Expr buffers = pool_.Zero();
    for (const Chunk& chunk : place_.chunks) {
      received.push_back(BytesOf(chunk.received, graph_, false, pool_));
      // Gradients of what was sent, to be received, and of what was received.
      if (!chunk.last) {
        buffers = pool_.Add(
            buffers,
            Times(n(), BytesOf(chunk.sent, graph_, true, pool_), pool_));
      }
      buffers =
          pool_.Add(buffers, BytesOf(chunk.received, graph_, true, pool_));
    }
    AddInterval(buffers, 0, before_optimizer_, Category::kCommunication,
                &timeline_);
    for (size_t c = 0; c < passes_.size(); ++c) {
      HoldIn(passes_[c].forward, states.forward[c], kept, kept_for_weights,
             received);
      HoldIn(passes_[c].backward, states.backward[c], kept, kept_for_weights,
             received);
    }
  }

  // Adds what the other micro-batches hold while the passes of `span` run. Each
  // has a buffer to receive into, whether it is held or not.
  void HoldIn(Span span, absl::Span<const Held> states,
              const std::vector<Expr>& kept,
              const std::vector<Expr>& kept_for_weights,
              const std::vector<Expr>& received) {
    const bool one = states.size() == 1;
    Expr most, waiting = pool_.Zero();
    for (const Held& held : states) {
      Expr sum = pool_.Zero();
      for (size_t c = 0; c < kept.size(); ++c) {
        const int64_t count = held.forward[c] + held.weights[c];
        sum = pool_.Add(sum, Times(held.forward[c], kept[c], pool_));
        sum =
            pool_.Add(sum, Times(held.weights[c], kept_for_weights[c], pool_));
        if (one) {
          waiting =
              pool_.Add(waiting, Times(n() - 1 - count, received[c], pool_));
        } else {
          sum = pool_.Sub(sum, Times(count, received[c], pool_));
        }
      }
      most = most.valid() ? pool_.Max(most, sum) : sum;
    }
    if (!one) {
      for (const Expr each : received) {
        waiting = pool_.Add(waiting, Times(n() - 1, each, pool_));
      }
    }
    AddInterval(most, span.begin, span.end, Category::kActivations, &timeline_);
    AddInterval(waiting, span.begin, span.end, Category::kCommunication,
                &timeline_);
  }

  const StagePlace& place_;
  const training::StepModel& model_;
  const graph::Graph& graph_;
  const training::Moments& moments_;
  expr::Pool& pool_;
  graph::Timeline& timeline_;
  const int64_t before_optimizer_;
  std::vector<Passes> passes_;      // By chunk.
  std::vector<bool> weights_make_;  // By object, of owners.
};

}  // namespace

std::vector<ObjectId> StagePlace::received() const {
  std::vector<ObjectId> all;
  for (const Chunk& chunk : chunks) {
    all.insert(all.end(), chunk.received.begin(), chunk.received.end());
  }
  return all;
}

void HoldMicrobatches(const StagePlace& place, const graph::Graph& graph,
                      expr::Pool& pool, graph::Timeline* timeline) {
  const int64_t n = place.shape.microbatches;
  Expr passing = pool.Zero();
  for (const Chunk& chunk : place.chunks) {
    passing = pool.Add(passing, BytesOf(chunk.received, graph, false, pool));
    passing = pool.Add(passing, BytesOf(chunk.sent, graph, false, pool));
  }
  AddInterval(Times(n - 1, passing, pool), 0, timeline->moments - 1,
              Category::kActivations, timeline);
  if (!place.ends() || place.shape.devices == 1) return;
  const Chunk& last = place.chunks.back();
  const Expr received = BytesOf(last.received, graph, false, pool);
  const Expr sent = BytesOf(last.sent, graph, false, pool);
  AddInterval(pool.Add(Times(n, received, pool), Times(2 * n, sent, pool)),
              timeline->moments, timeline->moments, Category::kActivations,
              timeline);
  ++timeline->moments;
}

void HoldTraining(const StagePlace& place, const training::StepModel& model,
                  const training::Moments& moments, expr::Pool& pool,
                  graph::Timeline* timeline) {
  TrainingHolder(place, model, moments, pool, timeline).Run();
}

}  // namespace linnet::parallel
