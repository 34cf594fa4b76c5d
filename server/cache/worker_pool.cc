#include "server/cache/worker_pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/check.h"

namespace linnet::server {

WorkerPool::WorkerPool(int threads, int64_t max_queued, Metrics& metrics)
    : max_queued_(max_queued), metrics_(metrics), idle_(threads) {
  LINNET_CHECK(threads > 0) << "the caller turns 0 into the number of cores";
  threads_.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() { Finish(); }

void WorkerPool::Finish() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool WorkerPool::Submit(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  // Tasks that an idle thread is about to take do not count as waiting.
  if (static_cast<int64_t>(queue_.size()) >= max_queued_ + idle_) {
    metrics_.QueueFull();
    return false;
  }
  queue_.push_back(std::move(task));
  metrics_.QueueLength(static_cast<int64_t>(queue_.size()));
  return true;
}

absl::Duration WorkerPool::RetryDelay() const {
  absl::MutexLock lock(&mutex_);
  const double seconds = mean_seconds_ *
                         static_cast<double>(queue_.size() + 1) /
                         static_cast<double>(threads_.size());
  return absl::Seconds(std::clamp(seconds, 0.05, 10.0));
}

void WorkerPool::Run() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty();
  };
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(&ready));
    if (queue_.empty()) return;
    std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    metrics_.QueueLength(static_cast<int64_t>(queue_.size()));
    --idle_;
    mutex_.Unlock();
    const absl::Time start = absl::Now();
    task();
    task = nullptr;  // What it holds is released without the lock.
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    mutex_.Lock();
    ++idle_;
    mean_seconds_ += 0.2 * (seconds - mean_seconds_);
  }
}

}  // namespace linnet::server
