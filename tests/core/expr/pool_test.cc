#include "core/expr/pool.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/expr/expr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::expr {
namespace {

// Short names for building expressions in rows.
struct Build {
  std::shared_ptr<Pool> pool = std::make_shared<Pool>();
  Expr a = pool->Symbol("a");
  Expr b = pool->Symbol("b");
  Expr h = pool->Symbol("H");

  Expr C(int64_t value) { return pool->Constant(value); }
  Expr Add(Expr x, Expr y) { return pool->Add(x, y); }
  Expr Sub(Expr x, Expr y) { return pool->Sub(x, y); }
  Expr Mul(Expr x, Expr y) { return pool->Mul(x, y); }
  Expr Mul(int64_t x, Expr y) { return pool->Mul(C(x), y); }
  Expr Div(Expr x, Expr y) { return pool->FloorDiv(x, y); }
  Expr Div(Expr x, int64_t y) { return pool->FloorDiv(x, C(y)); }
  Expr Ceil(Expr x, Expr y) { return pool->CeilDiv(x, y); }
  Expr Ceil(Expr x, int64_t y) { return pool->CeilDiv(x, C(y)); }
  Expr Mod(Expr x, Expr y) { return pool->Mod(x, y); }
  Expr Mod(Expr x, int64_t y) { return pool->Mod(x, C(y)); }
  Expr Min(Expr x, Expr y) { return pool->Min(x, y); }
  Expr Max(Expr x, Expr y) { return pool->Max(x, y); }
};

struct TextCase {
  std::string name;
  std::function<Expr(Build&)> build;
  std::string want;
};

class CanonicalFormTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(CanonicalFormTest, Prints) {
  Build b;
  const Expr e = GetParam().build(b);
  EXPECT_EQ(e.ToString(), GetParam().want);
  // Building it again finds the same object, with or without the memo.
  EXPECT_EQ(GetParam().build(b), e);
  b.pool->ReleaseMemo();
  EXPECT_EQ(GetParam().build(b), e);
}

#define CASE(name, expression) \
  name, []([[maybe_unused]] Build& x) { return expression; }

INSTANTIATE_TEST_SUITE_P(
    Sums, CanonicalFormTest,
    ::testing::ValuesIn<TextCase>({
        {CASE("Zero", x.Sub(x.a, x.a)), "0"},
        {CASE("Constant", x.C(-7)), "-7"},
        {CASE("Least", x.C(INT64_MIN)), "-9223372036854775808"},
        {CASE("Symbol", x.a), "a"},
        {CASE("Negative", x.pool->Negate(x.a)), "-a"},
        {CASE("Coefficient", x.Mul(x.a, x.C(3))), "3 * a"},
        {CASE("MergesTerms", x.Add(x.Mul(2, x.a), x.Mul(3, x.a))), "5 * a"},
        {CASE("Sorts", x.Add(x.C(1), x.Add(x.b, x.a))), "a + b + 1"},
        {CASE("DegreeFirst", x.Add(x.a, x.Mul(x.b, x.b))), "b * b + a"},
        {CASE("Minus", x.Sub(x.Sub(x.a, x.b), x.C(2))), "a - b - 2"},
        {CASE("Expands", x.Mul(x.Add(x.a, x.C(1)), x.Sub(x.a, x.C(1)))),
         "a * a - 1"},
        {CASE("Product", x.Mul(x.Mul(x.b, x.C(2)), x.Mul(x.a, x.C(4096)))),
         "8192 * a * b"},
        {CASE("TimesZero", x.Mul(x.C(0), x.a)), "0"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Quotients, CanonicalFormTest,
    ::testing::ValuesIn<TextCase>({
        {CASE("Constants", x.Div(x.C(-7), 2)), "-4"},
        {CASE("CeilConstants", x.Ceil(x.C(-7), 2)), "-3"},
        {CASE("ModConstants", x.Mod(x.C(-7), 2)), "1"},
        {CASE("NegativeDivisor", x.Mod(x.C(7), -2)), "-1"},
        {CASE("ByOne", x.Div(x.a, 1)), "a"},
        {CASE("ByMinusOne", x.Ceil(x.a, -1)), "-a"},
        {CASE("ModOne", x.Mod(x.a, 1)), "0"},
        {CASE("ZeroBySymbol", x.Div(x.C(0), x.a)), "0"},
        {CASE("ExactCoefficient", x.Div(x.Mul(6, x.h), 2)), "3 * H"},
        {CASE("ExactSymbol", x.Div(x.Mul(x.a, x.b), x.b)), "a"},
        {CASE("ExactTerms", x.Div(x.Add(x.Mul(4, x.a), x.Mul(6, x.b)), 2)),
         "2 * a + 3 * b"},
        {CASE("Itself", x.Div(x.Add(x.a, x.b), x.Add(x.b, x.a))), "1"},
        {CASE("LongDivision",
              x.Div(x.Sub(x.Mul(x.a, x.a), x.Mul(x.b, x.b)), x.Add(x.a, x.b))),
         "a - b"},
        {CASE("ExactRemainder", x.Mod(x.Mul(x.a, x.b), x.a)), "0"},
        {CASE("RemainderOfSum", x.Mod(x.Add(x.Mul(4, x.a), x.C(7)), 4)), "3"},
        {CASE("FoldsConstantRest", x.Div(x.Add(x.Mul(4, x.a), x.C(7)), 4)),
         "a + 1"},
        {CASE("CeilsConstantRest", x.Ceil(x.Add(x.Mul(4, x.a), x.C(7)), 4)),
         "a + 2"},
        {CASE("NegativeRest", x.Div(x.Sub(x.Mul(4, x.a), x.C(1)), 4)), "a - 1"},
        {CASE("Floor", x.Div(x.h, x.a)), "H / a"},
        {CASE("Ceil", x.Ceil(x.h, 16)), "ceil(H / 16)"},
        {CASE("Mod", x.Mod(x.h, x.a)), "H % a"},
        {CASE("FloorOfSum", x.Div(x.Add(x.h, x.C(7)), 8)), "(H + 7) / 8"},
        {CASE("FloorOfProduct", x.Div(x.Mul(3, x.h), 2)), "3 * H / 2"},
        {CASE("ByProduct", x.Div(x.h, x.Mul(2, x.a))), "H / (2 * a)"},
        {CASE("ByNegative", x.Mod(x.h, -3)), "H % (-3)"},
        {CASE("Nested", x.Div(x.Div(x.h, x.a), x.b)), "(H / a) / b"},
        {CASE("ByQuotient", x.Div(x.h, x.Div(x.a, x.b))), "H / (a / b)"},
        {CASE("InProduct", x.Mul(2, x.Div(x.h, x.a))), "2 * (H / a)"},
        {CASE("InSum", x.Sub(x.a, x.Div(x.h, x.b))), "a - H / b"},
        {CASE("Negated", x.pool->Negate(x.Div(x.h, x.b))), "-(H / b)"},
        {CASE("OfNegative", x.Div(x.pool->Negate(x.h), x.b)), "(-H) / b"},
        {CASE("NotSplit", x.Div(x.Add(x.Mul(2, x.a), x.b), 2)),
         "(2 * a + b) / 2"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Extrema, CanonicalFormTest,
    ::testing::ValuesIn<TextCase>({
        {CASE("Constants", x.Min(x.C(3), x.C(-4))), "-4"},
        {CASE("MaxConstants", x.Max(x.C(3), x.C(-4))), "3"},
        {CASE("Same", x.Min(x.a, x.a)), "a"},
        {CASE("Commutes", x.Sub(x.Min(x.a, x.b), x.Min(x.b, x.a))), "0"},
        {CASE("Sorts", x.Min(x.b, x.a)), "min(a, b)"},
        {CASE("ConstantLast", x.Max(x.C(8), x.a)), "max(a, 8)"},
        {CASE("ConstantApart", x.Min(x.a, x.Add(x.a, x.C(3)))), "a"},
        {CASE("MaxConstantApart", x.Max(x.a, x.Add(x.a, x.C(3)))), "a + 3"},
        {CASE("Flattens", x.Min(x.C(8), x.Min(x.b, x.Min(x.a, x.C(4))))),
         "min(a, min(b, 4))"},
        {CASE("FlattensLeft", x.Min(x.Min(x.b, x.h), x.Min(x.a, x.b))),
         "min(a, min(b, H))"},
        {CASE("KeepsOtherKind", x.Min(x.a, x.Max(x.a, x.b))),
         "min(a, max(a, b))"},
        {CASE("KeepsProducts", x.Min(x.b, x.Mul(2, x.Min(x.a, x.b)))),
         "min(b, 2 * min(a, b))"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Errors, CanonicalFormTest,
    ::testing::ValuesIn<TextCase>({
        {CASE("Unset", Expr()), "<is not set>"},
        {CASE("AddUnset", x.Add(x.a, Expr())), "<is not set>"},
        {CASE("Add", x.Add(x.C(INT64_MAX), x.C(1))), "<overflows 64 bits>"},
        {CASE("Sub", x.Sub(x.C(INT64_MIN), x.C(1))), "<overflows 64 bits>"},
        {CASE("Mul", x.Mul(INT64_MAX, x.Mul(2, x.a))), "<overflows 64 bits>"},
        {CASE("Negate", x.pool->Negate(x.Mul(INT64_MIN, x.a))),
         "<overflows 64 bits>"},
        {CASE("Div", x.Div(x.C(INT64_MIN), -1)), "<overflows 64 bits>"},
        {CASE("DivTerm", x.Div(x.Mul(INT64_MIN, x.a), -1)),
         "(-9223372036854775808 * a) / (-1)"},
        {CASE("ModLeast", x.Mod(x.C(INT64_MIN), -1)), "0"},
        {CASE("ZeroDivisor", x.Div(x.a, x.Sub(x.b, x.b))), "<divides by zero>"},
        {CASE("ZeroModulus", x.Mod(x.a, 0)), "<divides by zero>"},
        {CASE("ZeroByZero", x.Ceil(x.C(0), 0)), "<divides by zero>"},
        {CASE("Sticks", x.Add(x.C(1), x.Mul(x.a, x.Div(x.b, 0)))),
         "<divides by zero>"},
        {CASE("FirstCounts", x.Add(x.Mul(INT64_MAX, x.C(2)), x.Div(x.b, 0))),
         "<overflows 64 bits>"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(PoolTest, SymbolsOfOneNameCanDiffer) {
  Pool pool;
  const Expr shared = pool.Symbol("N");
  const Expr own = pool.AddSymbol("N");
  EXPECT_EQ(pool.Symbol("N"), shared);
  EXPECT_NE(shared, own);
  EXPECT_EQ(pool.Sub(shared, own).ToString(), "N - N");
  EXPECT_EQ(pool.name(own.symbol()), "N");
  EXPECT_EQ(pool.SymbolExpr(own.symbol()), own);
  EXPECT_EQ(pool.num_symbols(), 2);
}

TEST(PoolTest, Accessors) {
  Build x;
  const Expr sum = x.Add(x.Mul(2, x.Mul(x.a, x.b)), x.C(5));
  ASSERT_EQ(sum.terms().size(), 2u);
  EXPECT_EQ(sum.terms()[0].coefficient, 2);
  EXPECT_EQ(sum.terms()[0].factors().size(), 2u);
  EXPECT_TRUE(sum.terms()[1].factors().empty());
  EXPECT_FALSE(sum.is_constant());
  EXPECT_EQ(sum.symbol(), SymbolId{});
  EXPECT_EQ(x.a.symbol(), SymbolId{0});
  EXPECT_EQ(x.pool->FromTerm(sum.terms()[0]), x.Mul(2, x.Mul(x.a, x.b)));
  const Expr quotient = x.Div(x.h, x.a);
  ASSERT_NE(quotient.atom(), nullptr);
  EXPECT_EQ(quotient.atom()->kind, AtomKind::kFloorDiv);
  EXPECT_EQ(quotient.atom()->a, x.h);
  EXPECT_EQ(quotient.depth(), 1);
  EXPECT_EQ(x.Mul(2, quotient).atom(), nullptr);
  EXPECT_EQ(x.pool->AtomExpr(quotient.atom()), quotient);
  EXPECT_THAT(SymbolsOf(x.Add(x.b, quotient)),
              ::testing::ElementsAre(SymbolId{0}, SymbolId{1}, SymbolId{2}));
}

TEST(PoolTest, Substitutes) {
  Build x;
  const Expr e = x.Add(x.Mul(x.a, x.Div(x.h, x.b)), x.Min(x.a, x.b));
  EXPECT_EQ(x.pool->Substitute(e, {{x.b.symbol(), x.C(2)}}).ToString(),
            "a * (H / 2) + min(a, 2)");
  EXPECT_EQ(x.pool->Substitute(e, {{x.h.symbol(), x.Mul(6, x.b)}}).ToString(),
            "6 * a + min(a, b)");
  EXPECT_EQ(x.pool->Substitute(e, {{x.b.symbol(), x.C(0)}}).error(),
            Error::kDivisionByZero);
  EXPECT_EQ(x.pool->Substitute(e, {{x.b.symbol(), Expr()}}).error(),
            Error::kUnbound);
  // At once, not one after the other.
  EXPECT_EQ(x.pool->Substitute(x.Sub(x.a, x.b),
                               {{x.a.symbol(), x.b}, {x.b.symbol(), x.a}}),
            x.Sub(x.b, x.a));
}

TEST(PoolTest, SubstitutesFromAnotherPool) {
  Pool from;
  const Expr n = from.AddSymbol("N");
  const Expr m = from.AddSymbol("M");
  const Expr e = from.Add(from.FloorDiv(n, m), from.Constant(1));
  Pool to;
  const Expr batch = to.Symbol("batch");
  EXPECT_EQ(to.Substitute(e, {{n.symbol(), to.Mul(batch, to.Constant(8))},
                              {m.symbol(), to.Constant(4)}}),
            to.Add(to.Mul(to.Constant(2), batch), to.One()));
}

TEST(PoolTest, ExtensionsShareTheirBase) {
  auto base = std::make_shared<Pool>();
  const Expr s = base->Symbol("S");
  const Expr twice = base->Mul(base->Constant(2), s);
  const Expr half = base->FloorDiv(s, base->Constant(2));
  const int32_t symbols = base->num_symbols();
  Pool one(base);
  Pool other(base);
  EXPECT_EQ(one.Symbol("S"), s);
  EXPECT_EQ(one.Add(s, s), twice);
  EXPECT_EQ(one.FloorDiv(s, one.Constant(2)), half);
  EXPECT_EQ(one.Zero(), base->Zero());
  const Expr t = one.Symbol("T");
  EXPECT_EQ(t.symbol(), SymbolId{symbols});
  EXPECT_EQ(one.name(s.symbol()), "S");
  EXPECT_EQ(one.Mul(t, half).ToString(), "T * (S / 2)");
  EXPECT_EQ(other.num_symbols(), symbols);
  EXPECT_EQ(base->num_symbols(), symbols);
}

TEST(PoolTest, LimitsDepth) {
  Pool pool;
  const Expr s = pool.Symbol("S");
  Expr e = s;
  for (int i = 0; i < kMaxDepth; ++i) {
    e = pool.FloorDiv(pool.Add(e, s), pool.Constant(3));
    ASSERT_TRUE(e.valid()) << i;
  }
  EXPECT_EQ(e.depth(), kMaxDepth);
  EXPECT_EQ(pool.FloorDiv(e, pool.Constant(3)).error(), Error::kTooDeep);
  EXPECT_TRUE(pool.Mul(e, s).valid());
}

TEST(PoolTest, LimitsPrintedText) {
  // Each level names the one below twice: 2^60 characters, if written out.
  Pool pool;
  Expr e = pool.Symbol("S");
  for (int i = 0; i < 60; ++i) {
    e = pool.Mod(pool.Mul(e, e), pool.Add(e, pool.One()));
    ASSERT_TRUE(e.valid());
  }
  EXPECT_EQ(e.ToString().size(), 4096u + 3);
  EXPECT_EQ(ToText(e.terms(), 20).size(), 23u);
  EXPECT_TRUE(IsNonNegative(e));
  EXPECT_EQ(SymbolsOf(e).size(), 1u);
}

TEST(PoolTest, LimitsSize) {
  Pool pool;
  Expr power = pool.Symbol("S");
  for (size_t i = 1; i < kMaxDegree; ++i) {
    power = pool.Mul(power, pool.Symbol("S"));
    ASSERT_TRUE(power.valid());
  }
  EXPECT_EQ(pool.Mul(power, pool.Symbol("S")).error(), Error::kTooLarge);

  // Sums of two halves, so that no prefix is kept.
  const std::function<Expr(size_t)> sum_of = [&](size_t n) {
    if (n == 1) return pool.AddSymbol("x");
    return pool.Add(sum_of(n / 2), sum_of(n - n / 2));
  };
  const Expr some = sum_of(300);
  EXPECT_EQ(pool.Mul(some, some).error(), Error::kTooLarge);
  const Expr sum = sum_of(kMaxTerms);
  ASSERT_TRUE(sum.valid());
  EXPECT_EQ(pool.Add(sum, pool.One()).error(), Error::kTooLarge);
}

TEST(PoolTest, KnowsSigns) {
  Build x;
  EXPECT_TRUE(IsPositive(x.a));
  EXPECT_TRUE(IsPositive(x.Add(x.a, x.Div(x.h, x.b))));
  EXPECT_FALSE(IsPositive(x.Div(x.h, x.b)));
  EXPECT_TRUE(IsNonNegative(x.Div(x.h, x.b)));
  EXPECT_TRUE(IsPositive(x.Ceil(x.h, x.b)));
  EXPECT_TRUE(IsPositive(x.Max(x.a, x.pool->Negate(x.b))));
  EXPECT_FALSE(IsNonNegative(x.Min(x.a, x.pool->Negate(x.b))));
  EXPECT_TRUE(IsPositive(x.Min(x.a, x.b)));
  EXPECT_FALSE(IsNonNegative(x.Sub(x.a, x.b)));
  EXPECT_FALSE(IsNonNegative(x.Div(x.Sub(x.a, x.b), x.b)));
  EXPECT_TRUE(IsNonNegative(x.Mod(x.Sub(x.a, x.b), x.b)));
  EXPECT_TRUE(IsNonNegative(x.C(0)));
  EXPECT_FALSE(IsPositive(x.C(0)));
  EXPECT_FALSE(IsNonNegative(Expr()));
}

TEST(PoolTest, CountsItsMemory) {
  Build x;
  const size_t before = x.pool->ByteSize();
  Expr sum = x.a;
  for (int i = 0; i < 1000; ++i) sum = x.Add(sum, x.Mul(i, x.b));
  const size_t with_memo = x.pool->ByteSize();
  EXPECT_GT(with_memo, before + 1000 * sizeof(Term));
  x.pool->ReleaseMemo();
  EXPECT_LT(x.pool->ByteSize(), with_memo);
}

}  // namespace
}  // namespace linnet::expr
