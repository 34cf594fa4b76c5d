#include "core/cost/step_time.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/status_macros.h"
#include "core/cost/call_cost.h"

namespace linnet::cost {
namespace {

size_t SizesOf(const Operation& operation) {
  size_t n = 0;
  while (n < kMaxSizes && operation.sizes[n].error() != expr::Error::kUnset) {
    ++n;
  }
  return n;
}

class Clock {
 public:
  explicit Clock(bool compiled) : compiled_(compiled) {}

  void Run(const Seconds& call) {
    if (!compiled_) host_ += call.host;
    device_ = std::max(device_, host_) + call.device();
  }
  double seconds() const { return device_; }

 private:
  const bool compiled_;
  double host_ = 0, device_ = 0;
};

}  // namespace

Seconds& Seconds::operator+=(const Seconds& other) {
  host += other.host;
  compute += other.compute;
  memory += other.memory;
  communication += other.communication;
  return *this;
}

Seconds operator*(double factor, Seconds of) {
  return {factor * of.host, factor * of.compute, factor * of.memory,
          factor * of.communication};
}

absl::StatusOr<StepTimeModel> StepTimeModel::Build(const graph::Graph& graph,
                                                   const CallSettings& settings,
                                                   expr::Pool& pool) {
  StepTimeModel model;
  model.processes_ = settings.processes;
  absl::flat_hash_map<Operation, int32_t> kinds;
  absl::flat_hash_set<absl::string_view> unmeasured;
  std::vector<expr::Expr> sizes;
  for (const Call& call : FindCalls(graph, settings, pool)) {
    const auto [it, added] = kinds.try_emplace(
        call.operation, static_cast<int32_t>(model.kinds_.size()));
    if (added) {
      model.kinds_.push_back(
          {call.operation, static_cast<int32_t>(sizes.size()), call.step});
      const size_t count = SizesOf(call.operation);
      for (size_t i = 0; i < count; ++i) {
        sizes.push_back(call.operation.sizes[i]);
      }
    }
    model.calls_.push_back(it->second);
    if (call.operation.transposed && model.transposed_++ == 0) {
      model.transposed_dtype_ = call.operation.dtype;
    }
    if ((call.operation.work == Work::kUnmeasured ||
         call.operation.work == Work::kExperts) &&
        unmeasured.insert(graph.text(graph.step(call.step).native)).second) {
      model.unmeasured_.push_back(call.step);
    }
  }
  LINNET_ASSIGN_OR_RETURN(model.sizes_,
                          expr::Evaluator::Compile(graph.roles(), sizes));
  // The expressions are those of a pool that the model does not keep.
  for (Kind& kind : model.kinds_) kind.operation.sizes = {};
  return model;
}

absl::StatusOr<std::vector<StepTimeModel::Costs>> StepTimeModel::CostKinds(
    absl::Span<const int64_t> sizes, const device::Profile& profile,
    Rules rules) const {
  std::vector<int64_t> values(sizes_.num_outputs());
  if (const expr::Error error = sizes_.Run(sizes, absl::MakeSpan(values));
      error != expr::Error::kNone) {
    return expr::ToStatus(error, "a size of the step");
  }
  std::vector<Costs> costs;
  costs.reserve(kinds_.size());
  for (const Kind& kind : kinds_) {
    const auto of = absl::MakeConstSpan(values).subspan(
        static_cast<size_t>(kind.first_size));
    const CallCost cost =
        CostOf(kind.operation, of, processes_, profile, rules);
    costs.push_back({cost.forward, cost.backward, cost.weights});
  }
  return costs;
}

absl::StatusOr<StepTime> StepTimeModel::Evaluate(
    absl::Span<const int64_t> sizes, const device::Profile& profile,
    const Run& run) const {
  LINNET_ASSIGN_OR_RETURN(const std::vector<Costs> costs,
                          CostKinds(sizes, profile, run.rules));
  StepTime time;
  Clock clock(run.compiled);
  for (const int32_t kind : calls_) {
    const Seconds& forward = costs[static_cast<size_t>(kind)].forward;
    clock.Run(forward);
    time.forward += forward;
  }
  time.pass.busy = time.forward;
  if (run.recomputed > 0) {
    const Seconds again = run.recomputed * time.forward;
    clock.Run(again);
    time.pass.busy += again;
  }
  for (size_t i = calls_.size(); i-- > 0;) {
    const Costs& of = costs[static_cast<size_t>(calls_[i])];
    clock.Run(of.backward);
    time.pass.busy += of.backward;
    time.weights += of.weights;
  }
  time.pass.seconds = clock.seconds();
  return time;
}

absl::StatusOr<std::vector<CallTime>> StepTimeModel::Calls(
    absl::Span<const int64_t> sizes, const device::Profile& profile,
    Rules rules) const {
  LINNET_ASSIGN_OR_RETURN(const std::vector<Costs> costs,
                          CostKinds(sizes, profile, rules));
  std::vector<CallTime> calls(kinds_.size());
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const Work work = kinds_[i].operation.work;
    calls[i].step = kinds_[i].step;
    calls[i].measured = work != Work::kUnmeasured && work != Work::kExperts;
  }
  for (const int32_t kind : calls_) {
    const auto i = static_cast<size_t>(kind);
    ++calls[i].calls;
    calls[i].forward += costs[i].forward;
    calls[i].backward += costs[i].backward;
  }
  const auto longest = [](const CallTime& call) {
    return std::max(call.forward.device() + call.backward.device(),
                    call.forward.host + call.backward.host);
  };
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const CallTime& a, const CallTime& b) {
                     return longest(a) > longest(b);
                   });
  return calls;
}

}  // namespace linnet::cost
