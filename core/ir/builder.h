// Writes the operations of one function.

#ifndef LINNET_CORE_IR_BUILDER_H_
#define LINNET_CORE_IR_BUILDER_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "core/ir/ir.h"

namespace linnet::ir {

// What an operation has beside operands and results.
struct OpExtra {
  int64_t integer = 0;
  std::optional<OpData> data;
  RegionId first_region;
  int32_t num_regions = 0;
};

// Appends to the current region of `function`, which must outlive the builder.
//
//   Builder b(&function);
//   function.body = b.NewRegions(1);
//   b.set_region(function.body);
//   const ValueId x = b.NewArg(function.body, type);
//   b.Emit(OpKind::kReturn, {b.EmitOne(OpKind::kExp, {x}, type)}, {});
class Builder {
 public:
  explicit Builder(Function* function) : function_(function) {}

  // `count` consecutive empty regions; returns the first.
  RegionId NewRegions(int32_t count);
  ValueId NewArg(RegionId region, lang::TypeId type);

  RegionId region() const { return region_; }
  void set_region(RegionId region) { region_ = region; }

  OpId Emit(OpKind kind, absl::Span<const ValueId> operands,
            absl::Span<const lang::TypeId> results, OpExtra extra = {});
  // The same for one result; returns it.
  ValueId EmitOne(OpKind kind, absl::Span<const ValueId> operands,
                  lang::TypeId result, OpExtra extra = {});

 private:
  Function* function_;
  RegionId region_;
};

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_BUILDER_H_
