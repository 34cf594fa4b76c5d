// Headers as others write them, and headers that no one should.

#include "core/zoo/safetensors.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::zoo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WithLength(const std::string& json, uint64_t length) {
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) {
    bytes += static_cast<char>((length >> (8 * i)) & 0xff);
  }
  return bytes + json;
}

std::string File(const std::string& json) {
  return WithLength(json, json.size());
}

TEST(SafetensorsTest, ReadsTensorsAndSkipsMetadata) {
  const auto header =
      ParseSafetensors(File(R"({"__metadata__": {"format": "pt"},
        "b": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [4, 16]},
        "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
        "none": {"dtype": "I64", "shape": [0, 9], "data_offsets": [16, 16]}}
      )") + "what follows is not looked at",
                       "x");
  ASSERT_TRUE(header.ok()) << header.status();
  ASSERT_EQ(header->tensors.size(), 3u);
  EXPECT_EQ(header->data_bytes, 16);
  EXPECT_EQ(header->tensors[0].name, "b");
  EXPECT_EQ(header->tensors[0].bytes, 12);
  EXPECT_THAT(header->tensors[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(header->tensors[1].bytes, 4);
}

struct DTypeCase {
  const char* dtype;
  int64_t bytes;  // Of eight elements.
};

class DTypeTest : public ::testing::TestWithParam<DTypeCase> {};

TEST_P(DTypeTest, HasItsSize) {
  const auto header = ParseSafetensors(
      File(absl::StrCat(R"({"a": {"dtype": ")", GetParam().dtype,
                        R"(", "shape": [8], "data_offsets": [0, )",
                        GetParam().bytes, "]}}")),
      "x");
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->data_bytes, GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    , DTypeTest,
    ::testing::Values(
        DTypeCase{"BOOL", 8}, DTypeCase{"F4", 4}, DTypeCase{"F6_E2M3", 6},
        DTypeCase{"U8", 8}, DTypeCase{"I8", 8}, DTypeCase{"F8_E4M3", 8},
        DTypeCase{"F8_E5M2", 8}, DTypeCase{"F8_E8M0", 8}, DTypeCase{"I16", 16},
        DTypeCase{"F16", 16}, DTypeCase{"BF16", 16}, DTypeCase{"I32", 32},
        DTypeCase{"F32", 32}, DTypeCase{"F64", 64}, DTypeCase{"I64", 64}),
    [](const ::testing::TestParamInfo<DTypeCase>& row) {
      return std::string(row.param.dtype);
    });

std::string One(const std::string& tensor) {
  return File(absl::StrCat("{\"a\": ", tensor, "}"));
}

struct HostileCase {
  const char* name;
  std::string bytes;
  const char* message;
};

class HostileTest : public ::testing::TestWithParam<HostileCase> {};

