#include "core/base/bytes.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace linnet {
namespace {

struct ParseCase {
  std::string name;
  std::string text;
  int64_t want = 0;
  std::string error = "";  // Part of the message; empty means success.
};

class ParseBytesTest : public ::testing::TestWithParam<ParseCase> {};

TEST_P(ParseBytesTest, Parses) {
  const auto got = ParseBytes(GetParam().text);
  if (GetParam().error.empty()) {
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*got, GetParam().want);
    return;
  }
  ASSERT_FALSE(got.ok()) << *got;
  EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(got.status().message().find(GetParam().error),
            absl::string_view::npos)
      << got.status();
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ParseBytesTest,
    ::testing::ValuesIn<ParseCase>({
        {"Plain", "4096", 4096},
        {"Zero", "0", 0},
        {"B", "12B", 12},
        {"GiB", "48GiB", int64_t{48} << 30},
        {"GB", "80GB", 80'000'000'000},
        {"MiB", "512MiB", int64_t{512} << 20},
        {"AnyCase", "1gib", int64_t{1} << 30},
        {"Blanks", "  2 KiB ", 2048},
        {"Fraction", "1.5GiB", int64_t{3} << 29},
        {"RoundsDown", "0.1GiB", 107374182},
        {"LongFraction", "0.4999999999999999999999999TB", 499999999999},
        {"Largest", "9223372036854775807", INT64_MAX},
        {"LargestTiB", "8388607TiB", int64_t{8388607} << 40},
        {"Empty", "", 0, "is empty"},
        {"Blank", "  ", 0, "is empty"},
        {"Negative", "-1GiB", 0, "negative"},
        {"NoNumber", "GiB", 0, "does not begin with a number"},
        {"NoDigits", "1.GiB", 0, "no digit after the point"},
        {"HalfByte", "1.5", 0, "whole number of bytes"},
        {"HalfByteB", "1.5B", 0, "whole number of bytes"},
        {"Unit", "1GX", 0, "unknown unit; known are B, kB, MB"},
        {"Gigabit", "1Gi", 0, "unknown unit"},
        {"Twice", "1GiB2", 0, "unknown unit"},
        {"Overflow", "9223372036854775808", 0, "64 bits"},
        {"OverflowTiB", "8388608TiB", 0, "64 bits"},
        {"AlmostOverflows", "8388607.99999999TiB", 9223372036854764812},
        {"Escaped", "1\n\x01", 0, "\\001"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ParseBytesTest, CutsLongText) {
  const auto got = ParseBytes(std::string(100000, 'x'));
  EXPECT_LT(got.status().message().size(), 200u);
}

struct FormatCase {
  std::string name;
  int64_t bytes;
  std::string want;
};

class FormatBytesTest : public ::testing::TestWithParam<FormatCase> {};

TEST_P(FormatBytesTest, Formats) {
  EXPECT_EQ(FormatBytes(GetParam().bytes), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(Cases, FormatBytesTest,
                         ::testing::ValuesIn<FormatCase>({
                             {"Zero", 0, "0 B"},
                             {"Bytes", 512, "512 B"},
                             {"LastBytes", 1023, "1023 B"},
                             {"KiB", 1024, "1.00 KiB"},
                             {"MiB", 621 * kMiB, "621.00 MiB"},
                             {"Weights", 16060522496, "14.96 GiB"},
                             {"Transient", 62356 * kMiB, "60.89 GiB"},
                             {"TiB", 3 * kTiB / 2, "1.50 TiB"},
                             {"Large", INT64_MAX, "8388608.00 TiB"},
                             {"Negative", -512 * kMiB, "-512.00 MiB"},
                             {"Least", INT64_MIN, "-8388608.00 TiB"},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace linnet
