#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/ir/passes.h"

namespace linnet::ir {
namespace {

class DeadCode {
 public:
  DeadCode(const lang::Program& program, Function& function)
      : program_(program),
        function_(function),
        used_(static_cast<size_t>(function.value_types.size()), false),
        has_effect_(static_cast<size_t>(function.ops.size()), false) {}

  bool Run() {
    for (RegionId region : {function_.body, function_.grad}) {
      if (!region.valid()) continue;
      FindEffects(region);
      Sweep(region);
    }
    return changed_;
  }

 private:
  bool IsEffect(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kStateWrite:
      case OpKind::kWhile:
        return true;
      case OpKind::kCall:
      case OpKind::kSemanticCall:
        return program_.functions[function_.data_of(op).callee].writes_state;
      default:
        return false;
    }
  }

  // Marks the operations to keep for what they do. Returns whether there is one
  // in the region.
  bool FindEffects(RegionId region) {
    bool any = false;
    for (OpId id : function_.regions[region].ops) {
      const Operation& op = function_.ops[id];
      bool effect = IsEffect(op);
      for (int i = 0; i < op.num_regions; ++i) {
        effect |= FindEffects(function_.region(op, i));
      }
      has_effect_[id] = effect;
      any |= effect;
    }
    return any;
  }

  // Uses come after definitions, so one walk backwards sees every use of a
  // result before the operation that makes it.
  void Sweep(RegionId region) {
    std::vector<OpId>& ops = function_.regions[region].ops;
    size_t kept = ops.size();
    for (size_t i = ops.size(); i-- > 0;) {
      const Operation& op = function_.ops[ops[i]];
      if (!IsLive(ops[i])) {
        changed_ = true;
        continue;
      }
      ops[--kept] = ops[i];
      for (ValueId operand : function_.operands_of(op)) used_[operand] = true;
      for (int r = op.num_regions; r-- > 0;) Sweep(function_.region(op, r));
    }
    ops.erase(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(kept));
  }

  bool IsLive(OpId id) const {
    const Operation& op = function_.ops[id];
    if (op.kind == OpKind::kReturn || op.kind == OpKind::kYield) return true;
    if (has_effect_[id]) return true;
    for (int32_t i = 0; i < op.num_results; ++i) {
      if (used_[function_.result(op, i)]) return true;
    }
    return false;
  }

  const lang::Program& program_;
  Function& function_;
  IdMap<ValueId, char> used_;
  IdMap<OpId, char> has_effect_;
  bool changed_ = false;
};

}  // namespace

bool RemoveDead(const lang::Program& program, Function& function) {
  return DeadCode(program, function).Run();
}

}  // namespace linnet::ir
