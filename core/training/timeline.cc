#include "core/training/timeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/training/paths.h"

namespace linnet::training {
namespace {

using graph::Category;
using graph::ObjectId;
using graph::StepId;

class Maker {
 public:
  Maker(const StepModel& model, const Moments& moments, expr::Pool& pool)
      : model_(model),
        graph_(model.graph()),
        moments_(moments),
        pool_(pool),
        lives_(static_cast<size_t>(graph_.num_objects())) {}

  graph::Timeline Make() {
    timeline_.moments = moments_.count();
    for (int32_t s = 0; s < graph_.num_steps(); ++s) FollowStep(s);
    for (ObjectId id : graph_.results()) FollowResult(id);
    for (const graph::StateWrite& write : graph_.state_writes()) {
      FollowResult(write.value);
    }
    for (int32_t i = 0; i < graph_.num_objects(); ++i) AddObject(ObjectId{i});
    for (int32_t s = 0; s < graph_.num_steps(); ++s) AddStep(s);
    if (model_.options().splits_parameters()) AddGathered();
    Add(model_.totals().bytes.update, moments_.optimizer(),
        moments_.optimizer(), Category::kWorkspace);
    return std::move(timeline_);
  }

 private:
  // Of an object that owns its storage, or of a tensor's gradient.
  struct Life {
    int64_t end = -1;        // Of the first life.
    int64_t again_end = -1;  // Of that after a recomputation.
    int64_t gradient_begin = -1;
    int64_t gradient_end = -1;
    int64_t last_reader = -1;  // The last backward of those that carry it.
  };

  Life& LifeOf(ObjectId id) {
    return lives_[static_cast<size_t>(graph_.object(id).owner.index)];
  }
  // The region whose steps make the storage of `id`, or -1.
  int32_t HomeOf(ObjectId id) const {
    const StepId producer = graph_.object(graph_.object(id).owner).producer;
    return producer.valid() ? moments_.region_of(producer.index) : -1;
  }

  static void Extend(int64_t moment, int64_t* end) {
    *end = std::max(*end, moment);
  }

  void FollowStep(int32_t s) {
    const graph::Step& step = graph_.step(StepId{s});
    const int32_t region = moments_.region_of(s);
    const auto use = [&](ObjectId id) {
      Life& life = LifeOf(id);
      Extend(moments_.forward(s), &life.end);
      if (region < 0) return;
      if (region == HomeOf(id)) {
        Extend(moments_.recompute(s), &life.again_end);
      } else {
        Extend(moments_.region_end(region), &life.end);
      }
    };
    for (ObjectId id : graph_.inputs(step)) use(id);
    for (ObjectId id : graph_.outputs(step)) use(id);
    if (!model_.flow().differentiable(s)) return;
    for (ObjectId id : model_.saved(s).objects) {
      Life& life = LifeOf(id);
      const bool home = region >= 0 && region == HomeOf(id);
      Extend(moments_.backward(s), home ? &life.again_end : &life.end);
    }
    for (ObjectId id : graph_.inputs(step)) {
      if (!model_.flow().carries(id)) continue;
      // Steps come in order, so the last reader is the one that stays.
      Life& life = LifeOf(id);
      life.gradient_begin = moments_.backward(s);
      Extend(moments_.backward(s), &life.last_reader);
    }
    for (ObjectId id : graph_.outputs(step)) {
      if (!model_.flow().carries(id)) continue;
      // The first step that makes it is the last one to run backward.
      Extend(moments_.backward(s), &LifeOf(id).gradient_end);
    }
  }

  void FollowResult(ObjectId id) {
    Life& life = LifeOf(id);
    life.end = moments_.optimizer();
    if (model_.flow().carries(id)) {
      life.gradient_begin = moments_.first_backward();
    }
  }

  void Add(expr::Expr bytes, int64_t begin, int64_t end, Category category,
           ObjectId object = {}, StepId step = {}) {
    if (!bytes.valid() || bytes.is_zero()) return;
    timeline_.intervals.push_back({bytes, begin, end, category, object, step});
  }

  void AddObject(ObjectId id) {
    const graph::Object& object = graph_.object(id);
    if (object.owner != id) return;
    const Life& life = lives_[static_cast<size_t>(id.index)];
    if (model_.is_parameter(id)) {
      if (model_.flow().trained(id) && life.gradient_begin >= 0) {
        const ParameterBytes& bytes = model_.parameter(id);
        // Where a gradient is summed whole, its part is made from the sum.
        Add(bytes.gradient,
            bytes.summed.is_zero() ? life.gradient_begin : life.last_reader,
            moments_.optimizer(), Category::kGradients, id);
        Add(bytes.summed, life.gradient_begin, life.last_reader,
            Category::kBackwardTemporaries, id);
      }
      return;
    }
    if (life.gradient_begin >= 0 && life.gradient_end >= 0) {
      Add(object.bytes, life.gradient_begin, life.gradient_end,
          Category::kBackwardTemporaries, id);
    }
    if (object.persistent) return;
    if (!object.producer.valid()) {
      Add(object.bytes, 0, moments_.optimizer(), object.category, id);
      return;
    }
    const int32_t s = object.producer.index;
    Add(object.bytes, moments_.forward(s), life.end, object.category, id);
    if (moments_.region_of(s) >= 0) {
      Add(object.bytes, moments_.recompute(s), life.again_end, object.category,
          id);
    }
  }

