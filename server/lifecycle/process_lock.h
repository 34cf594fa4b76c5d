// One daemon per socket: an exclusive lock on a file that holds the pid.

#ifndef LINNET_SERVER_LIFECYCLE_PROCESS_LOCK_H_
#define LINNET_SERVER_LIFECYCLE_PROCESS_LOCK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace linnet::server {

// Held until it is destroyed, or the last process that inherited it is gone.
// The file stays: removing it would let two daemons lock two files of one name.
class ProcessLock {
 public:
  // AlreadyExists, naming the process, when another one holds the lock;
  // Unavailable when the file cannot be opened.
  static absl::StatusOr<ProcessLock> Acquire(const std::string& path);

  ProcessLock(ProcessLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ProcessLock& operator=(ProcessLock&&) = delete;
  ~ProcessLock();

  // Writes this process's id into the file; again after a fork.
  absl::Status WritePid() const;

 private:
  explicit ProcessLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_LIFECYCLE_PROCESS_LOCK_H_
