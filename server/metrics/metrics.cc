#include "server/metrics/metrics.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/check.h"
#include "prometheus/counter.h"
#include "prometheus/exposer.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "prometheus/text_serializer.h"

namespace linnet::server {
namespace {

constexpr int kNumCodes = 17;
constexpr std::array<const char*, kNumCodes> kCodeNames = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

const prometheus::Histogram::BucketBoundaries& SecondsBuckets() {
  static const auto& buckets = *new prometheus::Histogram::BucketBoundaries{
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
      0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
  return buckets;
}

template <typename T>
using ByMethod = std::array<T*, kNumMethods>;

size_t Index(Method method) { return static_cast<size_t>(method); }

}  // namespace

const char* MethodName(Method method) {
  switch (method) {
    case Method::kAnalyze:
      return "Planner.Analyze";
    case Method::kTime:
      return "Planner.Time";
    case Method::kCompare:
      return "Planner.Compare";
    case Method::kSweep:
      return "Planner.Sweep";
    case Method::kMaximize:
      return "Planner.Maximize";
    case Method::kModelsList:
      return "Models.List";
    case Method::kModelsDescribe:
      return "Models.Describe";
    case Method::kModelsCheck:
      return "Models.Check";
    case Method::kModelsExplain:
      return "Models.Explain";
    case Method::kDevicesList:
      break;
  }
  return "Devices.List";
}

// The metrics live in the registry's families; these pointers stay valid as
// long as it does.
struct Metrics::Parts {
  std::shared_ptr<prometheus::Registry> registry =
      std::make_shared<prometheus::Registry>();
  std::array<std::array<prometheus::Counter*, kNumCodes>, kNumMethods> requests;
  ByMethod<prometheus::Histogram> request_seconds;
  ByMethod<prometheus::Gauge> in_flight;
  prometheus::Counter* cache_hits;
  prometheus::Counter* cache_joined;
  prometheus::Counter* cache_misses;
  prometheus::Gauge* cache_bytes;
  prometheus::Gauge* cache_entries;
  prometheus::Counter* cache_evictions;
  prometheus::Counter* traces_ok;
  prometheus::Counter* traces_failed;
  prometheus::Histogram* trace_seconds;
  prometheus::Gauge* queue_length;
  prometheus::Counter* queue_full;
};

Metrics::Metrics() : parts_(std::make_unique<Parts>()) {
  Parts& parts = *parts_;
  prometheus::Registry& registry = *parts.registry;
  const auto counter = [&](const char* name, const char* help) -> auto& {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  };
  const auto gauge = [&](const char* name, const char* help) -> auto& {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  };
  const auto histogram = [&](const char* name, const char* help) -> auto& {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(
        registry);
  };

  auto& requests = counter("linnet_requests_total", "Calls answered.");
  auto& seconds = histogram("linnet_request_seconds", "Time to answer a call.");
  auto& in_flight = gauge("linnet_requests_in_flight", "Calls being answered.");
  for (int m = 0; m < kNumMethods; ++m) {
    const size_t i = static_cast<size_t>(m);
    const std::string method = MethodName(static_cast<Method>(m));
    for (size_t code = 0; code < kNumCodes; ++code) {
      parts.requests[i][code] =
          &requests.Add({{"method", method}, {"code", kCodeNames[code]}});
    }
    parts.request_seconds[i] =
        &seconds.Add({{"method", method}}, SecondsBuckets());
    parts.in_flight[i] = &in_flight.Add({{"method", method}});
  }

  auto& lookups =
      counter("linnet_cache_lookups_total", "Traces asked of the cache.");
  parts.cache_hits = &lookups.Add({{"result", "hit"}});
  parts.cache_joined = &lookups.Add({{"result", "joined"}});
  parts.cache_misses = &lookups.Add({{"result", "miss"}});
  parts.cache_bytes =
      &gauge("linnet_cache_bytes", "Memory of the traces kept.").Add({});
  parts.cache_entries = &gauge("linnet_cache_entries", "Traces kept.").Add({});
  parts.cache_evictions =
      &counter("linnet_cache_evictions_total", "Traces dropped for room.")
           .Add({});

  auto& traces = counter("linnet_traces_total", "Models traced.");
  parts.traces_ok = &traces.Add({{"result", "ok"}});
  parts.traces_failed = &traces.Add({{"result", "failed"}});
  parts.trace_seconds =
      &histogram("linnet_trace_seconds", "Time to read and trace a model.")
           .Add({}, SecondsBuckets());
  parts.queue_length =
      &gauge("linnet_trace_queue_length", "Work waiting for a thread.").Add({});
  parts.queue_full = &counter("linnet_trace_rejections_total",
                              "Work refused because the queue was full.")
                          .Add({});
}

Metrics::~Metrics() = default;

void Metrics::RequestStarted(Method method) {
  parts_->in_flight[Index(method)]->Increment();
}

void Metrics::RequestDone(Method method, int code, absl::Duration elapsed) {
  LINNET_CHECK(code >= 0 && code < kNumCodes) << "codes come from grpc::Status";
  parts_->in_flight[Index(method)]->Decrement();
  parts_->requests[Index(method)][static_cast<size_t>(code)]->Increment();
  parts_->request_seconds[Index(method)]->Observe(
      absl::ToDoubleSeconds(elapsed));
}

void Metrics::CacheHit() { parts_->cache_hits->Increment(); }
void Metrics::CacheJoined() { parts_->cache_joined->Increment(); }
void Metrics::CacheMiss() { parts_->cache_misses->Increment(); }
void Metrics::CacheEvicted() { parts_->cache_evictions->Increment(); }
void Metrics::CacheSize(int64_t bytes, int64_t entries) {
  parts_->cache_bytes->Set(static_cast<double>(bytes));
  parts_->cache_entries->Set(static_cast<double>(entries));
}

void Metrics::TraceDone(bool ok, absl::Duration elapsed) {
  (ok ? parts_->traces_ok : parts_->traces_failed)->Increment();
  parts_->trace_seconds->Observe(absl::ToDoubleSeconds(elapsed));
}

void Metrics::QueueLength(int64_t length) {
  parts_->queue_length->Set(static_cast<double>(length));
}
void Metrics::QueueFull() { parts_->queue_full->Increment(); }

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(parts_->registry->Collect());
}

const std::shared_ptr<prometheus::Registry>& Metrics::registry() const {
  return parts_->registry;
}

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& address, const Metrics& metrics) {
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(address, 1);
    exposer->RegisterCollectable(metrics.registry());
    return std::unique_ptr<MetricsServer>(
        new MetricsServer(std::move(exposer)));
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve metrics on ", address, ": ", error.what()));
  }
}

MetricsServer::MetricsServer(std::unique_ptr<prometheus::Exposer> exposer)
    : exposer_(std::move(exposer)) {}
MetricsServer::~MetricsServer() = default;

int MetricsServer::port() const {
  return exposer_->GetListeningPorts().front();
}

}  // namespace linnet::server
