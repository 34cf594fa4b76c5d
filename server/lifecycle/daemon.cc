#include "server/lifecycle/daemon.h"

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/planner/planner.h"
#include "server/cache/trace_cache.h"
#include "server/cache/worker_pool.h"
#include "server/config/config.h"
#include "server/lifecycle/detach.h"
#include "server/lifecycle/listener.h"
#include "server/lifecycle/private_folder.h"
#include "server/lifecycle/process_lock.h"
#include "server/log/log.h"
#include "server/metrics/metrics.h"
#include "server/rpc/context.h"

namespace linnet::server {
namespace {

LogLevel ToLevel(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  return name == "error" ? LogLevel::kError : LogLevel::kInfo;
}

int Fail(const absl::Status& status) {
  Log(LogLevel::kError, "failed", {{"message", status.message()}});
  return absl::IsAlreadyExists(status) ? kExitAlreadyRunning : kExitFailed;
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Waits for a stop signal; false when there was none before `timeout`.
bool WaitForSignal(absl::Duration timeout) {
  const sigset_t signals = StopSignals();
  const timespec wait = absl::ToTimespec(
      std::clamp(timeout, absl::ZeroDuration(), absl::Hours(1)));
  return sigtimedwait(&signals, nullptr, &wait) > 0;
}

planner::Limits ToLimits(const Settings& settings) {
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  planner::Limits limits;
  limits.max_source_bytes = settings.limits_max_source_bytes;
  limits.max_files = narrow(settings.limits_max_files);
  limits.max_steps = narrow(settings.limits_max_steps);
  limits.max_sweep_points = settings.limits_max_sweep_points;
  limits.max_objects = narrow(settings.limits_max_objects);
  limits.max_call_depth = narrow(settings.limits_max_call_depth);
  return limits;
}

int NumThreads(const Settings& settings) {
  return settings.traces_threads > 0
             ? static_cast<int>(settings.traces_threads)
             : std::max(1,
                        static_cast<int>(std::thread::hardware_concurrency()));
}

// Returns why the daemon should stop: "signal" or "idle".
const char* WaitForEnd(const Settings& settings, const Activity& activity) {
  while (true) {
    absl::Duration wait = absl::InfiniteDuration();
    if (settings.idle_exit != absl::InfiniteDuration()) {
      wait = settings.idle_exit - (absl::Now() - activity.last_end());
      if (activity.in_flight() > 0) wait = settings.idle_exit;
      if (wait <= absl::ZeroDuration()) return "idle";
    }
    if (WaitForSignal(wait)) return "signal";
  }
}

void Drain(const Settings& settings, const Activity& activity,
           Listener& listener) {
  Log(LogLevel::kInfo, "draining", {{"calls", activity.Text()}});
  std::atomic<bool> done = false;
  std::thread drain([&] {
    listener.Drain(settings.drain_limit == absl::InfiniteDuration()
                       ? absl::InfiniteFuture()
                       : absl::Now() + settings.drain_limit);
    done = true;
    // Wakes the wait below.
    kill(getpid(), SIGTERM);
  });
  absl::Time last_log = absl::Now();
  while (!done) {
    if (WaitForSignal(absl::Seconds(1)) && !done) {
      Log(LogLevel::kWarning, "stopped_at_once", {{"calls", activity.Text()}});
      _exit(kExitFailed);
    }
    if (!done && absl::Now() - last_log >= absl::Seconds(1)) {
      Log(LogLevel::kInfo, "draining", {{"calls", activity.Text()}});
      last_log = absl::Now();
    }
  }
  drain.join();
}

int Serve(const Settings& settings, std::optional<Detached>& detached) {
  Metrics metrics;
  WorkerPool pool(NumThreads(settings), settings.traces_queue, metrics);
  TraceCache cache(settings.cache_max_bytes, pool, metrics);
  Activity activity(absl::Now());
  Context context{.engine = {},
                  .limits = ToLimits(settings),
                  .cache = cache,
                  .pool = pool,
                  .metrics = metrics,
                  .activity = activity};

  std::unique_ptr<MetricsServer> metrics_server;
  if (!settings.metrics.empty()) {
    auto started = MetricsServer::Start(settings.metrics, metrics);
    if (!started.ok()) return Fail(started.status());
    metrics_server = *std::move(started);
  }
  auto listener = Listener::Start(settings, context);
  if (!listener.ok()) return Fail(listener.status());
  if (detached) {
    const absl::Status ready = detached->Ready(settings.socket + ".log");
    if (!ready.ok()) return Fail(ready);
  }
  Log(LogLevel::kInfo, "ready",
      {{"addresses", absl::StrJoin((*listener)->addresses(), ",")},
       {"metrics_port", metrics_server ? metrics_server->port() : 0},
       {"pid", getpid()},
       {"version", LINNET_VERSION}});

  const char* reason = WaitForEnd(settings, activity);
  Log(LogLevel::kInfo, "stopping", {{"reason", reason}});
  Drain(settings, activity, **listener);
  pool.Finish();  // Calls that were cancelled may have left work behind.
  Log(LogLevel::kInfo, "stopped");
  return kExitOk;
}

absl::StatusOr<std::optional<ProcessLock>> LockSocket(
    const Settings& settings) {
  std::optional<ProcessLock> lock;
  if (!settings.socket.empty()) {
    const std::string folder =
        settings.socket.substr(0, settings.socket.rfind('/'));
    if (absl::Status status = EnsurePrivateFolder(folder); !status.ok()) {
      return status;
    }
    auto acquired = ProcessLock::Acquire(settings.socket + ".lock");
    if (!acquired.ok()) return acquired.status();
    lock.emplace(*std::move(acquired));
  }
  return lock;
}

}  // namespace

int RunDaemon(const Settings& settings, bool detach) {
  SetLogLevel(ToLevel(settings.log_level));
  if (absl::Status status = CheckSettings(settings); !status.ok()) {
    return Fail(status);
  }
  if (detach && settings.socket.empty()) {
    return Fail(absl::InvalidArgumentError("--detach needs a socket"));
  }
  // Every thread made from here on inherits the mask, so that only the waits
  // above see these signals.
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  const auto lock = LockSocket(settings);
  if (!lock.ok()) return Fail(lock.status());
  std::optional<Detached> detached;
  if (detach) {
    auto forked = Detached::Fork();
    if (!forked.ok()) return Fail(forked.status());
    detached.emplace(*std::move(forked));
    if (!detached->is_child()) return detached->WaitForChild();
    if (absl::Status status = (*lock)->WritePid(); !status.ok()) {
      return Fail(status);
    }
  }
  return Serve(settings, detached);
}

}  // namespace linnet::server
