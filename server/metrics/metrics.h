// What linnetd counts, for Prometheus. Names end in their base unit; labels
// come from closed sets only.

#ifndef LINNET_SERVER_METRICS_METRICS_H_
#define LINNET_SERVER_METRICS_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace prometheus {
class Exposer;
class Registry;
}  // namespace prometheus

namespace linnet::server {

// The calls of the API, for labels.
enum class Method {
  kAnalyze,
  kTime,
  kCompare,
  kSweep,
  kMaximize,
  kModelsList,
  kModelsDescribe,
  kModelsCheck,
  kModelsExplain,
  kDevicesList
};
inline constexpr int kNumMethods = 10;
const char* MethodName(Method method);

// Safe from any thread.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // linnet_requests_total{method,code}, linnet_request_seconds{method}.
  // `code` is a canonical status code, 0 to 16.
  void RequestDone(Method method, int code, absl::Duration elapsed);
  // linnet_requests_in_flight{method}.
  void RequestStarted(Method method);

  // linnet_cache_lookups_total{result}.
  void CacheHit();     // The trace was there.
  void CacheJoined();  // Another call was already making it.
  void CacheMiss();    // This call had it made.
  // linnet_cache_bytes, linnet_cache_entries, linnet_cache_evictions_total.
  void CacheSize(int64_t bytes, int64_t entries);
  void CacheEvicted();

  // linnet_traces_total{result}, linnet_trace_seconds.
  void TraceDone(bool ok, absl::Duration elapsed);
  // linnet_trace_queue_length, linnet_trace_rejections_total.
  void QueueLength(int64_t length);
  void QueueFull();

  // All of it in Prometheus' text format.
  std::string Text() const;

  const std::shared_ptr<prometheus::Registry>& registry() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Serves /metrics until it is destroyed.
class MetricsServer {
 public:
  // Unavailable when `address` (host:port) cannot be listened on.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& address, const Metrics& metrics);
  ~MetricsServer();

  int port() const;  // The one taken when the address said 0.

 private:
  explicit MetricsServer(std::unique_ptr<prometheus::Exposer> exposer);

  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace linnet::server

#endif  // LINNET_SERVER_METRICS_METRICS_H_
