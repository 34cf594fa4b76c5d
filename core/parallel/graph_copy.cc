#include "core/parallel/graph_copy.h"

#include <cstdint>

namespace linnet::parallel {

using graph::Object;
using graph::ObjectId;

GraphCopy::GraphCopy(const graph::Graph& from)
    : from_(from),
      pool_(std::make_shared<expr::Pool>(from.shared_pool())),
      builder_(pool_, from.roles()),
      now_(static_cast<size_t>(from.num_objects())) {}

ObjectId GraphCopy::Copy(ObjectId id) { return Copy(id, from_.shape(id)); }

ObjectId GraphCopy::Copy(ObjectId id, absl::Span<const expr::Expr> shape) {
  const Object& object = from_.object(id);
  graph::ObjectSpec spec = graph::SpecOf(from_, id);
  spec.shape = shape;
  if (object.owner != id) {
    spec.view_of = now(object.owner);
  } else if (graph::IsPacked(object)) {
    spec.packed_bytes = object.bytes;
  }
  Set(id, builder_.AddObject(spec));
  return now(id);
}

ObjectId GraphCopy::CopyPacked(ObjectId id, expr::Expr bytes) {
  graph::ObjectSpec spec = graph::SpecOf(from_, id);
  spec.packed_bytes = bytes;
  Set(id, builder_.AddObject(spec));
  return now(id);
}

void GraphCopy::CopyMembersAndInputs() {
  for (int32_t i = 0; i < from_.num_objects(); ++i) {
    const ObjectId id = {i};
    if (!from_.object(id).producer.valid() && !now(id).valid()) Copy(id);
  }
  for (ObjectId id : from_.entry_inputs()) builder_.MarkInput(now(id));
}

void GraphCopy::CopyStep(const graph::Step& step) {
  std::vector<ObjectId> inputs, outputs;
  for (ObjectId id : from_.inputs(step)) inputs.push_back(now(id));
  for (ObjectId id : from_.outputs(step)) {
    outputs.push_back(now(id).valid() ? now(id) : Copy(id));
  }
  builder_.AddStep(graph::SpecOf(from_, step, inputs, outputs));
}

ObjectId GraphCopy::AddStep(graph::StepSpec spec,
                            absl::Span<const expr::Expr> shape, DType dtype) {
  graph::ObjectSpec made;
  made.shape = shape;
  made.dtype = dtype;
  const ObjectId output = builder_.AddObject(made);
  spec.outputs = {&output, 1};
  builder_.AddStep(spec);
  return output;
}

absl::StatusOr<std::shared_ptr<const graph::Graph>> GraphCopy::Build() {
  for (const graph::StateWrite& write : from_.state_writes()) {
    builder_.WriteState(now(write.state), now(write.value));
  }
  return builder_.Build();
}

}  // namespace linnet::parallel
