// Threads for work that takes milliseconds or more, with a bounded queue.

#ifndef LINNET_SERVER_CACHE_WORKER_POOL_H_
#define LINNET_SERVER_CACHE_WORKER_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/metrics/metrics.h"

namespace linnet::server {

// Safe from any thread.
class WorkerPool {
 public:
  // `threads` at least 1; at most `max_queued` tasks wait for one. `metrics`
  // must outlive this.
  WorkerPool(int threads, int64_t max_queued, Metrics& metrics);
  ~WorkerPool();  // Calls Finish().
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `task` on one of the threads, in the order of the calls. Returns false
  // and drops `task` when every thread is busy and the queue is full.
  [[nodiscard]] bool Submit(std::function<void()> task);

  // Runs what is queued and waits for it. Nothing may be submitted from then
  // on. For owners of what tasks use, before they destroy it; not from a task.
  void Finish();

  // When a refused caller may try again: about the time the queue takes, from
  // how long tasks took lately. Between 50 ms and 10 s.
  absl::Duration RetryDelay() const;

 private:
  void Run();

  const int64_t max_queued_;
  Metrics& metrics_;
  mutable absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  int64_t idle_ ABSL_GUARDED_BY(mutex_) = 0;  // Threads waiting for a task.
  double mean_seconds_ ABSL_GUARDED_BY(mutex_) = 0.05;  // Of recent tasks.
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_CACHE_WORKER_POOL_H_
