// Internal to the passes: a walk over a function in execution order that takes
// operations out and has later operands read another value instead.

#ifndef LINNET_CORE_IR_REWRITER_H_
#define LINNET_CORE_IR_REWRITER_H_

#include <cstddef>
#include <vector>

#include "core/ir/ir.h"

namespace linnet::ir {

class Rewriter {
 public:
  explicit Rewriter(Function& function)
      : function_(function),
        replacement_(static_cast<size_t>(function.value_types.size()),
                     ValueId{}) {}

  // Calls visit(op, region) -> bool for every operation of `region` and the
  // regions inside, each after its operands were replaced and before its own
  // regions; an operation for which it returns false is taken out, its regions
  // with it. `enter(region)` comes before, `leave(region)` after each region.
  template <typename Enter, typename Visit, typename Leave>
  void Walk(RegionId region, const Enter& enter, const Visit& visit,
            const Leave& leave) {
    enter();
    std::vector<OpId>& ops = function_.regions[region].ops;
    size_t kept = 0;
    for (const OpId id : ops) {
      Operation& op = function_.ops[id];
      ReplaceOperands(op);
      if (!visit(id)) {
        changed_ = true;
        continue;
      }
      ops[kept++] = id;
      for (int i = 0; i < op.num_regions; ++i) {
        Walk(function_.region(op, i), enter, visit, leave);
      }
    }
    ops.resize(kept);
    leave();
  }

  // From here on `value` reads `by`, which was visited before.
  void Replace(ValueId value, ValueId by) { replacement_[value] = by; }
  void set_changed() { changed_ = true; }
  bool changed() const { return changed_; }

 private:
  void ReplaceOperands(const Operation& op) {
    for (int32_t i = 0; i < op.num_operands; ++i) {
      ValueId& operand =
          function_.operands[static_cast<size_t>(op.first_operand + i)];
      if (replacement_[operand].valid()) operand = replacement_[operand];
    }
  }

  Function& function_;
  IdMap<ValueId, ValueId> replacement_;
  bool changed_ = false;
};

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_REWRITER_H_
