// What an SSA value stands for while an entry is traced.

#ifndef LINNET_CORE_TRACE_VALUE_H_
#define LINNET_CORE_TRACE_VALUE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/expr/expr.h"
#include "core/graph/graph.h"

namespace linnet::trace {

enum class ValueKind : uint8_t {
  kScalar,  // `number` when it is a known integer.
  kTensor,  // `index` = object; kLocalTensor where only its type is followed.
  kBlock,   // `index` = node of the block tree.
  kArray,   // `index` = node, `count` = member: an array member of that node.
  kTuple,   // `index` = first of `count` parts.
  kSome,    // `index` = the part inside.
  kAbsent,  // `none`.
  kEnum,    // `index` = variant.
};

// A tensor that exists only inside an index-notation body, or while operations
// are counted.
inline constexpr int32_t kLocalTensor = -1;

struct Value {
  ValueKind kind = ValueKind::kScalar;
  int32_t index = 0;
  int32_t count = 0;
  expr::Expr number;

  static Value Scalar(expr::Expr number = {}) {
    return {ValueKind::kScalar, 0, 0, number};
  }
  static Value Tensor(graph::ObjectId object) {
    return {ValueKind::kTensor, object.index, 0, {}};
  }
  static Value Local() { return {ValueKind::kTensor, kLocalTensor, 0, {}}; }
  static Value Block(int32_t node) { return {ValueKind::kBlock, node, 0, {}}; }
  static Value Absent() { return {ValueKind::kAbsent, 0, 0, {}}; }

  bool is_tensor() const { return kind == ValueKind::kTensor; }
  bool is_object() const { return is_tensor() && index >= 0; }
  graph::ObjectId object() const { return graph::ObjectId{index}; }
};

using Values = absl::InlinedVector<Value, 4>;

}  // namespace linnet::trace

#endif  // LINNET_CORE_TRACE_VALUE_H_
