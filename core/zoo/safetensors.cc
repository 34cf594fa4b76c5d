#include "core/zoo/safetensors.h"

#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"

namespace linnet::zoo {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxDims = 16;

struct DTypeBits {
  absl::string_view name;
  int64_t bits;
};
constexpr DTypeBits kDTypes[] = {
    {"BOOL", 8}, {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
    {"U16", 16}, {"F16", 16},    {"BF16", 16},   {"I32", 32},    {"U32", 32},
    {"F32", 32}, {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};

int64_t BitsOf(absl::string_view dtype) {
  for (const DTypeBits& each : kDTypes) {
    if (each.name == dtype) return each.bits;
  }
  return -1;
}

std::string Quoted(absl::string_view name) {
  return absl::StrCat("`", absl::CHexEscape(name.substr(0, 200)), "`");
}

// Collects tensors; a form that the format has not ends the parse.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  struct Entry {
    StoredTensor tensor;
    int64_t begin = -1, end = -1;
  };

  bool null() override { return Fail("null"); }
  bool boolean(bool) override { return Fail("a boolean"); }
  bool number_integer(number_integer_t value) override { return Number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(kMax)) {
      return Refuse("has a number above 2^63 - 1");
    }
    return Number(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override {
    return Fail("a fraction");
  }
  bool binary(binary_t&) override { return Fail("binary data"); }
  bool string(string_t& text) override {
    if (depth_ == 2 && metadata_) return true;
    if (depth_ != 2 || in_list_ || key_ != "dtype") return Fail("a string");
    entries_.back().tensor.dtype = text;
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ >= 2 || in_list_) return Fail("an object");
    ++depth_;
    if (depth_ == 2 && !metadata_) entries_.emplace_back().tensor.name = name_;
    keys_.clear();
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !metadata_ && keys_.size() != 3) {
      return Refuse("must have `dtype`, `shape` and `data_offsets`");
    }
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_list_ || metadata_ || key_ == "dtype") {
      return Fail("a list");
    }
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    const Entry& entry = entries_.back();
    if (key_ == "data_offsets" && (entry.begin < 0 || entry.end < 0)) {
      return Refuse("must have two `data_offsets`");
    }
    return true;
  }
  bool key(string_t& text) override {
    if (depth_ == 1) {
      if (!names_.insert(text).second) {
        problem_ = absl::StrCat("the tensor ", Quoted(text), " comes twice");
        return false;
      }
      name_ = text;
      metadata_ = text == "__metadata__";
      return true;
    }
    if (metadata_) return true;
    if (text != "dtype" && text != "shape" && text != "data_offsets") {
      return Refuse(absl::StrCat("has a key ", Quoted(text),
                                 " that the format does not know"));
    }
    if (!keys_.insert(text).second) {
      return Refuse(absl::StrCat("has `", text, "` twice"));
    }
    key_ = text;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem_ = absl::StrCat("the header is not JSON at its byte ", position);
    return false;
  }

  const std::string& problem() const { return problem_; }
  std::vector<Entry>& entries() { return entries_; }

 private:
  bool Number(int64_t value) {
    if (!in_list_) return Fail("a number");
    if (value < 0) return Refuse("has a negative number");
    Entry& entry = entries_.back();
    if (key_ == "shape") {
      if (entry.tensor.shape.size() >= kMaxDims) {
        return Refuse(absl::StrCat("has more than ", kMaxDims, " dimensions"));
      }
      entry.tensor.shape.push_back(value);
    } else if (entry.begin < 0) {
      entry.begin = value;
    } else if (entry.end < 0) {
      entry.end = value;
    } else {
      return Refuse("must have two `data_offsets`");
    }
    return true;
  }
  bool Refuse(absl::string_view what) {
    problem_ = absl::StrCat("the tensor ", Quoted(name_), " ", what);
    return false;
  }
  bool Fail(absl::string_view what) {
    if (depth_ == 0) {
      problem_ = absl::StrCat("the header must be an object, not ", what);
      return false;
    }
    return Refuse(absl::StrCat("has ", what, " where the format has none"));
  }

  int depth_ = 0;
  bool in_list_ = false, metadata_ = false;
  std::string name_, key_, problem_;
  absl::flat_hash_set<std::string> names_, keys_;
  std::vector<Entry> entries_;
};

