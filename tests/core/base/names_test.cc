#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/confidence.h"
#include "core/base/dtype.h"
#include "core/base/hash.h"
#include "core/base/nearest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NearestNamesTest, FindsTheClosestFirst) {
  const std::vector<absl::string_view> known = {
      "llama-3.1-8b", "llama-3.1-8b-instruct", "tinyllama", "forward",
      "Batch",        "decode_rows",           "decode"};
  EXPECT_THAT(NearestNames("foward", known), ElementsAre("forward"));
  EXPECT_THAT(NearestNames("batch", known), ElementsAre("Batch"));
  EXPECT_THAT(NearestNames("deocde", known), ElementsAre("decode"));
  EXPECT_THAT(NearestNames("llama-3.1-8b-instrukt", known),
              ElementsAre("llama-3.1-8b-instruct"));
  EXPECT_THAT(NearestNames("qwen", known), IsEmpty());
  EXPECT_THAT(NearestNames("", known), IsEmpty());
}

TEST(NearestNamesTest, KeepsTheOrderOfTiesAndTheLimit) {
  const std::vector<absl::string_view> known = {"aab", "aac", "aaa", "aad"};
  EXPECT_THAT(NearestNames("aaa", known, 3), ElementsAre("aaa", "aab", "aac"));
  EXPECT_THAT(NearestNames("aaa", known, 0), IsEmpty());
}

TEST(NearestNamesTest, LeavesOutLongNames) {
  const std::string long_name(129, 'a');
  const std::vector<absl::string_view> known = {long_name};
  EXPECT_THAT(NearestNames(long_name, known), IsEmpty());
  EXPECT_THAT(NearestNames(long_name.substr(1), known), IsEmpty());
  const std::string limit(128, 'a');
  const std::vector<absl::string_view> other = {limit};
  EXPECT_THAT(NearestNames(limit, other), ElementsAre(limit));
}

TEST(HashTest, IsTheSameEverywhere) {
  // Cache keys outlive a process, so these must never change.
  EXPECT_EQ(Hasher().Finish().Hex(), "e9e0033e3badaf363fc66ee430973d6f");
  EXPECT_EQ(Hasher().Add("linnet").Add(int64_t{42}).Finish().Hex(),
            "8ce19cd907b8d60710f1c04c1958a419");
}

TEST(HashTest, TakesAnyInteger) {
  const Hash128 want = Hasher().Add(int64_t{1}).Finish();
  EXPECT_EQ(Hasher().Add(1).Finish(), want);
  EXPECT_EQ(Hasher().Add(size_t{1}).Finish(), want);
  EXPECT_EQ(Hasher().Add(true).Finish(), want);
  EXPECT_EQ(Hasher().Add(-1).Finish(), Hasher().Add(int64_t{-1}).Finish());
  EXPECT_EQ(Hasher().Add(std::string("a")).Finish(),
            Hasher().Add("a").Finish());
}

TEST(HashTest, TellsContentApart) {
  std::set<Hash128> seen;
  size_t count = 0;
  const auto add = [&](Hash128 hash) {
    seen.insert(hash);
    ++count;
  };
  add(Hasher().Finish());
  add(Hasher().Add("").Finish());
  add(Hasher().Add("").Add("").Finish());
  add(Hasher().Add("ab").Add("c").Finish());
  add(Hasher().Add("a").Add("bc").Finish());
  add(Hasher().Add("abc").Finish());
  add(Hasher().Add(int64_t{3}).Finish());
  add(Hasher().Add(Hash128{0, 3}).Finish());
  add(Hasher().Add(Hash128{3, 0}).Finish());
  for (size_t length = 1; length < 40; ++length) {
    add(Hasher().Add(std::string(length, '\0')).Finish());
  }
  for (int64_t i = 0; i < 20000; ++i) {
    add(Hasher().Add("key").Add(i * 4096).Finish());
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(HashTest, EveryBitChangesHalfOfTheResult) {
  const Hash128 base = Hasher().Add(int64_t{0}).Finish();
  for (int bit = 0; bit < 63; ++bit) {
    const Hash128 other = Hasher().Add(int64_t{1} << bit).Finish();
    const int flipped = __builtin_popcountll(base.high ^ other.high) +
                        __builtin_popcountll(base.low ^ other.low);
    EXPECT_GT(flipped, 32) << bit;
    EXPECT_LT(flipped, 96) << bit;
  }
}

TEST(DTypeTest, NamesSizesAndClasses) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(ParseDType(DTypeName(dtype)), dtype);
  }
  EXPECT_EQ(ParseDType("f8"), std::nullopt);
  EXPECT_EQ(DTypeBytes(DType::kBF16), 2);
  EXPECT_EQ(DTypeBytes(DType::kBool), 1);
  EXPECT_EQ(DTypeBytes(DType::kI64), 8);
  EXPECT_TRUE(IsFloat(DType::kBF16));
  EXPECT_FALSE(IsFloat(DType::kU8));
  EXPECT_TRUE(IsInteger(DType::kU8));
  EXPECT_FALSE(IsInteger(DType::kBool));
  EXPECT_FALSE(IsNumeric(DType::kBool));
  EXPECT_TRUE(IsNumeric(DType::kF64));
}

TEST(ConfidenceTest, TheWeakestCounts) {
  EXPECT_EQ(Weakest(Confidence::kExact, Confidence::kEstimated),
            Confidence::kEstimated);
  EXPECT_EQ(Weakest(Confidence::kUnknown, Confidence::kModeled),
            Confidence::kUnknown);
  EXPECT_EQ(ConfidenceName(Confidence::kModeled), "backend-modeled");
}

}  // namespace
}  // namespace linnet
