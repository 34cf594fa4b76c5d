// From a reference in a request to a checked, lowered program: finding the
// files of a model, reading its card and bindings, compiling its sources.

#ifndef LINNET_CORE_PLANNER_MODEL_H_
#define LINNET_CORE_PLANNER_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/ir.h"
#include "core/planner/planner.h"
#include "core/zoo/card.h"

namespace linnet::planner {

struct Model {
  std::string name;  // Of a built-in one, else from its card or root file.
  bool has_card = false;
  zoo::Card card;  // Defaults without a card.
  zoo::Bindings bindings;
  // Of an import: the bytes that its weights take as stored, when its headers
  // tell, and what a report must say about it.
  bool imported = false;
  std::optional<int64_t> weight_bytes;
  std::vector<std::string> notes;
  std::shared_ptr<const ir::Program> program;  // Lowered and optimized.
};

// Loads and compiles; fails as Prepare() does.
absl::StatusOr<Model> LoadModel(const ModelRef& ref, const Limits& limits);

// InvalidArgument when `config` leaves out the weight bindings of an import.
absl::Status CheckBindings(const Model& model, const Config& config);

// What every bundle must satisfy: CheckPaths(), and the limits on its files
// (ResourceExhausted with kLimitPayload).
absl::Status CheckBundle(const std::vector<SourceFile>& files,
                         const Limits& limits);

// InvalidArgument, naming the path, when a file of a bundle has a path that is
// empty, absolute, leaves the bundle, is not plain text or comes twice (also
// when only the case of its letters differs).
absl::Status CheckPaths(const std::vector<SourceFile>& files);

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_MODEL_H_
