// The core IR as text, for tests and debugging. One operation per line:
//
//   op demo::scaled(%0: Tensor[*S, N; T]) -> Tensor[*S, N; T] {
//     %1 = comprehension [*S] : Tensor[*S; T] {
//       (%2: [*S])
//       %3 = reduce.sum [N] : T {
//         (%4: i64)
//         %5 = tensor.element %0, %2, %4 : T
//         yield %5
//       }
//       yield %3
//     }
//     …
//
// Attributes come after the name, then the operands; the type after the colon
// is the result's. Calls show their bindings, members and fields their names.

#ifndef LINNET_CORE_IR_TEXT_H_
#define LINNET_CORE_IR_TEXT_H_

#include <string>

#include "core/ir/ir.h"
#include "core/lang/program.h"

namespace linnet::ir {

std::string ToText(const lang::Program& program, const Function& function);
// One operation without its regions: ` = ` and what follows.
std::string ToText(const lang::Program& program, const Function& function,
                   OpId op);
// All functions that have a body, in order, separated by blank lines.
std::string ToText(const Program& program);

// The operations of the body in one line, as language.md section 9.4 writes
// them: `C[2]{ el mul R+(f32)[1]{ el cast } } match{ add | } return`. A number
// in brackets is the number of indices.
std::string ToSketch(const Function& function);

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_TEXT_H_
