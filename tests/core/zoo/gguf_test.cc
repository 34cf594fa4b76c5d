// GGUF headers: sizes by type, hostile forms, and a model that comes of one.

#include "core/zoo/gguf.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/zoo/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::zoo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Writes the fields of the format.
class Writer {
 public:
  Writer& Number(uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      text_ += static_cast<char>((value >> (8 * i)) & 0xff);
    }
    return *this;
  }
  Writer& Text(const std::string& text) {
    Number(text.size(), 8);
    text_ += text;
    return *this;
  }
  Writer& U32(const std::string& key, uint32_t value) {
    ++pairs_;
    return Text(key).Number(4, 4).Number(value, 4);
  }
  Writer& String(const std::string& key, const std::string& value) {
    ++pairs_;
    return Text(key).Number(8, 4).Text(value);
  }
  // `shape` innermost first, as the format has it.
  Writer& Tensor(const std::string& name, const std::vector<uint64_t>& shape,
                 uint32_t type) {
    ++tensors_;
    Text(name).Number(shape.size(), 4);
    for (uint64_t extent : shape) Number(extent, 8);
    return Number(type, 4).Number(0, 8);
  }
  std::string File() const { return File(tensors_, pairs_); }
  std::string File(uint64_t tensors, uint64_t pairs,
                   uint32_t version = 3) const {
    Writer head;
    head.text_ = "GGUF";
    head.Number(version, 4).Number(tensors, 8).Number(pairs, 8);
    return head.text_ + text_;
  }

 private:
  std::string text_;
  uint64_t pairs_ = 0, tensors_ = 0;
};

TEST(GgufTest, ReadsMetadataAndTensors) {
  Writer writer;
  writer.U32("a.n", 7).String("a.s", "text");
  const auto header =
      ParseGguf(writer.Tensor("t", {64, 3}, 2).File() + "data", "x");
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->Find("a.n")->integer, 7);
  EXPECT_EQ(header->Find("a.s")->text, "text");
  EXPECT_EQ(header->Find("b"), nullptr);
  ASSERT_EQ(header->tensors.size(), 1u);
  EXPECT_THAT(header->tensors[0].shape, ElementsAre(3, 64));
  EXPECT_EQ(header->tensors[0].type, "Q4_0");
  EXPECT_EQ(header->data_bytes, 3 * 2 * 18);
}

struct TypeCase {
  const char* name;
  uint32_t id;
  int64_t bytes;  // Of 256 elements.
};

class TypeTest : public ::testing::TestWithParam<TypeCase> {};

TEST_P(TypeTest, HasItsSize) {
  const auto header =
      ParseGguf(Writer().Tensor("t", {256}, GetParam().id).File(), "x");
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->tensors[0].type, GetParam().name);
  EXPECT_EQ(header->data_bytes, GetParam().bytes);
}

// Bits per weight, as the format's documentation gives them, times 32.
INSTANTIATE_TEST_SUITE_P(
    , TypeTest,
    ::testing::Values(TypeCase{"F32", 0, 1024}, TypeCase{"F16", 1, 512},
                      TypeCase{"Q4_0", 2, 144},     // 4.5
                      TypeCase{"Q4_1", 3, 160},     // 5
                      TypeCase{"Q5_0", 6, 176},     // 5.5
                      TypeCase{"Q5_1", 7, 192},     // 6
                      TypeCase{"Q8_0", 8, 272},     // 8.5
                      TypeCase{"Q2_K", 10, 84},     // 2.625
                      TypeCase{"Q3_K", 11, 110},    // 3.4375
                      TypeCase{"Q4_K", 12, 144},    // 4.5
                      TypeCase{"Q5_K", 13, 176},    // 5.5
                      TypeCase{"Q6_K", 14, 210},    // 6.5625
                      TypeCase{"IQ2_XXS", 16, 66},  // 2.0625
                      TypeCase{"IQ2_XS", 17, 74},   // 2.3125
                      TypeCase{"IQ3_XXS", 18, 98},  // 3.0625
                      TypeCase{"IQ1_S", 19, 50},    // 1.5625
                      TypeCase{"IQ4_NL", 20, 144},  // 4.5
                      TypeCase{"IQ4_XS", 23, 136},  // 4.25
                      TypeCase{"BF16", 30, 512},
                      TypeCase{"MXFP4", 39, 136}),  // 4.25
    [](const ::testing::TestParamInfo<TypeCase>& row) {
      return std::string(row.param.name);
    });

struct HostileCase {
  const char* name;
  std::string bytes;
  const char* message;
};

class HostileTest : public ::testing::TestWithParam<HostileCase> {};

