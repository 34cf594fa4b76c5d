// From a checked program to core IR (language.md section 9.3).

#ifndef LINNET_CORE_IR_LOWER_H_
#define LINNET_CORE_IR_LOWER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/ir/ir.h"
#include "core/lang/program.h"

namespace linnet::ir {

struct LowerOptions {
  // Whether to run the passes of section 9.5 on each function.
  bool optimize = true;
  // Constants are lowered again at each use, so that a short text can stand for
  // a long program. Operations of the whole program, before the passes; past it
  // the lowering is ResourceExhausted.
  int64_t max_ops = 1'000'000;
  // Expressions within expressions, through constants and defaults; the same.
  int32_t max_depth = 1024;
};

// Lowers every function of `source`; those of kernels get an empty body.
// Cost: linear in the size of the result.
// REQUIRES: `source` was checked without errors. Its pool and type table are
// added to here and must not change afterwards.
absl::StatusOr<std::shared_ptr<const Program>> Lower(
    std::shared_ptr<const lang::Program> source,
    const LowerOptions& options = {});

}  // namespace linnet::ir

#endif  // LINNET_CORE_IR_LOWER_H_
