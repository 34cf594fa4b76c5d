#include "core/graph/graph.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace linnet::graph {
namespace {

// Names the objects of one graph: transient ones by their number, persistent
// ones by their path.
std::string Label(const Graph& graph, ObjectId id) {
  const Object& object = graph.object(id);
  const absl::string_view path = graph.text(object.path);
  return path.empty() ? absl::StrCat("%", id.index) : std::string(path);
}

std::string LabelList(const Graph& graph, absl::Span<const ObjectId> ids) {
  return absl::StrJoin(ids, ", ", [&](std::string* out, ObjectId id) {
    absl::StrAppend(out, Label(graph, id));
  });
}

std::string Declaration(const Graph& graph, ObjectId id) {
  const Object& object = graph.object(id);
  std::string text =
      absl::StrCat(Label(graph, id), ": ", DTypeName(object.dtype), "[");
  absl::StrAppend(&text,
                  absl::StrJoin(graph.shape(id), ", ",
                                [](std::string* out, expr::Expr dim) {
                                  absl::StrAppend(out, dim.ToString());
                                }),
                  "]");
  if (object.owner != id) {
    absl::StrAppend(&text, " in ", Label(graph, object.owner));
  }
  return text;
}

std::string StepLine(const Graph& graph, int32_t index, const Step& step) {
  std::string line = absl::StrCat(index, " ", StepKindName(step.kind));
  const absl::string_view label = graph.text(step.label);
  if (label != StepKindName(step.kind)) absl::StrAppend(&line, " ", label);
  absl::StrAppend(&line, "(", LabelList(graph, graph.inputs(step)), ")");
  absl::string_view separator = " -> ";
  for (const ObjectId id : graph.outputs(step)) {
    absl::StrAppend(&line, separator, Declaration(graph, id));
    separator = ", ";
  }
  const absl::string_view native = graph.text(step.native);
  if (!native.empty()) absl::StrAppend(&line, " by ", native);
  if (!step.flops.is_zero()) {
    absl::StrAppend(&line, " flops ", step.flops.ToString());
  }
  const absl::string_view scope = graph.text(step.scope);
  if (!scope.empty()) absl::StrAppend(&line, " @ ", scope);
  return line;
}

template <typename T>
size_t VectorBytes(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

absl::string_view Graph::text(StringId id) const {
  if (!id.valid()) return {};
  const auto index = static_cast<size_t>(id.index);
  const size_t begin = index == 0 ? 0 : string_ends_[index - 1];
  return absl::string_view(characters_)
      .substr(begin, string_ends_[index] - begin);
}

size_t Graph::ByteSize() const {
  return sizeof(*this) + pool_->ByteSize() + VectorBytes(objects_.items()) +
         VectorBytes(steps_.items()) + VectorBytes(uses_) +
         VectorBytes(shapes_) + VectorBytes(entry_inputs_) +
         VectorBytes(results_) + VectorBytes(state_writes_) +
         VectorBytes(roles_) + characters_.capacity() +
         VectorBytes(string_ends_);
}

std::string Graph::Text() const {
  std::string text;
  for (const ObjectId id : entry_inputs_) {
    absl::StrAppend(&text, "input ", Declaration(*this, id), "\n");
  }
  for (int32_t i = 0; i < num_steps(); ++i) {
    absl::StrAppend(&text, StepLine(*this, i, step(StepId{i})), "\n");
  }
  for (const StateWrite& write : state_writes_) {
    absl::StrAppend(&text, "write ", Label(*this, write.state), " = ",
                    Label(*this, write.value), "\n");
  }
  for (const ObjectId id : results_) {
    absl::StrAppend(&text, "result ", Label(*this, id), "\n");
  }
  return text;
}

}  // namespace linnet::graph
