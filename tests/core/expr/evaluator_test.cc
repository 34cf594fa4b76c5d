#include "core/expr/evaluator.h"

#include <cstdint>
#include <vector>

#include "core/expr/checked.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "gtest/gtest.h"
#include "tests/support/random.h"

namespace linnet::expr {
namespace {

// An expression as it was written, evaluated without any simplification, with
// 128-bit intermediate results.
struct Naive {
  enum class Op { kConstant, kSymbol, kAdd, kSub, kMul, kAtom } op;
  int64_t constant = 0;  // Or the index of the symbol.
  AtomKind kind = AtomKind::kSymbol;
  int a = -1, b = -1;  // Indices of operands.
};

__extension__ typedef __int128 Wide;

// Random trees, with each node made in a pool as well.
class RandomTrees {
 public:
  explicit RandomTrees(uint32_t seed) : random_(seed) {
    for (const char* name : {"x", "y", "z"}) {
      symbols_.push_back(pool_.Symbol(name));
      Push({Naive::Op::kSymbol, static_cast<int64_t>(symbols_.size()) - 1},
           symbols_.back());
    }
    for (int i = 0; i < 40; ++i) Grow();
  }

  int Below(int n) { return random_.Int(n); }

  // The value of node `i` as written; false when there is none or it is large.
  bool ValueOf(int i, const std::vector<int64_t>& values, Wide* result) const {
    const Naive& node = nodes_[static_cast<size_t>(i)];
    Wide a = 0;
    Wide b = 0;
    if (node.a >= 0 &&
        (!ValueOf(node.a, values, &a) || !ValueOf(node.b, values, &b))) {
      return false;
    }
    switch (node.op) {
      case Naive::Op::kConstant:
        *result = node.constant;
        break;
      case Naive::Op::kSymbol:
        *result = values[static_cast<size_t>(node.constant)];
        break;
      case Naive::Op::kAdd:
        *result = a + b;
        break;
      case Naive::Op::kSub:
        *result = a - b;
        break;
      case Naive::Op::kMul:
        *result = a * b;
        break;
      case Naive::Op::kAtom:
        if (!Atom(node.kind, a, b, result)) return false;
    }
    // Far from overflow, so that the canonical form cannot meet it either.
    return *result < (Wide{1} << 40) && *result > -(Wide{1} << 40);
  }

  const Pool& pool() const { return pool_; }
  int size() const { return static_cast<int>(nodes_.size()); }
  Expr made(int i) const { return made_[static_cast<size_t>(i)]; }
  const std::vector<Expr>& symbols() const { return symbols_; }

 private:
  static bool Atom(AtomKind kind, Wide a, Wide b, Wide* result) {
    if (kind == AtomKind::kMin || kind == AtomKind::kMax) {
      *result = (kind == AtomKind::kMin) == (a < b) ? a : b;
      return true;
    }
    if (b == 0) return false;
    // By search from the truncated quotient, unlike the code under test.
    Wide floor = a / b;
    while (b > 0 ? floor * b > a : floor * b < a) --floor;
    const Wide rest = a - floor * b;
    *result = kind == AtomKind::kMod        ? rest
              : kind == AtomKind::kFloorDiv ? floor
                                            : floor + (rest == 0 ? 0 : 1);
    return true;
  }

  void Push(const Naive& node, Expr made) {
    nodes_.push_back(node);
    made_.push_back(made);
  }

  void Grow() {
    Naive node{};
    node.a = Below(size());
    node.b = Below(size());
    const Expr a = made(node.a);
    const Expr b = made(node.b);
    switch (Below(9)) {
      case 0:
        node = {Naive::Op::kConstant, Below(13) - 4};
        return Push(node, pool_.Constant(node.constant));
      case 1:
        node.op = Naive::Op::kAdd;
        return Push(node, pool_.Add(a, b));
      case 2:
        node.op = Naive::Op::kSub;
        return Push(node, pool_.Sub(a, b));
      case 3:
        node.op = Naive::Op::kMul;
        return Push(node, pool_.Mul(a, b));
      default:
        node.op = Naive::Op::kAtom;
        node.kind = static_cast<AtomKind>(1 + Below(5));
        return Push(node, pool_.Apply(node.kind, a, b));
    }
  }

