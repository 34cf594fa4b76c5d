// What a check found, as text and as the JSON of language.md 11.1.

#ifndef LINNET_CLIENT_RENDER_CHECK_H_
#define LINNET_CLIENT_RENDER_CHECK_H_

#include <string>

#include "linnet/v1/models.pb.h"

namespace linnet::client {

// The reports with their source lines, then a line that counts them; that line
// alone when there is nothing to report.
std::string RenderCheck(const v1::ModelsCheckResponse& response);

// One object on one line, version 1, ending in a line break.
std::string CheckJson(const v1::ModelsCheckResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_CHECK_H_