// Sets the size of a tensor; empty, or what is wrong.
std::string CheckSize(HeaderHandler::Entry& entry) {
  StoredTensor& tensor = entry.tensor;
  const int64_t bits = BitsOf(tensor.dtype);
  if (bits < 0) {
    return absl::StrCat("has the dtype ", Quoted(tensor.dtype),
                        ", which is not known");
  }
  const int64_t count = ElementCount(tensor.shape);
  if (count < 0 || count > kMax / bits) {
    return absl::StrCat("has the shape ", ShapeText(tensor.shape),
                        ", which passes 63 bits");
  }
  const int64_t total_bits = count * bits;
  tensor.bytes = total_bits / 8;
  if (total_bits % 8 != 0 || entry.end < entry.begin ||
      entry.end - entry.begin != tensor.bytes) {
    return absl::StrCat("has offsets ", entry.begin, " to ", entry.end,
                        ", but ", tensor.dtype, " of shape ",
                        ShapeText(tensor.shape), " takes ",
                        (total_bits + 7) / 8, " bytes");
  }
  return "";
}

// Places follow one another without overlap or gap.
std::string CheckPlaces(const std::vector<HeaderHandler::Entry>& entries) {
  std::vector<const HeaderHandler::Entry*> sorted;
  for (const HeaderHandler::Entry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const HeaderHandler::Entry* a, const HeaderHandler::Entry* b) {
              return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
            });
  int64_t at = 0;
  const HeaderHandler::Entry* last = nullptr;
  for (const HeaderHandler::Entry* entry : sorted) {
    if (entry->begin != at) {
      const std::string name = Quoted(entry->tensor.name);
      if (entry->begin > at) {
        return absl::StrCat("there is a gap of ", entry->begin - at,
                            " bytes before the tensor ", name);
      }
      return absl::StrCat("the tensors ", Quoted(last->tensor.name), " and ",
                          name, " overlap");
    }
    at = entry->end;
    last = entry;
  }
  return "";
}

}  // namespace

int64_t ElementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0) return -1;
    if (extent == 0) return 0;
  }
  for (int64_t extent : shape) {
    if (count > kMax / extent) return -1;
    count *= extent;
  }
  return count;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

absl::StatusOr<SafetensorsHeader> ParseSafetensors(absl::string_view bytes,
                                                   absl::string_view path) {
  const auto refuse = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
  };
  if (bytes.size() < kLengthBytes) {
    return refuse(absl::StrCat("has ", bytes.size(),
                               " bytes, which is too short for safetensors"));
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) {
    return refuse(absl::StrCat("its header is said to have ", length,
                               " bytes, but ", bytes.size(), " follow"));
  }
  bytes = bytes.substr(0, static_cast<size_t>(length));
  HeaderHandler handler;
  if (!nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &handler)) {
    return refuse(handler.problem());
  }
  SafetensorsHeader header;
  for (HeaderHandler::Entry& entry : handler.entries()) {
    const std::string problem = CheckSize(entry);
    if (!problem.empty()) {
      return refuse(
          absl::StrCat("the tensor ", Quoted(entry.tensor.name), " ", problem));
    }
  }
  const std::string problem = CheckPlaces(handler.entries());
  if (!problem.empty()) return refuse(problem);
  for (HeaderHandler::Entry& entry : handler.entries()) {
    header.data_bytes = std::max(header.data_bytes, entry.end);
    header.tensors.push_back(std::move(entry.tensor));
  }
  return header;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
ParseSafetensorsIndex(absl::string_view text, absl::string_view path) {
  JsonLimits limits;
  limits.max_bytes = int64_t{64} << 20;
  limits.max_depth = 8;
  LINNET_ASSIGN_OR_RETURN(const nlohmann::json index,
                          ParseJson(text, path, limits));
  const auto refuse = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
  };
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object()) {
    return refuse(
        "must be an object with `weight_map`, the file of each tensor");
  }
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string()) {
      return refuse(
          absl::StrCat("the file of ", Quoted(name), " must be a string"));
    }
    const std::string& file_name = file.get_ref<const std::string&>();
    if (file_name.find_first_of("/\\") != std::string::npos) {
      return refuse(absl::StrCat("the file ", Quoted(file_name),
                                 " does not lie beside it"));
    }
    files.emplace_back(name, file_name);
  }
  return files;
}

}  // namespace linnet::zoo
