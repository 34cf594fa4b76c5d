// The optimizer of language.md section 9.5: value-preserving bit for bit, per
// function, generic in its dimensions. Nothing is inlined, unrolled or
// specialised, and no function is removed.

#ifndef LINNET_CORE_IR_PASSES_H_
#define LINNET_CORE_IR_PASSES_H_

#include "core/ir/ir.h"
#include "core/lang/program.h"

namespace linnet::ir {

// The single passes return whether they changed the function. They take
// operations out of the lists of regions and leave the rest where it is, so
// that ids stay valid; Compact() renumbers.

// Removes identities (`reshape`, `broadcast`, `cast` to the same type, identity
// `permute`, `neg(neg x)`, `not(not x)`), composes permutes, folds `neg` of a
// constant and `add`/`sub`/`mul` of two `const.int` that does not overflow.
bool Canonicalize(const lang::Program& program, Function& function);

// Within each region: an operation that an earlier one equals is replaced by
// it. Never state accesses, calls that touch state, or operations with regions.
bool MergeCommon(const lang::Program& program, Function& function);

// Removes operations without a used result, except terminators, `state.write`,
// `while`, calls that write state and operations that contain one of these.
bool RemoveDead(const lang::Program& program, Function& function);

// Renumbers values, operations and regions in the order of the text, and drops
// what no region lists.
void Compact(Function& function);

// The three passes in this order until none changes anything (at most
// kMaxRounds times), then Compact().
inline constexpr int kMaxRounds = 32;
void Optimize(const lang::Program& program, Function& function);

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_PASSES_H_
