#include "core/cost/operation.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "core/library/native_kernel.h"
#include "core/runtime/cuda_training.h"
#include "core/runtime/step_reader.h"

namespace linnet::cost {
namespace {

using device::HostCall;
using expr::Expr;
using graph::Graph;
using graph::Object;
using graph::ObjectId;
using graph::Step;
using graph::StepId;
using graph::StepKind;
using library::NativeKernel;

bool IsMember(const Object& object) {
  return object.path.valid() && !object.producer.valid();
}

// How a cache write is called: Operation::write.
uint8_t WriteForm(absl::string_view native) {
  if (absl::EndsWith(native, "index_copy")) return 0;
  return absl::EndsWith(native, "(tokens)") ? 2 : 1;
}

class Finder {
 public:
  Finder(const Graph& graph, const CallSettings& settings, expr::Pool& pool)
      : graph_(graph),
        settings_(settings),
        pool_(pool),
        depends_(static_cast<size_t>(graph.num_objects())),
        strided_(static_cast<size_t>(graph.num_objects())),
        read_(static_cast<size_t>(graph.num_objects())) {
    for (ObjectId id : graph.entry_inputs()) depends_[Index(id)] = true;
    for (int32_t i = 0; i < graph.num_objects(); ++i) {
      const Object& object = graph.object(ObjectId{i});
      read_[static_cast<size_t>(i)] = object.full_bytes;
      if (IsMember(object)) depends_[static_cast<size_t>(i)] = true;
    }
  }

  std::vector<Call> Run() {
    if (settings_.joins_products) FindJoined();
    for (int32_t s = 0; s < graph_.num_steps(); ++s) AddStep(StepId{s});
    return std::move(calls_);
  }

 private:
  static size_t Index(ObjectId id) { return static_cast<size_t>(id.index); }

  // Products of one input by weights alone, in order, by that input.
  void FindJoined() {
    for (int32_t s = 0; s < graph_.num_steps(); ++s) {
      const Step& step = graph_.step(StepId{s});
      const auto inputs = graph_.inputs(step);
      if (runtime::KernelOf(graph_, step) != NativeKernel::kLinear ||
          inputs.size() != 2 || !IsMember(graph_.object(inputs[1]))) {
        continue;
      }
      std::vector<StepId>& steps = joined_[inputs[0]];
      const bool again =
          std::any_of(steps.begin(), steps.end(), [&](StepId other) {
            return graph_.object(graph_.inputs(other)[1]).owner ==
                   graph_.object(inputs[1]).owner;
          });
      if (!again) steps.push_back(StepId{s});
    }
  }

  void AddStep(StepId id) {
    const Step& step = graph_.step(id);
    const auto inputs = graph_.inputs(step);
    const bool depends =
        std::any_of(inputs.begin(), inputs.end(),
                    [&](ObjectId input) { return depends_[Index(input)]; });
    for (ObjectId output : graph_.outputs(step)) {
      depends_[Index(output)] = depends;
      FollowView(step, output);
    }
    if (!depends) return;
    const NativeKernel kernel = runtime::KernelOf(graph_, step);
    if (kernel == NativeKernel::kLinear && AddJoined(id)) return;
    Operation operation = Describe(step, kernel);
    if (operation.work == Work::kView && IsCollective(kernel)) return;
    AddFlow(id, &operation);
    calls_.push_back({id, operation});
  }

  void AddFlow(StepId id, Operation* operation) const {
    if (settings_.flow == nullptr) return;
    operation->differentiable = settings_.flow->differentiable(id);
    for (ObjectId input : graph_.inputs(id)) {
      const ObjectId owner = graph_.object(input).owner;
      if (graph_.object(owner).category == graph::Category::kParameters &&
          settings_.flow->trained(owner)) {
        operation->trained = true;
      }
    }
  }

