#include "server/rpc/sweep_call.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/planner/planner.h"
#include "server/cache/trace_cache.h"
#include "server/rpc/convert_sweep.h"
#include "server/rpc/status.h"
#include "server/rpc/trace_build.h"

namespace linnet::server {
namespace {

// Of one message: enough that messages cost little, few enough that a thread is
// soon free for other calls.
constexpr int64_t kMaxChunk = 16384;
constexpr int64_t kFirstChunk = 256;
constexpr absl::Duration kChunkTime = absl::Milliseconds(20);

class SweepCall final : public grpc::ServerWriteReactor<v1::SweepResponse> {
 public:
  SweepCall(Context& context, const v1::SweepRequest& request)
      : context_(context), scope_(context, Method::kSweep) {
    auto question = ToQuestion(request, context.limits);
    if (!question.ok()) {
      End(question.status());
      return;
    }
    question_ = *std::move(question);
    *response_.mutable_plan() = ToPlan(question_);
    StartWrite(&response_);
  }

 private:
  void OnDone() override { delete this; }

  void OnCancel() override {
    cancelled_ = true;
    TraceCache::Ticket ticket;
    {
      absl::MutexLock lock(&mutex_);
      ticket = ticket_;
    }
    context_.cache.Cancel(ticket, absl::CancelledError("the caller went away"));
  }

  void OnWriteDone(bool ok) override {
    if (!ok || cancelled_) {
      End(absl::CancelledError("the caller went away"));
      return;
    }
    Continue();
  }

  // Writes the next points, once the trace that they need is there. Runs within
  // a reaction of gRPC's, which keeps this alive until it returns.
  void Continue() {
    if (trace_ == question_.traces.size()) {
      End(absl::OkStatus());
      return;
    }
    if (prepared_ != nullptr) {
      WritePoints();
      return;
    }
    auto config =
        std::make_shared<const planner::Config>(ConfigOf(question_, trace_));
    config_ = *config;
    config_.model.files.clear();
    const std::string key = context_.engine.cache_key(*config);
    int64_t turn = 0;
    {
      absl::MutexLock lock(&mutex_);
      turn = ++turn_;
    }
    // The answer comes at once, or later on another thread, which may have
    // asked for the next trace by now.
    const TraceCache::Ticket ticket = context_.cache.Get(
        key, MakeBuild(context_, std::move(config)),
        [this](const absl::StatusOr<TraceCache::Trace>& trace) {
          Traced(trace);
        });
    absl::MutexLock lock(&mutex_);
    if (turn_ == turn) ticket_ = ticket;
  }

  void Traced(const absl::StatusOr<TraceCache::Trace>& trace) {
    if (cancelled_) {
      End(absl::CancelledError("the caller went away"));
      return;
    }
    if (trace.ok()) {
      prepared_ = *trace;
      WritePoints();
      return;
    }
    Refuse(trace.status());
  }

  // One of several variants that cannot be leaves the others.
  void Refuse(const absl::Status& status) {
    const bool at_fault =
        absl::IsInvalidArgument(status) || absl::IsOutOfRange(status);
    if (!at_fault || question_.traces.size() == 1) {
      End(status);
      return;
    }
    response_.Clear();
    v1::SweepRefusal& refusal = *response_.mutable_refusal();
    refusal.set_variant(
        static_cast<int32_t>(trace_ * question_.policies.size() + policy_));
    const absl::string_view reason = status.message();
    refusal.set_reason(reason.data(), reason.size());
    NextVariant();
    StartWrite(&response_);
  }

  void WritePoints() {
    response_.Clear();
    const int64_t count = std::min(chunk_, question_.grid_points - point_);
    const absl::Time start = absl::Now();
    const absl::Status filled =
        FillPoints(*prepared_, config_, question_, trace_, policy_, point_,
                   static_cast<size_t>(count), *response_.mutable_points());
    if (!filled.ok()) {
      Refuse(filled);
      return;
    }
    const absl::Duration took = absl::Now() - start;
    if (took < kChunkTime / 2) chunk_ = std::min(2 * chunk_, kMaxChunk);
    if (took > kChunkTime) chunk_ = std::max<int64_t>(chunk_ / 2, 1);
    point_ += count;
    if (point_ == question_.grid_points) NextVariant();
    StartWrite(&response_);
  }

  void NextVariant() {
    point_ = 0;
    if (++policy_ < question_.policies.size()) return;
    policy_ = 0;
    ++trace_;
    prepared_ = nullptr;
  }

  void End(const absl::Status& status) {
    scope_.set_code(static_cast<int>(status.code()));
    Finish(ToGrpcStatus(status));
  }

  Context& context_;
  CallScope scope_;
  SweepQuestion question_;
  v1::SweepResponse response_;
  // Where the sweep is.
  size_t trace_ = 0, policy_ = 0;
  int64_t point_ = 0;
  int64_t chunk_ = kFirstChunk;
  std::shared_ptr<const planner::Prepared> prepared_;
  planner::Config config_;  // Of the trace, without the files of the model.

  std::atomic<bool> cancelled_ = false;
  absl::Mutex mutex_;
  int64_t turn_ ABSL_GUARDED_BY(mutex_) = 0;  // Traces asked for.
  TraceCache::Ticket ticket_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

grpc::ServerWriteReactor<v1::SweepResponse>* StartSweep(
    Context& context, grpc::CallbackServerContext& /*call*/,
    const v1::SweepRequest& request) {
  return new SweepCall(context, request);
}

}  // namespace linnet::server
