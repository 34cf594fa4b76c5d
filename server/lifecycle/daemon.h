// linnetd from its settings to its exit:
//
//   starting ──> ready ──(SIGTERM, SIGINT, idle)──> draining ──> stopped
//       └──> failed

#ifndef LINNET_SERVER_LIFECYCLE_DAEMON_H_
#define LINNET_SERVER_LIFECYCLE_DAEMON_H_

#include "server/config/config.h"

namespace linnet::server {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
// Another daemon holds the lock of this socket: it is starting, running or
// stopping. Whoever wants a daemon connects to that one.
inline constexpr int kExitAlreadyRunning = 4;

// Runs until a signal, or until idle for long enough, and returns the exit
// status. The signals SIGTERM and SIGINT end it after a drain, a second one at
// once. Call it before the process has other threads.
//
// `detach` returns (in the calling process) when the daemon is ready in the
// background, with its log beside the socket, or failed, with the reason on
// standard error.
int RunDaemon(const Settings& settings, bool detach);

}  // namespace linnet::server

#endif  // LINNET_SERVER_LIFECYCLE_DAEMON_H_
