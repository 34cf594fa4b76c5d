#include "core/zoo/gguf.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/zoo/safetensors.h"

namespace linnet::zoo {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kMinPairBytes = 8 + 1 + 4 + 1;  // Key, type, value.
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 4 + 8;

// How many elements one block of a type holds, and its bytes.
struct BlockType {
  uint32_t id;
  absl::string_view name;
  int64_t elements, bytes;
};
constexpr BlockType kBlockTypes[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},
    {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},
    {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17}};

enum ValueType : uint32_t {
  kU8 = 0,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBoolean,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

// Bytes of one value of a fixed size; 0 for the others.
uint64_t FixedBytes(uint32_t type) {
  switch (type) {
    case kU8:
    case kI8:
    case kBoolean:
      return 1;
    case kU16:
    case kI16:
      return 2;
    case kU32:
    case kI32:
    case kF32:
      return 4;
    case kU64:
    case kI64:
    case kF64:
      return 8;
    default:
      return 0;
  }
}

std::string Quoted(absl::string_view name) {
  return absl::StrCat("`", absl::CHexEscape(name.substr(0, 200)), "`");
}

// Reads from the front; the first failure stays.
class Reader {
 public:
  Reader(absl::string_view bytes, absl::string_view path)
      : total_(bytes.size()), left_(bytes), path_(path) {}

  uint64_t Unsigned(uint64_t bytes) {
    if (!Need(bytes)) return 0;
    uint64_t value = 0;
    for (uint64_t i = 0; i < bytes; ++i) {
      value |= uint64_t{static_cast<unsigned char>(left_[i])} << (8 * i);
    }
    left_.remove_prefix(bytes);
    return value;
  }
  absl::string_view Text(absl::string_view what) {
    const uint64_t length = Unsigned(8);
    if (!ok()) return {};
    if (length > left_.size()) {
      Fail(absl::StrCat(what, " is said to have ", length, " bytes, but ",
                        left_.size(), " follow"));
      return {};
    }
    const absl::string_view text = left_.substr(0, length);
    left_.remove_prefix(length);
    return text;
  }
  // A count of things that take at least `each` bytes.
  uint64_t Count(absl::string_view what, uint64_t each) {
    const uint64_t count = Unsigned(8);
    CheckCount(count, what, each);
    return ok() ? count : 0;
  }
  void CheckCount(uint64_t count, absl::string_view what, uint64_t each) {
    if (ok() && count > left_.size() / each) {
      Fail(absl::StrCat("says it has ", count, " ", what, ", more than the ",
                        left_.size(), " bytes that follow can hold"));
    }
  }
  void Skip(uint64_t bytes) {
    if (Need(bytes)) left_.remove_prefix(bytes);
  }
  void Fail(absl::string_view what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(path_, ": ", what));
    left_ = {};
  }
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  bool Need(uint64_t bytes) {
    if (!ok()) return false;
    if (bytes <= left_.size()) return true;
    Fail(absl::StrCat("ends in its header, after ", total_, " bytes"));
    return false;
  }

  const size_t total_;
  absl::string_view left_;
  const absl::string_view path_;
  absl::Status status_;
};

int64_t SignExtended(uint64_t value, uint64_t bytes) {
  const uint64_t shift = 64 - 8 * bytes;
  return static_cast<int64_t>(value << shift) >> shift;
}

GgufValue Fixed(Reader& reader, uint32_t type) {
  GgufValue value;
  const uint64_t bytes = FixedBytes(type);
  const uint64_t raw = reader.Unsigned(bytes);
  switch (type) {
    case kF32: {
      const uint32_t bits = static_cast<uint32_t>(raw);
      float real = 0;
      std::memcpy(&real, &bits, sizeof real);
      value.kind = GgufValue::Kind::kReal;
      value.real = real;
      break;
    }
    case kF64:
      value.kind = GgufValue::Kind::kReal;
      std::memcpy(&value.real, &raw, sizeof value.real);
      break;
    case kI8:
    case kI16:
    case kI32:
    case kI64:
      value.integer = SignExtended(raw, bytes);
      break;
    default:
      if (type == kBoolean) value.kind = GgufValue::Kind::kBool;
      value.integer =
          static_cast<int64_t>(std::min(raw, static_cast<uint64_t>(kMax)));
  }
  return value;
}

GgufValue List(Reader& reader, absl::string_view key) {
  GgufValue value;
  value.kind = GgufValue::Kind::kList;
  const uint32_t type = static_cast<uint32_t>(reader.Unsigned(4));
  const uint64_t each = FixedBytes(type);
  if (reader.ok() && each == 0 && type != kString) {
    reader.Fail(absl::StrCat("the list ", Quoted(key), " has elements of type ",
                             type, ", which is not known in a list"));
  }
  const uint64_t count = reader.Count(absl::StrCat("elements in ", Quoted(key)),
                                      each == 0 ? 8 : each);
  value.count = static_cast<int64_t>(count);
  const bool keep =
      each != 0 && type != kF32 && type != kF64 && value.count <= kMaxKeptList;
  if (each != 0 && !keep) {
    reader.Skip(count * each);
    return value;
  }
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    if (keep) {
      value.integers.push_back(Fixed(reader, type).integer);
    } else {
      reader.Text("a text of a list");
    }
  }
  return value;
}

