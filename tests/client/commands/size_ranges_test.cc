#include "client/commands/size_ranges.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::client {
namespace {

using ::testing::HasSubstr;

// "first-last" of each range, with its step or factor.
std::string Read(absl::string_view text) {
  const auto axis = ParseSizes(text);
  if (!axis.ok()) return std::string(axis.status().message());
  std::string out;
  for (const v1::SizeRange& range : axis->ranges()) {
    absl::StrAppend(&out, out.empty() ? "" : " ", range.first(), "-",
                    range.last());
    if (range.has_step()) absl::StrAppend(&out, "+", range.step());
    if (range.has_factor()) absl::StrAppend(&out, "x", range.factor());
  }
  return out;
}

TEST(SizeRangesTest, Forms) {
  EXPECT_EQ(Read("8"), "8-8");
  EXPECT_EQ(Read("1k,4K,2m"), "1024-1024 4096-4096 2097152-2097152");
  EXPECT_EQ(Read("1..64"), "1-64");
  EXPECT_EQ(Read("1..64x2"), "1-64x2");
  EXPECT_EQ(Read("1k..1m+1k,7"), "1024-1048576+1024 7-7");
  EXPECT_EQ(Read("5..5"), "5-5");
}

TEST(SizeRangesTest, WhatIsNone) {
  for (const char* text : {"",
                           ",",
                           "8,",
                           "a",
                           "0",
                           "-3",
                           "1.5",
                           "4..1",
                           "1..",
                           "..4",
                           "1..4x",
                           "1..4x1",
                           "1..4+0",
                           "1..4x2x2",
                           "k",
                           "1..4y2",
                           "9223372036854775807k",
                           "99999999999999999999",
                           "1 , 2x",
                           "1...4"}) {
    EXPECT_THAT(Read(text), HasSubstr("is no size and no range of sizes"))
        << text;
  }
}

}  // namespace
}  // namespace linnet::client
