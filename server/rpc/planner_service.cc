#include "server/rpc/planner_service.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/planner/maximize.h"
#include "core/planner/planner.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "linnet/v1/planner.pb.h"
#include "server/cache/trace_cache.h"
#include "server/log/log.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_compare.h"
#include "server/rpc/convert_maximize.h"
#include "server/rpc/convert_time.h"
#include "server/rpc/status.h"
#include "server/rpc/sweep_call.h"
#include "server/rpc/trace_build.h"

namespace linnet::server {
namespace {

absl::Status Answer(const planner::Prepared& prepared,
                    const planner::Config& config, v1::View view,
                    v1::AnalyzeResponse& response) {
  if (view != v1::VIEW_SUMMARY) {
    LINNET_ASSIGN_OR_RETURN(const std::vector<planner::Report> reports,
                            prepared.AnalyzeAll(config));
    response = ToResponse(reports[0]);
    for (size_t i = 1; i < reports.size(); ++i) {
      *response.add_other_policies() = ToResponse(reports[i]);
    }
  }
  LINNET_ASSIGN_OR_RETURN(const planner::Summary summary,
                          prepared.Summarize(config));
  FillSummary(prepared, summary, response);
  for (v1::AnalyzeResponse& other : *response.mutable_other_policies()) {
    other.set_constraints_hold(summary.constraints_hold);
  }
  if (view != v1::VIEW_TIMELINE) return absl::OkStatus();
  for (int i = 0; i <= response.other_policies_size(); ++i) {
    LINNET_ASSIGN_OR_RETURN(const planner::MemoryTimeline timeline,
                            prepared.Timeline(config, static_cast<size_t>(i)));
    v1::AnalyzeResponse& of =
        i == 0 ? response : *response.mutable_other_policies(i - 1);
    *of.mutable_timeline() = ToTimeline(timeline);
  }
  return absl::OkStatus();
}

// A call that is answered from a trace.
class TracedCall : public grpc::ServerUnaryReactor {
 public:
  TracedCall(Context& context, grpc::CallbackServerContext& call, Method method)
      : context_(context),
        scope_(context, method),
        deadline_(call.deadline()) {}

 protected:
  // Answers once the trace of `config` is there, or ends with why not. Called
  // once, last of all, by the constructor of a derived class.
  void Start(absl::StatusOr<planner::Config> config) {
    if (!config.ok()) {
      End(config.status());
      return;
    }
    config_ = std::make_shared<const planner::Config>(*std::move(config));
    ticket_ = context_.cache.Get(
        context_.engine.cache_key(*config_), MakeBuild(context_, config_),
        [this](const absl::StatusOr<TraceCache::Trace>& trace) {
          End(trace.ok() ? Reply(**trace, *config_) : trace.status());
        });
  }

  virtual absl::Status Reply(const planner::Prepared& prepared,
                             const planner::Config& config) = 0;

  // Whether the time of the call is up.
  bool Late() const { return std::chrono::system_clock::now() >= deadline_; }

 private:
  void OnDone() override { delete this; }

  // Runs after the constructor, since gRPC reacts to a call only once the
  // handler has returned it.
  void OnCancel() override {
    context_.cache.Cancel(
        ticket_, Late() ? absl::DeadlineExceededError("the call's time is up")
                        : absl::CancelledError("the caller went away"));
  }

  void End(const absl::Status& status) {
    scope_.set_code(static_cast<int>(status.code()));
    if (status.code() == absl::StatusCode::kInternal) {
      Log(LogLevel::kError, "internal_error", {{"message", status.message()}});
    }
    Finish(ToGrpcStatus(status));
  }

  Context& context_;
  CallScope scope_;
  const std::chrono::system_clock::time_point deadline_;
  std::shared_ptr<const planner::Config> config_;
  TraceCache::Ticket ticket_;
};

class AnalyzeCall final : public TracedCall {
 public:
  AnalyzeCall(Context& context, grpc::CallbackServerContext& call,
              const v1::AnalyzeRequest& request, v1::AnalyzeResponse& response)
      : TracedCall(context, call, Method::kAnalyze),
        view_(request.view()),
        response_(response) {
    if (v1::View_IsValid(view_)) {
      Start(ToConfig(request.config(), context.limits));
    } else {
      Start(FieldError("view", "is one this server does not know"));
    }
  }

