#include "core/graph/buffer_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/expr/evaluator.h"
#include "core/expr/expr.h"
#include "core/graph/timeline.h"

namespace linnet::graph {
namespace {

// The work one plan may do: buffers looked at while others are placed.
constexpr size_t kMaxWork = size_t{1} << 28;

// Rounded up to a multiple of `alignment`; false when it does not fit.
bool RoundUp(int64_t bytes, int64_t alignment, int64_t* rounded) {
  if (__builtin_add_overflow(bytes, alignment - 1, rounded)) return false;
  *rounded &= ~(alignment - 1);
  return true;
}

// The buffers placed so far, to be asked which ones are alive at some time in a
// lifetime. That is what is alive at its begin (a segment tree over the
// distinct begins: each buffer lies in O(log n) nodes, and a moment's buffers
// in the nodes from its leaf up) and what begins later within it.
class PlacedBuffers {
 public:
  explicit PlacedBuffers(const std::vector<Buffer>& buffers)
      : buffers_(buffers), placed_(buffers.size(), false) {
    by_begin_.resize(buffers.size());
    for (size_t i = 0; i < buffers.size(); ++i) by_begin_[i] = i;
    std::stable_sort(by_begin_.begin(), by_begin_.end(),
                     [&](size_t a, size_t b) {
                       return buffers[a].begin < buffers[b].begin;
                     });
    for (size_t i = 0; i < by_begin_.size(); ++i) {
      const int64_t begin = buffers[by_begin_[i]].begin;
      if (begins_.empty() || begins_.back() != begin) {
        begins_.push_back(begin);
        first_.push_back(i);
      }
    }
    first_.push_back(by_begin_.size());
    heads_.assign(2 * begins_.size(), kNone);
  }

  void Place(size_t index) {
    placed_[index] = true;
    size_t left = IndexFrom(buffers_[index].begin) + begins_.size();
    size_t right = IndexFrom(buffers_[index].end + 1) + begins_.size();
    for (; left < right; left /= 2, right /= 2) {
      if (left % 2 == 1) Push(left++, index);
      if (right % 2 == 1) Push(--right, index);
    }
  }

  // Calls visit(index) once for each placed buffer alive within the life of
  // buffer `index`.
  template <typename Visit>
  void ForEachAliveWith(size_t index, Visit visit) {
    const size_t at_begin = IndexFrom(buffers_[index].begin);
    for (size_t node = at_begin + begins_.size(); node > 0; node /= 2) {
      for (size_t e = heads_[node]; e != kNone; e = entries_[e].next) {
        ++work_;
        visit(entries_[e].index);
      }
    }
    const size_t after = IndexFrom(buffers_[index].end + 1);
    for (size_t i = first_[at_begin + 1]; i < first_[after]; ++i) {
      ++work_;
      if (placed_[by_begin_[i]]) visit(by_begin_[i]);
    }
  }

  size_t work() const { return work_; }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  struct Entry {
    size_t index;
    size_t next;
  };

  // The index of the first distinct begin at or after `moment`.
  size_t IndexFrom(int64_t moment) const {
    return static_cast<size_t>(
        std::lower_bound(begins_.begin(), begins_.end(), moment) -
        begins_.begin());
  }

  void Push(size_t node, size_t index) {
    entries_.push_back({index, heads_[node]});
    heads_[node] = entries_.size() - 1;
  }

  const std::vector<Buffer>& buffers_;
  std::vector<bool> placed_;
  std::vector<size_t> by_begin_;  // All buffers.
  std::vector<int64_t> begins_;   // Distinct, ascending.
  std::vector<size_t> first_;     // Per begin, into by_begin_; one more.
  std::vector<size_t> heads_;     // Per node, into entries_.
  std::vector<Entry> entries_;
  size_t work_ = 0;
};

using Range = std::pair<int64_t, int64_t>;  // Offsets [first, second).

// The lowest offset with `bytes` free. Sorts `taken`.
int64_t LowestFree(std::vector<Range>& taken, int64_t bytes) {
  std::sort(taken.begin(), taken.end());
  int64_t offset = 0;
  for (const Range& range : taken) {
    if (range.first >= offset + bytes) break;
    offset = std::max(offset, range.second);
  }
  return offset;
}

absl::Status CheckBuffer(const Buffer& buffer) {
  if (buffer.bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "buffer of object ", buffer.object.index, " has a negative size"));
  }
  if (buffer.end < buffer.begin || buffer.end == INT64_MAX) {
    return absl::InvalidArgumentError(absl::StrCat(
        "buffer of object ", buffer.object.index, " ends at moment ",
        buffer.end, ", but begins at ", buffer.begin));
  }
  return absl::OkStatus();
}

