#include "core/graph/graph_builder.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/graph/graph.h"

namespace linnet::graph {

GraphBuilder::GraphBuilder(std::shared_ptr<expr::Pool> pool,
                           absl::Span<const expr::SymbolId> roles)
    : pool_(std::move(pool)), graph_(new Graph()) {
  graph_->pool_ = pool_;
  graph_->roles_.assign(roles.begin(), roles.end());
}

StringId GraphBuilder::InternText(absl::string_view text) {
  if (text.empty()) return {};
  if (const auto it = strings_.find(text); it != strings_.end()) {
    return it->second;
  }
  const StringId id{static_cast<int32_t>(graph_->string_ends_.size())};
  strings_.emplace(text, id);
  graph_->characters_.append(text.data(), text.size());
  LINNET_CHECK(graph_->characters_.size() <= UINT32_MAX)
      << "names come from bounded input";
  graph_->string_ends_.push_back(
      static_cast<uint32_t>(graph_->characters_.size()));
  return id;
}

ObjectSpec SpecOf(const Graph& graph, ObjectId id) {
  const Object& object = graph.object(id);
  ObjectSpec spec;
  spec.name = graph.text(object.name);
  spec.path = graph.text(object.path);
  spec.category = object.category;
  spec.shape = graph.shape(object);
  spec.dtype = object.dtype;
  spec.persistent = object.persistent;
  return spec;
}

StepSpec SpecOf(const Graph& graph, const Step& step,
                absl::Span<const ObjectId> inputs,
                absl::Span<const ObjectId> outputs) {
  return {step.kind, graph.text(step.label), inputs,
          outputs,   graph.text(step.scope), graph.text(step.native),
          step.flops};
}

ObjectId GraphBuilder::AddObject(const ObjectSpec& spec) {
  LINNET_CHECK(spec.shape.size() <= UINT16_MAX) << "ranks are bounded";
  const ObjectId id = {graph_->num_objects()};
  Object object;
  object.name = InternText(spec.name);
  object.path = InternText(spec.path);
  object.shape_begin = static_cast<int32_t>(graph_->shapes_.size());
  object.rank = static_cast<uint16_t>(spec.shape.size());
  object.category = spec.category;
  object.dtype = spec.dtype;
  object.persistent = spec.persistent;
  object.full_bytes = pool_->Mul(pool_->Product(spec.shape),
                                 pool_->Constant(DTypeBytes(spec.dtype)));
  object.bytes =
      spec.packed_bytes.valid() ? spec.packed_bytes : object.full_bytes;
  object.owner = id;
  if (spec.view_of.valid()) {
    const Object& source = graph_->objects_[spec.view_of];
    object.owner = source.owner;
    object.category = graph_->objects_[source.owner].category;
    object.bytes = pool_->Zero();
    object.persistent = false;
  }
  graph_->shapes_.insert(graph_->shapes_.end(), spec.shape.begin(),
                         spec.shape.end());
  graph_->objects_.push_back(object);
  return id;
}

StepId GraphBuilder::AddStep(const StepSpec& spec) {
  const StepId id = {graph_->num_steps()};
  Step step;
  step.kind = spec.kind;
  step.label = InternText(spec.label);
  step.scope = InternText(spec.scope);
  step.native = InternText(spec.native);
  step.flops =
      spec.flops.error() == expr::Error::kUnset ? pool_->Zero() : spec.flops;
  step.uses_begin = static_cast<int32_t>(graph_->uses_.size());
  for (const ObjectId input : spec.inputs) {
    bool repeated = false;
    for (size_t i = static_cast<size_t>(step.uses_begin);
         i < graph_->uses_.size(); ++i) {
      repeated = repeated || graph_->uses_[i] == input;
    }
    if (!repeated) graph_->uses_.push_back(input);
  }
  step.num_inputs =
      static_cast<int32_t>(graph_->uses_.size()) - step.uses_begin;
  step.num_outputs = static_cast<int32_t>(spec.outputs.size());
  for (const ObjectId output : spec.outputs) {
    Object& object = graph_->objects_[output];
    LINNET_CHECK(!object.producer.valid() && !object.persistent)
        << "the tracer makes a new object for each result";
    object.producer = id;
    graph_->uses_.push_back(output);
  }
  graph_->steps_.push_back(step);
  return id;
}

void GraphBuilder::MarkInput(ObjectId id) {
  Object& object = graph_->objects_[id];
  LINNET_CHECK(object.owner == id && !object.persistent &&
               !object.producer.valid())
      << "an entry's input is storage of the caller";
  object.category = Category::kInputs;
  graph_->entry_inputs_.push_back(id);
}

void GraphBuilder::MarkResult(ObjectId id) { graph_->results_.push_back(id); }

void GraphBuilder::WriteState(ObjectId state, ObjectId value) {
  if (owner(state) == owner(value)) return;
  graph_->state_writes_.push_back({state, value});
}

absl::Status GraphBuilder::CheckSize(expr::Expr e,
                                     absl::string_view what) const {
  if (!e.valid()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", expr::ErrorText(e.error())));
  }
  for (const expr::SymbolId symbol : expr::SymbolsOf(e)) {
    bool known = false;
    for (const expr::SymbolId role : graph_->roles_) {
      known = known || role == symbol;
    }
    if (!known) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " depends on `", pool_->name(symbol), "`, which has no value"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Graph>> GraphBuilder::Build() {
  // Sizes repeat, so each distinct one is checked once.
  absl::flat_hash_map<expr::Expr, bool> checked;
  for (const Object& object : graph_->objects_) {
    if (!checked.try_emplace(object.full_bytes, true).second) continue;
    LINNET_RETURN_IF_ERROR(CheckSize(
        object.full_bytes,
        absl::StrCat(
            "the size of `",
            graph_->text(object.path.valid() ? object.path : object.name),
            "`")));
  }
  for (int32_t i = 0; i < graph_->num_steps(); ++i) {
    const Step& step = graph_->step(StepId{i});
    if (!checked.try_emplace(step.flops, true).second) continue;
    LINNET_RETURN_IF_ERROR(
        CheckSize(step.flops, absl::StrCat("the work of step ", i, " (`",
                                           graph_->text(step.label), "`)")));
  }
  strings_ = {};
  pool_->ReleaseMemo();
  graph_->objects_.items().shrink_to_fit();
  graph_->steps_.items().shrink_to_fit();
  graph_->uses_.shrink_to_fit();
  graph_->shapes_.shrink_to_fit();
  graph_->characters_.shrink_to_fit();
  graph_->string_ends_.shrink_to_fit();
  pool_ = nullptr;
  return std::shared_ptr<const Graph>(std::move(graph_));
}

}  // namespace linnet::graph
