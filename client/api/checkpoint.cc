#include "client/api/checkpoint.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/api/client.h"

namespace linnet::client {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kGgufChunk = int64_t{1} << 20;

absl::Status NotFound(const fs::path& path, absl::string_view why) {
  return absl::NotFoundError(absl::StrCat(path.string(), ": ", why));
}

absl::Status TooLong(const fs::path& path, int64_t max_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      path.string(), ": the header has more than ", max_bytes, " bytes"));
}

uint64_t LittleEndian(const char* bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

// Walks over a GGUF header without keeping anything. It reads on from the file
// as needed; past the end, or past what can be, `ok()` is false.
class GgufWalk {
 public:
  GgufWalk(std::ifstream& in, int64_t max_bytes)
      : in_(in), max_bytes_(static_cast<uint64_t>(max_bytes)) {}

  void Run() {
    Skip(4);
    const uint64_t version = Number(4);
    if (version != 2 && version != 3) return;
    const uint64_t tensors = Number(8);
    const uint64_t pairs = Number(8);
    for (uint64_t i = 0; i < pairs && ok_; ++i) {
      SkipText();
      Value(Number(4));
    }
    for (uint64_t i = 0; i < tensors && ok_; ++i) {
      SkipText();
      const uint64_t dims = Number(4);
      Skip(dims > 64 ? max_bytes_ : 8 * dims);
      Skip(4 + 8);
    }
  }

  // What was walked over; the whole of what was read when it ended early.
  std::string Take() && {
    if (ok_) bytes_.resize(static_cast<size_t>(at_));
    return std::move(bytes_);
  }
  bool too_long() const { return too_long_; }

 private:
  bool Have(uint64_t count) {
    if (!ok_) return false;
    if (count > max_bytes_ || at_ > max_bytes_ - count) {
      ok_ = false;
      too_long_ = true;
      return false;
    }
    while (bytes_.size() < at_ + count) {
      const size_t before = bytes_.size();
      bytes_.resize(before + static_cast<size_t>(kGgufChunk));
      in_.read(bytes_.data() + before, kGgufChunk);
      bytes_.resize(before + static_cast<size_t>(in_.gcount()));
      if (in_.gcount() == 0) {
        ok_ = false;
        return false;
      }
    }
    return true;
  }
  void Skip(uint64_t count) {
    if (Have(count)) at_ += count;
  }
  uint64_t Number(uint64_t count) {
    if (!Have(count)) return 0;
    const uint64_t value = LittleEndian(bytes_.data() + at_, count);
    at_ += count;
    return value;
  }
  void SkipText() { Skip(Number(8)); }
  static uint64_t FixedBytes(uint64_t type) {
    constexpr uint64_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < std::size(kBytes) ? kBytes[type] : 0;
  }
  void Value(uint64_t type) {
    constexpr uint64_t kText = 8;
    constexpr uint64_t kList = 9;
    if (type == kText) return SkipText();
    if (type != kList) return Skip(FixedBytes(type));
    const uint64_t element = Number(4);
    const uint64_t count = Number(8);
    if (element != kText) {
      const uint64_t each = FixedBytes(element);
      if (each > 0) Skip(count > max_bytes_ / each ? max_bytes_ : count * each);
      return;
    }
    for (uint64_t i = 0; i < count && ok_; ++i) SkipText();
  }

  std::ifstream& in_;
  const uint64_t max_bytes_;
  std::string bytes_;
  uint64_t at_ = 0;
  bool ok_ = true, too_long_ = false;
};

}  // namespace

absl::StatusOr<std::string> ReadSafetensorsHeader(const fs::path& path,
                                                  int64_t max_bytes) {
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(path, error));
  std::ifstream in(path, std::ios::binary);
  if (error || !in) return NotFound(path, "cannot be read");
  std::string bytes(kLengthBytes, '\0');
  in.read(bytes.data(), kLengthBytes);
  if (in.gcount() != kLengthBytes) {
    return ModelError(
        absl::StrCat(path.string(), ": is too short for safetensors"));
  }
  const uint64_t length = LittleEndian(bytes.data(), kLengthBytes);
  if (length > static_cast<uint64_t>(size - kLengthBytes)) {
    return ModelError(absl::StrCat(path.string(),
                                   ": its header is said to have ", length,
                                   " bytes, but the file has ", size));
  }
  if (length >
      static_cast<uint64_t>(std::max<int64_t>(0, max_bytes - kLengthBytes))) {
    return TooLong(path, max_bytes);
  }
  bytes.resize(static_cast<size_t>(kLengthBytes) + length);
  in.read(bytes.data() + kLengthBytes, static_cast<std::streamsize>(length));
  if (in.gcount() != static_cast<std::streamsize>(length)) {
    return NotFound(path, "cannot be read");
  }
  return bytes;
}

absl::StatusOr<std::string> ReadGgufHeader(const fs::path& path,
                                           int64_t max_bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return NotFound(path, "cannot be read");
  GgufWalk walk(in, max_bytes);
  walk.Run();
  if (walk.too_long()) return TooLong(path, max_bytes);
  return std::move(walk).Take();
}

}  // namespace linnet::client
