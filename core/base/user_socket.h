// Where a user's own daemon listens, for the daemon and its clients alike.

#ifndef LINNET_CORE_BASE_USER_SOCKET_H_
#define LINNET_CORE_BASE_USER_SOCKET_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace linnet {

// The folder of the socket, its lock and its log: inside `xdg_runtime_dir` when
// that is an absolute path, else /tmp/linnet-<uid>. Whoever uses it must check
// that it is a real folder of this user that nobody else may enter.
inline std::string UserSocketFolder(absl::string_view xdg_runtime_dir,
                                    uint32_t uid) {
  if (!xdg_runtime_dir.empty() && xdg_runtime_dir[0] == '/') {
    return absl::StrCat(xdg_runtime_dir, "/linnet");
  }
  return absl::StrCat("/tmp/linnet-", uid);
}

inline constexpr absl::string_view kUserSocketName = "linnetd.sock";

// A path longer than this does not fit into a socket address.
inline constexpr int kMaxSocketPathBytes = 107;

}  // namespace linnet

#endif  // LINNET_CORE_BASE_USER_SOCKET_H_
