#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/graph/buffer_plan.h"

namespace linnet::graph {
namespace {

absl::Status Fault(const Buffer& buffer, absl::string_view what) {
  return absl::InternalError(
      absl::StrCat("buffer of object ", buffer.object.index, " ", what));
}

absl::Status WrongTotal(absl::string_view name, int64_t is, int64_t should) {
  return absl::InternalError(
      absl::StrCat("the ", name, " is ", is, ", not ", should));
}

// The end of a buffer's space, up to the next aligned offset.
int64_t EndOf(const Buffer& buffer, int64_t alignment) {
  const int64_t blocks =
      buffer.bytes / alignment + (buffer.bytes % alignment == 0 ? 0 : 1);
  return buffer.offset + blocks * alignment;
}

bool AliveAt(const Buffer& buffer, int64_t moment) {
  return buffer.begin <= moment && moment <= buffer.end;
}

}  // namespace

absl::Status VerifyBufferPlan(const BufferPlan& plan) {
  int64_t naive = 0;
  int64_t planned = 0;
  int64_t lower_bound = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& a = plan.buffers[i];
    const int64_t end = EndOf(a, plan.alignment);
    if (a.offset < 0) return Fault(a, "lies before the arena");
    if (a.offset % plan.alignment != 0) return Fault(a, "is not aligned");
    naive += a.bytes;
    planned = std::max(planned, end);
    // The live sum is largest at some begin.
    int64_t live = 0;
    for (size_t j = 0; j < plan.buffers.size(); ++j) {
      const Buffer& b = plan.buffers[j];
      if (AliveAt(b, a.begin)) live += b.bytes;
      const bool together = AliveAt(a, b.begin) || AliveAt(b, a.begin);
      if (j == i || !together || a.bytes == 0 || b.bytes == 0) continue;
      if (a.offset < EndOf(b, plan.alignment) && b.offset < end) {
        return Fault(a, absl::StrCat("shares space with that of object ",
                                     b.object.index));
      }
    }
    lower_bound = std::max(lower_bound, live);
  }
  if (naive != plan.naive_bytes) {
    return WrongTotal("naive sum", plan.naive_bytes, naive);
  }
  if (planned != plan.planned_bytes) {
    return WrongTotal("planned arena", plan.planned_bytes, planned);
  }
  if (lower_bound != plan.lower_bound_bytes) {
    return WrongTotal("lower bound", plan.lower_bound_bytes, lower_bound);
  }
  return absl::OkStatus();
}

}  // namespace linnet::graph
