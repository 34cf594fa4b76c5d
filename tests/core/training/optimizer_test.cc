#include "core/training/optimizer.h"

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/expr/evaluator.h"
#include "gtest/gtest.h"

namespace linnet::training {
namespace {

struct Row {
  const char* name;
  Optimizer optimizer;
  std::vector<int64_t> shape;
  DType dtype;
  int64_t shards;
  int64_t bytes;
};

TEST(OptimizerTest, StatesByHand) {
  const Row rows[] = {
      {"sgd", Optimizer::kSgd, {6, 5}, DType::kF32, 1, 0},
      {"momentum", Optimizer::kSgdMomentum, {6, 5}, DType::kBF16, 1, 60},
      {"adamw", Optimizer::kAdamW, {6, 5}, DType::kF32, 1, 240},
      // 30 elements over 4: 8 a part.
      {"adamw split", Optimizer::kAdamW, {6, 5}, DType::kF32, 4, 64},
      // Small ones stay in f32, whatever is updated.
      {"8-bit small", Optimizer::kAdamW8Bit, {4095}, DType::kBF16, 1, 32760},
      // 16 blocks of 256.
      {"8-bit",
       Optimizer::kAdamW8Bit,
       {64, 64},
       DType::kBF16,
       1,
       2 * 4096 + 2 * 16 * 4},
      // One element begins a block.
      {"8-bit, one more",
       Optimizer::kAdamW8Bit,
       {4097},
       DType::kF32,
       1,
       2 * 4097 + 2 * 17 * 4},
      // A part of 2,048 elements is small.
      {"8-bit split", Optimizer::kAdamW8Bit, {64, 64}, DType::kBF16, 2, 16384},
      {"adafactor vector", Optimizer::kAdafactor, {6}, DType::kF32, 1, 24},
      {"adafactor matrix", Optimizer::kAdafactor, {6, 5}, DType::kBF16, 1, 22},
      // 3 rows of 5 columns on each of two.
      {"adafactor split", Optimizer::kAdafactor, {6, 5}, DType::kF32, 2, 32},
      // 2 matrices of 6 x 5: 12 rows, 10 columns.
      {"adafactor stack", Optimizer::kAdafactor, {2, 6, 5}, DType::kF32, 1, 88},
      {"adafactor stack of stacks",
       Optimizer::kAdafactor,
       {3, 2, 6, 5},
       DType::kF32,
       1,
       3 * 88},
  };
  for (const Row& row : rows) {
    expr::Pool pool;
    std::vector<expr::Expr> shape;
    for (const int64_t size : row.shape) shape.push_back(pool.Constant(size));
    EXPECT_EQ(StateBytes(row.optimizer, shape, row.dtype, row.shards, pool)
                  .constant(),
              row.bytes)
        << row.name;
  }
}

TEST(OptimizerTest, ASymbolicSizeNeverCountsLessThanItsValue) {
  expr::Pool pool;
  const expr::Expr batch = pool.Symbol("batch");
  const expr::Expr shape[] = {batch};
  const expr::Expr bytes =
      StateBytes(Optimizer::kAdamW8Bit, shape, DType::kF32, 1, pool);
  int64_t before = 0;
  for (const int64_t size : {1, 255, 256, 4095, 4096, 4097, 16384, 1 << 20}) {
    const expr::Expr exact_shape[] = {pool.Constant(size)};
    const int64_t exact =
        StateBytes(Optimizer::kAdamW8Bit, exact_shape, DType::kF32, 1, pool)
            .constant();
    const absl::flat_hash_map<expr::SymbolId, int64_t> at = {
        {expr::SymbolId{0}, size}};
    const expr::Value value = expr::Evaluate(bytes, at);
    ASSERT_TRUE(value.ok());
    EXPECT_GE(value.value, exact) << size;
    EXPECT_GE(value.value, before) << size;
    before = value.value;
  }
}

}  // namespace
}  // namespace linnet::training
