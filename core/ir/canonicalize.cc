#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/dtype.h"
#include "core/ir/passes.h"
#include "core/ir/rewriter.h"

namespace linnet::ir {
namespace {

// Whether `value` can be a `const.int` of `type`: in a concrete integer dtype
// it must be in range.
bool IsInRange(const lang::Type& type, int64_t value) {
  if (type.dtype.is_var() || !IsInteger(type.dtype.dtype)) return true;
  const int64_t bits = 8 * DTypeBytes(type.dtype.dtype);
  const bool is_signed = ClassOf(type.dtype.dtype) == DTypeClass::kSigned;
  if (!is_signed && value < 0) return false;
  if (bits == 64) return true;
  const int64_t end = int64_t{1} << (is_signed ? bits - 1 : bits);
  return value < end && value >= (is_signed ? -end : 0);
}

class Canonicalizer {
 public:
  Canonicalizer(const lang::Program& program, Function& function)
      : types_(*program.types),
        function_(function),
        rewriter_(function),
        definition_(static_cast<size_t>(function.value_types.size()), OpId{}) {
    for (int32_t i = 0; i < function.ops.size(); ++i) {
      const Operation& op = function.ops[OpId{i}];
      for (int32_t r = 0; r < op.num_results; ++r) {
        definition_[function.result(op, r)] = OpId{i};
      }
    }
  }

  bool Run() {
    const auto nothing = [] {};
    const auto visit = [this](OpId id) { return Visit(id); };
    for (RegionId region : {function_.body, function_.grad}) {
      if (region.valid()) rewriter_.Walk(region, nothing, visit, nothing);
    }
    return rewriter_.changed();
  }

 private:
  bool Visit(OpId id) {
    Operation& op = function_.ops[id];
    switch (op.kind) {
      case OpKind::kReshape:
      case OpKind::kBroadcast:
      case OpKind::kCast:
        return !ReplaceIfSameType(op);
      case OpKind::kPermute:
        return VisitPermute(op);
      case OpKind::kNeg:
      case OpKind::kNot:
        return VisitInvolution(op);
      case OpKind::kAdd:
      case OpKind::kSub:
      case OpKind::kMul:
        FoldIntegers(op);
        return true;
      default:
        return true;
    }
  }

  ValueId operand(const Operation& op, size_t i) const {
    return function_.operands_of(op)[i];
  }
  // The operation that makes the operand; null for an argument.
  const Operation* Definition(const Operation& op, size_t i) const {
    const OpId id = definition_[operand(op, i)];
    return id.valid() ? &function_.ops[id] : nullptr;
  }
  const lang::Type& ResultType(const Operation& op) const {
    return types_.get(function_.value_types[op.first_result]);
  }

  bool ReplaceIfSameType(const Operation& op) {
    const ValueId from = operand(op, 0);
    if (function_.value_types[from] != function_.value_types[op.first_result]) {
      return false;
    }
    rewriter_.Replace(op.first_result, from);
    return true;
  }

  // Whether the permute stays.
  bool VisitPermute(Operation& op) {
    const Operation* inner = Definition(op, 0);
    if (inner != nullptr && inner->kind == OpKind::kPermute) {
      OpData composed;
      const std::vector<int32_t>& first = function_.data_of(*inner).ints;
      for (int32_t axis : function_.data_of(op).ints) {
        composed.ints.push_back(first[static_cast<size_t>(axis)]);
      }
      SetOperand(op, operand(*inner, 0));
      SetData(op, std::move(composed));
      rewriter_.set_changed();
    }
    const std::vector<int32_t>& axes = function_.data_of(op).ints;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (static_cast<size_t>(axes[i]) != i) return true;
    }
    rewriter_.Replace(op.first_result, operand(op, 0));
    return false;
  }

  // Whether the `neg` or `not` stays.
  bool VisitInvolution(Operation& op) {
    const Operation* inner = Definition(op, 0);
    if (inner == nullptr) return true;
    if (inner->kind == op.kind) {
      rewriter_.Replace(op.first_result, operand(*inner, 0));
      return false;
    }
    if (op.kind == OpKind::kNot) return true;
    if (inner->kind == OpKind::kConstFloat) {
      OpData negated;
      negated.real = -function_.data_of(*inner).real;
      SetData(op, std::move(negated));
      MakeConstant(op, OpKind::kConstFloat, 0);
    } else if (inner->kind == OpKind::kConstInt &&
               inner->integer != std::numeric_limits<int64_t>::min() &&
               IsInRange(ResultType(op), -inner->integer)) {
      MakeConstant(op, OpKind::kConstInt, -inner->integer);
    }
    return true;
  }

  void FoldIntegers(Operation& op) {
    const Operation* left = Definition(op, 0);
    const Operation* right = Definition(op, 1);
    if (left == nullptr || left->kind != OpKind::kConstInt) return;
    if (right == nullptr || right->kind != OpKind::kConstInt) return;
    int64_t result = 0;
    const bool overflow =
        op.kind == OpKind::kAdd
            ? __builtin_add_overflow(left->integer, right->integer, &result)
        : op.kind == OpKind::kSub
            ? __builtin_sub_overflow(left->integer, right->integer, &result)
            : __builtin_mul_overflow(left->integer, right->integer, &result);
    if (overflow || !IsInRange(ResultType(op), result)) return;
    MakeConstant(op, OpKind::kConstInt, result);
  }

  void MakeConstant(Operation& op, OpKind kind, int64_t integer) {
    op.kind = kind;
    op.num_operands = 0;
    op.integer = integer;
    rewriter_.set_changed();
  }
  void SetOperand(const Operation& op, ValueId value) {
    function_.operands[static_cast<size_t>(op.first_operand)] = value;
  }
  // New data: operations may share theirs.
  void SetData(Operation& op, OpData data) {
    op.data = static_cast<int32_t>(function_.data.size());
    function_.data.push_back(std::move(data));
  }

  const lang::TypeTable& types_;
  Function& function_;
  Rewriter rewriter_;
  IdMap<ValueId, OpId> definition_;
};

}  // namespace

bool Canonicalize(const lang::Program& program, Function& function) {
  return Canonicalizer(program, function).Run();
}

}  // namespace linnet::ir
