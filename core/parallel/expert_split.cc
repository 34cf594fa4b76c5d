#include "core/parallel/expert_split.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/library/native_kernel.h"
#include "core/parallel/graph_copy.h"
#include "core/runtime/step_reader.h"

namespace linnet::parallel {
namespace {

using expr::Expr;
using graph::Graph;
using graph::Object;
using graph::ObjectId;
using graph::Step;
using graph::StepKind;
using library::NativeKernel;
using Shape = std::vector<Expr>;

constexpr absl::string_view kExchange = "torch.distributed.all_to_all";

absl::string_view BlockOf(absl::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == absl::string_view::npos ? "" : path.substr(0, dot);
}

std::string DivisorsText(int64_t experts) {
  std::vector<int64_t> divisors;
  for (int64_t d = 2; d <= experts && divisors.size() < 5; ++d) {
    if (experts % d == 0) divisors.push_back(d);
  }
  std::string text;
  for (size_t i = 0; i < divisors.size(); ++i) {
    if (i > 0) text += i + 1 == divisors.size() ? " and " : ", ";
    absl::StrAppend(&text, divisors[i]);
  }
  return absl::StrCat(text, divisors.size() == 1 ? " does" : " do");
}

// The operands of a product of experts.
struct Product {
  NativeKernel kernel = NativeKernel::kOther;
  ObjectId rows, experts, weights;  // The last where results are summed.
  std::vector<ObjectId> parameters;
};

class ExpertSplitter {
 public:
  ExpertSplitter(const Graph& graph, int64_t processes)
      : graph_(graph),
        processes_(processes),
        copy_(graph),
        there_(static_cast<size_t>(graph.num_objects())) {}

  absl::StatusOr<SplitByExpert> Run() {
    LINNET_RETURN_IF_ERROR(FindExperts());
    for (int32_t i = 0; i < graph_.num_objects(); ++i) Split(ObjectId{i});
    copy_.CopyMembersAndInputs();
    for (const Step& step : graph_.steps()) AddStep(step);
    for (ObjectId id : graph_.results()) copy_.MarkResult(copy_.now(id));
    LINNET_ASSIGN_OR_RETURN(made_.graph, copy_.Build());
    return std::move(made_);
  }

 private:
  // Operands come as the ops of std.nn.moe and std.quant declare them: rows,
  // the parameters of the weight, the experts of each row, factors of the sum.
  Product Read(const Step& step) const {
    Product product;
    product.kernel = runtime::KernelOf(graph_, step);
    if (product.kernel != NativeKernel::kExperts &&
        product.kernel != NativeKernel::kExpertsShared &&
        product.kernel != NativeKernel::kExpertsCombined) {
      return product;
    }
    const auto inputs = graph_.inputs(step);
    if (inputs.size() < 3 || graph_.outputs(step).size() != 1) return product;
    size_t after = inputs.size();
    if (product.kernel == NativeKernel::kExpertsCombined) {
      product.weights = inputs[--after];
    }
    product.rows = inputs[0];
    product.experts = inputs[--after];
    for (size_t i = 1; i < after; ++i) {
      if (graph_.object(graph_.object(inputs[i]).owner).category ==
          graph::Category::kParameters) {
        product.parameters.push_back(inputs[i]);
      }
    }
    return product;
  }

  absl::Status FindExperts() {
    for (const Step& step : graph_.steps()) {
      for (ObjectId id : Read(step).parameters) {
        const auto shape = graph_.shape(id);
        if (shape.empty() || !shape[0].is_constant()) continue;
        const int64_t experts = shape[0].constant();
        if (experts % processes_ != 0) {
          return absl::InvalidArgumentError(absl::StrCat(
              "the ", experts, " experts of `",
              BlockOf(graph_.text(graph_.object(id).path)),
              "` do not divide over ", processes_,
              " processes (--expert-parallel); ", DivisorsText(experts)));
        }
        experts_[BlockOf(graph_.text(graph_.object(id).path))] = experts;
      }
    }
    if (!experts_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--expert-parallel splits the experts of a mixture, but this entry "
        "runs no product of experts; leave it out, or with exact numerics use "
        "--numerics fast");
  }

  void Split(ObjectId id) {
    const Object& object = graph_.object(id);
    const auto shape = graph_.shape(id);
    if (object.category != graph::Category::kParameters ||
        object.producer.valid() || shape.size() < 2) {
      return;
    }
    const auto it = experts_.find(BlockOf(graph_.text(object.path)));
    if (it == experts_.end() || !shape[0].is_constant() ||
        shape[0].constant() != it->second) {
      return;
    }
    Shape part(shape.begin(), shape.end());
    part[0] = copy_.pool().Constant(it->second / processes_);
    copy_.Copy(id, part);
    ++made_.split_weights;
  }

