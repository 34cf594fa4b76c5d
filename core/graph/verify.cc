#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/graph.h"
#include "core/graph/graph_builder.h"

namespace linnet::graph {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph),
        exists_(static_cast<size_t>(graph.num_objects()), false) {}

  absl::Status Run() {
    for (const ObjectId id : graph_.entry_inputs()) {
      LINNET_RETURN_IF_ERROR(InRange(id, "an input"));
      if (graph_.object(id).producer.valid() || graph_.object(id).persistent) {
        return Fault(id, "is an input but not the caller's");
      }
      Set(id);
    }
    for (int32_t i = 0; i < graph_.num_objects(); ++i) {
      LINNET_RETURN_IF_ERROR(CheckObject(ObjectId{i}));
    }
    for (int32_t i = 0; i < graph_.num_steps(); ++i) {
      LINNET_RETURN_IF_ERROR(CheckStep(StepId{i}));
    }
    for (int32_t i = 0; i < graph_.num_objects(); ++i) {
      if (!exists_[static_cast<size_t>(i)]) {
        return Fault(ObjectId{i}, "is made by no step");
      }
    }
    for (const ObjectId id : graph_.results()) {
      LINNET_RETURN_IF_ERROR(InRange(id, "a result"));
    }
    for (const StateWrite& write : graph_.state_writes()) {
      LINNET_RETURN_IF_ERROR(InRange(write.state, "a written state"));
      LINNET_RETURN_IF_ERROR(InRange(write.value, "a written value"));
      if (!graph_.object(graph_.object(write.state).owner).persistent) {
        return Fault(write.state, "is written as a state but not persistent");
      }
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Fault(ObjectId id, absl::string_view what) {
    return absl::InternalError(absl::StrCat("object ", id.index, " ", what));
  }

  absl::Status InRange(ObjectId id, absl::string_view what) const {
    if (id.index >= 0 && id.index < graph_.num_objects()) {
      return absl::OkStatus();
    }
    return absl::InternalError(
        absl::StrCat(what, " is object ", id.index, ", which does not exist"));
  }

  void Set(ObjectId id) { exists_[static_cast<size_t>(id.index)] = true; }

  absl::Status CheckObject(ObjectId id) {
    const Object& object = graph_.object(id);
    LINNET_RETURN_IF_ERROR(InRange(object.owner, "an owner"));
    const Object& owner = graph_.object(object.owner);
    if (owner.owner != object.owner) return Fault(id, "is owned by a view");
    if (object.owner == id) {
      if (object.bytes != object.full_bytes &&
          object.category != Category::kParameters) {
        return Fault(id, "owns other bytes than its shape has");
      }
    } else {
      if (!object.bytes.is_zero()) return Fault(id, "is a view with bytes");
      if (object.persistent) return Fault(id, "is a persistent view");
    }
    if (object.persistent && object.producer.valid()) {
      return Fault(id, "is persistent but made by a step");
    }
    // Persistent storage, and views of it that no step makes (tied weights).
    if (object.persistent || (owner.persistent && !object.producer.valid())) {
      Set(id);
    }
    return absl::OkStatus();
  }

  absl::Status CheckStep(StepId id) {
    for (const ObjectId input : graph_.inputs(id)) {
      LINNET_RETURN_IF_ERROR(InRange(input, "an operand"));
      if (!exists_[static_cast<size_t>(input.index)]) {
        return Fault(input, absl::StrCat("is read by step ", id.index,
                                         " before it is made"));
      }
    }
    for (const ObjectId output : graph_.outputs(id)) {
      LINNET_RETURN_IF_ERROR(InRange(output, "an output"));
      if (exists_[static_cast<size_t>(output.index)]) {
        return Fault(output, absl::StrCat("is made again by step ", id.index));
      }
      if (graph_.object(output).producer != id) {
        return Fault(output, "names another producer than its step");
      }
      Set(output);
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  std::vector<bool> exists_;
};

}  // namespace

absl::Status VerifyGraph(const Graph& graph) { return Verifier(graph).Run(); }

}  // namespace linnet::graph
