// A drawing of peaks against a size.

#ifndef LINNET_CLIENT_RENDER_PLOT_H_
#define LINNET_CLIENT_RENDER_PLOT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/render/sweep.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {

// Takes points as they come; keeps what is drawn alone.
class SweepPlot {
 public:
  static constexpr size_t kMaxLines = 16;
  static constexpr size_t kMaxDots = 4096;  // Of one line.

  void Add(const v1::SweepPlan& plan, const SweepPoint& point);

  // An SVG: expected peak over the first size that has several values, a line
  // for each combination of the rest, and one across for each device's memory.
  // InvalidArgument when there would be too many lines or dots, or none.
  absl::StatusOr<std::string> Svg(const v1::SweepPlan& plan) const;

 private:
  struct Line {
    std::string name;
    std::vector<std::pair<int64_t, int64_t>> dots;  // Size, bytes.
  };
  std::vector<Line> lines_;
  bool too_many_ = false;
};

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_PLOT_H_
