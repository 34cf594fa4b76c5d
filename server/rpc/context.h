// What every call of the server uses, and the bookkeeping of one call.

#ifndef LINNET_SERVER_RPC_CONTEXT_H_
#define LINNET_SERVER_RPC_CONTEXT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/planner/check_sources.h"
#include "core/planner/explain.h"
#include "core/planner/planner.h"
#include "server/cache/trace_cache.h"
#include "server/cache/worker_pool.h"
#include "server/metrics/metrics.h"

namespace linnet::server {

// The engine behind the calls; tests put their own here.
struct Engine {
  std::function<absl::StatusOr<std::shared_ptr<const planner::Prepared>>(
      const planner::Config&, const planner::Limits&,
      const planner::StopFunction&)>
      prepare = planner::Prepare;
  std::function<std::string(const planner::Config&)> cache_key =
      planner::CacheKey;
  std::function<absl::StatusOr<planner::ModelDescription>(
      const planner::Config&, const planner::Limits&,
      const planner::StopFunction&)>
      describe = planner::Describe;
  std::function<absl::StatusOr<planner::CheckedSources>(
      const std::vector<planner::SourceFile>&, const std::vector<std::string>&,
      const planner::Limits&, const planner::StopFunction&)>
      check = planner::CheckSources;
  std::function<absl::StatusOr<planner::Explanation>(
      const planner::Config&, const planner::Limits&,
      const planner::StopFunction&)>
      explain = planner::Explain;
  std::function<std::vector<planner::ModelSummary>()> list =
      planner::ListModels;
};

// The calls in flight, and when there last was one. Safe from any thread.
class Activity {
 public:
  explicit Activity(absl::Time now) : last_(absl::ToUnixNanos(now)) {}

  void Started(Method method);
  void Ended(Method method, absl::Time now);

  int64_t in_flight() const;
  // When the last call ended, or when this was made. Meaningless while calls
  // are in flight.
  absl::Time last_end() const;
  // "Planner.Analyze=2 Models.List=1"; empty when there are none.
  std::string Text() const;

 private:
  std::array<std::atomic<int64_t>, kNumMethods> calls_ = {};
  std::atomic<int64_t> last_;
};

// Shared by all calls; the parts must outlive them.
struct Context {
  Engine engine;
  planner::Limits limits;
  TraceCache& cache;
  WorkerPool& pool;
  Metrics& metrics;
  Activity& activity;
};

// Counts one call from its construction to its destruction.
class CallScope {
 public:
  CallScope(Context& context, Method method);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // The code that the call ends with. Default: CANCELLED.
  void set_code(int code) { code_ = code; }

 private:
  Context& context_;
  const Method method_;
  const absl::Time start_;
  std::atomic<int> code_ = 1;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_CONTEXT_H_
