// What is in memory when, as text and JSON.

#ifndef LINNET_CLIENT_RENDER_TIMELINE_H_
#define LINNET_CLIENT_RENDER_TIMELINE_H_

#include <string>

#include "linnet/v1/timeline.pb.h"
#include "nlohmann/json.hpp"

namespace linnet::client {

// The course of each category, its largest value where the line is highest, and
// the largest tensors at the peak.
std::string RenderTimeline(const v1::Timeline& timeline);

nlohmann::ordered_json TimelineJson(const v1::Timeline& timeline);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_TIMELINE_H_
