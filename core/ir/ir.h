// The core IR (language.md section 9): SSA, one list of operations per region,
// generic functions, dimensions symbolic in the generics of the function.
//
// A value's type is the frontend's, in the generics of the function. One
// exception: a compile-time integer with a symbol in it stays an `i64` scalar
// where a float or a generic dtype is wanted, and counts as converted there.
//
// A Program is immutable once lowered and passed through the passes, so safe to
// share between threads.

#ifndef LINNET_CORE_IR_IR_H_
#define LINNET_CORE_IR_IR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/id.h"
#include "core/expr/expr.h"
#include "core/lang/program.h"
#include "core/lang/type.h"

namespace linnet::ir {

struct ValueTag;
struct OpTag;
struct RegionTag;
using ValueId = Id<ValueTag>;    // Per function.
using OpId = Id<OpTag>;          // Per function.
using RegionId = Id<RegionTag>;  // Per function.

enum class OpKind : uint8_t {
#define LINNET_OP(name, text) name,
#include "core/ir/op.def"
};

// `add`, `semantic.call`, …
absl::string_view OpName(OpKind kind);

enum class ReduceKind : uint8_t { kSum, kProd, kMin, kMax, kAny, kAll };

// What some kinds carry beside `integer`; see op.def.
struct OpData {
  double real = 0;  // kConstFloat
  // kConstDim; kStaticRange, kFor: the number of iterations (none below 0).
  expr::Expr dim;
  std::vector<int32_t> ints;            // kPermute, kEnumMatch
  std::vector<lang::SliceAxis> slices;  // kSlice
  // kComprehension, kReduce: per index the units it covers: one dimension for
  // a plain index, any number for a pack (`is_pack` then).
  std::vector<lang::Shape> domains;
  std::vector<bool> is_pack;
  bool annotated = false;   // kReduce: `sum<f32>[…]`
  lang::FunctionId callee;  // kCall, kSemanticCall
  std::vector<lang::GenericArg> bindings;

  friend bool operator==(const OpData&, const OpData&) = default;
};

struct Operation {
  OpKind kind = OpKind::kReturn;
  int32_t num_regions = 0;
  int32_t first_operand = 0, num_operands = 0;  // Into Function::operands.
  ValueId first_result;                         // Results are consecutive.
  int32_t num_results = 0;
  RegionId first_region;  // Regions are consecutive.
  int32_t data = -1;      // Into Function::data.
  int64_t integer = 0;
};

// Of a comprehension or reduction: one argument per index, an `i64` scalar for
// a plain one; for a pack a value of the shape type (lang::TypeKind::kShape) of
// the units it covers.
struct Region {
  std::vector<ValueId> args;
  std::vector<OpId> ops;  // The terminator is last.
};

struct Function {
  lang::FunctionId id;
  // Arguments: `self` first for a method, then the parameters. Invalid for a
  // function that was not lowered. A kernel's body is empty but for a return.
  RegionId body;
  RegionId grad;  // Invalid when there is none; those of `body`, then y, dy.
  IdMap<ValueId, lang::TypeId> value_types;
  IdMap<OpId, Operation> ops;
  IdMap<RegionId, Region> regions;
  std::vector<ValueId> operands;
  std::vector<OpData> data;

  absl::Span<const ValueId> operands_of(const Operation& op) const {
    return absl::MakeConstSpan(operands).subspan(
        static_cast<size_t>(op.first_operand),
        static_cast<size_t>(op.num_operands));
  }
  ValueId result(const Operation& op, int32_t i = 0) const {
    return ValueId{op.first_result.index + i};
  }
  RegionId region(const Operation& op, int32_t i) const {
    return RegionId{op.first_region.index + i};
  }
  // REQUIRES: the kind carries data.
  const OpData& data_of(const Operation& op) const {
    return data[static_cast<size_t>(op.data)];
  }
};

struct Program {
  std::shared_ptr<const lang::Program> source;
  IdMap<lang::FunctionId, Function> functions;  // Same ids as source's.
};

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_IR_H_
