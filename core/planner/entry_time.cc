#include "core/planner/entry_time.h"

#include <array>
#include <utility>

#include "core/base/status_macros.h"
#include "core/cost/call_cost.h"

namespace linnet::planner {
namespace {

using expr::Expr;
using graph::ObjectId;

// Integer ids count one by one; of other inputs, the first axis.
Expr Tokens(const graph::Graph& graph, expr::Pool& pool) {
  if (graph.entry_inputs().empty()) return pool.One();
  const ObjectId first = graph.entry_inputs()[0];
  const auto shape = graph.shape(first);
  if (!IsFloat(graph.object(first).dtype)) return pool.Product(shape);
  return shape.empty() ? pool.One() : shape[0];
}

}  // namespace

absl::StatusOr<std::unique_ptr<const EntryTime>> EntryTime::Make(
    const graph::Graph& graph, const Parts& parts) {
  expr::Pool pool(parts.pool);
  cost::CallSettings settings;
  settings.processes = parts.processes;
  settings.joins_products = parts.processes == 1 && parts.training == nullptr &&
                            parts.place == nullptr;
  if (parts.training != nullptr) {
    settings.flow = &parts.training->model().flow();
  }
  LINNET_ASSIGN_OR_RETURN(cost::StepTimeModel model,
                          cost::StepTimeModel::Build(graph, settings, pool));
  std::unique_ptr<EntryTime> time(
      new EntryTime(std::move(model), parts.training));
  std::array<Expr, kNumSizes> sizes;
  sizes.fill(pool.Zero());
  sizes[kTokens] = Tokens(graph, pool);
  if (parts.place != nullptr) {
    for (ObjectId id : parts.place->received()) {
      sizes[kReceived] =
          pool.Add(sizes[kReceived], graph.object(id).full_bytes);
    }
  }
  if (parts.training != nullptr) {
    const training::StepModel& step = parts.training->model();
    time->shards_ = step.options().shards;
    time->splits_parameters_ = step.options().splits_parameters();
    for (int32_t i = 0; i < graph.num_objects(); ++i) {
      const ObjectId id = {i};
      if (!step.is_parameter(id) || !step.flow().trained(id)) continue;
      const training::ParameterBytes& bytes = step.parameter(id);
      // Gradient, weight in and out; every state in and out.
      const Expr updated = bytes.master.is_zero() ? bytes.weight : bytes.master;
      sizes[kUpdated] = pool.Add(
          sizes[kUpdated], pool.Add(pool.Mul(pool.Constant(3), updated),
                                    pool.Mul(pool.Constant(2), bytes.states)));
      sizes[kGradients] = pool.Add(sizes[kGradients], bytes.gradient);
      if (time->shards_ == 1) continue;
      ++time->split_weights_;
      const graph::Object& object = graph.object(id);
      sizes[kWhole] = pool.Add(sizes[kWhole], object.full_bytes);
      sizes[kFloats] =
          pool.Add(sizes[kFloats],
                   pool.Mul(pool.Constant(4), pool.Product(graph.shape(id))));
    }
  }
  LINNET_ASSIGN_OR_RETURN(time->sizes_,
                          expr::Evaluator::Compile(graph.roles(), sizes));
  return std::unique_ptr<const EntryTime>(std::move(time));
}

absl::StatusOr<ProcessTime> EntryTime::Evaluate(size_t policy,
                                                absl::Span<const int64_t> sizes,
                                                const device::Profile& profile,
                                                bool compiled,
                                                cost::Rules rules) const {
  std::array<int64_t, kNumSizes> values{};
  if (const expr::Error error = sizes_.Run(sizes, absl::MakeSpan(values));
      error != expr::Error::kNone) {
    return expr::ToStatus(error, "a size of the step");
  }
  cost::StepTimeModel::Run run;
  run.compiled = compiled;
  run.rules = rules;
  if (training_ != nullptr) {
    run.recomputed = training_->RecomputedPart(policy, sizes).value_or(0.0);
  }
  ProcessTime time;
  LINNET_ASSIGN_OR_RETURN(time.step, model_.Evaluate(sizes, profile, run));
  const auto size = [&](Size which) {
    return static_cast<double>(values[which]);
  };
  time.optimizer = size(kUpdated) / profile.bandwidth;
  time.gradient_bytes = values[kGradients];
  time.tokens = values[kTokens];
  if (split_weights_ > 0) {
    // Each weight by itself: a latency each, and its bytes over the link.
    // In ZeRO stages 1 and 2 whole weights are kept, and gathered once, when
    // the optimizer has updated their parts.
    time.gathers = splits_parameters_ ? 2 : 1;
    const double latency =
        static_cast<double>(split_weights_ - 1) * profile.latency;
    time.gather = latency + cost::GatherSeconds(size(kWhole), shards_, profile);
    time.reduce =
        latency + cost::GatherSeconds(size(kFloats), shards_, profile);
  }
  if (values[kReceived] > 0) {
    time.receive = profile.latency + size(kReceived) / profile.link;
  }
  return time;
}

}  // namespace linnet::planner