TEST_P(HostileTest, IsRefused) {
  const auto header = ParseGguf(GetParam().bytes, "m.gguf");
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(header.status().message()),
              AllOf(HasSubstr("m.gguf: "), HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    , HostileTest,
    ::testing::Values(
        HostileCase{"Empty", "", "does not begin with `GGUF`"},
        HostileCase{"OnlyMagic", "GGUF", "ends in its header"},
        HostileCase{"OldVersion", Writer().File(0, 0, 1), "has version 1"},
        HostileCase{"BigEndian", Writer().File(0, 0, 0x03000000),
                    "is big-endian"},
        HostileCase{"HostileTensorCount", Writer().File(~uint64_t{0}, 0),
                    "says it has 18446744073709551615 tensors"},
        HostileCase{"HostileKeyCount",
                    Writer().U32("a", 1).File(0, uint64_t{1} << 40),
                    "says it has 1099511627776 metadata keys"},
        HostileCase{"HostileKeyLength",
                    Writer().Number(~uint64_t{0}, 8).Number(0, 8).File(0, 1),
                    "a metadata key is said to have 18446744073709551615"},
        HostileCase{
            "HostileTextLength",
            Writer().Text("k").Number(8, 4).Number(1u << 30, 8).File(0, 1),
            "`k` is said to have 1073741824 bytes, but 0 follow"},
        HostileCase{"HostileListCount",
                    Writer()
                        .Text("k")
                        .Number(9, 4)
                        .Number(4, 4)
                        .Number(~uint64_t{0}, 8)
                        .File(0, 1),
                    "elements in `k`"},
        HostileCase{
            "NestedList",
            Writer().Text("k").Number(9, 4).Number(9, 4).Number(1, 8).File(0,
                                                                           1),
            "which is not known in a list"},
        HostileCase{"UnknownValueType",
                    Writer().Text("k").Number(77, 4).Number(0, 8).File(0, 1),
                    "`k` has the type 77"},
        HostileCase{"KeyTwice", Writer().U32("k", 1).U32("k", 2).File(),
                    "the key `k` comes twice"},
        HostileCase{"TensorTwice",
                    Writer().Tensor("t", {1}, 0).Tensor("t", {1}, 0).File(),
                    "the tensor `t` comes twice"},
        HostileCase{"ManyDimensions",
                    Writer().Tensor("t", {1, 1, 1, 1, 1}, 0).File(),
                    "has 5 dimensions"},
        HostileCase{"UnknownTensorType", Writer().Tensor("t", {1}, 99).File(),
                    "has the type 99"},
        HostileCase{"RowOfNoWholeBlocks", Writer().Tensor("t", {33}, 2).File(),
                    "no whole blocks of 32 of Q4_0"},
        HostileCase{"SizePast63Bits",
                    Writer().Tensor("t", {1u << 31, 1u << 31, 8}, 0).File(),
                    "larger than 63 bits"},
        HostileCase{"BytesPast63Bits",
                    Writer().Tensor("t", {uint64_t{1} << 62}, 0).File(),
                    "larger than 63 bits"},
        HostileCase{"ExtentPast63Bits",
                    Writer().Tensor("t", {~uint64_t{0}}, 0).File(),
                    "larger than 63 bits"}),
    [](const ::testing::TestParamInfo<HostileCase>& row) {
      return std::string(row.param.name);
    });

TEST(GgufTest, EveryPrefixIsRefused) {
  const std::string whole =
      Writer().U32("a", 1).String("b", "c").Tensor("t", {32, 2}, 8).File();
  ASSERT_TRUE(ParseGguf(whole, "x").ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseGguf(whole.substr(0, size), "x").ok()) << size;
  }
}

// --- models

Writer TinyLlama() {
  Writer writer;
  writer.String("general.architecture", "llama")
      .U32("llama.block_count", 1)
      .U32("llama.embedding_length", 64)
      .U32("llama.feed_forward_length", 96)
      .U32("llama.attention.head_count", 4)
      .U32("llama.attention.head_count_kv", 2)
      .U32("llama.context_length", 512);
  return writer;
}

absl::StatusOr<ImportedModel> Import(const Writer& writer) {
  const std::string bytes = writer.File();
  return ImportModel("dir/tiny.gguf", [&](absl::string_view) {
    return std::optional(absl::string_view(bytes));
  });
}

TEST(ImportGgufTest, MapsDimensionsAndCountsStoredBytes) {
  const auto model = Import(TinyLlama()
                                .Tensor("token_embd.weight", {64, 100}, 8)
                                .Tensor("blk.0.attn_q.weight", {64, 64}, 2));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->card.name, "tiny");
  EXPECT_EQ(model->card.family, "llama");
  EXPECT_EQ(model->weight_bytes, 100 * 2 * 34 + 64 * 2 * 18);
  // The head is tied: there is no `output.weight`.
  EXPECT_EQ(model->parameter_count,
            64 * 100 + 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96 + 3 * 64);
}

TEST(ImportGgufTest, NamesWhatDisagrees) {
  auto model = Import(TinyLlama()
                          .Tensor("token_embd.weight", {32, 100}, 8)
                          .Tensor("blk.0.attn_q.weight", {64, 64}, 2));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("`token_embd.weight` is [100, 32], but the metadata "
                        "gives [100, 64]"));
  model = Import(TinyLlama()
                     .Tensor("token_embd.weight", {64, 100}, 8)
                     .Tensor("blk.1.attn_q.weight", {64, 64}, 2));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("has tensors of 2 layers (`blk.N`), but the metadata "
                        "gives 1"));
}

TEST(ImportGgufTest, RefusesAnUnknownArchitectureByName) {
  const auto model = Import(Writer().String("general.architecture", "rwkv6"));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("the architecture `rwkv6` is not known; known are "
                        "bert, command-r, deepseek2"));
}

}  // namespace
}  // namespace linnet::zoo
