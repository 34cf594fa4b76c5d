#include "core/ir/lower.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/ir/lower_function.h"
#include "core/ir/passes.h"

namespace linnet::ir {

absl::StatusOr<std::shared_ptr<const Program>> Lower(
    std::shared_ptr<const lang::Program> source, const LowerOptions& options) {
  auto program = std::make_shared<Program>();
  program->source = source;
  program->functions.reserve(source->functions.items().size());
  LowerBudget budget;
  budget.ops_left = options.max_ops;
  budget.max_depth = options.max_depth;
  for (int32_t i = 0; i < source->functions.size(); ++i) {
    const lang::FunctionId id{i};
    Function function = FunctionLowering(*source, id, &budget).Run();
    if (budget.ops_left < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the program has more than ", options.max_ops,
                       " operations once its constants are put in, at `",
                       source->functions[id].qualified_name, "`"));
    }
    if (budget.depth_exceeded) {
      return absl::ResourceExhaustedError(
          absl::StrCat("expressions nest more than ", options.max_depth,
                       " deep through constants, in `",
                       source->functions[id].qualified_name, "`"));
    }
    if (options.optimize) Optimize(*source, function);
    program->functions.push_back(std::move(function));
  }
  return program;
}

}  // namespace linnet::ir
