// A bump allocator: objects that live exactly as long as their arena.

#ifndef LINNET_CORE_BASE_ARENA_H_
#define LINNET_CORE_BASE_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace linnet {

// Blocks double from 1 KiB to 64 KiB. Not thread-safe. Moving an arena keeps
// the addresses of what it holds.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  // An uninitialized array of `count` objects.
  template <typename T>
  T* Array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "an arena runs no destructors");
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(Allocate(count * sizeof(T), alignof(T)));
  }

  template <typename T, typename... Args>
  T* New(Args&&... args) {
    return new (Array<T>(1)) T{std::forward<Args>(args)...};
  }

  absl::string_view Copy(absl::string_view text) {
    if (text.empty()) return {};
    char* copy = Array<char>(text.size());
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // Bytes taken from the system.
  size_t ByteSize() const { return total_; }

 private:
  void* Allocate(size_t bytes, size_t alignment) {
    size_t start = (used_ + alignment - 1) / alignment * alignment;
    if (blocks_.empty() || start + bytes > capacity_) {
      capacity_ = std::max(
          bytes, std::min<size_t>(size_t{64} << 10,
                                  std::max<size_t>(1024, 2 * capacity_)));
      blocks_.push_back(std::make_unique<std::byte[]>(capacity_));
      total_ += capacity_;
      start = 0;
    }
    used_ = start + bytes;
    return blocks_.back().get() + start;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t capacity_ = 0;  // Of the last block.
  size_t used_ = 0;      // Of the last block.
  size_t total_ = 0;
};

}  // namespace linnet

#endif  // LINNET_CORE_BASE_ARENA_H_
