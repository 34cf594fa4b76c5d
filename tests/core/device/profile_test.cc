#include "core/device/profile.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/device/device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::device {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A whole profile of round numbers.
constexpr char kProfile[] = R"({
  "name": "mine", "source": "measured: one", "memory": 1000,
  "flops": {"bf16": 800, "f16": 400, "f32": 100},
  "products": {
    "bf16": [[256, 256, 100], [256, 1024, 200], [1024, 256, 300],
             [1024, 1024, 1000]],
    "f32": [[256, 256, 50]]},
  "attention": {
    "causal/64": 10, "causal_backward/64": 11, "masked/64": 12,
    "masked_backward/64": 13, "causal/128": 20, "causal/64/f32": 1,
    "causal_backward/64/f32": 2, "masked/64/f32": 3,
    "masked_backward/64/f32": 4},
  "bandwidth": 2, "elementwise": 3, "broadcast": 4, "skinny": 5, "decode": 6,
  "link": 7, "latency": 8, "reduce": 9, "kernel": 10, "strided_kernel": 11,
  "dispatch": 12,
  "host": {"view": 1, "elementwise": 2, "product": 3, "batched": 4,
           "attention": 5, "normalization": 6, "write": 7, "gather": 8,
           "join": 9, "cast": 10, "reduction": 11, "mask": 12, "backward": 13,
           "product_backward": 14}
})";

Profile Read(const std::string& text) {
  auto profile = ParseProfile(text, "mine.json");
  EXPECT_TRUE(profile.ok()) << profile.status();
  return profile.ok() ? *std::move(profile) : Profile();
}

TEST(ProfileTest, ReadsEveryRate) {
  const Profile profile = Read(kProfile);
  EXPECT_EQ(profile.name, "mine");
  EXPECT_EQ(profile.source, "measured: one");
  EXPECT_EQ(profile.memory_bytes, 1000);
  EXPECT_EQ(profile.peak(DType::kBF16), 800);
  EXPECT_EQ(profile.peak(DType::kF16), 400);
  EXPECT_EQ(profile.peak(DType::kF32), 100);
  const std::vector<double> rates = {
      profile.bandwidth,      profile.elementwise, profile.broadcast,
      profile.skinny,         profile.decode,      profile.link,
      profile.latency,        profile.reduce,      profile.kernel,
      profile.strided_kernel, profile.dispatch};
  for (size_t i = 0; i < rates.size(); ++i) {
    EXPECT_EQ(rates[i], static_cast<double>(i + 2));
  }
  for (size_t i = 0; i < kNumHostCalls; ++i) {
    EXPECT_EQ(profile.host[i], static_cast<double>(i + 1))
        << HostCallName(static_cast<HostCall>(i));
  }
  EXPECT_THAT(profile.scaled, IsEmpty());
}

TEST(ProfileTest, ProductsAreInterpolatedBetweenMeasuredShapes) {
  const Profile profile = Read(kProfile);
  EXPECT_EQ(profile.ProductFlops(DType::kBF16, 256, 1024), 200);
  // Halfway in log2 of both: the mean of the four.
  EXPECT_DOUBLE_EQ(profile.ProductFlops(DType::kBF16, 512, 512), 400);
  EXPECT_DOUBLE_EQ(profile.ProductFlops(DType::kBF16, 1024, 512), 650);
  // In proportion below, held beyond, never above the peak of 800 or 400.
  EXPECT_DOUBLE_EQ(profile.ProductFlops(DType::kBF16, 64, 256), 25);
  EXPECT_DOUBLE_EQ(profile.ProductFlops(DType::kBF16, 64, 128), 12.5);
  EXPECT_EQ(profile.ProductFlops(DType::kBF16, 256, 1 << 20), 200);
  EXPECT_EQ(profile.ProductFlops(DType::kBF16, 4096, 4096), 800);
  EXPECT_EQ(profile.ProductFlops(DType::kF16, 4096, 4096), 400);
  EXPECT_EQ(profile.ProductFlops(DType::kF32, 256, 256), 50);
}

TEST(ProfileTest, TransposedWeightsMayHaveRatesOfTheirOwn) {
  const Profile without = Read(kProfile);
  EXPECT_FALSE(without.HasTransposed(DType::kF32));
  EXPECT_EQ(without.ProductFlops(DType::kF32, 256, 256, true), 50);
  const Profile with = Read(absl::StrReplaceAll(
      kProfile, {{"\"bandwidth\": 2,",
                  "\"bandwidth\": 2, \"transposed\": {\"f32\": [[256, 256, "
                  "30]]},"}}));
  EXPECT_TRUE(with.HasTransposed(DType::kF32));
  EXPECT_FALSE(with.HasTransposed(DType::kBF16));
  EXPECT_EQ(with.ProductFlops(DType::kF32, 256, 256, true), 30);
  EXPECT_EQ(with.ProductFlops(DType::kF32, 256, 256), 50);
  EXPECT_EQ(with.ProductFlops(DType::kBF16, 256, 256, true), 100);
}

