#include "core/parallel/sequence_split.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "core/base/status_macros.h"
#include "core/library/native_kernel.h"
#include "core/parallel/graph_copy.h"
#include "core/runtime/step_reader.h"

namespace linnet::parallel {
namespace {

using expr::Expr;
using graph::Graph;
using graph::ObjectId;
using graph::Step;
using graph::StepId;
using graph::StepKind;
using library::NativeKernel;
using Shape = std::vector<Expr>;

class SequenceSplitter {
 public:
  SequenceSplitter(const Graph& graph, int64_t processes)
      : graph_(graph),
        processes_(processes),
        copy_(graph),
        parts_(static_cast<size_t>(graph.num_objects())) {}

  absl::StatusOr<SplitBySequence> Run() {
    for (const Step& step : graph_.steps()) {
      if (runtime::KernelOf(graph_, step) != NativeKernel::kAllReduce ||
          graph_.outputs(step).empty()) {
        continue;
      }
      const auto shape = graph_.shape(graph_.outputs(step)[0]);
      if (shape.size() >= 2) shapes_.emplace_back(shape.begin(), shape.end());
    }
    if (shapes_.empty()) {
      return absl::InvalidArgumentError(
          "--sequence-parallel turns the all-reduces of a model that is "
          "written for several processes (with a generic `Shards`) into "
          "reduce-scatters, but this entry has none");
    }
    copy_.CopyMembersAndInputs();
    for (const Step& step : graph_.steps()) AddStep(step);
    for (ObjectId id : graph_.results()) copy_.MarkResult(Whole(id));
    for (const graph::StateWrite& write : graph_.state_writes()) {
      Whole(write.value);
    }
    LINNET_ASSIGN_OR_RETURN(made_.graph, copy_.Build());
    return std::move(made_);
  }

 private:
  ObjectId& PartOf(ObjectId id) {
    return parts_[static_cast<size_t>(id.index)];
  }
  bool Scattered(ObjectId id) { return PartOf(id).valid(); }

  bool IsStream(ObjectId id) const {
    if (!id.valid()) return false;
    const auto shape = graph_.shape(id);
    return absl::c_any_of(
        shapes_, [&](const Shape& of) { return absl::c_equal(of, shape); });
  }

  Shape PartShape(ObjectId id) {
    const auto shape = graph_.shape(id);
    Shape part(shape.begin(), shape.end());
    Expr& rows = part[part.size() - 2];
    rows = copy_.pool().CeilDiv(rows, copy_.pool().Constant(processes_));
    return part;
  }

  // Makes `id` whole where it was split; what stands for it then.
  ObjectId Whole(ObjectId id) {
    if (copy_.now(id).valid()) return copy_.now(id);
    const ObjectId part = PartOf(id);
    graph::StepSpec spec;
    spec.label = "all_gather";
    spec.native = "torch.distributed.all_gather";
    spec.scope = scope_;
    spec.inputs = {&part, 1};
    copy_.Set(id,
              copy_.AddStep(spec, graph_.shape(id), graph_.object(id).dtype));
    ++made_.gathers;
    return copy_.now(id);
  }

  // This process's rows of `id`.
  ObjectId Part(ObjectId id) {
    if (Scattered(id)) return PartOf(id);
    const ObjectId whole = copy_.now(id);
    graph::StepSpec spec;
    spec.kind = StepKind::kSlice;
    spec.label = "scatter";
    spec.scope = scope_;
    spec.inputs = {&whole, 1};
    PartOf(id) = copy_.AddStep(spec, PartShape(id), graph_.object(id).dtype);
    ++made_.scattered;
    return PartOf(id);
  }

  void AddStep(const Step& step) {
    scope_ = graph_.text(step.scope);
    const NativeKernel kernel = runtime::KernelOf(graph_, step);
    const auto outputs = graph_.outputs(step);
    const ObjectId first = outputs.empty() ? ObjectId{} : outputs[0];
    if (kernel == NativeKernel::kAllReduce && IsStream(first)) {
      const ObjectId input = Whole(graph_.inputs(step)[0]);
      graph::StepSpec spec;
      spec.label = "reduce_scatter";
      spec.native = "torch.distributed.reduce_scatter";
      spec.scope = scope_;
      spec.inputs = {&input, 1};
      PartOf(first) =
          copy_.AddStep(spec, PartShape(first), graph_.object(first).dtype);
      ++made_.scattered;
      return;
    }
    if (RunsByRow(step, kernel)) return AddByRow(step);
    for (ObjectId id : graph_.inputs(step)) Whole(id);
    copy_.CopyStep(step);
    if (kernel == NativeKernel::kEmbedding && IsStream(first)) {
      Part(first);
      // Those who need all of it gather it again.
      copy_.Set(first, {});
    }
  }

  static bool IsByRow(const Step& step, NativeKernel kernel) {
    switch (graph::ClassOf(step.kind)) {
      case graph::StepClass::kArithmetic:
      case graph::StepClass::kUnary:
      case graph::StepClass::kCast:
        return true;
      case graph::StepClass::kNative:
        break;
      default:
        return false;
    }
    switch (kernel) {
      case NativeKernel::kRmsNorm:
      case NativeKernel::kLayerNorm:
      case NativeKernel::kSigmoid:
      case NativeKernel::kRelu:
      case NativeKernel::kTanh:
      case NativeKernel::kSilu:
      case NativeKernel::kGelu:
        return true;
      default:
        return false;
    }
  }

  // Whether an operand has the rows of `output`, and must be split with it.
  bool HasRows(ObjectId id, ObjectId output) const {
    const auto shape = graph_.shape(id), of = graph_.shape(output);
    return shape.size() >= 2 && shape[shape.size() - 2] == of[of.size() - 2] &&
           !shape[shape.size() - 2].is_one();
  }

  bool RunsByRow(const Step& step, NativeKernel kernel) {
    const auto inputs = graph_.inputs(step);
    if (!IsByRow(step, kernel) || graph_.outputs(step).size() != 1) {
      return false;
    }
    const ObjectId output = graph_.outputs(step)[0];
    if (graph_.object(output).owner != output || !IsStream(output)) {
      return false;
    }
    return absl::c_any_of(inputs, [&](ObjectId id) { return Scattered(id); });
  }

  void AddByRow(const Step& step) {
    const ObjectId output = graph_.outputs(step)[0];
    std::vector<ObjectId> inputs;
    for (ObjectId id : graph_.inputs(step)) {
      inputs.push_back(HasRows(id, output) ? Part(id) : Whole(id));
    }
    graph::StepSpec spec = graph::SpecOf(graph_, step, inputs, {});
    spec.flops =
        copy_.pool().CeilDiv(step.flops, copy_.pool().Constant(processes_));
    PartOf(output) =
        copy_.AddStep(spec, PartShape(output), graph_.object(output).dtype);
    ++made_.scattered;
  }

  const Graph& graph_;
  const int64_t processes_;
  GraphCopy copy_;
  std::vector<ObjectId> parts_;  // By object: this process's rows of it.
  std::vector<Shape> shapes_;    // Of results of all-reduces.
  absl::string_view scope_;      // Of the step that is being added.
  SplitBySequence made_;
};

}  // namespace

absl::StatusOr<SplitBySequence> SplitSequence(const Graph& graph,
                                              int64_t processes) {
  return SequenceSplitter(graph, processes).Run();
}

}  // namespace linnet::parallel
