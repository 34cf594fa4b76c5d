#include "core/ir/state_use.h"

#include <cstddef>

namespace linnet::ir {

UseCounts::UseCounts(const Function& function)
    : counts_(static_cast<size_t>(function.value_types.size()), 0) {
  for (const Region& region : function.regions) {
    for (OpId id : region.ops) {
      for (ValueId operand : function.operands_of(function.ops[id])) {
        ++counts_[operand];
      }
    }
  }
}

}  // namespace linnet::ir
