// What is in memory when: the intervals of an entry or a training step at some
// sizes.

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/planner/prepared.h"

namespace linnet::planner {
namespace {

using graph::Interval;

// Values of expressions, each computed once.
class Values {
 public:
  Values(absl::Span<const expr::SymbolId> roles,
         absl::Span<const int64_t> sizes) {
    for (size_t i = 0; i < roles.size(); ++i) sizes_[roles[i]] = sizes[i];
  }

  absl::StatusOr<int64_t> Of(expr::Expr e) {
    const auto [it, added] = values_.try_emplace(e);
    if (added) it->second = expr::Evaluate(e, sizes_);
    if (!it->second.ok()) {
      return absl::OutOfRangeError(absl::StrCat(
          "the memory at these sizes ", expr::ErrorText(it->second.error)));
    }
    return it->second.value;
  }

 private:
  absl::flat_hash_map<expr::SymbolId, int64_t> sizes_;
  absl::flat_hash_map<expr::Expr, expr::Value> values_;
};

absl::Status Overflow() {
  return absl::OutOfRangeError("the memory at these sizes overflows 64 bits");
}

// Bytes by category and position. Each interval is a difference at its first
// position and after its last one; sums of those are the bytes.
absl::Status AddCategories(absl::Span<const Interval> intervals, Values* values,
                           MemoryTimeline* timeline) {
  const auto positions = static_cast<size_t>(timeline->num_positions);
  std::array<std::vector<int64_t>, graph::kNumCategories> bytes;
  for (const Interval& interval : intervals) {
    LINNET_ASSIGN_OR_RETURN(const int64_t value, values->Of(interval.bytes));
    if (value == 0) continue;
    std::vector<int64_t>& of = bytes[static_cast<size_t>(interval.category)];
    of.resize(positions + 1);
    int64_t& begin = of[static_cast<size_t>(interval.begin)];
    int64_t& after = of[static_cast<size_t>(interval.end) + 1];
    if (__builtin_add_overflow(begin, value, &begin) ||
        __builtin_sub_overflow(after, value, &after)) {
      return Overflow();
    }
  }
  std::vector<int64_t> total(positions);
  for (size_t c = 0; c < bytes.size(); ++c) {
    std::vector<int64_t>& of = bytes[c];
    if (of.empty()) continue;
    of.pop_back();
    int64_t live = 0;
    for (size_t i = 0; i < positions; ++i) {
      if (__builtin_add_overflow(live, of[i], &live) ||
          __builtin_add_overflow(total[i], live, &total[i])) {
        return Overflow();
      }
      of[i] = live;
    }
    timeline->categories.push_back(
        {std::string(graph::CategoryName(static_cast<graph::Category>(c))),
         std::move(of)});
  }
  timeline->peak_position =
      std::max_element(total.begin(), total.end()) - total.begin();
  return absl::OkStatus();
}

absl::Status AddLive(const graph::Graph& graph,
                     absl::Span<const Interval> intervals, Values* values,
                     MemoryTimeline* timeline) {
  const int64_t at = timeline->peak_position;
  for (const Interval& interval : intervals) {
    if (at < interval.begin || at > interval.end) continue;
    MemoryTimeline::Tensor tensor;
    LINNET_ASSIGN_OR_RETURN(tensor.bytes, values->Of(interval.bytes));
    if (tensor.bytes == 0) continue;
    tensor.category = std::string(graph::CategoryName(interval.category));
    graph::StepId made_by = interval.step;
    if (interval.object.valid()) {
      const graph::Object& object = graph.object(interval.object);
      tensor.name = std::string(
          graph.text(object.path.valid() ? object.path : object.name));
      made_by = object.producer;
    } else if (interval.category == graph::Category::kActivations) {
      tensor.name = "kept for its backward";
    }
    if (made_by.valid()) {
      const graph::Step& step = graph.step(made_by);
      tensor.step = made_by.index;
      tensor.label = std::string(graph.text(step.label));
      tensor.scope = std::string(graph.text(step.scope));
    }
    timeline->live_at_peak.push_back(std::move(tensor));
  }
  std::stable_sort(
      timeline->live_at_peak.begin(), timeline->live_at_peak.end(),
      [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MemoryTimeline> Prepared::Timeline(const Config&, size_t) const {
  return absl::UnimplementedError("there is no timeline");
}

absl::StatusOr<MemoryTimeline> PreparedEntry::Timeline(const Config& config,
                                                       size_t policy) const {
  const size_t policies = training_ == nullptr ? 1 : training_->num_policies();
  if (policy >= policies) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no checkpoint policy ", policy, "; there are ",
                     policies, ", counted from 0"));
  }
  Sizes sizes;
  LINNET_RETURN_IF_ERROR(ReadSizes(config, &sizes));
  const graph::Timeline& when =
      training_ == nullptr ? timeline_ : training_->plan(policy).timeline;
  std::vector<Interval> intervals = when.intervals;
  intervals.insert(intervals.end(), workspaces_.begin(), workspaces_.end());
  Values values(graph().roles(), sizes.span());
  MemoryTimeline timeline;
  timeline.num_positions = when.moments;
  LINNET_RETURN_IF_ERROR(AddCategories(intervals, &values, &timeline));
  LINNET_RETURN_IF_ERROR(AddLive(graph(), intervals, &values, &timeline));
  timeline.peak_at = training_ == nullptr
                         ? StepText(timeline.peak_position)
                         : training_->PlaceText(policy, timeline.peak_position);
  return timeline;
}

}  // namespace linnet::planner