TEST_P(HostileTest, IsRefused) {
  const auto header = ParseSafetensors(GetParam().bytes, "f.safetensors");
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(header.status().message()),
      AllOf(HasSubstr("f.safetensors: "), HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    , HostileTest,
    ::testing::Values(
        HostileCase{"Empty", "", "has 0 bytes"},
        HostileCase{"Short", "1234567", "has 7 bytes"},
        HostileCase{"LengthPastTheEnd", WithLength("{}", 3),
                    "said to have 3 bytes, but 2 follow"},
        HostileCase{"HugeLength", WithLength("{}", ~uint64_t{0}),
                    "said to have 18446744073709551615 bytes"},
        HostileCase{"NoJson", File("{]"), "not JSON at its byte"},
        HostileCase{"List", File("[]"), "must be an object, not a list"},
        HostileCase{"Number", File("7"), "must be an object, not a number"},
        HostileCase{"DeepLists",
                    One("{\"shape\": " + std::string(100'000, '[')),
                    "has a list where the format has none"},
        HostileCase{"DeepObjects", One("{\"shape\": {\"shape\": {}}}"),
                    "has an object where"},
        HostileCase{"TensorTwice", File(R"({"a": {"dtype": "U8", "shape": [1],
                      "data_offsets": [0, 1]}, "a": {}})"),
                    "the tensor `a` comes twice"},
        HostileCase{"KeyTwice", One(R"({"dtype": "U8", "dtype": "U8"})"),
                    "has `dtype` twice"},
        HostileCase{"KeyMissing", One(R"({"dtype": "U8", "shape": []})"),
                    "must have `dtype`, `shape` and `data_offsets`"},
        HostileCase{"KeyUnknown", One(R"({"kind": "U8"})"), "has a key `kind`"},
        HostileCase{"DTypeUnknown",
                    One(R"({"dtype": "F7", "shape": [], "data_offsets":
                      [0, 1]})"),
                    "has the dtype `F7`, which is not known"},
        HostileCase{"NegativeExtent", One(R"({"shape": [-1]})"),
                    "has a negative number"},
        HostileCase{"Fraction", One(R"({"shape": [1.5]})"), "has a fraction"},
        HostileCase{"NumberPast63Bits",
                    One(R"({"shape": [18446744073709551615]})"),
                    "above 2^63 - 1"},
        HostileCase{"SizePast63Bits",
                    One(R"({"dtype": "F32", "shape": [4294967296, 4294967296],
                      "data_offsets": [0, 1]})"),
                    "which passes 63 bits"},
        HostileCase{"ManyDimensions",
                    One("{\"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}"),
                    "more than 16 dimensions"},
        HostileCase{"LyingLength",
                    One(R"({"dtype": "F32", "shape": [2], "data_offsets":
                      [0, 4]})"),
                    "F32 of shape [2] takes 8 bytes"},
        HostileCase{"BackwardOffsets",
                    One(R"({"dtype": "U8", "shape": [1], "data_offsets":
                      [1, 0]})"),
                    "has offsets 1 to 0"},
        HostileCase{"OneOffset",
                    One(R"({"dtype": "U8", "shape": [1], "data_offsets":
                      [1]})"),
                    "must have two `data_offsets`"},
        HostileCase{"Overlap", File(R"({"a": {"dtype": "U8", "shape": [4],
                      "data_offsets": [0, 4]}, "b": {"dtype": "U8",
                      "shape": [4], "data_offsets": [3, 7]}})"),
                    "the tensors `a` and `b` overlap"},
        HostileCase{"Gap", File(R"({"a": {"dtype": "U8", "shape": [4],
                      "data_offsets": [1, 5]}})"),
                    "a gap of 1 bytes before the tensor `a`"},
        HostileCase{"HalfAByte",
                    One(R"({"dtype": "F4", "shape": [3], "data_offsets":
                      [0, 1]})"),
                    "takes 2 bytes"}),
    [](const ::testing::TestParamInfo<HostileCase>& row) {
      return std::string(row.param.name);
    });

TEST(SafetensorsTest, EveryPrefixIsRefused) {
  const std::string whole =
      One(R"({"dtype": "U8", "shape": [1], "data_offsets": [0, 1]})");
  ASSERT_TRUE(ParseSafetensors(whole, "x").ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseSafetensors(whole.substr(0, size), "x").ok()) << size;
  }
}

TEST(IndexTest, ReadsTheMapAndRefusesOtherForms) {
  const auto files = ParseSafetensorsIndex(
      R"({"metadata": {"total_size": 9}, "weight_map": {"a": "x", "b": "y"}})",
      "i");
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files,
              ElementsAre(testing::Pair("a", "x"), testing::Pair("b", "y")));
  for (const char* text :
       {"", "[]", "{}", R"({"weight_map": []})", R"({"weight_map": {"a": 1}})",
        R"({"weight_map": {"a": "../x"}})", R"({"weight_map": {"a": "c:\\x"}})",
        R"({"weight_map": {"a": "x", "a": "y"}})"}) {
    EXPECT_FALSE(ParseSafetensorsIndex(text, "i").ok()) << text;
  }
}

}  // namespace
}  // namespace linnet::zoo