absl::Status TooLarge() {
  return absl::OutOfRangeError("the buffers' sum overflows 64 bits");
}

// The largest sum alive at once. The sum of all is known to fit.
int64_t LargestLiveSum(const std::vector<Buffer>& buffers) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // Moment, bytes.
  for (const Buffer& buffer : buffers) {
    changes.push_back({buffer.begin, buffer.bytes});
    changes.push_back({buffer.end + 1, -buffer.bytes});
  }
  // At one moment what ends before it goes first: it is negative.
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  int64_t largest = 0;
  for (const auto& [moment, bytes] : changes) {
    live += bytes;
    largest = std::max(largest, live);
  }
  return largest;
}

}  // namespace

absl::StatusOr<BufferPlan> PlanBuffers(std::vector<Buffer> buffers,
                                       int64_t alignment) {
  LINNET_CHECK(alignment > 0 && (alignment & (alignment - 1)) == 0)
      << "backends state a power of two";
  BufferPlan plan;
  plan.alignment = alignment;
  plan.buffers = std::move(buffers);
  std::vector<int64_t> rounded(plan.buffers.size());
  int64_t rounded_sum = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    LINNET_RETURN_IF_ERROR(CheckBuffer(plan.buffers[i]));
    if (!RoundUp(plan.buffers[i].bytes, alignment, &rounded[i]) ||
        __builtin_add_overflow(rounded_sum, rounded[i], &rounded_sum)) {
      return TooLarge();
    }
    plan.naive_bytes += plan.buffers[i].bytes;
  }
  plan.lower_bound_bytes = LargestLiveSum(plan.buffers);

  std::vector<size_t> order(plan.buffers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Buffer& x = plan.buffers[a];
    const Buffer& y = plan.buffers[b];
    if (rounded[a] != rounded[b]) return rounded[a] > rounded[b];
    if (x.begin != y.begin) return x.begin < y.begin;
    return x.object < y.object;
  });
  PlacedBuffers placed(plan.buffers);
  std::vector<Range> taken;
  for (const size_t index : order) {
    Buffer& buffer = plan.buffers[index];
    buffer.offset = 0;
    if (rounded[index] == 0) continue;
    taken.clear();
    placed.ForEachAliveWith(index, [&](size_t other) {
      const int64_t offset = plan.buffers[other].offset;
      taken.push_back({offset, offset + rounded[other]});
    });
    if (placed.work() > kMaxWork) {
      return absl::ResourceExhaustedError(
          absl::StrCat("too many of ", order.size(),
                       " buffers are alive together to plan them"));
    }
    buffer.offset = LowestFree(taken, rounded[index]);
    placed.Place(index);
    plan.planned_bytes =
        std::max(plan.planned_bytes, buffer.offset + rounded[index]);
  }
  return plan;
}

absl::StatusOr<BufferPlan> PlanBuffers(const Timeline& timeline,
                                       absl::Span<const expr::SymbolId> roles,
                                       absl::Span<const int64_t> sizes,
                                       int64_t alignment) {
  std::vector<expr::Expr> distinct;
  absl::flat_hash_map<expr::Expr, size_t> index;
  for (const Interval& interval : timeline.intervals) {
    if (index.try_emplace(interval.bytes, distinct.size()).second) {
      distinct.push_back(interval.bytes);
    }
  }
  LINNET_ASSIGN_OR_RETURN(const expr::Evaluator evaluator,
                          expr::Evaluator::Compile(roles, distinct));
  std::vector<int64_t> values(distinct.size());
  LINNET_RETURN_IF_ERROR(expr::ToStatus(
      evaluator.Run(sizes, absl::MakeSpan(values)), "the size of a tensor"));
  std::vector<Buffer> buffers;
  buffers.reserve(timeline.intervals.size());
  for (const Interval& interval : timeline.intervals) {
    buffers.push_back({.object = interval.object,
                       .bytes = values[index[interval.bytes]],
                       .begin = interval.begin,
                       .end = interval.end});
  }
  return PlanBuffers(std::move(buffers), alignment);
}

}  // namespace linnet::graph
