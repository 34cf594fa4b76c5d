#include "server/lifecycle/detach.h"

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace linnet::server {
namespace {

absl::Status SystemError(const char* what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<Detached> Detached::Fork() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError("cannot make a pipe");
  const pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    return SystemError("cannot fork");
  }
  if (pid > 0) {
    close(ends[1]);
    return Detached(/*is_child=*/false, pid, ends[0]);
  }
  close(ends[0]);
  setsid();
  return Detached(/*is_child=*/true, 0, ends[1]);
}

Detached::Detached(Detached&& other) noexcept
    : is_child_(other.is_child_),
      child_pid_(other.child_pid_),
      pipe_(other.pipe_) {
  other.pipe_ = -1;
}

Detached::~Detached() {
  if (pipe_ >= 0) close(pipe_);
}

int Detached::WaitForChild() {
  char byte = 0;
  ssize_t size = 0;
  do {
    size = read(pipe_, &byte, 1);
  } while (size < 0 && errno == EINTR);
  if (size == 1) return 0;
  int status = 0;
  while (waitpid(child_pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

absl::Status Detached::Ready(const std::string& log_path) {
  const int log = open(
      log_path.c_str(),
      O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (log < 0)
    return SystemError(absl::StrCat("cannot open ", log_path).c_str());
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) {
    close(log);
    return SystemError("cannot open /dev/null");
  }
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  close(null);
  close(log);
  if (write(pipe_, "r", 1) != 1) return SystemError("the caller is gone");
  close(pipe_);
  pipe_ = -1;
  return absl::OkStatus();
}

}  // namespace linnet::server
