// The folder of a user's socket.

#ifndef LINNET_SERVER_LIFECYCLE_PRIVATE_FOLDER_H_
#define LINNET_SERVER_LIFECYCLE_PRIVATE_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace linnet::server {

// Makes `folder` (not its parents), open to this user alone, unless it exists.
// FailedPrecondition when it is no folder, belongs to someone else, or lets
// others in; Unavailable when it cannot be made.
absl::Status EnsurePrivateFolder(const std::string& folder);

}  // namespace linnet::server

#endif  // LINNET_SERVER_LIFECYCLE_PRIVATE_FOLDER_H_
