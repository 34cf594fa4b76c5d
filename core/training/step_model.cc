#include "core/training/step_model.h"

#include <utility>

#include "core/training/optimizer.h"

namespace linnet::training {
namespace {

using graph::ObjectId;
using graph::StepId;

// What one is kept in when it is split and no master dtype is named.
constexpr DType kPartDType = DType::kF32;

expr::Expr Times(int64_t factor, expr::Expr e, expr::Pool& pool) {
  return pool.Mul(pool.Constant(factor), e);
}

// Of what the optimizer updates.
DType UpdatedDType(DType dtype, const Options& options) {
  return options.master_dtype.value_or(options.splits_parameters() ? kPartDType
                                                                   : dtype);
}

DType GradientDType(DType dtype, const Options& options) {
  return options.gradient_dtype.value_or(UpdatedDType(dtype, options));
}

}  // namespace

ParameterBytes BytesOfParameter(absl::Span<const expr::Expr> shape, DType dtype,
                                bool trained, const Options& options,
                                expr::Pool& pool) {
  const bool split = options.splits_parameters();
  const DType updated = UpdatedDType(dtype, options);
  const expr::Expr whole = pool.Product(shape);
  const expr::Expr part = pool.CeilDiv(whole, pool.Constant(options.shards));
  const auto in = [&](DType of, expr::Expr elements) {
    return Times(DTypeBytes(of), elements, pool);
  };
  const expr::Expr none = pool.Zero();
  ParameterBytes bytes = {
      in(dtype, split ? part : whole), none, none, none, none, none, none};
  if (split) bytes.gathered = in(dtype, whole);
  if (!trained) return bytes;
  if (split) {
    bytes.weight = in(updated, part);
  } else if (updated != dtype) {
    bytes.master = in(updated, part);
  }
  const DType gradient = GradientDType(dtype, options);
  const bool split_gradient = options.splits_gradients();
  bytes.gradient = in(gradient, split_gradient ? part : whole);
  if (split_gradient && !split) bytes.summed = in(gradient, whole);
  bytes.states =
      StateBytes(options.optimizer, shape, updated, options.shards, pool);
  if (options.optimizer == Optimizer::kAdafactor) {
    bytes.update = in(updated, part);
  }
  return bytes;
}

StepModel::StepModel(std::shared_ptr<const graph::Graph> graph,
                     const runtime::Backend& backend, Options options,
                     expr::Pool& pool,
                     absl::Span<const graph::ObjectId> received)
    : graph_(std::move(graph)),
      options_(std::move(options)),
      flow_(*graph_, options_.trainable, received),
      saved_(static_cast<size_t>(graph_->num_steps())),
      workspaces_(static_cast<size_t>(graph_->num_steps())),
      parameter_of_(static_cast<size_t>(graph_->num_objects()), -1) {
  AddParameters(pool);
  for (int32_t i = 0; i < graph_->num_steps(); ++i) AddStep(i, backend, pool);
}

void StepModel::AddParameters(expr::Pool& pool) {
  const expr::Expr zero = pool.Zero();
  totals_.largest_gradient = zero;
  totals_.bytes = {zero, zero, zero, zero, zero, zero, zero};
  for (int32_t i = 0; i < graph_->num_objects(); ++i) {
    const ObjectId id = {i};
    const graph::Object& object = graph_->object(id);
    if (object.category != graph::Category::kParameters || object.owner != id ||
        !object.persistent) {
      continue;
    }
    const bool trained = flow_.trained(id);
    ParameterBytes bytes = BytesOfParameter(graph_->shape(id), object.dtype,
                                            trained, options_, pool);
    if (IsPacked(object)) {
      bytes.weight =
          options_.splits_parameters()
              ? pool.CeilDiv(object.bytes, pool.Constant(options_.shards))
              : object.bytes;
      if (options_.splits_parameters()) bytes.gathered = object.bytes;
    }
    parameter_of_[static_cast<size_t>(i)] =
        static_cast<int32_t>(parameters_.size());
    parameters_.push_back(bytes);
    ++totals_.parameters;
    totals_.trained += trained;
    totals_.masters += !bytes.master.is_zero();
    ParameterBytes& sum = totals_.bytes;
    sum.weight = pool.Add(sum.weight, bytes.weight);
    sum.master = pool.Add(sum.master, bytes.master);
    sum.gradient = pool.Add(sum.gradient, bytes.gradient);
    sum.states = pool.Add(sum.states, bytes.states);
    sum.gathered = pool.Add(sum.gathered, bytes.gathered);
    sum.summed = pool.Add(sum.summed, bytes.summed);
    sum.update = pool.Max(sum.update, bytes.update);
    if (!trained) continue;
    const DType gradient = GradientDType(object.dtype, options_);
    totals_.largest_gradient = pool.Max(
        totals_.largest_gradient,
        Times(DTypeBytes(gradient), pool.Product(graph_->shape(id)), pool));
  }
}

void StepModel::AddStep(int32_t index, const runtime::Backend& backend,
                        expr::Pool& pool) {
  const graph::Step& step = graph_->step(StepId{index});
  const bool differentiable = flow_.differentiable(index);
  if (differentiable) {
    runtime::SavedTensors& saved = saved_[static_cast<size_t>(index)];
    saved = runtime::SavedByStep(
        backend, *graph_, step,
        [this](ObjectId object) { return flow_.carries(object); }, pool);
    if (!saved.known()) CountUnmodeled(Unmodeled::What::kSaved, step);
  }
  StepWorkspace& workspace = workspaces_[static_cast<size_t>(index)];
  workspace = {pool.Zero(), pool.Zero(), pool.Zero()};
  if (step.kind != graph::StepKind::kNative) return;
  // A packed weight is unpacked for each kernel that reads it.
  expr::Expr unpacked = pool.Zero();
  for (ObjectId input : graph_->inputs(step)) {
    const graph::Object& owner = graph_->object(graph_->object(input).owner);
    if (IsPacked(owner)) unpacked = pool.Add(unpacked, owner.full_bytes);
  }
  const runtime::Workspace plain = backend.StepWorkspace(*graph_, step, pool);
  bool known = plain.known();
  if (known) workspace.plain = workspace.forward = plain.bytes;
  if (differentiable) {
    using runtime::Pass;
    const auto forward =
        backend.TrainingWorkspace(*graph_, step, Pass::kForward, pool);
    const auto backward =
        backend.TrainingWorkspace(*graph_, step, Pass::kBackward, pool);
    if (forward.known()) workspace.forward = forward.bytes;
    if (backward.known()) workspace.backward = backward.bytes;
    known = known && forward.known() && backward.known();
  }
  if (!known) CountUnmodeled(Unmodeled::What::kWorkspace, step);
  if (unpacked.is_zero()) return;
  workspace.plain = pool.Add(workspace.plain, unpacked);
  workspace.forward = pool.Add(workspace.forward, unpacked);
  if (differentiable)
    workspace.backward = pool.Add(workspace.backward, unpacked);
}

void StepModel::CountUnmodeled(Unmodeled::What what, const graph::Step& step) {
  const absl::string_view native = graph_->text(step.native);
  for (Unmodeled& each : unmodeled_) {
    if (each.what == what && each.native == native) {
      ++each.calls;
      return;
    }
  }
  unmodeled_.push_back(
      {what, std::string(graph_->text(step.label)), std::string(native), 1});
}

}  // namespace linnet::training
