// A trace with figures of a test's choosing.

#ifndef LINNET_TESTS_SUPPORT_FAKE_PREPARED_H_
#define LINNET_TESTS_SUPPORT_FAKE_PREPARED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/planner/planner.h"

namespace linnet::planner {

class FakePrepared final : public Prepared {
 public:
  explicit FakePrepared(int64_t byte_size = 1000, Report report = {})
      : byte_size_(byte_size), report_(std::move(report)) {}

  absl::StatusOr<Report> Analyze(const Config& config) const override {
    Report report = report_;
    report.config = config;
    report.config.model.files.clear();
    return report;
  }
  absl::StatusOr<Summary> Summarize(const Config& /*config*/) const override {
    Summary summary;
    summary.graph_peak_bytes = report_.graph_peak_bytes;
    summary.expected_peak_bytes = report_.expected_peak_bytes;
    summary.peak_step = report_.peak_step;
    return summary;
  }
  std::string StepText(int64_t step) const override {
    return absl::StrCat("step ", step);
  }
  int64_t ByteSize() const override { return byte_size_; }

 private:
  int64_t byte_size_;
  Report report_;
};

}  // namespace linnet::planner

#endif  // LINNET_TESTS_SUPPORT_FAKE_PREPARED_H_
