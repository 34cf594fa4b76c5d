// Step times as text and JSON.

#ifndef LINNET_CLIENT_RENDER_TIME_H_
#define LINNET_CLIENT_RENDER_TIME_H_

#include <string>

#include "absl/strings/string_view.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {

// "11.7 ms", "1.25 s", "830 us": three digits.
std::string SecondsText(double seconds);

// "compute", "memory", "communication" or "host"; "unknown" for values of a
// newer server.
absl::string_view TimeLimitText(v1::TimeLimit limit);

// "1,234,567".
std::string CountText(double count);

std::string RenderTime(const v1::TimeResponse& response);
std::string TimeJson(const v1::TimeResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_TIME_H_
