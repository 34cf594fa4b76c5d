// Log lines on standard error, one event a line, for people and machines:
//   time=2026-03-01T12:00:00.123Z level=info event=ready
//   socket=/run/linnetd.sock

#ifndef LINNET_SERVER_LOG_LOG_H_
#define LINNET_SERVER_LOG_LOG_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace linnet::server {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Lines below `level` are dropped. Default: kInfo. Safe from any thread.
void SetLogLevel(LogLevel level);

struct LogField {
  LogField(absl::string_view field_key, const absl::AlphaNum& field_value)
      : key(field_key), value(field_value.Piece()) {}

  absl::string_view key;
  std::string value;
};

// Writes one line in one system call, so lines of several threads do not mix.
// Values with blanks, quotes or control characters are quoted and escaped.
void Log(LogLevel level, absl::string_view event,
         std::initializer_list<LogField> fields = {});

// The line that Log() writes, without its time.
std::string FormatLogLine(LogLevel level, absl::string_view event,
                          std::initializer_list<LogField> fields);

}  // namespace linnet::server

#endif  // LINNET_SERVER_LOG_LOG_H_
