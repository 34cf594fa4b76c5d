#include "server/lifecycle/process_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"

namespace linnet::server {

absl::StatusOr<ProcessLock> ProcessLock::Acquire(const std::string& path) {
  const int fd =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    char pid[32] = {};
    const ssize_t size = pread(fd, pid, sizeof(pid) - 1, 0);
    close(fd);
    return absl::AlreadyExistsError(absl::StrCat(
        "another linnetd", size > 0 ? " (process " : "",
        absl::StripAsciiWhitespace(pid), size > 0 ? ")" : "", " holds ", path));
  }
  ProcessLock lock(fd);
  LINNET_RETURN_IF_ERROR(lock.WritePid());
  return lock;
}

ProcessLock::~ProcessLock() {
  if (fd_ >= 0) close(fd_);
}

absl::Status ProcessLock::WritePid() const {
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(fd_, 0) != 0 || pwrite(fd_, pid.data(), pid.size(), 0) !=
                                    static_cast<ssize_t>(pid.size())) {
    return absl::UnavailableError(
        absl::StrCat("cannot write the lock file: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace linnet::server
