// A content hash that is the same in every process, build and machine, for
// cache keys. Not for passwords or signatures: it resists accidents, not
// attacks.

#ifndef LINNET_CORE_BASE_HASH_H_
#define LINNET_CORE_BASE_HASH_H_

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace linnet {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  std::string Hex() const;  // 32 lower-case digits.

  friend constexpr bool operator==(Hash128, Hash128) = default;
  friend constexpr auto operator<=>(Hash128, Hash128) = default;
  template <typename H>
  friend H AbslHashValue(H h, Hash128 hash) {
    return H::combine(std::move(h), hash.high, hash.low);
  }
  friend std::ostream& operator<<(std::ostream& os, Hash128 hash) {
    return os << hash.Hex();
  }
};

// Collects content piece by piece. Each piece counts with its length and kind,
// so ("ab", "c") and ("a", "bc") differ.
class Hasher {
 public:
  Hasher& Add(absl::string_view text);
  Hasher& Add(const char* text) { return Add(absl::string_view(text)); }
  // Integers of one value are one content, whatever their type; bool is 0 or 1.
  template <std::integral T>
  Hasher& Add(T number) {
    return AddNumber(static_cast<uint64_t>(number));
  }
  Hasher& Add(Hash128 hash);

  // The hash of what was added so far.
  Hash128 Finish() const;

 private:
  Hasher& AddNumber(uint64_t number);
  void Word(uint64_t word);

  uint64_t a_ = 0x243f6a8885a308d3;
  uint64_t b_ = 0x13198a2e03707344;
  uint64_t words_ = 0;
};

}  // namespace linnet

#endif  // LINNET_CORE_BASE_HASH_H_
