// Traces by content: the most recently used ones, bounded in bytes, each built
// at most once at a time.
//
//   Get(k) ── there ──────────────────────────────> done(trace), at once
//         ├─ being built ── waits with the others ─> done(trace or error)
//         └─ missing ── queued, built on the pool ─> done(trace or error)
//
// A waiter may leave at any time; the last one to leave stops the build. Errors
// are not kept: the next call builds again.

#ifndef LINNET_SERVER_CACHE_TRACE_CACHE_H_
#define LINNET_SERVER_CACHE_TRACE_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/planner/planner.h"
#include "server/cache/worker_pool.h"
#include "server/metrics/metrics.h"

namespace linnet::server {

// A status of this folder may carry, as decimal milliseconds, how long to wait
// before a retry.
inline constexpr absl::string_view kRetryPayload = "linnet/retry-milliseconds";

// RESOURCE_EXHAUSTED with the retry delay of `pool`.
absl::Status BusyError(const WorkerPool& pool);

// Safe from any thread.
class TraceCache {
 public:
  using Trace = std::shared_ptr<const planner::Prepared>;
  using Build =
      std::function<absl::StatusOr<Trace>(const planner::StopFunction& stop)>;
  using Done = std::function<void(absl::StatusOr<Trace>)>;

  // Identifies one waiting call of Get().
  class Ticket {
   public:
    Ticket() = default;

   private:
    friend class TraceCache;
    std::string key_;
    int64_t id_ = 0;
  };

  // `pool` and `metrics` must outlive this, and `pool` must have finished
  // (WorkerPool::Finish()) when this is destroyed.
  TraceCache(int64_t max_bytes, WorkerPool& pool, Metrics& metrics);
  TraceCache(const TraceCache&) = delete;
  TraceCache& operator=(const TraceCache&) = delete;

  // Calls `done` once: before it returns when the trace is there or the queue
  // is full (see BusyError), else later on a thread of the pool or of Cancel().
  // `build` is kept and may run later than this waiter's departure, so it must
  // own what it uses.
  Ticket Get(const std::string& key, Build build, Done done);

  // Ends the wait of `ticket` with `why`. Does nothing when its `done` was
  // called already or is being called.
  void Cancel(const Ticket& ticket, const absl::Status& why);

  int64_t bytes() const;
  int64_t entries() const;

 private:
  struct Entry {
    std::string key;
    Trace trace;
    int64_t bytes;
  };
  struct Flight {
    std::vector<std::pair<int64_t, Done>> waiters;
    std::atomic<bool> stopped = false;
  };

  void RunFlight(const std::string& key, const std::shared_ptr<Flight>& flight,
                 const Build& build);
  void Keep(const std::string& key, const Trace& trace)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t max_bytes_;
  WorkerPool& pool_;
  Metrics& metrics_;
  mutable absl::Mutex mutex_;
  std::list<Entry> recent_ ABSL_GUARDED_BY(mutex_);  // Latest first.
  absl::flat_hash_map<std::string, std::list<Entry>::iterator> by_key_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_
      ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_CACHE_TRACE_CACHE_H_
