// What optimizers keep of a parameter from step to step.

#ifndef LINNET_CORE_TRAINING_OPTIMIZER_H_
#define LINNET_CORE_TRAINING_OPTIMIZER_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "core/base/dtype.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/training/options.h"

namespace linnet::training {

// Bytes of the states of one parameter of this shape, on one of `shards`
// processes; `updated` is the dtype of what is updated, e elements a part:
//   sgd           nothing
//   sgd-momentum  e in the dtype updated
//   adam, adamw   2 e in the dtype updated
//   adamw-8bit    2 e of one byte, and an f32 scale for each 256 of them; below
//                 4,096 elements 2 e in f32 (bitsandbytes 0.45)
//   adafactor     a sum per row and per column of the last two dimensions,
//                 of a vector one per element, in the dtype updated
//                 (torch.optim.Adafactor); rows are split, columns are not
// A size that is no number counts as the more that adamw-8bit can take.
expr::Expr StateBytes(Optimizer optimizer, absl::Span<const expr::Expr> shape,
                      DType updated, int64_t shards, expr::Pool& pool);

// "2 tensors per parameter".
std::string StatesNote(Optimizer optimizer);

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_OPTIMIZER_H_
