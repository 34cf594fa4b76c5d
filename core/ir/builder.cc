#include "core/ir/builder.h"

#include <utility>

namespace linnet::ir {

RegionId Builder::NewRegions(int32_t count) {
  const RegionId first{function_->regions.size()};
  for (int32_t i = 0; i < count; ++i) function_->regions.push_back({});
  return first;
}

ValueId Builder::NewArg(RegionId region, lang::TypeId type) {
  const ValueId arg = function_->value_types.push_back(type);
  function_->regions[region].args.push_back(arg);
  return arg;
}

OpId Builder::Emit(OpKind kind, absl::Span<const ValueId> operands,
                   absl::Span<const lang::TypeId> results, OpExtra extra) {
  Operation op;
  op.kind = kind;
  op.first_operand = static_cast<int32_t>(function_->operands.size());
  op.num_operands = static_cast<int32_t>(operands.size());
  function_->operands.insert(function_->operands.end(), operands.begin(),
                             operands.end());
  op.first_result = ValueId{function_->value_types.size()};
  op.num_results = static_cast<int32_t>(results.size());
  for (lang::TypeId type : results) function_->value_types.push_back(type);
  op.integer = extra.integer;
  op.first_region = extra.first_region;
  op.num_regions = extra.num_regions;
  if (extra.data) {
    op.data = static_cast<int32_t>(function_->data.size());
    function_->data.push_back(std::move(*extra.data));
  }
  const OpId id = function_->ops.push_back(op);
  function_->regions[region_].ops.push_back(id);
  return id;
}

ValueId Builder::EmitOne(OpKind kind, absl::Span<const ValueId> operands,
                         lang::TypeId result, OpExtra extra) {
  const OpId id = Emit(kind, operands, {result}, std::move(extra));
  return function_->ops[id].first_result;
}

}  // namespace linnet::ir
