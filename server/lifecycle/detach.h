// Leaving the terminal: one process goes on in the background, the one that was
// called waits for it to be ready.

#ifndef LINNET_SERVER_LIFECYCLE_DETACH_H_
#define LINNET_SERVER_LIFECYCLE_DETACH_H_

#include <string>

#include "absl/status/statusor.h"

namespace linnet::server {

class Detached {
 public:
  // Forks. Returns in both processes: see is_child(). The child has its own
  // session, and no terminal once Ready() was called.
  // REQUIRES: the process has one thread.
  static absl::StatusOr<Detached> Fork();

  Detached(Detached&& other) noexcept;
  Detached& operator=(Detached&&) = delete;
  ~Detached();

  bool is_child() const { return is_child_; }

  // In the parent: waits until the child is ready or gone. Returns what it
  // should exit with: 0, or the child's own exit status.
  int WaitForChild();

  // In the child: lets the parent go, and from here on writes standard error to
  // `log_path`, emptied first. Unavailable when that cannot be opened.
  absl::Status Ready(const std::string& log_path);

 private:
  Detached(bool is_child, int child_pid, int pipe)
      : is_child_(is_child), child_pid_(child_pid), pipe_(pipe) {}

  bool is_child_;
  int child_pid_;
  int pipe_;  // The child writes one byte when it is ready.
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_LIFECYCLE_DETACH_H_
