// Answers as JSON documents, indented by two, ending in a line break.

#ifndef LINNET_CLIENT_RENDER_JSON_H_
#define LINNET_CLIENT_RENDER_JSON_H_

#include <string>

#include "linnet/v1/models.pb.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {

// The document of `linnet memory --json`, version 1: configuration, symbols,
// components, peak, allocation, recompute, devices, formulas, unknown,
// warnings, assumptions, and timeline where it was asked for. A number that is
// not known is null. `model` is what the person wrote, since the answer names
// built-in models only.
std::string ReportJson(const v1::AnalyzeResponse& response,
                       const std::string& model);

std::string ModelsJson(const v1::ModelsListResponse& response);
std::string DescriptionJson(const v1::ModelsDescribeResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_JSON_H_
