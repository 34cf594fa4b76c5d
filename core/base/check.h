// Assertions about our own invariants. Input from outside never trips one.

#ifndef LINNET_CORE_BASE_CHECK_H_
#define LINNET_CORE_BASE_CHECK_H_

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace linnet::internal {

// Collects a message and ends the process when it goes out of scope.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition) {
    message_ << file << ":" << line << ": check failed: " << condition << " ";
  }
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure() {
    std::cerr << message_.str() << std::endl;
    std::abort();
  }
  std::ostream& stream() { return message_; }

 private:
  std::ostringstream message_;
};

struct Voidify {
  void operator&(std::ostream&) const {}
};

}  // namespace linnet::internal

// Ends the process with the condition, the place and what is streamed into it
// when `condition` is false. Say why it holds:
//   LINNET_CHECK(begin <= end) << "Compute() only ever moves `end` forward";
// Parentheses around it would end what is streamed.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define LINNET_CHECK(condition)                                              \
  (condition)                                                                \
      ? (void)0                                                              \
      : ::linnet::internal::Voidify() &                                      \
            ::linnet::internal::CheckFailure(__FILE__, __LINE__, #condition) \
                .stream()
// NOLINTEND(bugprone-macro-parentheses)

#endif  // LINNET_CORE_BASE_CHECK_H_
