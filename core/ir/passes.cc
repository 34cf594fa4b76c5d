#include "core/ir/passes.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace linnet::ir {
namespace {

// Moves what the regions of `from` list into a fresh function.
class Compactor {
 public:
  explicit Compactor(Function& from)
      : from_(from),
        values_(static_cast<size_t>(from.value_types.size()), ValueId{}) {
    to_.id = from.id;
    to_.value_types.reserve(from.value_types.items().size());
    to_.operands.reserve(from.operands.size());
  }

  Function Run() {
    if (from_.body.valid()) to_.body = CopyRegions(from_.body, 1);
    if (from_.grad.valid()) to_.grad = CopyRegions(from_.grad, 1);
    return std::move(to_);
  }

 private:
  // Recursion: regions nest no deeper than the source.
  RegionId CopyRegions(RegionId first, int32_t count) {
    const RegionId copy{to_.regions.size()};
    for (int32_t i = 0; i < count; ++i) to_.regions.push_back({});
    for (int32_t i = 0; i < count; ++i) {
      const Region& region = from_.regions[RegionId{first.index + i}];
      Region result;
      result.args.reserve(region.args.size());
      for (ValueId arg : region.args) result.args.push_back(Define(arg));
      result.ops.reserve(region.ops.size());
      for (OpId op : region.ops) result.ops.push_back(CopyOp(from_.ops[op]));
      to_.regions[RegionId{copy.index + i}] = std::move(result);
    }
    return copy;
  }

  OpId CopyOp(Operation op) {
    const auto operands = from_.operands_of(op);
    op.first_operand = static_cast<int32_t>(to_.operands.size());
    for (ValueId operand : operands) {
      to_.operands.push_back(values_[operand]);
    }
    const ValueId first_result{to_.value_types.size()};
    for (int32_t i = 0; i < op.num_results; ++i) Define(from_.result(op, i));
    op.first_result = first_result;
    if (op.data >= 0) {
      to_.data.push_back(std::move(from_.data[static_cast<size_t>(op.data)]));
      op.data = static_cast<int32_t>(to_.data.size()) - 1;
    }
    const OpId id = to_.ops.push_back(op);
    if (op.num_regions > 0) {
      // The vector may move meanwhile.
      const RegionId regions = CopyRegions(op.first_region, op.num_regions);
      to_.ops[id].first_region = regions;
    }
    return id;
  }

  ValueId Define(ValueId value) {
    return values_[value] = to_.value_types.push_back(from_.value_types[value]);
  }

  Function& from_;
  Function to_;
  IdMap<ValueId, ValueId> values_;
};

}  // namespace

void Compact(Function& function) { function = Compactor(function).Run(); }

void Optimize(const lang::Program& program, Function& function) {
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = Canonicalize(program, function);
    changed |= MergeCommon(program, function);
    changed |= RemoveDead(program, function);
    if (!changed) break;
  }
  Compact(function);
}

}  // namespace linnet::ir
