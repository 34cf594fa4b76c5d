// Element access, slices and gathers.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/ir/lower_function.h"

namespace linnet::ir {

using lang::ExprId;
using lang::TypeId;
using lang::TypeKind;

ValueId FunctionLowering::LowerIndex(ExprId id, TypeId type) {
  const lang::IndexInfo& index =
      module().indexes[static_cast<size_t>(info(id).detail)];
  const ValueId base = Lower(tree().as<lang::IndexExpr>(id).base);
  switch (index.mode) {
    case lang::IndexMode::kElement: {
      std::vector<ValueId> operands = {base};
      for (size_t i = 0; i < index.positions.size(); ++i) {
        operands.push_back(index.positions[i].valid()
                               ? Lower(index.positions[i], i64_)
                               : locals_[index.packs[i]]);
      }
      return Emit(OpKind::kElement, operands, type);
    }
    case lang::IndexMode::kSlice:
      return LowerSlice(index, base, type);
    case lang::IndexMode::kGather:
      return LowerGather(index, base, type);
    case lang::IndexMode::kArray: {
      const ValueId position = LowerNumber(index.position, i64_);
      OpExtra extra;
      extra.integer = index.position;
      return Emit(OpKind::kArrayGet, {base, position}, type, std::move(extra));
    }
  }
  return base;
}

ValueId FunctionLowering::LowerSlice(const lang::IndexInfo& index, ValueId base,
                                     TypeId type) {
  OpExtra extra;
  extra.data.emplace();
  extra.data->slices = index.axes;
  return Emit(OpKind::kSlice, {base}, type, std::move(extra));
}

// A comprehension over the kept axes, then a slice of them where needed.
ValueId FunctionLowering::LowerGather(const lang::IndexInfo& index,
                                      ValueId base, TypeId type) {
  const size_t rank = index.axes.size();
  std::vector<ValueId> positions(rank);  // Invalid for a kept axis.
  for (size_t i = 0; i < rank; ++i) {
    const lang::SliceAxis& axis = index.axes[i];
    if (!axis.squeezed) continue;
    positions[i] = index.positions[i].valid() ? Lower(index.positions[i], i64_)
                   : axis.start.is_constant()
                       ? LowerNumber(axis.start.constant(), i64_)
                       : EmitDim(axis.start);
  }
  OpExtra extra;
  extra.num_regions = 1;
  extra.first_region = builder_.NewRegions(1);
  extra.data.emplace();
  lang::Shape kept;
  std::vector<lang::SliceAxis> slices;
  for (size_t i = 0; i < rank; ++i) {
    const lang::SliceAxis& axis = index.axes[i];
    if (axis.squeezed) continue;
    kept.push_back(axis.unit);
    slices.push_back(axis);
    extra.data->domains.push_back({axis.unit});
    extra.data->is_pack.push_back(axis.unit.is_pack());
    TypeId position = i64_;
    if (axis.unit.is_pack()) {
      lang::Type shape;
      shape.kind = TypeKind::kShape;
      shape.shape = {axis.unit};
      position = types_.Intern(std::move(shape));
    }
    positions[i] = builder_.NewArg(extra.first_region, position);
  }
  const lang::DTypeRef dtype = TypeOf(base).dtype;
  InRegion(extra.first_region, [&] {
    std::vector<ValueId> operands = {base};
    operands.insert(operands.end(), positions.begin(), positions.end());
    const ValueId element =
        Emit(OpKind::kElement, operands, types_.Scalar(dtype));
    EmitPlain(OpKind::kYield, {element});
  });
  const ValueId rows = Emit(OpKind::kComprehension, {},
                            types_.Tensor(kept, dtype), std::move(extra));
  if (!index.needs_slice) return rows;
  OpExtra slice;
  slice.data.emplace();
  slice.data->slices = std::move(slices);
  return Emit(OpKind::kSlice, {rows}, type, std::move(slice));
}

}  // namespace linnet::ir
