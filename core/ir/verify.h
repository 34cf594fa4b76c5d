// Checks that a function is well-formed core IR. A separate reading of
// language.md section 9.2 by which tests hold lowering and the passes.

#ifndef LINNET_CORE_IR_VERIFY_H_
#define LINNET_CORE_IR_VERIFY_H_

#include "absl/status/status.h"
#include "core/ir/ir.h"
#include "core/lang/program.h"

namespace linnet::ir {

// OK, or Internal with the function, the operation and what is wrong with it:
// numbers of operands, results and regions; every operand defined before it is
// used, in its region or one around it; terminators, last and of the right
// kind; types as far as they are the operation's own (dtypes of elementwise
// operations, members, fields, calls, yielded and carried values).
absl::Status Verify(const lang::Program& program, const Function& function);
absl::Status Verify(const Program& program);

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_VERIFY_H_
