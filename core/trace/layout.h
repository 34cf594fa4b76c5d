// In which order the axes of a tensor lie in memory.

#ifndef LINNET_CORE_TRACE_LAYOUT_H_
#define LINNET_CORE_TRACE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "core/lang/program.h"

namespace linnet::trace {

// The tensor's own axis order (contiguous), a permutation of it, or none: then
// its elements are not dense in any order.
class Layout {
 public:
  static Layout Contiguous() { return Layout(); }
  static Layout None() {
    Layout layout;
    layout.none_ = true;
    return layout;
  }
  // `order[i]` is the axis at memory position i, the outermost first.
  static Layout Of(absl::Span<const int32_t> order) {
    Layout layout;
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] != static_cast<int32_t>(i)) {
        layout.order_.assign(order.begin(), order.end());
        break;
      }
    }
    return layout;
  }

  bool contiguous() const { return !none_ && order_.empty(); }

  // Of the view whose axis i is this tensor's axis `axes[i]`.
  Layout Permuted(absl::Span<const int32_t> axes) const {
    if (none_) return None();
    absl::InlinedVector<int32_t, 6> new_axis(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      new_axis[static_cast<size_t>(axes[i])] = static_cast<int32_t>(i);
    }
    absl::InlinedVector<int32_t, 6> order(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t old = order_.empty() ? i : static_cast<size_t>(order_[i]);
      order[i] = new_axis[old];
    }
    return Of(order);
  }

  // Of a slice: still contiguous when it narrows at most one axis, by unit
  // step, and no later axis is cut or dropped after it.
  Layout Sliced(absl::Span<const lang::SliceAxis> axes) const {
    bool narrowed = false;
    bool changed = false;
    for (const lang::SliceAxis& axis : axes) {
      if (axis.whole) continue;
      changed = true;
      if (narrowed || (!axis.squeezed && !axis.step.is_one())) return None();
      narrowed = !axis.squeezed;
    }
    if (!changed) return *this;
    return contiguous() ? Contiguous() : None();
  }

 private:
  bool none_ = false;
  absl::InlinedVector<int32_t, 6> order_;  // Empty: 0, 1, 2, …
};

}  // namespace linnet::trace

#endif  // LINNET_CORE_TRACE_LAYOUT_H_
