#include "server/rpc/context.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace linnet::server {

void Activity::Started(Method method) { ++calls_[static_cast<size_t>(method)]; }

void Activity::Ended(Method method, absl::Time now) {
  last_ = absl::ToUnixNanos(now);  // Before the count, so idle time is right.
  --calls_[static_cast<size_t>(method)];
}

int64_t Activity::in_flight() const {
  int64_t sum = 0;
  for (const auto& calls : calls_) sum += calls;
  return sum;
}

absl::Time Activity::last_end() const { return absl::FromUnixNanos(last_); }

std::string Activity::Text() const {
  std::string text;
  for (size_t m = 0; m < calls_.size(); ++m) {
    if (const int64_t calls = calls_[m]; calls > 0) {
      absl::StrAppend(&text, text.empty() ? "" : " ",
                      MethodName(static_cast<Method>(m)), "=", calls);
    }
  }
  return text;
}

CallScope::CallScope(Context& context, Method method)
    : context_(context), method_(method), start_(absl::Now()) {
  context_.activity.Started(method_);
  context_.metrics.RequestStarted(method_);
}

CallScope::~CallScope() {
  const absl::Time now = absl::Now();
  context_.metrics.RequestDone(method_, code_, now - start_);
  context_.activity.Ended(method_, now);
}

}  // namespace linnet::server
