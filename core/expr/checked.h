// 64-bit arithmetic that says when it does not fit.

#ifndef LINNET_CORE_EXPR_CHECKED_H_
#define LINNET_CORE_EXPR_CHECKED_H_

#include <cstdint>

#include "core/expr/expr.h"

namespace linnet::expr::internal {

// Each sets `*result` and returns whether it fits.
inline bool CheckedAdd(int64_t a, int64_t b, int64_t* result) {
  return !__builtin_add_overflow(a, b, result);
}
inline bool CheckedSub(int64_t a, int64_t b, int64_t* result) {
  return !__builtin_sub_overflow(a, b, result);
}
inline bool CheckedMul(int64_t a, int64_t b, int64_t* result) {
  return !__builtin_mul_overflow(a, b, result);
}

// floor(a / b), ceil(a / b) or a - b * floor(a / b), by `kind`. Sets `*result`
// when it returns kNone.
inline Error CheckedDivide(AtomKind kind, int64_t a, int64_t b,
                           int64_t* result) {
  if (b == 0) return Error::kDivisionByZero;
  if (b == -1) {  // The one divisor by which the quotient may not fit.
    if (kind == AtomKind::kMod) {
      *result = 0;
      return Error::kNone;
    }
    return CheckedSub(0, a, result) ? Error::kNone : Error::kOverflow;
  }
  const int64_t quotient = a / b;
  const int64_t remainder = a % b;
  const bool inexact = remainder != 0;
  const bool same_sign = (remainder < 0) == (b < 0);
  switch (kind) {
    case AtomKind::kFloorDiv:
      *result = inexact && !same_sign ? quotient - 1 : quotient;
      break;
    case AtomKind::kCeilDiv:
      *result = inexact && same_sign ? quotient + 1 : quotient;
      break;
    default:
      *result = inexact && !same_sign ? remainder + b : remainder;
  }
  return Error::kNone;
}

}  // namespace linnet::expr::internal

#endif  // LINNET_CORE_EXPR_CHECKED_H_
