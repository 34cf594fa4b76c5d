// What concerns the whole program: recursion, state flags, warnings.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

// A depth-first walk over the calls; a call of a function that is still open
// closes a cycle. Flags flow from callees to callers when these are done.
void Checker::CheckRecursion() {
  const auto count = static_cast<size_t>(program_.functions.size());
  IdMap<FunctionId, Stage> stages(count, Stage::kNew);
  for (FunctionId root{0}; root.index < program_.functions.size();
       ++root.index) {
    if (stages[root] != Stage::kNew) continue;
    std::vector<std::pair<FunctionId, size_t>> stack = {{root, 0}};
    stages[root] = Stage::kOpen;
    while (!stack.empty()) {
      const FunctionId caller = stack.back().first;
      const size_t next = stack.back().second++;
      const FunctionState& state = functions_[caller];
      Function& function = program_.functions[caller];
      if (next == state.callees.size()) {
        for (const FunctionId callee : state.callees) {
          function.reads_state |= program_.functions[callee].reads_state;
          function.writes_state |= program_.functions[callee].writes_state;
        }
        stages[caller] = Stage::kDone;
        stack.pop_back();
        continue;
      }
      const FunctionId callee = state.callees[next];
      if (stages[callee] == Stage::kNew) {
        stages[callee] = Stage::kOpen;
        stack.emplace_back(callee, 0);
      } else if (stages[callee] == Stage::kOpen) {
        Error(Code::kE2119, state.call_spans[next],
              absl::StrCat("this call makes ",
                           Quote(program_.functions[callee].name),
                           " call itself"))
            .Relate(program_.functions[callee].span, "declared here")
            .Help("repeat with `for` or `while` instead");
      }
    }
  }
}

void Checker::Warn() {
  for (ModuleId id{0}; id.index < scopes_.size(); ++id.index) {
    const ModuleScope& scope = scopes_[id];
    if (scope.is_standard) continue;
    for (const ImportEntry& entry : scope.imports) {
      if (entry.used) continue;
      Error(Code::kW1001, entry.span,
            absl::StrCat("the import ", Quote(entry.name), " is never used"));
    }
  }
  for (BlockId id{0}; id.index < program_.blocks.size(); ++id.index) {
    const Block& block = program_.blocks[id];
    if (scopes_[block.module].is_standard) continue;
    for (size_t i = 0; i < block.members.size(); ++i) {
      const Member& member = block.members[i];
      if (blocks_[id].used[i] || names_.text(member.name)[0] == '_') continue;
      Error(Code::kW1003, member.span,
            absl::StrCat("the member ", Quote(member.name),
                         " is never used by its block"));
    }
  }
}

}  // namespace linnet::lang
