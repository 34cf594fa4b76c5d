// How often the text of a function uses each value.

#ifndef LINNET_CORE_IR_STATE_USE_H_
#define LINNET_CORE_IR_STATE_USE_H_

#include <cstdint>

#include "core/base/id.h"
#include "core/ir/ir.h"

namespace linnet::ir {

// The operand uses of every value of one function (as Optimize() leaves it),
// terminators and the gradient region included. Counts the text: an operation
// in a loop counts once. A cache write updates a state in place when its first
// operand is the result of a `state.read` with one use (analysis.md section 3).
class UseCounts {
 public:
  explicit UseCounts(const Function& function);

  // REQUIRES: `value` belongs to the function.
  int32_t Of(ValueId value) const { return counts_[value]; }

 private:
  IdMap<ValueId, int32_t> counts_;
};

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_STATE_USE_H_
