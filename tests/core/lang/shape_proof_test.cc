#include "core/lang/shape_proof.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/expr/evaluator.h"
#include "core/expr/pool.h"
#include "gtest/gtest.h"
#include "tests/support/random.h"

namespace linnet::lang {
namespace {

using expr::Expr;
using expr::Pool;

// Reads `2 * min(A, B / 2) % 3` with the language's precedences.
class DimReader {
 public:
  DimReader(Pool* pool, absl::string_view text) : pool_(*pool), text_(text) {}

  Expr Read() {
    const Expr result = Sum();
    EXPECT_TRUE(text_.empty()) << "left over: " << text_;
    return result;
  }

 private:
  bool Take(absl::string_view token) {
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    if (text_.substr(0, token.size()) != token) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  Expr Sum() {
    Expr left = Take("-") ? pool_.Negate(Product()) : Product();
    while (true) {
      if (Take("+")) {
        left = pool_.Add(left, Product());
      } else if (Take("-")) {
        left = pool_.Sub(left, Product());
      } else {
        return left;
      }
    }
  }
  Expr Product() {
    Expr left = Atom();
    while (true) {
      if (Take("*")) {
        left = pool_.Mul(left, Atom());
      } else if (Take("/")) {
        left = pool_.FloorDiv(left, Atom());
      } else if (Take("%")) {
        left = pool_.Mod(left, Atom());
      } else {
        return left;
      }
    }
  }
  Expr Atom() {
    if (Take("(")) {
      const Expr inner = Sum();
      EXPECT_TRUE(Take(")"));
      return inner;
    }
    const bool is_min = Take("min(");
    if (is_min || Take("max(")) {
      const Expr a = Sum();
      EXPECT_TRUE(Take(","));
      const Expr b = Sum();
      EXPECT_TRUE(Take(")"));
      return is_min ? pool_.Min(a, b) : pool_.Max(a, b);
    }
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    size_t end = 0;
    while (end < text_.size() &&
           absl::ascii_isalnum(static_cast<unsigned char>(text_[end]))) {
      ++end;
    }
    const absl::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    int64_t number = 0;
    if (absl::SimpleAtoi(word, &number)) return pool_.Constant(number);
    EXPECT_FALSE(word.empty());
    return pool_.Symbol(word);
  }

  Pool& pool_;
  absl::string_view text_;
};

struct Comparison {
  Relation relation = Relation::kEq;
  Expr left, right;
};

Comparison ReadComparison(Pool* pool, absl::string_view text) {
  static const std::vector<std::pair<absl::string_view, Relation>>* const
      kRelations = new std::vector<std::pair<absl::string_view, Relation>>{
          {"==", Relation::kEq}, {"!=", Relation::kNe}, {"<=", Relation::kLe},
          {">=", Relation::kGe}, {"<", Relation::kLt},  {">", Relation::kGt}};
  for (const auto& [token, relation] : *kRelations) {
    const size_t at = text.find(token);
    if (at == absl::string_view::npos) continue;
    Comparison comparison;
    comparison.relation = relation;
    comparison.left = DimReader(pool, text.substr(0, at)).Read();
    comparison.right = DimReader(pool, text.substr(at + token.size())).Read();
    return comparison;
  }
  ADD_FAILURE() << "no relation in " << text;
  return {};
}

// Facts are separated by semicolons. Symbols count as declared in the order of
// the alphabet.
class Scene {
 public:
  explicit Scene(absl::string_view facts) : facts_(&pool_) {
    for (char c = 'A'; c <= 'Z'; ++c) pool_.Symbol(std::string(1, c));
    for (absl::string_view fact :
         absl::StrSplit(facts, ';', absl::SkipWhitespace())) {
      const Comparison c = ReadComparison(&pool_, fact);
      facts_.Add(c.relation, c.left, c.right);
    }
  }
  bool Proves(absl::string_view query) {
    const Comparison c = ReadComparison(&pool_, query);
    return facts_.Prove(c.relation, c.left, c.right);
  }
  std::string Simplify(absl::string_view dim) {
    return facts_.Simplify(DimReader(&pool_, dim).Read()).ToString();
  }
  Expr Read(absl::string_view dim) { return DimReader(&pool_, dim).Read(); }

