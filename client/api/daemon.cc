#include "client/api/daemon.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/base/user_socket.h"

namespace linnet::client {
namespace {

// As server/lifecycle/daemon.h says: another daemon holds the lock.
constexpr int kExitAlreadyRunning = 4;

constexpr char kIdleExit[] = "10m";

std::string DaemonFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return UserSocketFolder(runtime != nullptr ? runtime : "", geteuid());
}

// A folder of someone else could hold a socket of someone else.
absl::Status CheckFolder(const std::string& folder) {
  struct stat info;
  if (lstat(folder.c_str(), &info) != 0) {
    return errno == ENOENT
               ? absl::OkStatus()
               : absl::UnavailableError(absl::StrCat(
                     "cannot read ", folder, ": ", std::strerror(errno)));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        folder, " is not a folder of this user that is closed to others"));
  }
  return absl::OkStatus();
}

// `linnetd` beside this program, else the one that PATH finds.
std::string DaemonProgram() {
  char self[4096];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
  if (size > 0 && size < static_cast<ssize_t>(sizeof(self))) {
    std::string beside(self, static_cast<size_t>(size));
    beside.resize(beside.rfind('/') + 1);
    beside += "linnetd";
    if (access(beside.c_str(), X_OK) == 0) return beside;
  }
  return "linnetd";
}

struct Ended {
  int exit_status;
  std::string errors;  // What it wrote to standard error.
};

// Runs `linnetd --detach` to its end, which comes when the daemon is ready.
absl::StatusOr<Ended> RunDetach(const std::string& program,
                                const std::string& socket_path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::string arguments[] = {program,     "--detach",    "--socket",
                             socket_path, "--idle-exit", kIdleExit};
  char* argv[std::size(arguments) + 1] = {};
  std::transform(std::begin(arguments), std::end(arguments), argv,
                 [](std::string& argument) { return argument.data(); });
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Ended ended = {0, ""};
  if (error == 0) {
    char buffer[4096];
    ssize_t size = 0;
    while ((size = read(ends[0], buffer, sizeof(buffer))) > 0 ||
           (size < 0 && errno == EINTR)) {
      if (size > 0) ended.errors.append(buffer, static_cast<size_t>(size));
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    ended.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  close(ends[0]);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot start ", program, ": ", std::strerror(error)));
  }
  return ended;
}

}  // namespace

std::string DaemonSocketPath() {
  return absl::StrCat(DaemonFolder(), "/", kUserSocketName);
}

absl::StatusOr<int> Dial(const std::string& socket_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket_path.size() > kMaxSocketPathBytes) {
    return absl::UnavailableError(
        absl::StrCat(socket_path, " is longer than a socket's path may be"));
  }
  socket_path.copy(address.sun_path, socket_path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::UnavailableError(std::strerror(errno));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) != 0) {
    const int error = errno;
    close(fd);
    const std::string message = absl::StrCat("cannot connect to ", socket_path,
                                             ": ", std::strerror(error));
    return error == ENOENT || error == ECONNREFUSED
               ? absl::NotFoundError(message)
               : absl::UnavailableError(message);
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

absl::StatusOr<int> DialDaemon(bool autostart) {
  const std::string socket_path = DaemonSocketPath();
  LINNET_RETURN_IF_ERROR(CheckFolder(DaemonFolder()));
  // 10 ms doubled nine times is about ten seconds.
  absl::Duration wait = absl::Milliseconds(10);
  for (int attempt = 0; attempt < 10; ++attempt) {
    absl::StatusOr<int> fd = Dial(socket_path);
    if (fd.ok() || !absl::IsNotFound(fd.status())) return fd;
    if (!autostart) {
      return absl::UnavailableError(
          absl::StrCat("no linnetd is running (", fd.status().message(),
                       "), and --no-autostart forbids starting one"));
    }
    LINNET_ASSIGN_OR_RETURN(const Ended ended,
                            RunDetach(DaemonProgram(), socket_path));
    if (ended.exit_status == 0) continue;
    if (ended.exit_status != kExitAlreadyRunning) {
      return absl::UnavailableError(absl::StrCat(
          "linnetd did not start: ", absl::StripAsciiWhitespace(ended.errors)));
    }
    absl::SleepFor(wait);
    wait *= 2;
  }
  return absl::UnavailableError(absl::StrCat(
      "a linnetd holds the lock of ", socket_path, " but does not answer"));
}

}  // namespace linnet::client
