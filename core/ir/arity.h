// How many operands, results and regions the operations have.

#ifndef LINNET_CORE_IR_ARITY_H_
#define LINNET_CORE_IR_ARITY_H_

#include "core/ir/ir.h"

namespace linnet::ir {

inline constexpr int kAnyNumber = -1;

struct Arity {
  int operands;
  int results;
  int regions;
};

// kAnyNumber where it depends on more than the kind.
Arity ArityOf(OpKind kind);

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_ARITY_H_
