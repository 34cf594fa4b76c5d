#include "core/ir/arity.h"

namespace linnet::ir {

Arity ArityOf(OpKind kind) {
  switch (kind) {
    case OpKind::kConstInt:
    case OpKind::kConstFloat:
    case OpKind::kConstBool:
    case OpKind::kConstDim:
    case OpKind::kEnumConst:
    case OpKind::kIota:
    case OpKind::kOptionNone:
      return {0, 1, 0};
    case OpKind::kAdd:
    case OpKind::kSub:
    case OpKind::kMul:
    case OpKind::kDiv:
    case OpKind::kRem:
    case OpKind::kMin:
    case OpKind::kMax:
    case OpKind::kCompare:
    case OpKind::kAnd:
    case OpKind::kOr:
    case OpKind::kBitAnd:
    case OpKind::kBitOr:
    case OpKind::kBitXor:
    case OpKind::kShl:
    case OpKind::kShr:
    case OpKind::kArrayGet:
      return {2, 1, 0};
    case OpKind::kNot:
    case OpKind::kNeg:
    case OpKind::kAbs:
    case OpKind::kExp:
    case OpKind::kLog:
    case OpKind::kSqrt:
    case OpKind::kRsqrt:
    case OpKind::kSin:
    case OpKind::kCos:
    case OpKind::kTanh:
    case OpKind::kCast:
    case OpKind::kReshape:
    case OpKind::kBroadcast:
    case OpKind::kPermute:
    case OpKind::kSlice:
    case OpKind::kCumsum:
    case OpKind::kFill:
    case OpKind::kTupleGet:
    case OpKind::kStructGet:
    case OpKind::kOptionSome:
    case OpKind::kBlockParam:
    case OpKind::kBlockSub:
    case OpKind::kStateRead:
      return {1, 1, 0};
    case OpKind::kSelect:
      return {3, 1, 0};
    case OpKind::kStateWrite:
      return {2, 0, 0};
    case OpKind::kConcat:
    case OpKind::kElement:
    case OpKind::kTupleMake:
    case OpKind::kStructMake:
      return {kAnyNumber, 1, 0};
    case OpKind::kComprehension:
    case OpKind::kReduce:
      return {0, 1, 1};
    case OpKind::kOptionMatch:
    case OpKind::kIf:
      return {1, 1, 2};
    case OpKind::kEnumMatch:
      return {1, 1, kAnyNumber};
    case OpKind::kCall:
    case OpKind::kSemanticCall:
      return {kAnyNumber, kAnyNumber, 0};
    case OpKind::kStaticFor:
    case OpKind::kStaticRange:
    case OpKind::kFor:
      return {kAnyNumber, kAnyNumber, 1};
    case OpKind::kWhile:
      return {kAnyNumber, kAnyNumber, 2};
    case OpKind::kYield:
    case OpKind::kReturn:
      return {kAnyNumber, 0, 0};
  }
  return {kAnyNumber, kAnyNumber, kAnyNumber};
}

}  // namespace linnet::ir