  Random random_;
  Pool pool_;
  std::vector<Expr> symbols_;
  std::vector<Naive> nodes_;
  std::vector<Expr> made_;
};

TEST(EvaluateTest, CanonicalFormsKeepTheValue) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    RandomTrees trees(seed);
    for (int round = 0; round < 5; ++round) {
      std::vector<int64_t> values;
      absl::flat_hash_map<SymbolId, int64_t> by_symbol;
      for (const Expr symbol : trees.symbols()) {
        values.push_back(round == 0 ? 1 + trees.Below(3)
                                    : trees.Below(300) - 60);
        by_symbol[symbol.symbol()] = values.back();
      }
      for (int i = 0; i < trees.size(); ++i) {
        Wide want = 0;
        if (!trees.ValueOf(i, values, &want) || !trees.made(i).valid()) {
          continue;
        }
        const Value got = Evaluate(trees.made(i), by_symbol);
        // Expanding a product can pass 64 bits where the factors did not.
        if (got.error == Error::kOverflow) continue;
        ASSERT_TRUE(got.ok()) << trees.made(i) << ErrorText(got.error);
        ASSERT_EQ(got.value, static_cast<int64_t>(want)) << trees.made(i);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 20000);
}

TEST(EvaluatorTest, AgreesWithThePlainWalk) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomTrees trees(seed + 1000);
    std::vector<SymbolId> symbols;
    for (const Expr symbol : trees.symbols()) {
      symbols.push_back(symbol.symbol());
    }
    for (int i = 0; i < trees.size(); ++i) {
      if (!trees.made(i).valid()) continue;
      const auto program = Evaluator::Compile(symbols, {trees.made(i)});
      ASSERT_TRUE(program.ok()) << program.status();
      for (int round = 0; round < 3; ++round) {
        std::vector<int64_t> values;
        absl::flat_hash_map<SymbolId, int64_t> by_symbol;
        for (const SymbolId symbol : symbols) {
          values.push_back(round == 2 ? int64_t{trees.Below(1000)} << 50
                                      : trees.Below(300) - 60);
          by_symbol[symbol] = values.back();
        }
        int64_t got = 0;
        const Error error = program->Run(values, absl::MakeSpan(&got, 1));
        const Value want = Evaluate(trees.made(i), by_symbol);
        ASSERT_EQ(error == Error::kNone, want.ok()) << trees.made(i);
        if (want.ok()) {
          ASSERT_EQ(got, want.value) << trees.made(i);
        }
      }
    }
  }
}

TEST(EvaluatorTest, EvaluatesSeveralAtOnce) {
  Pool pool;
  const Expr b = pool.Symbol("b");
  const Expr s = pool.Symbol("s");
  const Expr bs = pool.Mul(b, s);
  const auto program = Evaluator::Compile(
      {s.symbol(), b.symbol()},
      {bs, pool.Add(pool.Mul(bs, pool.Constant(4)), pool.Constant(3)),
       pool.Constant(9), pool.Zero(), b, bs});
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<int64_t> got(6);
  ASSERT_EQ(program->Run({100, 2}, absl::MakeSpan(got)), Error::kNone);
  EXPECT_EQ(got, (std::vector<int64_t>{200, 803, 9, 0, 2, 200}));
}

TEST(EvaluatorTest, LongProgramsWorkToo) {
  Pool pool;
  const Expr s = pool.Symbol("s");
  std::vector<Expr> outputs;
  for (int64_t i = 2; i < 600; ++i) {
    outputs.push_back(pool.CeilDiv(s, pool.Constant(i)));
  }
  const auto program = Evaluator::Compile({s.symbol()}, outputs);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<int64_t> got(outputs.size());
  ASSERT_EQ(program->Run({1000}, absl::MakeSpan(got)), Error::kNone);
  for (size_t i = 0; i < got.size(); ++i) {
    const auto divisor = static_cast<int64_t>(i) + 2;
    EXPECT_EQ(got[i], (1000 + divisor - 1) / divisor);
  }
}

TEST(EvaluatorTest, ReportsErrors) {
  Pool pool;
  const Expr s = pool.Symbol("s");
  const Expr t = pool.Symbol("t");
  const auto run = [&](Expr e, int64_t value) {
    const auto program = Evaluator::Compile({s.symbol()}, {e});
    int64_t result = 0;
    return program->Run({value}, absl::MakeSpan(&result, 1));
  };
  EXPECT_EQ(run(pool.Mul(s, s), int64_t{1} << 32), Error::kOverflow);
  EXPECT_EQ(run(pool.Mul(s, pool.Constant(4)), int64_t{1} << 61),
            Error::kOverflow);
  EXPECT_EQ(run(pool.Add(s, pool.One()), INT64_MAX), Error::kOverflow);
  EXPECT_EQ(run(pool.FloorDiv(pool.One(), s), 0), Error::kDivisionByZero);
  EXPECT_EQ(run(pool.Mod(pool.One(), s), 0), Error::kDivisionByZero);
  EXPECT_EQ(run(pool.FloorDiv(pool.Constant(INT64_MIN), s), -1),
            Error::kOverflow);
  EXPECT_EQ(Evaluate(t, {{s.symbol(), 1}}).error, Error::kUnbound);
  EXPECT_EQ(Evaluate(Expr(), {}).error, Error::kUnset);

  EXPECT_EQ(
      Evaluator::Compile({s.symbol()}, {t}).status(),
      absl::InvalidArgumentError("`t` is no size that can be given a value"));
  EXPECT_EQ(Evaluator::Compile({}, {Expr()}).status(),
            absl::InvalidArgumentError("an expression is not set"));
  EXPECT_EQ(ToStatus(Error::kOverflow, "a * b"),
            absl::OutOfRangeError("`a * b` overflows 64 bits"));
  EXPECT_TRUE(ToStatus(Error::kNone, "a").ok());
}

}  // namespace
}  // namespace linnet::expr