TEST(ProfileTest, AttentionGoesByTheNearestWidth) {
  const Profile profile = Read(kProfile);
  EXPECT_EQ(profile.AttentionFlops(true, false, false, 96), 10);
  EXPECT_EQ(profile.AttentionFlops(true, false, false, 97), 20);
  EXPECT_EQ(profile.AttentionFlops(false, true, false, 512), 13);
  EXPECT_EQ(profile.AttentionFlops(false, true, true, 1), 4);
}

std::string With(const std::string& from, const std::string& to) {
  return absl::StrReplaceAll(kProfile, {{from, to}});
}

TEST(ProfileTest, Refusals) {
  struct Row {
    std::string text, want;
  };
  const Row rows[] = {
      {"[]", "a device profile is a JSON object"},
      {"{", "not JSON"},
      {With("\"skinny\": 5, ", ""), "`skinny` is missing"},
      {With("\"decode\": 6", "\"decode\": 0"),
       "`decode` must be a number above 0"},
      {With("\"link\": 7", "\"link\": -7"), "`link` must be a number above 0"},
      {With("\"link\": 7", "\"link\": 1e999"), "not JSON at byte"},
      {With("\"link\": 7", "\"link\": \"fast\""), "`link` must be a number"},
      {With("\"f32\": 100", "\"f64\": 100"), "`flops.f32` is missing"},
      {With("\"view\": 1, ", ""), "`host.view` is missing"},
      {With("[1024, 256, 300],", ""), "must have each n with each k, once"},
      {With("[1024, 256, 300]", "[1024, 1024, 300]"),
       "must have each n with each k, once"},
      {With("[1024, 256, 300]", "[1024, 300]"), "[n, k, FLOP/s]"},
      {With("\"masked/64\": 12,", ""), "has no rate masked/WIDTH"},
      {With("causal/128", "causal/wide"), "`attention.causal/wide`"},
      {With("causal/128", "flash/128"), "is no kind of attention"},
      {With("causal/128", "causal/128/f16"), "is no kind of attention"},
      {With("\"memory\": 1000", "\"memory\": 0"), "`memory` must be"},
      {With("\"memory\"", "\"version\": 2, \"memory\""), "`version` is not 1"},
      {With("\"memory\"", "\"scaled\": [1], \"memory\""),
       "`scaled` must be a list of names"},
      {With("\"mine\"", "\"\""), "`name` must be a text"},
  };
  for (const Row& row : rows) {
    const auto profile = ParseProfile(row.text, "mine.json");
    ASSERT_FALSE(profile.ok()) << row.want;
    EXPECT_EQ(profile.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(profile.status().message()), HasSubstr(row.want));
    EXPECT_THAT(std::string(profile.status().message()),
                HasSubstr("mine.json: "));
  }
}

TEST(ProfileTest, ScalesByDataSheets) {
  const Profile profile = Read(kProfile);
  const Profile scaled =
      Scale(profile, {100, 10, 1000, 50}, {200, 30, 4000, 25});
  EXPECT_EQ(scaled.peak_bf16, 1600);
  EXPECT_EQ(scaled.peak_f16, 800);
  EXPECT_EQ(scaled.peak_f32, 300);
  EXPECT_EQ(scaled.ProductFlops(DType::kBF16, 256, 256), 200);
  EXPECT_EQ(scaled.ProductFlops(DType::kF32, 256, 256), 150);
  EXPECT_EQ(scaled.AttentionFlops(false, false, false, 64), 24);
  EXPECT_EQ(scaled.AttentionFlops(false, false, true, 64), 9);
  EXPECT_EQ(scaled.bandwidth, 8);
  EXPECT_EQ(scaled.decode, 24);
  EXPECT_EQ(scaled.link, 3.5);
  EXPECT_EQ(scaled.latency, profile.latency);
  EXPECT_EQ(scaled.kernel, profile.kernel);
  EXPECT_EQ(scaled.host, profile.host);
  EXPECT_THAT(scaled.scaled, Not(IsEmpty()));
}

TEST(DeviceTest, EveryDeviceHasRatesAndSaysWhere) {
  EXPECT_EQ(Devices().size(), 13u);
  for (const Device& device : Devices()) {
    SCOPED_TRACE(device.name);
    EXPECT_EQ(device.profile.name, device.name);
    EXPECT_EQ(device.profile.memory_bytes, device.memory_bytes);
    for (const double figure : {device.sheet.bf16, device.sheet.f32,
                                device.sheet.bandwidth, device.sheet.link}) {
      EXPECT_GT(figure, 0);
      EXPECT_TRUE(std::isfinite(figure));
    }
    const bool measured = device.name == "h100-80gb";
    EXPECT_EQ(device.profile.scaled.empty(), measured);
    EXPECT_THAT(
        device.profile.source,
        HasSubstr(measured ? "measured: " : "scaled by the data sheets"));
    // A device does no more than its sheet says.
    EXPECT_LT(device.profile.peak_bf16, device.sheet.bf16);
    EXPECT_LT(device.profile.peak_f32, device.sheet.f32);
    EXPECT_LT(device.profile.bandwidth, device.sheet.bandwidth);
  }
}

}  // namespace
}  // namespace linnet::device
