// Layouts of several devices as text and JSON.

#ifndef LINNET_CLIENT_RENDER_COMPARE_H_
#define LINNET_CLIENT_RENDER_COMPARE_H_

#include <string>

#include "linnet/v1/planner.pb.h"

namespace linnet::client {

// For each pool one line per layout, the best first; then what several pools do
// together. The time of a step has a column when the
// request asks about it.
std::string RenderCompare(const v1::CompareRequest& request,
                          const v1::CompareResponse& response);
std::string CompareJson(const v1::CompareResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_COMPARE_H_
