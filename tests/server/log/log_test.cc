#include "server/log/log.h"

#include "gtest/gtest.h"

namespace linnet::server {
namespace {

TEST(LogTest, WritesPlainValuesBare) {
  EXPECT_EQ(FormatLogLine(LogLevel::kInfo, "ready",
                          {{"socket", "/run/a.sock"}, {"pid", 7}}),
            "level=info event=ready socket=/run/a.sock pid=7");
}

TEST(LogTest, QuotesWhatWouldReadAsSomethingElse) {
  EXPECT_EQ(FormatLogLine(LogLevel::kError, "failed",
                          {{"a", "two words"},
                           {"b", ""},
                           {"c", "x=y"},
                           {"d", "line\nbreak \"q\""}}),
            "level=error event=failed a=\"two words\" b=\"\" c=\"x=y\" "
            "d=\"line\\nbreak \\\"q\\\"\"");
}

}  // namespace
}  // namespace linnet::server
