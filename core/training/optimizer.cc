#include "core/training/optimizer.h"

namespace linnet::training {
namespace {

using expr::Expr;

// bitsandbytes: the block of a scale, and from how many elements on it packs.
constexpr int64_t kBlock = 256;
constexpr int64_t kLeastPacked = 4096;

Expr Times(int64_t factor, Expr e, expr::Pool& pool) {
  return pool.Mul(pool.Constant(factor), e);
}

Expr PackedStates(Expr elements, expr::Pool& pool) {
  const Expr blocks = pool.CeilDiv(elements, pool.Constant(kBlock));
  const Expr packed =
      pool.Add(Times(2, elements, pool), Times(2 * 4, blocks, pool));
  if (elements.is_constant()) {
    return elements.constant() < kLeastPacked ? Times(2 * 4, elements, pool)
                                              : packed;
  }
  const Expr least = pool.Min(elements, pool.Constant(kLeastPacked - 1));
  return pool.Max(packed, Times(2 * 4, least, pool));
}

Expr FactoredStates(absl::Span<const Expr> shape, Expr part, DType dtype,
                    int64_t shards, expr::Pool& pool) {
  if (shape.size() < 2) return Times(DTypeBytes(dtype), part, pool);
  // Processes split the first dimension.
  const Expr first = pool.CeilDiv(shape[0], pool.Constant(shards));
  Expr rows = first, columns = shape.back();
  for (size_t i = 1; i + 1 < shape.size(); ++i) rows = pool.Mul(rows, shape[i]);
  if (shape.size() > 2) columns = pool.Mul(columns, first);
  for (size_t i = 1; i + 2 < shape.size(); ++i) {
    columns = pool.Mul(columns, shape[i]);
  }
  return Times(DTypeBytes(dtype), pool.Add(rows, columns), pool);
}

}  // namespace

Expr StateBytes(Optimizer optimizer, absl::Span<const Expr> shape,
                DType updated, int64_t shards, expr::Pool& pool) {
  const Expr part = pool.CeilDiv(pool.Product(shape), pool.Constant(shards));
  switch (optimizer) {
    case Optimizer::kSgd:
      return pool.Zero();
    case Optimizer::kSgdMomentum:
      return Times(DTypeBytes(updated), part, pool);
    case Optimizer::kAdam:
    case Optimizer::kAdamW:
      return Times(2 * DTypeBytes(updated), part, pool);
    case Optimizer::kAdamW8Bit:
      return PackedStates(part, pool);
    case Optimizer::kAdafactor:
      break;
  }
  return FactoredStates(shape, part, updated, shards, pool);
}

std::string StatesNote(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
      return "none";
    case Optimizer::kSgdMomentum:
      return "1 tensor per parameter";
    case Optimizer::kAdam:
    case Optimizer::kAdamW:
      return "2 tensors per parameter";
    case Optimizer::kAdamW8Bit:
      return "2 tensors per parameter, in 8 bits from 4,096 elements on";
    case Optimizer::kAdafactor:
      break;
  }
  return "sums per row and column of each parameter";
}

}  // namespace linnet::training