  void FollowView(const Step& step, ObjectId output) {
    if (OwnsStorage(output)) return;
    const auto inputs = graph_.inputs(step);
    bool strided = step.kind == StepKind::kPermute ||
                   step.kind == StepKind::kSlice ||
                   step.kind == StepKind::kBroadcast;
    if (!inputs.empty()) {
      strided = strided || strided_[Index(inputs[0])];
      read_[Index(output)] =
          pool_.Min(read_[Index(output)], read_[Index(inputs[0])]);
    }
    strided_[Index(output)] = strided;
  }

  bool OwnsStorage(ObjectId id) const { return graph_.object(id).owner == id; }

  static bool IsCollective(NativeKernel kernel) {
    return kernel == NativeKernel::kAllReduce ||
           kernel == NativeKernel::kAllGather ||
           kernel == NativeKernel::kShared;
  }

  Expr Read(const Step& step) {
    Expr sum = pool_.Zero();
    for (ObjectId id : graph_.inputs(step)) {
      sum = pool_.Add(sum, read_[Index(id)]);
    }
    return sum;
  }
  Expr Written(const Step& step) {
    Expr sum = pool_.Zero();
    for (ObjectId id : graph_.outputs(step)) {
      if (OwnsStorage(id)) sum = pool_.Add(sum, graph_.object(id).bytes);
    }
    return sum;
  }
  Expr Moved(const Step& step) { return pool_.Add(Read(step), Written(step)); }
  Expr Elements(ObjectId id) { return pool_.Product(graph_.shape(id)); }
  // The size of an axis, counted from the last.
  Expr FromLast(ObjectId id, size_t axis) const {
    const auto shape = graph_.shape(id);
    return axis < shape.size() ? shape[shape.size() - 1 - axis] : pool_.One();
  }

  // Adds the products that run as one with step `id`, which is the first of
  // them; true as well for a later one.
  bool AddJoined(StepId id) {
    const auto it = joined_.find(graph_.inputs(id)[0]);
    if (it == joined_.end() || it->second.size() < 2) return false;
    const std::vector<StepId>& steps = it->second;
    if (std::find(steps.begin(), steps.end(), id) == steps.end()) return false;
    for (ObjectId output : graph_.outputs(id)) strided_[Index(output)] = true;
    if (steps[0] != id) return true;
    Operation all = Describe(graph_.step(id), NativeKernel::kLinear);
    for (size_t i = 1; i < steps.size(); ++i) {
      const Operation part =
          Describe(graph_.step(steps[i]), NativeKernel::kLinear);
      all.sizes[0] = pool_.Add(all.sizes[0], part.sizes[0]);
      // The input is read once.
      all.sizes[1] = pool_.Sub(pool_.Add(all.sizes[1], part.sizes[1]),
                               read_[Index(graph_.inputs(id)[0])]);
      all.sizes[3] = pool_.Add(all.sizes[3], part.sizes[3]);
    }
    all.views = static_cast<uint8_t>(std::min<size_t>(steps.size(), 255));
    calls_.push_back({id, all});
    return true;
  }

