// The points of a sweep as text, as they come.

#ifndef LINNET_CLIENT_RENDER_SWEEP_H_
#define LINNET_CLIENT_RENDER_SWEEP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {

enum class SweepForm : uint8_t {
  kTable,      // Columns for a person.
  kCsv,        // A header, then one line per point; empty where unknown.
  kJsonLines,  // One object per point.
};

// One point, put together from the plan.
struct SweepPoint {
  const v1::SweepVariant* variant = nullptr;
  std::vector<int64_t> sizes;  // In the order of the plan's.
  int64_t graph_bytes = 0, expected_bytes = 0;
  v1::PointState state = v1::POINT_STATE_OK;
  std::vector<double> seconds;  // By device; 0: not known. Empty: not asked.

  bool has_peaks() const {
    return state == v1::POINT_STATE_OK || state == v1::POINT_STATE_BROKEN;
  }
};

// Turns the parts of a sweep into points.
class SweepReader {
 public:
  // Calls `point` for each point of `part`, and `refusal` for a variant that
  // cannot be. REQUIRES: the plan comes first.
  void Take(const v1::SweepResponse& part,
            const std::function<void(const SweepPoint&)>& point,
            const std::function<void(const v1::SweepVariant&,
                                     const std::string& reason)>& refusal);
  const v1::SweepPlan& plan() const { return plan_; }
  int64_t points() const { return points_; }  // That came.
  // Points with peaks.
  int64_t good() const { return good_; }

 private:
  v1::SweepPlan plan_;
  int64_t points_ = 0, good_ = 0;
};

absl::string_view SizeRoleText(v1::SizeRole role);

// Writes points in one form. The plan must be known at the first call.
class SweepWriter {
 public:
  explicit SweepWriter(SweepForm form) : form_(form) {}

  std::string Header(const v1::SweepPlan& plan);
  void Add(const v1::SweepPlan& plan, const SweepPoint& point,
           std::string* out) const;

 private:
  void AddTable(const v1::SweepPlan& plan, const SweepPoint& point,
                std::string* out) const;
  void AddCsv(const v1::SweepPlan& plan, const SweepPoint& point,
              std::string* out) const;
  void AddJson(const v1::SweepPlan& plan, const SweepPoint& point,
               std::string* out) const;

  const SweepForm form_;
  std::vector<size_t> widths_;  // Of the table's columns.
  bool dtypes_ = false, layouts_ = false, policies_ = false;  // That vary.
};

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_SWEEP_H_
