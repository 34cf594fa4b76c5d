#include "core/base/hash.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace linnet {
namespace {

constexpr uint64_t kTextTag = 0x7465787400000001;
constexpr uint64_t kNumberTag = 0x6e756d6200000002;
constexpr uint64_t kHashTag = 0x6861736800000003;

uint64_t Rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

// Spreads every bit over the whole word.
uint64_t Finalize(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// The same on machines of either byte order.
uint64_t ReadLittleEndian(absl::string_view text) {
  uint64_t word = 0;
  for (size_t i = text.size(); i-- > 0;) {
    word = word << 8 | static_cast<uint8_t>(text[i]);
  }
  return word;
}

}  // namespace

void Hasher::Word(uint64_t word) {
  // Two lanes with different constants; each is a bijection of its state for a
  // given word, and they feed each other.
  a_ = Rotate(a_ ^ Finalize(word + 0x9e3779b97f4a7c15), 27) *
           0x9fb21c651e98df25 +
       b_;
  b_ = Rotate(b_ ^ Finalize(word ^ 0xd1b54a32d192ed03), 31) *
           0xc6a4a7935bd1e995 +
       a_;
  ++words_;
}

Hasher& Hasher::Add(absl::string_view text) {
  Word(kTextTag);
  Word(text.size());
  for (; text.size() >= 8; text.remove_prefix(8)) {
    Word(ReadLittleEndian(text.substr(0, 8)));
  }
  if (!text.empty()) Word(ReadLittleEndian(text));
  return *this;
}

Hasher& Hasher::AddNumber(uint64_t number) {
  Word(kNumberTag);
  Word(number);
  return *this;
}

Hasher& Hasher::Add(Hash128 hash) {
  Word(kHashTag);
  Word(hash.high);
  Word(hash.low);
  return *this;
}

Hash128 Hasher::Finish() const {
  const uint64_t high = Finalize(a_ + words_);
  return {high, Finalize(b_ ^ Rotate(high, 32))};
}

std::string Hash128::Hex() const {
  return absl::StrFormat("%016x%016x", high, low);
}

}  // namespace linnet