 private:
  absl::Status Reply(const planner::Prepared& prepared,
                     const planner::Config& config) override {
    return Answer(prepared, config, view_, response_);
  }

  const v1::View view_;
  v1::AnalyzeResponse& response_;
};

// A call that asks more than what a configuration needs.
template <typename Question, typename Request, typename Response>
class QuestionCall final : public TracedCall {
 public:
  using Answer = absl::Status (*)(const planner::Prepared& prepared,
                                  const Question& question,
                                  const planner::StopFunction& stop,
                                  Response& response);

  QuestionCall(Context& context, grpc::CallbackServerContext& call,
               Method method, const Request& request, Response& response,
               Answer answer)
      : TracedCall(context, call, method),
        answer_(answer),
        response_(response) {
    absl::StatusOr<Question> question = ToQuestion(request, context.limits);
    if (!question.ok()) {
      Start(question.status());
      return;
    }
    question_ = *std::move(question);
    Start(question_.config);
  }

 private:
  absl::Status Reply(const planner::Prepared& prepared,
                     const planner::Config& /*config*/) override {
    return answer_(
        prepared, question_, [this] { return Late(); }, response_);
  }

  const Answer answer_;
  Question question_;
  Response& response_;
};

absl::Status AnswerTime(const planner::Prepared& prepared,
                        const TimeQuestion& question,
                        const planner::StopFunction& /*stop*/,
                        v1::TimeResponse& response) {
  return FillTimes(prepared, question, response);
}

absl::Status AnswerCompare(const planner::Prepared& prepared,
                           const CompareQuestion& question,
                           const planner::StopFunction& stop,
                           v1::CompareResponse& response) {
  planner::LayoutQuery query = question.query;
  query.stop = stop;
  LINNET_ASSIGN_OR_RETURN(const planner::LayoutPlan plan,
                          prepared.Compare(question.config, query));
  FillPlan(plan, question, response);
  return absl::OkStatus();
}

absl::Status AnswerMaximize(const planner::Prepared& prepared,
                            const MaximizeQuestion& question,
                            const planner::StopFunction& stop,
                            v1::MaximizeResponse& response) {
  LINNET_ASSIGN_OR_RETURN(
      const planner::Maximum maximum,
      planner::Maximize(prepared, question.config, question.goal,
                        question.budget, stop));
  FillMaximum(prepared, maximum, response);
  response.set_device_title(question.device_title);
  response.set_device_source(question.device_source);
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* PlannerService::Analyze(
    grpc::CallbackServerContext* call, const v1::AnalyzeRequest* request,
    v1::AnalyzeResponse* response) {
  return new AnalyzeCall(context_, *call, *request, *response);
}

grpc::ServerUnaryReactor* PlannerService::Time(
    grpc::CallbackServerContext* call, const v1::TimeRequest* request,
    v1::TimeResponse* response) {
  return new QuestionCall<TimeQuestion, v1::TimeRequest, v1::TimeResponse>(
      context_, *call, Method::kTime, *request, *response, AnswerTime);
}

grpc::ServerUnaryReactor* PlannerService::Compare(
    grpc::CallbackServerContext* call, const v1::CompareRequest* request,
    v1::CompareResponse* response) {
  return new QuestionCall<CompareQuestion, v1::CompareRequest,
                          v1::CompareResponse>(
      context_, *call, Method::kCompare, *request, *response, AnswerCompare);
}

grpc::ServerWriteReactor<v1::SweepResponse>* PlannerService::Sweep(
    grpc::CallbackServerContext* call, const v1::SweepRequest* request) {
  return StartSweep(context_, *call, *request);
}

grpc::ServerUnaryReactor* PlannerService::Maximize(
    grpc::CallbackServerContext* call, const v1::MaximizeRequest* request,
    v1::MaximizeResponse* response) {
  return new QuestionCall<MaximizeQuestion, v1::MaximizeRequest,
                          v1::MaximizeResponse>(
      context_, *call, Method::kMaximize, *request, *response, AnswerMaximize);
}

}  // namespace linnet::server
