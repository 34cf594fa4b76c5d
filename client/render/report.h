// Answers as text for a person.

#ifndef LINNET_CLIENT_RENDER_REPORT_H_
#define LINNET_CLIENT_RENDER_REPORT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "linnet/v1/models.pb.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {

// "exact", "backend-modeled", "estimated"; "unknown" for everything else, also
// for values of a newer server.
absl::string_view ConfidenceText(v1::Confidence confidence);

// A full answer as docs/api.md shows it: components, both peaks, where the peak
// lies, transient storage, then what is not included, warnings and assumptions,
// each part only when there is something to say.
std::string RenderReport(const v1::AnalyzeResponse& response);

// One model a line: name, family, summary.
std::string RenderModels(const v1::ModelsListResponse& response);

std::string RenderDescription(const v1::ModelsDescribeResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_REPORT_H_
