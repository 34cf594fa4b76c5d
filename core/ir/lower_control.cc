// Branches and reductions.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/ir/lower_function.h"

namespace linnet::ir {

using lang::ExprId;
using lang::TypeId;

namespace {

ReduceKind ReduceKindOf(lang::ReductionKind kind) {
  switch (kind) {
    case lang::ReductionKind::kSum:
      return ReduceKind::kSum;
    case lang::ReductionKind::kProd:
      return ReduceKind::kProd;
    case lang::ReductionKind::kMax:
      return ReduceKind::kMax;
    case lang::ReductionKind::kMin:
      return ReduceKind::kMin;
    case lang::ReductionKind::kAny:
      return ReduceKind::kAny;
    case lang::ReductionKind::kAll:
      return ReduceKind::kAll;
  }
  return ReduceKind::kSum;
}

}  // namespace

ValueId FunctionLowering::LowerIf(const lang::IfExpr& branch, TypeId type) {
  const ValueId condition = Lower(branch.condition);
  OpExtra extra;
  extra.num_regions = 2;
  extra.first_region = builder_.NewRegions(2);
  RegionId region = extra.first_region;
  for (ExprId value : {branch.then_value, branch.else_value}) {
    InRegion(region, [&] {
      const ValueId result = Lower(value, type);
      EmitPlain(OpKind::kYield, {result});
    });
    region = RegionId{region.index + 1};
  }
  return Emit(OpKind::kIf, {condition}, type, std::move(extra));
}

ValueId FunctionLowering::LowerMatch(ExprId id, TypeId type) {
  const lang::MatchExpr& match = tree().as<lang::MatchExpr>(id);
  const lang::MatchInfo& arms =
      module().matches[static_cast<size_t>(info(id).detail)];
  const ValueId subject = Lower(match.scrutinee);
  return arms.is_enum ? LowerEnumMatch(match, arms, subject, type)
                      : LowerOptionMatch(match, arms, subject, type);
}

ValueId FunctionLowering::LowerOptionMatch(const lang::MatchExpr& match,
                                           const lang::MatchInfo& arms,
                                           ValueId subject, TypeId type) {
  const auto nodes = tree().list(match.arms);
  OpExtra extra;
  extra.num_regions = 2;
  extra.first_region = builder_.NewRegions(2);
  for (int32_t which : {0, 1}) {  // some, none
    const RegionId region{extra.first_region.index + which};
    ValueId inside;
    if (which == 0) {
      inside = builder_.NewArg(region, TypeOf(subject).elements[0]);
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (arms.arms[i] != which && arms.arms[i] >= 0) continue;
      InRegion(region, [&] {
        if (arms.arms[i] < 0) {
          if (arms.bound[i].valid()) locals_[arms.bound[i]] = subject;
        } else if (which == 0) {
          BindPattern(nodes[i].pattern, inside);
        }
        const ValueId value = Lower(nodes[i].value, type);
        EmitPlain(OpKind::kYield, {value});
      });
      break;
    }
  }
  return Emit(OpKind::kOptionMatch, {subject}, type, std::move(extra));
}

ValueId FunctionLowering::LowerEnumMatch(const lang::MatchExpr& match,
                                         const lang::MatchInfo& arms,
                                         ValueId subject, TypeId type) {
  const auto nodes = tree().list(match.arms);
  OpExtra extra;
  extra.num_regions = static_cast<int32_t>(nodes.size());
  extra.first_region = builder_.NewRegions(extra.num_regions);
  extra.data.emplace();
  extra.data->ints = arms.arms;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const RegionId region{extra.first_region.index + static_cast<int32_t>(i)};
    InRegion(region, [&] {
      if (arms.bound[i].valid()) locals_[arms.bound[i]] = subject;
      const ValueId value = Lower(nodes[i].value, type);
      EmitPlain(OpKind::kYield, {value});
    });
  }
  return Emit(OpKind::kEnumMatch, {subject}, type, std::move(extra));
}

ValueId FunctionLowering::LowerReduction(ExprId id, TypeId type) {
  const lang::ReductionExpr& reduction = tree().as<lang::ReductionExpr>(id);
  const lang::ReductionInfo& found =
      module().reductions[static_cast<size_t>(info(id).detail)];
  OpExtra extra;
  extra.integer = static_cast<int64_t>(ReduceKindOf(reduction.op));
  extra.num_regions = 1;
  extra.first_region = builder_.NewRegions(1);
  extra.data.emplace();
  extra.data->annotated = reduction.type.valid();
  for (size_t i = 0; i < found.indices.size(); ++i) {
    extra.data->domains.push_back({found.domains[i]});
    extra.data->is_pack.push_back(false);
    locals_[found.indices[i]] = builder_.NewArg(extra.first_region, i64_);
  }
  InRegion(extra.first_region, [&] {
    const ValueId value = Lower(reduction.body, type);
    EmitPlain(OpKind::kYield, {value});
  });
  return Emit(OpKind::kReduce, {}, type, std::move(extra));
}

}  // namespace linnet::ir