  void AddStep(int32_t s) {
    const bool again = moments_.region_of(s) >= 0;
    const bool differentiable = model_.flow().differentiable(s);
    const int64_t backward = moments_.backward(s);
    if (differentiable) {
      Add(model_.saved(s).extra,
          again ? moments_.recompute(s) : moments_.forward(s), backward,
          Category::kActivations, {}, StepId{s});
    }
    const StepWorkspace& workspace = model_.workspace(s);
    const auto at = [&](expr::Expr bytes, int64_t moment) {
      Add(bytes, moment, moment, Category::kWorkspace, {}, StepId{s});
    };
    // The first pass over a region wants no gradients.
    const bool wanted = differentiable && !again;
    at(wanted ? workspace.forward : workspace.plain, moments_.forward(s));
    if (again) {
      at(differentiable ? workspace.forward : workspace.plain,
         moments_.recompute(s));
    }
    if (differentiable) at(workspace.backward, backward);
  }

  // When the steps of one array element run.
  struct Runs {
    expr::Expr bytes;
    int32_t first = -1, last = -1;
    bool backward = false;
  };

  void AddGathered() {
    // Ordered, so that intervals come in one order.
    std::map<std::string, Runs, std::less<>> elements;
    expr::Expr outside = pool_.Zero();
    for (int32_t i = 0; i < graph_.num_objects(); ++i) {
      const ObjectId id = {i};
      if (!model_.is_parameter(id)) continue;
      const expr::Expr whole = model_.parameter(id).gathered;
      const absl::string_view element =
          ArrayElement(graph_.text(graph_.object(id).path));
      if (element.empty()) {
        outside = pool_.Add(outside, whole);
        continue;
      }
      Runs& runs = elements[std::string(element)];
      runs.bytes = runs.bytes.valid() ? pool_.Add(runs.bytes, whole) : whole;
    }
    Add(outside, 0, moments_.optimizer(), Category::kCommunication);
    for (int32_t s = 0; s < graph_.num_steps(); ++s)
      FollowElements(s, elements);
    for (const auto& [element, runs] : elements) {
      if (runs.first < 0) continue;
      Add(runs.bytes, moments_.forward(runs.first), moments_.forward(runs.last),
          Category::kCommunication);
      if (!runs.backward) continue;
      const int32_t region = moments_.region_of(runs.last);
      int64_t begin = moments_.backward(runs.last);
      if (region >= 0) {
        const int32_t first =
            moments_.regions()[static_cast<size_t>(region)].first;
        begin = moments_.recompute(std::max(first, runs.first));
      }
      Add(runs.bytes, begin, moments_.backward(runs.first),
          Category::kCommunication);
    }
  }

  // Marks step `s` as a run of the element it lies in and of those whose
  // parameters it reads.
  void FollowElements(int32_t s,
                      std::map<std::string, Runs, std::less<>>& elements) {
    const graph::Step& step = graph_.step(StepId{s});
    const auto mark = [&](absl::string_view path) {
      const auto it = elements.find(ArrayElement(path));
      if (it == elements.end()) return;
      Runs& runs = it->second;
      if (runs.first < 0) runs.first = s;
      runs.last = s;
      runs.backward = runs.backward || model_.flow().differentiable(s);
    };
    mark(graph_.text(step.scope));
    for (ObjectId id : graph_.inputs(step)) {
      const ObjectId owner = graph_.object(id).owner;
      if (model_.is_parameter(owner)) {
        mark(graph_.text(graph_.object(owner).path));
      }
    }
  }

  const StepModel& model_;
  const graph::Graph& graph_;
  const Moments& moments_;
  expr::Pool& pool_;
  std::vector<Life> lives_;  // By object; of owners.
  graph::Timeline timeline_;
};

}  // namespace

graph::Timeline MakeTimeline(const StepModel& model, const Moments& moments,
                             expr::Pool& pool) {
  return Maker(model, moments, pool).Make();
}

graph::Timeline WithoutModeled(const graph::Timeline& timeline) {
  graph::Timeline own;
  own.moments = timeline.moments;
  for (const graph::Interval& interval : timeline.intervals) {
    if (interval.category != Category::kWorkspace &&
        interval.category != Category::kCommunication) {
      own.intervals.push_back(interval);
    }
  }
  return own;
}

}  // namespace linnet::training
