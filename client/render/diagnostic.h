// Failed calls as text for a person.

#ifndef LINNET_CLIENT_RENDER_DIAGNOSTIC_H_
#define LINNET_CLIENT_RENDER_DIAGNOSTIC_H_

#include <string>

#include "absl/status/status.h"
#include "linnet/v1/error.pb.h"

namespace linnet::client {

// For standard error, ending in a line break. The diagnostics when there are
// some: with source lines and carets as the server rendered them, or, from a
// server that did not, one line each. Then the message, with names that come
// close.
std::string RenderFailure(const absl::Status& status,
                          const v1::ErrorDetail& detail, bool colour);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_DIAGNOSTIC_H_
