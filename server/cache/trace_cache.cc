#include "server/cache/trace_cache.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/planner/planner.h"

namespace linnet::server {

absl::Status BusyError(const WorkerPool& pool) {
  absl::Status status = absl::ResourceExhaustedError(
      "the server is busy: too many models wait to be traced");
  status.SetPayload(
      kRetryPayload,
      absl::Cord(absl::StrCat(absl::ToInt64Milliseconds(pool.RetryDelay()))));
  return status;
}

TraceCache::TraceCache(int64_t max_bytes, WorkerPool& pool, Metrics& metrics)
    : max_bytes_(max_bytes), pool_(pool), metrics_(metrics) {}

TraceCache::Ticket TraceCache::Get(const std::string& key, Build build,
                                   Done done) {
  Ticket ticket;
  ticket.key_ = key;
  Trace found;
  {
    absl::MutexLock lock(&mutex_);
    ticket.id_ = next_id_++;
    if (const auto entry = by_key_.find(key); entry != by_key_.end()) {
      recent_.splice(recent_.begin(), recent_, entry->second);
      found = entry->second->trace;
    } else if (const auto flight = flights_.find(key);
               flight != flights_.end()) {
      metrics_.CacheJoined();
      flight->second->waiters.emplace_back(ticket.id_, std::move(done));
      return ticket;
    } else {
      auto fresh = std::make_shared<Flight>();
      if (pool_.Submit([this, key, fresh, build = std::move(build)] {
            RunFlight(key, fresh, build);
          })) {
        metrics_.CacheMiss();
        fresh->waiters.emplace_back(ticket.id_, std::move(done));
        flights_.emplace(key, std::move(fresh));
        return ticket;
      }
    }
  }
  if (found != nullptr) {
    metrics_.CacheHit();
    done(std::move(found));
  } else {
    done(BusyError(pool_));
  }
  return ticket;
}

void TraceCache::Cancel(const Ticket& ticket, const absl::Status& why) {
  Done done;
  {
    absl::MutexLock lock(&mutex_);
    const auto flight = flights_.find(ticket.key_);
    if (flight == flights_.end()) return;
    auto& waiters = flight->second->waiters;
    const auto waiter =
        std::find_if(waiters.begin(), waiters.end(),
                     [&](const auto& w) { return w.first == ticket.id_; });
    if (waiter == waiters.end()) return;
    done = std::move(waiter->second);
    waiters.erase(waiter);
    if (waiters.empty()) {
      flight->second->stopped = true;
      flights_.erase(flight);  // Whoever comes next starts a build of its own.
    }
  }
  done(why);
}

void TraceCache::RunFlight(const std::string& key,
                           const std::shared_ptr<Flight>& flight,
                           const Build& build) {
  if (flight->stopped) return;
  const absl::Time start = absl::Now();
  const absl::StatusOr<Trace> trace =
      build([&] { return flight->stopped.load(std::memory_order_relaxed); });
  metrics_.TraceDone(trace.ok(), absl::Now() - start);
  std::vector<std::pair<int64_t, Done>> waiters;
  {
    absl::MutexLock lock(&mutex_);
    // A stopped flight is no longer the one of its key.
    const auto current = flights_.find(key);
    if (current != flights_.end() && current->second == flight) {
      flights_.erase(current);
    }
    waiters = std::move(flight->waiters);
    if (trace.ok()) Keep(key, *trace);
  }
  for (const auto& [id, done] : waiters) done(trace);
}

void TraceCache::Keep(const std::string& key, const Trace& trace) {
  const int64_t bytes =
      trace->ByteSize() + static_cast<int64_t>(2 * key.size());
  if (bytes > max_bytes_ || by_key_.contains(key)) return;
  while (bytes_ > max_bytes_ - bytes) {
    bytes_ -= recent_.back().bytes;
    by_key_.erase(recent_.back().key);
    recent_.pop_back();
    metrics_.CacheEvicted();
  }
  recent_.push_front({key, trace, bytes});
  by_key_.emplace(key, recent_.begin());
  bytes_ += bytes;
  metrics_.CacheSize(bytes_, static_cast<int64_t>(recent_.size()));
}

int64_t TraceCache::bytes() const {
  absl::MutexLock lock(&mutex_);
  return bytes_;
}

int64_t TraceCache::entries() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int64_t>(recent_.size());
}

}  // namespace linnet::server
