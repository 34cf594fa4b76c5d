#include "server/log/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace linnet::server {
namespace {

std::atomic<LogLevel> minimum_level{LogLevel::kInfo};

absl::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      break;
  }
  return "error";
}

bool NeedsQuotes(absl::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](char c) {
           return c <= ' ' || c == '"' || c == '\\' || c == '=' || c == 127;
         });
}

}  // namespace

void SetLogLevel(LogLevel level) { minimum_level = level; }

std::string FormatLogLine(LogLevel level, absl::string_view event,
                          std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat("level=", LevelName(level), " event=", event);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.key, "=");
    if (NeedsQuotes(field.value)) {
      absl::StrAppend(&line, "\"", absl::Utf8SafeCEscape(field.value), "\"");
    } else {
      absl::StrAppend(&line, field.value);
    }
  }
  return line;
}

void Log(LogLevel level, absl::string_view event,
         std::initializer_list<LogField> fields) {
  if (level < minimum_level.load(std::memory_order_relaxed)) return;
  const std::string line =
      absl::StrCat("time=",
                   absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(),
                                    absl::UTCTimeZone()),
                   " ", FormatLogLine(level, event, fields), "\n");
  // Nothing can be done about a log that cannot be written.
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace linnet::server