  Operation Describe(const Step& step, NativeKernel kernel) {
    const auto inputs = graph_.inputs(step);
    if (step.kind != StepKind::kNative) return Kernel(step);
    switch (kernel) {
      case NativeKernel::kLinear:
      case NativeKernel::kMatmul:
        if (!inputs.empty()) return Product(step, kernel);
        break;
      case NativeKernel::kAttention:
        if (inputs.size() >= 3) return Attention(step);
        break;
      case NativeKernel::kRmsNorm:
      case NativeKernel::kLayerNorm:
        return Sized(Work::kNorm, {Written(step)});
      case NativeKernel::kEmbedding:
      case NativeKernel::kIndexSelect:
        if (!inputs.empty()) return Gather(step);
        break;
      case NativeKernel::kCacheWrite:
        if (inputs.size() >= 2) return CacheWrite(step);
        break;
      case NativeKernel::kLinearCrossEntropy:
      case NativeKernel::kLinearTokenLogProbs:
        if (inputs.size() >= 2) return Loss(step, kernel);
        break;
      case NativeKernel::kExperts:
      case NativeKernel::kExpertsShared:
      case NativeKernel::kExpertsCombined:
        if (inputs.size() >= 3) return Experts(step, kernel);
        break;
      case NativeKernel::kAllReduce:
        return Collective(Work::kAllReduce, step);
      case NativeKernel::kAllGather:
        return Collective(Work::kAllGather, step);
      case NativeKernel::kReduceScatter:
        return Collective(Work::kReduceScatter, step);
      case NativeKernel::kAllToAll:
        return Collective(Work::kAllToAll, step);
      case NativeKernel::kShared:
        return Collective(Work::kShared, step);
      case NativeKernel::kOther:
      case NativeKernel::kBatchNorm: {
        Operation operation =
            Sized(Work::kUnmeasured, {step.flops, Moved(step)});
        if (!inputs.empty()) operation.dtype = graph_.object(inputs[0]).dtype;
        return operation;
      }
      default:
        break;
    }
    Operation operation = Kernel(step);
    if (kernel == NativeKernel::kCausalMask) operation.call = HostCall::kMask;
    return operation;
  }

  static Operation Sized(Work work, std::initializer_list<Expr> sizes) {
    Operation operation;
    operation.work = work;
    std::copy(sizes.begin(), sizes.end(), operation.sizes.begin());
    return operation;
  }

  Operation Kernel(const Step& step) {
    const auto outputs = graph_.outputs(step);
    Expr largest, least;
    for (ObjectId id : outputs) {
      if (!OwnsStorage(id)) continue;
      const Expr elements = Elements(id);
      largest = largest.valid() ? pool_.Max(largest, elements) : elements;
    }
    if (!largest.valid()) {
      // A view, or a result that is no tensor.
      return outputs.empty() ? Sized(Work::kKernel,
                                     {Read(step), pool_.Zero(), pool_.Zero()})
                             : Sized(Work::kView, {});
    }
    Operation operation;
    for (ObjectId id : graph_.inputs(step)) {
      const Expr elements = Elements(id);
      least = least.valid() ? pool_.Min(least, elements) : elements;
      operation.strided = operation.strided || strided_[Index(id)];
    }
    operation.work = Work::kKernel;
    operation.sizes = {Moved(step), largest, least.valid() ? least : largest};
    if (step.kind == StepKind::kCast) operation.call = HostCall::kCast;
    if (step.kind == StepKind::kConcat) operation.call = HostCall::kJoin;
    return operation;
  }

  Operation Product(const Step& step, NativeKernel kernel) {
    const auto inputs = graph_.inputs(step);
    const ObjectId left = inputs[0],
                   right = inputs.size() > 1 ? inputs[1] : left;
    const bool linear = kernel == NativeKernel::kLinear;
    const Expr k = FromLast(left, 0);
    const Expr n = linear ? FromLast(right, 1) : FromLast(right, 0);
    const auto shape = graph_.shape(left);
    const Expr rows =
        pool_.Product(shape.subspan(0, shape.empty() ? 0 : shape.size() - 1));
    Operation operation =
        Sized(Work::kProduct, {step.flops, Moved(step), rows, n, k});
    operation.dtype = graph_.object(left).dtype;
    operation.batched = !linear && graph_.shape(right).size() > 2;
    operation.transposed = linear && IsPermuted(right);
    return operation;
  }

  // Whether `weight` is a parameter seen through a permutation.
  bool IsPermuted(ObjectId weight) const {
    const StepId producer = graph_.object(weight).producer;
    return producer.valid() && !OwnsStorage(weight) &&
           graph_.step(producer).kind == StepKind::kPermute;
  }

