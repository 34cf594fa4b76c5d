// This user's own daemon: where it listens, and how it is started.

#ifndef LINNET_CLIENT_API_DAEMON_H_
#define LINNET_CLIENT_API_DAEMON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace linnet::client {

// A socket in the runtime folder of this user.
std::string DaemonSocketPath();

// Returns a connected descriptor, which the caller owns and which does not
// block. NotFound when nobody listens there; Unavailable when it cannot be
// dialled for another reason.
absl::StatusOr<int> Dial(const std::string& socket_path);

// Dials this user's daemon, and starts it when nobody listens and `autostart`.
// Tries for about ten seconds when another process is starting or stopping it.
//
// FailedPrecondition when the folder of the socket is not this user's alone;
// Unavailable, with what the daemon said, when it does not start.
absl::StatusOr<int> DialDaemon(bool autostart);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_API_DAEMON_H_