GgufValue ReadValue(Reader& reader, absl::string_view key) {
  const uint32_t type = static_cast<uint32_t>(reader.Unsigned(4));
  if (type == kArray) return List(reader, key);
  if (type == kString) {
    GgufValue value;
    value.kind = GgufValue::Kind::kText;
    value.text = std::string(reader.Text(Quoted(key)));
    return value;
  }
  if (reader.ok() && FixedBytes(type) == 0) {
    reader.Fail(absl::StrCat(Quoted(key), " has the type ", type,
                             ", which is not known"));
  }
  return Fixed(reader, type);
}

GgufTensor ReadTensor(Reader& reader) {
  GgufTensor tensor;
  tensor.name = std::string(reader.Text("the name of a tensor"));
  const std::string name = absl::StrCat("the tensor ", Quoted(tensor.name));
  const uint64_t dims = reader.Unsigned(4);
  if (dims > kMaxDims) {
    reader.Fail(absl::StrCat(name, " has ", dims, " dimensions; at most ",
                             kMaxDims, " are known"));
    return tensor;
  }
  for (uint64_t i = 0; i < dims; ++i) {
    const uint64_t extent = reader.Unsigned(8);
    tensor.shape.push_back(extent > static_cast<uint64_t>(kMax)
                               ? -1
                               : static_cast<int64_t>(extent));
  }
  const uint32_t id = static_cast<uint32_t>(reader.Unsigned(4));
  reader.Skip(8);  // Its offset, which depends on padding.
  if (!reader.ok()) return tensor;
  const auto* type =
      std::find_if(std::begin(kBlockTypes), std::end(kBlockTypes),
                   [&](const BlockType& each) { return each.id == id; });
  if (type == std::end(kBlockTypes)) {
    reader.Fail(
        absl::StrCat(name, " has the type ", id, ", which is not known"));
    return tensor;
  }
  tensor.type = std::string(type->name);
  const int64_t count = ElementCount(tensor.shape);
  if (count < 0 || count > kMax / type->bytes) {
    reader.Fail(absl::StrCat(name, " is larger than 63 bits can say"));
  } else if (!tensor.shape.empty() && tensor.shape[0] % type->elements != 0) {
    reader.Fail(absl::StrCat(name, " has rows of ", tensor.shape[0],
                             ", which are no whole blocks of ", type->elements,
                             " of ", tensor.type));
  }
  if (!reader.ok()) return tensor;
  tensor.bytes = count / type->elements * type->bytes;
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  return tensor;
}

}  // namespace

const GgufValue* GgufHeader::Find(absl::string_view key) const {
  for (const auto& [name, value] : metadata) {
    if (name == key) return &value;
  }
  return nullptr;
}

absl::StatusOr<GgufHeader> ParseGguf(absl::string_view bytes,
                                     absl::string_view path) {
  Reader reader(bytes, path);
  if (bytes.substr(0, 4) != "GGUF") {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no GGUF file: it does not begin with `GGUF`"));
  }
  reader.Skip(4);
  const uint64_t version = reader.Unsigned(4);
  if (reader.ok() && version != 2 && version != 3) {
    reader.Fail((version & 0xffff) == 0
                    ? std::string("is big-endian, which is not read")
                    : absl::StrCat("has version ", version,
                                   "; versions 2 and 3 are read"));
  }
  GgufHeader header;
  const uint64_t num_tensors = reader.Count("tensors", kMinTensorBytes);
  const uint64_t num_pairs = reader.Count("metadata keys", kMinPairBytes);
  absl::flat_hash_set<std::string> names;
  for (uint64_t i = 0; i < num_pairs && reader.ok(); ++i) {
    std::string key(reader.Text("a metadata key"));
    GgufValue value = ReadValue(reader, key);
    if (reader.ok() && !names.insert(key).second) {
      reader.Fail(absl::StrCat("the key ", Quoted(key), " comes twice"));
    }
    header.metadata.emplace_back(std::move(key), std::move(value));
  }
  names.clear();
  for (uint64_t i = 0; i < num_tensors && reader.ok(); ++i) {
    GgufTensor tensor = ReadTensor(reader);
    if (!reader.ok()) break;
    if (!names.insert(tensor.name).second) {
      reader.Fail(
          absl::StrCat("the tensor ", Quoted(tensor.name), " comes twice"));
    }
    if (header.data_bytes > kMax - tensor.bytes) {
      reader.Fail("its tensors are larger than 63 bits can say");
      break;
    }
    header.data_bytes += tensor.bytes;
    header.tensors.push_back(std::move(tensor));
  }
  LINNET_RETURN_IF_ERROR(reader.status());
  return header;
}

}  // namespace linnet::zoo