  void AddStep(const Step& step) {
    scope_ = graph_.text(step.scope);
    const Product product = Read(step);
    if (product.parameters.empty()) {
      copy_.CopyStep(step);
      // What is made of rows at their experts is there too.
      for (ObjectId input : graph_.inputs(step)) {
        if (!There(input)) continue;
        for (ObjectId output : graph_.outputs(step)) There(output) = true;
      }
      return;
    }
    const ObjectId rows = copy_.now(product.rows);
    if (!There(product.rows)) copy_.Set(product.rows, Dispatched(product));
    if (product.kernel == NativeKernel::kExpertsCombined) {
      AddCombined(step, product);
    } else {
      copy_.CopyStep(step);
      There(graph_.outputs(step)[0]) = true;
    }
    // Others read the rows where they were.
    if (!There(product.rows)) copy_.Set(product.rows, rows);
  }

  std::vector<bool>::reference There(ObjectId id) {
    return there_[static_cast<size_t>(id.index)];
  }

  // [R, K] of the experts with one more axis.
  Shape ByExpert(ObjectId experts, Expr width) {
    const auto shape = graph_.shape(experts);
    Shape by_expert(shape.begin(), shape.end());
    by_expert.push_back(width);
    return by_expert;
  }

  // Rows that were sent here, in place of those of `product`.
  ObjectId Dispatched(const Product& product) {
    ObjectId& received = dispatched_[{product.rows, product.experts}];
    if (received.valid()) return received;
    const Object& rows = graph_.object(product.rows);
    const Shape shape =
        ByExpert(product.experts, graph_.shape(product.rows).back());
    const ObjectId inputs[] = {copy_.now(product.rows),
                               copy_.now(product.experts)};
    graph::StepSpec spec;
    spec.kind = StepKind::kConcat;
    spec.label = "rows by expert";
    spec.scope = scope_;
    spec.inputs = inputs;
    const ObjectId sent = copy_.AddStep(spec, shape, rows.dtype);
    received = Exchanged(sent, shape, rows.dtype);
    return received;
  }

  ObjectId Exchanged(ObjectId sent, const Shape& shape, DType dtype) {
    graph::StepSpec spec;
    spec.label = "all_to_all";
    spec.native = kExchange;
    spec.scope = scope_;
    spec.inputs = {&sent, 1};
    ++made_.exchanges;
    return copy_.AddStep(spec, shape, dtype);
  }

  // The products where the experts are, their results exchanged back, and the
  // sum by row.
  void AddCombined(const Step& step, const Product& product) {
    const ObjectId output = graph_.outputs(step)[0];
    const DType dtype = graph_.object(output).dtype;
    const Shape shape = ByExpert(product.experts, graph_.shape(output).back());
    std::vector<ObjectId> inputs = {copy_.now(product.rows)};
    for (ObjectId id : product.parameters) inputs.push_back(copy_.now(id));
    inputs.push_back(copy_.now(product.experts));
    graph::StepSpec spec = graph::SpecOf(graph_, step, inputs, {});
    spec.native = graph_.text(step.native) == "linnet.mxfp4_grouped(combine)"
                      ? "linnet.mxfp4_experts"
                      : "torch._grouped_mm";
    const ObjectId made = copy_.AddStep(spec, shape, dtype);
    const ObjectId back[] = {Exchanged(made, shape, dtype),
                             copy_.now(product.weights)};
    graph::StepSpec sum;
    sum.kind = StepKind::kComprehension;
    sum.label = "sum by row";
    sum.scope = scope_;
    sum.inputs = back;
    copy_.Set(output, copy_.AddStep(sum, graph_.shape(output), dtype));
  }

  const Graph& graph_;
  const int64_t processes_;
  GraphCopy copy_;
  absl::flat_hash_map<absl::string_view, int64_t> experts_;  // By block.
  std::vector<bool> there_;  // By object: whether rows are at their experts.
  absl::flat_hash_map<std::pair<ObjectId, ObjectId>, ObjectId> dispatched_;
  absl::string_view scope_;
  SplitByExpert made_;
};

}  // namespace

absl::StatusOr<SplitByExpert> SplitExperts(const Graph& graph,
                                           int64_t processes) {
  return ExpertSplitter(graph, processes).Run();
}

}  // namespace linnet::parallel