  Pool pool_;
  ShapeFacts facts_;
};

struct ProofCase {
  const char* name;
  const char* facts;
  const char* query;
  bool provable;
};

std::ostream& operator<<(std::ostream& os, const ProofCase& c) {
  return os << "[" << c.facts << "] |- " << c.query;
}

class ProofTest : public testing::TestWithParam<ProofCase> {};

TEST_P(ProofTest, Decides) {
  Scene scene(GetParam().facts);
  EXPECT_EQ(scene.Proves(GetParam().query), GetParam().provable);
  // Asking again is the same answer.
  EXPECT_EQ(scene.Proves(GetParam().query), GetParam().provable);
}

INSTANTIATE_TEST_SUITE_P(
    Equality, ProofTest,
    testing::Values(
        ProofCase{"SameNormalForm", "", "2 * A * B == A * 2 * B", true},
        ProofCase{"Unrelated", "", "A == B", false},
        ProofCase{"HeadsFold", "H % N == 0; N > 0", "B * N * (H / N) == B * H",
                  true},
        ProofCase{"HeadsWithoutDivisibility", "N > 0", "N * (H / N) == H",
                  false},
        ProofCase{"EitherOrder", "N > 0; H % N == 0", "(H / N) * N == H", true},
        ProofCase{"ZeroOnTheLeft", "0 == H % N", "(H / N) * N == H", true},
        ProofCase{"CoefficientTakesPart", "D % 2 == 0", "2 * (D / 2) == D",
                  true},
        ProofCase{"MultipleOfTheCoefficient", "D % 2 == 0",
                  "6 * (D / 2) == 3 * D", true},
        ProofCase{"CoefficientTooSmall", "D % 4 == 0", "2 * (D / 4) == D",
                  false},
        ProofCase{"TwoQuotients", "H % S == 0; K % S == 0",
                  "S * S * (H / S) * (K / S) == H * K", true},
        ProofCase{"EveryTermDivisible", "A % N == 0; B % N == 0",
                  "N * ((A + B) / N) == A + B", true},
        ProofCase{"OneTermNotDivisible", "A % N == 0",
                  "N * ((A + B) / N) == A + B", false},
        ProofCase{"MultipleOfADividend", "A % N == 0",
                  "N * ((3 * A * B) / N) == 3 * A * B", true},
        ProofCase{"PolynomialDivisor", "", "((A * N + 2 * N) / N) == A + 2",
                  true},
        ProofCase{"WholeSumDivisible", "(A + B) % 2 == 0",
                  "2 * ((A + B) / 2) == A + B", true},
        ProofCase{"RewrittenSymbol", "Q == K * G", "Q == K * G", true},
        ProofCase{"RewrittenInside", "Q == K * G", "B * Q + 1 == G * B * K + 1",
                  true},
        ProofCase{"RewriteOfTheLatest", "A == B + 1", "A - 1 == B", true},
        ProofCase{"ChainOfRewrites", "D == C; C == B; B == A", "D == A", true},
        ProofCase{"ChainBackwards", "B == A; C == B; D == C", "D == A", true},
        ProofCase{"KnownZero", "A * B == C * D", "C * D == A * B", true},
        ProofCase{"KnownZeroOnly", "A * B == C * D", "2 * A * B == 2 * C * D",
                  false},
        ProofCase{"RewriteThenDivisible", "Q == K * G", "Q % K == 0", true},
        ProofCase{"ConstantSymbol", "S == 1", "H / S == H", true},
        ProofCase{"DivisibilityOfARewritten", "H % N == 0; N == 4",
                  "4 * (H / 4) == H", true},
        ProofCase{"DivisibilityBeforeTheProduct",
                  "Q == (H / N) * N; H % N == 0", "Q == H", true}));

INSTANTIATE_TEST_SUITE_P(
    Quotients, ProofTest,
    testing::Values(
        ProofCase{"RestBelowDivisor", "D % 2 == 0", "(D + 1) / 2 == D / 2",
                  true},
        ProofCase{"RestPastDivisor", "D % 2 == 0", "(D + 5) / 2 == D / 2 + 2",
                  true},
        ProofCase{"NegativeRest", "D % 2 == 0", "(D - 1) / 2 == D / 2 - 1",
                  true},
        ProofCase{"UnknownRest", "D % 2 == 0", "(D + A) / 2 == D / 2", false},
        ProofCase{"BoundedRest", "D % 8 == 0; A < 8", "(D + A) / 8 == D / 8",
                  true},
        ProofCase{"StridedSlice", "D % 2 == 0", "(D - 0 + 2 - 1) / 2 == D / 2",
                  true},
        ProofCase{"Remainder", "D % 4 == 0", "(D + 3) % 4 == 3", true},
        ProofCase{"RemainderOfNothing", "", "D % 4 == 0", false},
        ProofCase{"HalfAsDimension", "D % 2 == 0", "D / 2 + D / 2 == D", true},
        ProofCase{"HeadsPerShard",
                  "S > 0; H % S == 0; K % S == 0; K / S > 0; "
                  "(H / S) % (K / S) == 0",
                  "(H / S) % (K / S) == 0", true},
        ProofCase{"KvHeadsPerShardPositive",
                  "S > 0; H % S == 0; K % S == 0; K / S > 0", "K / S > 0",
                  true},
        ProofCase{"GroupsPerShard",
                  "S > 0; H % S == 0; K % S == 0; K / S > 0; "
                  "(H / S) % (K / S) == 0",
                  "(K / S) * ((H / S) / (K / S)) == H / S", true},
        ProofCase{"VocabularyGathered", "S > 0; V % S == 0", "S * (V / S) == V",
                  true},
        ProofCase{"OneShard", "H % S == 0; S == 1", "H / S == H", true},
        ProofCase{"HeadsTimesWidth", "H % N == 0; N % S == 0",
                  "(N / S) * (H / N) * S == H", true}));

INSTANTIATE_TEST_SUITE_P(
    Orderings, ProofTest,
    testing::Values(
        ProofCase{"SymbolsAreNotNegative", "", "A >= 0", true},
        ProofCase{"SymbolsMayBeZero", "", "A > 0", false},
        ProofCase{"Positive", "N > 0", "N >= 1", true},
        ProofCase{"PositiveReversed", "0 < N", "N > 0", true},
        ProofCase{"ScaledBound", "2 * N >= 3", "N >= 2", true},
        ProofCase{"UpperBound", "N <= 7", "N < 8", true},
        ProofCase{"UpperBoundNotTighter", "N <= 7", "N < 7", false},
        ProofCase{"ProductOfPositives", "A > 0; B > 1", "A * B >= 2", true},
        ProofCase{"ProductWithMaybeZero", "A > 0", "A * B >= 1", false},
        ProofCase{"KnownOrdering", "A >= B", "A + 3 >= B", true},
        ProofCase{"KnownOrderingReversed", "A >= B", "B >= A", false},
        ProofCase{"StrictOrdering", "A > B", "A >= B + 1", true},
        ProofCase{"HalfFits", "", "D - D / 2 >= 0", true},
        ProofCase{"HalfTwice", "", "D - 2 * (D / 2) >= 0", false},
        ProofCase{"QuotientAdded", "", "A + D / 2 >= A", true},
        ProofCase{"QuotientPositive", "A >= 8", "A / 8 >= 1", true},
        ProofCase{"QuotientOfLess", "A >= 7", "A / 8 >= 1", false},
        ProofCase{"RemainderBelow", "", "A % 8 < 8", true},
        ProofCase{"RemainderBySymbol", "N > 0; N <= 5", "A % N <= 4", true},
        ProofCase{"RemainderByMaybeZero", "N <= 5", "A % N <= 4", false},
        ProofCase{"MinBelow", "", "min(A, 4) <= 4", true},
        ProofCase{"MaxAbove", "", "max(A, 4) >= 4", true},
        ProofCase{"MaxOfLess", "A >= B", "max(A, B) == A", true},
        ProofCase{"MinOfHalf", "", "min(D / 2, D) == D / 2", true},
        ProofCase{"MinOfUnknown", "", "min(A, B) == A", false},
        ProofCase{"BoundMovesWithARewrite", "Q > 0; Q == K * G", "K * G >= 1",
                  true},
        ProofCase{"BoundOnARewritten", "Q == K * G; Q > 0", "K * G >= 1", true},
        ProofCase{"NotEqual", "A > B", "A != B", true},
        ProofCase{"NotEqualUnknown", "", "A != B", false},
        ProofCase{"NotEqualFactIgnored", "A != B", "A != B", false},
        ProofCase{"NegativeConstant", "", "0 - 4 < 0", true},
        ProofCase{"SelfIsNotGreater", "", "A > A", false},
        ProofCase{"SelfIsAtMost", "", "A <= A", true}));

TEST(ShapeFactsTest, SimplifiesToTheShortForm) {
  Scene scene("H % N == 0; N > 0; Q == 2 * N");
  EXPECT_EQ(scene.Simplify("(H / N) * N * B"), "B * H");
  EXPECT_EQ(scene.Simplify("Q * Q"), "4 * N * N");
  EXPECT_EQ(scene.Simplify("H % N + 1"), "1");
  EXPECT_EQ(scene.Simplify("A / B"), "A / B");
}

TEST(ShapeFactsTest, GivesBounds) {
  Scene scene("A >= 3; A <= 10; B > 0");
  EXPECT_EQ(scene.facts_.Low(scene.Read("2 * A + 1")), 7);
  EXPECT_EQ(scene.facts_.High(scene.Read("2 * A + 1")), 21);
  EXPECT_EQ(scene.facts_.High(scene.Read("5 - A")), 2);
  EXPECT_EQ(scene.facts_.High(scene.Read("0 - 4 - B")), -5);
  EXPECT_EQ(scene.facts_.Low(scene.Read("B / 4")), 0);
  EXPECT_EQ(scene.facts_.High(scene.Read("B")), std::nullopt);
  EXPECT_EQ(scene.facts_.Low(scene.Read("A - B")), std::nullopt);
}

TEST(ShapeFactsTest, ACopyGoesOnAlone) {
  Scene scene("A > 0");
  ShapeFacts inner = scene.facts_;
  inner.Add(Relation::kGt, scene.Read("B"), scene.pool_.Zero());
  EXPECT_TRUE(
      inner.Prove(Relation::kGe, scene.Read("A * B"), scene.pool_.One()));
  EXPECT_FALSE(scene.Proves("B >= 1"));
}

TEST(ShapeFactsTest, OverflowProvesNothing) {
  Scene scene("");
  const Expr huge = scene.pool_.Constant(INT64_MAX);
  const Expr overflow = scene.pool_.Mul(huge, scene.pool_.Constant(2));
  EXPECT_FALSE(scene.facts_.Prove(Relation::kEq, overflow, overflow));
  EXPECT_FALSE(scene.facts_.Prove(Relation::kGe, overflow, scene.pool_.Zero()));
  scene.facts_.Add(Relation::kEq, overflow, scene.pool_.Zero());
  EXPECT_FALSE(scene.Proves("A == B"));
  EXPECT_TRUE(scene.Proves("A * 4611686018427387904 >= 0"));
}

TEST(ShapeFactsTest, SharedPartsAreLookedAtOnce) {
  // min(x, A * x) within itself: two to the power of the depth, written out.
  Scene scene("A > 0; Q == A * B");
  Expr dim = scene.Read("Q");
  for (int i = 0; i < 40; ++i) {
    dim = scene.pool_.Min(scene.pool_.FloorDiv(dim, scene.Read("C")),
                          scene.pool_.Mul(dim, scene.Read("D")));
  }
  EXPECT_FALSE(scene.facts_.Prove(Relation::kEq, dim, scene.Read("B")));
  EXPECT_FALSE(scene.facts_.Prove(Relation::kGt, dim, scene.Read("B")));
  EXPECT_EQ(scene.facts_.High(dim), std::nullopt);
}

// Whatever is proved holds for every assignment that satisfies the facts.
TEST(ShapeFactsProperty, ProofsHoldByEvaluation) {
  const std::vector<const char*> facts = {
      "H % N == 0", "D % 2 == 0",      "N > 0",  "A >= B",
      "Q == K * G", "K > 0",           "A < 6",  "H % K == 0",
      "B * N == H", "A == 2 * B",      "D >= 4", "(A + B) % 3 == 0",
      "D / 2 > 1",  "(H / N) % K == 0"};
  const std::vector<const char*> dims = {"A",
                                         "B",
                                         "2 * B",
                                         "H",
                                         "(H / N) * N",
                                         "H / N",
                                         "D / 2",
                                         "2 * (D / 2)",
                                         "K * G",
                                         "Q",
                                         "min(A, B)",
                                         "max(A, B)",
                                         "D - D / 2",
                                         "(D + 1) / 2",
                                         "A % 3",
                                         "(A + B) / 3 * 3",
                                         "A + B",
                                         "H % K",
                                         "(H / N) / K * K * N",
                                         "3",
                                         "0",
                                         "Q / K",
                                         "max(D / 2, D)",
                                         "A - B",
                                         "B * N"};
  const std::vector<const char*> relations = {"==", "<=", "<", "!="};
  int proofs = 0;
  constexpr uint32_t kSeed = 20240611;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 25; ++round) {
    std::string chosen;
    for (const char* fact : facts) {
      if (random.Below(3) == 0) absl::StrAppend(&chosen, fact, ";");
    }
    Scene scene(chosen);
    std::vector<Comparison> assumed;
    for (absl::string_view fact :
         absl::StrSplit(chosen, ';', absl::SkipWhitespace())) {
      assumed.push_back(ReadComparison(&scene.pool_, fact));
    }
    std::vector<std::pair<std::string, Comparison>> proved;
    for (const char* left : dims) {
      for (const char* right : dims) {
        for (const char* relation : relations) {
          const std::string query = absl::StrCat(left, relation, right);
          if (!scene.Proves(query)) continue;
          proved.emplace_back(query, ReadComparison(&scene.pool_, query));
        }
      }
    }
    proofs += static_cast<int>(proved.size());
    const auto holds =
        [](const Comparison& c,
           const absl::flat_hash_map<expr::SymbolId, int64_t>& values)
        -> std::optional<bool> {
      const expr::Value left = Evaluate(c.left, values);
      const expr::Value right = Evaluate(c.right, values);
      if (!left.ok() || !right.ok()) return std::nullopt;
      switch (c.relation) {
        case Relation::kEq:
          return left.value == right.value;
        case Relation::kNe:
          return left.value != right.value;
        case Relation::kLt:
          return left.value < right.value;
        case Relation::kLe:
          return left.value <= right.value;
        case Relation::kGt:
          return left.value > right.value;
        case Relation::kGe:
          return left.value >= right.value;
      }
      return std::nullopt;
    };
    for (int sample = 0; sample < 300; ++sample) {
      absl::flat_hash_map<expr::SymbolId, int64_t> values;
      for (const char* name : {"A", "B", "D", "G", "H", "K", "N", "Q"}) {
        values[scene.pool_.Symbol(name).symbol()] = random.Below(9);
      }
      bool satisfied = true;
      for (const Comparison& fact : assumed) {
        satisfied = satisfied && holds(fact, values).value_or(false);
      }
      if (!satisfied) continue;
      for (const auto& [query, comparison] : proved) {
        EXPECT_TRUE(holds(comparison, values).value_or(true))
            << "[" << chosen << "] |- " << query;
      }
    }
  }
  EXPECT_GT(proofs, 500);
}

}  // namespace
}  // namespace linnet::lang