  // Whether `mask` is the square one that causal_mask makes.
  bool IsCausal(ObjectId mask, ObjectId query, ObjectId key) const {
    while (!OwnsStorage(mask)) mask = graph_.object(mask).owner;
    const StepId producer = graph_.object(mask).producer;
    return producer.valid() &&
           runtime::KernelOf(graph_, graph_.step(producer)) ==
               NativeKernel::kCausalMask &&
           FromLast(query, 1) == FromLast(key, 1);
  }

  Operation Attention(const Step& step) {
    const auto inputs = graph_.inputs(step);
    const ObjectId query = inputs[0], key = inputs[1], value = inputs[2];
    Operation operation =
        Sized(Work::kAttention,
              {step.flops, Moved(step), FromLast(query, 1), FromLast(query, 0),
               pool_.Add(read_[Index(key)], read_[Index(value)])});
    if (inputs.size() > 3) {
      operation.mask =
          IsCausal(inputs[3], query, key) ? Mask::kCausal : Mask::kMasked;
    }
    operation.dtype = absl::EndsWith(graph_.text(step.native), "(input dtype)")
                          ? graph_.object(query).dtype
                          : DType::kF32;
    return operation;
  }

  Operation Gather(const Step& step) {
    return Sized(
        Work::kGather,
        {Written(step), graph_.object(graph_.inputs(step)[0]).full_bytes});
  }

  Operation CacheWrite(const Step& step) {
    Operation operation = Sized(
        Work::kCacheWrite, {graph_.object(graph_.inputs(step)[1]).full_bytes});
    operation.write = WriteForm(graph_.text(step.native));
    return operation;
  }

  Operation Loss(const Step& step, NativeKernel kernel) {
    const runtime::StepReader reader(graph_, step, pool_);
    Operation operation = Sized(
        kernel == NativeKernel::kLinearCrossEntropy ? Work::kLoss
                                                    : Work::kTokenLogProbs,
        {reader.Rows(0), runtime::BlocksOfLoss(reader).rows,
         reader.FromLast(1, 1), reader.FromLast(1, 0)});
    operation.dtype = graph_.object(reader.input(0)).dtype;
    return operation;
  }

  // Rows through the experts that are theirs: each weight is read at most once.
  Operation Experts(const Step& step, NativeKernel kernel) {
    const auto inputs = graph_.inputs(step);
    const bool combined = kernel == NativeKernel::kExpertsCombined;
    const ObjectId experts = inputs[inputs.size() - (combined ? 2 : 1)];
    const Expr width = FromLast(inputs[0], 0);
    const Expr made = graph_.outputs(step).empty()
                          ? pool_.One()
                          : FromLast(graph_.outputs(step)[0], 0);
    const Expr flops =
        pool_.Mul(pool_.Mul(pool_.Constant(2), Elements(experts)),
                  pool_.Mul(width, made));
    Operation operation = Sized(Work::kExperts, {flops, Moved(step)});
    operation.dtype = graph_.object(inputs[0]).dtype;
    return operation;
  }

  Operation Collective(Work work, const Step& step) {
    if (settings_.processes == 1) return Sized(Work::kView, {});
    Expr bytes = Written(step);
    if (work == Work::kReduceScatter || work == Work::kShared) {
      bytes = Read(step);
    }
    return Sized(work, {bytes});
  }

  const Graph& graph_;
  const CallSettings& settings_;
  expr::Pool& pool_;
  std::vector<bool> depends_;  // By object: on inputs or members.
  std::vector<bool> strided_;  // By object.
  std::vector<Expr> read_;     // By object: bytes that reading it takes.
  absl::flat_hash_map<ObjectId, std::vector<StepId>> joined_;
  std::vector<Call> calls_;
};

}  // namespace

std::vector<Call> FindCalls(const Graph& graph, const CallSettings& settings,
                            expr::Pool& pool) {
  return Finder(graph, settings, pool).Run();
}

}  // namespace linnet::cost
