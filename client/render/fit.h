// Answers of Planner.Maximize as text and JSON.

#ifndef LINNET_CLIENT_RENDER_FIT_H_
#define LINNET_CLIENT_RENDER_FIT_H_

#include <string>

#include "linnet/v1/planner.pb.h"

namespace linnet::client {

// "Maximum batch size: 62", the peak there and what it leaves of the budget; or
// that nothing fits, and by how much.
std::string RenderFit(const v1::MaximizeRequest& request,
                      const v1::MaximizeResponse& response);

// The document of `linnet fit --json`, version 1: maximize, value, smallest,
// stopped_by, clause, peak, budget, headroom, device.
std::string FitJson(const v1::MaximizeRequest& request,
                    const v1::MaximizeResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_FIT_H_
