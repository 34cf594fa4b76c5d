// Random numbers for tests: the same for one seed on every machine, unlike the
// standard library's distributions.

#ifndef LINNET_TESTS_SUPPORT_RANDOM_H_
#define LINNET_TESTS_SUPPORT_RANDOM_H_

#include <cstdint>
#include <random>

namespace linnet {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  // From 0 to n - 1. REQUIRES: n >= 1.
  int64_t Below(int64_t n) {
    const uint64_t high = engine_();
    const uint64_t bits = high << 32 | engine_();
    return static_cast<int64_t>(bits % static_cast<uint64_t>(n));
  }

  // An index or a count from 0 to n - 1.
  int Int(int n) { return static_cast<int>(Below(n)); }
  size_t Index(size_t n) {
    return static_cast<size_t>(Below(static_cast<int64_t>(n)));
  }

 private:
  std::mt19937 engine_;
};

}  // namespace linnet

#endif  // LINNET_TESTS_SUPPORT_RANDOM_H_
