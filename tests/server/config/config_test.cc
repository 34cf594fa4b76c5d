#include "server/config/config.h"

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::server {
namespace {

using ::testing::HasSubstr;

TEST(ConfigTest, FileSetsWhatItNames) {
  Settings settings;
  const absl::Status status = ApplyFile(R"(
    listen = "127.0.0.1:7433"
    idle_exit = "10m"
    [cache]
    max_bytes = "2GiB"
    [traces]
    threads = 3
  )",
                                        "linnetd.toml", settings);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(settings.listen, "127.0.0.1:7433");
  EXPECT_EQ(settings.idle_exit, absl::Minutes(10));
  EXPECT_EQ(settings.cache_max_bytes, int64_t{2} << 30);
  EXPECT_EQ(settings.traces_threads, 3);
  EXPECT_EQ(settings.traces_queue, 64) << "what the file leaves out stays";
}

struct FaultCase {
  std::string name;
  std::string file;
  std::string error;
};

class ConfigFaultTest : public ::testing::TestWithParam<FaultCase> {};

TEST_P(ConfigFaultTest, SaysWhere) {
  Settings settings;
  const absl::Status status = ApplyFile(GetParam().file, "f.toml", settings);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ConfigFaultTest,
    ::testing::ValuesIn<FaultCase>({
        {"Syntax", "listen = ", "f.toml:1:"},
        {"UnknownKey", "\nlistn = \"a:1\"",
         "f.toml:2:9: unknown key `listn`; did you mean `listen`?"},
        {"UnknownTable", "[cash]\nmax_bytes = 1", "unknown key `cash`"},
        {"UnknownKeyOfTable", "[cache]\nmax_byte = 1",
         "unknown key `cache.max_byte`; did you mean `cache.max_bytes`?"},
        {"WrongType", "[traces]\nthreads = 1.5", "`traces.threads` must be"},
        {"NotANumber", "[traces]\nthreads = \"many\"",
         "must be a whole number from 0 to 1024"},
        {"PastTheRange", "[traces]\nthreads = 1025", "from 0 to 1024"},
        {"NegativeSize", "[cache]\nmax_bytes = -1", "`cache.max_bytes` "},
        {"BadTime", "idle_exit = \"soon\"", "must be a time such as 30s"},
        {"BadAddress", "listen = \"7433\"", "must be host:port"},
        {"BadPort", "listen = \"a:65536\"", "must be host:port"},
        {"BareIpv6", "listen = \"::1:80\"", "must be host:port"},
        {"RelativeSocket", "socket = \"s.sock\"", "must be an absolute path"},
        {"TableForValue", "[listen]\nx = 1", "unknown key `listen`"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ConfigTest, EverySettingHasItsNames) {
  EXPECT_EQ(FlagName("cache.max_bytes"), "--cache-max-bytes");
  EXPECT_EQ(EnvironmentName("cache.max_bytes"), "LINNETD_CACHE_MAX_BYTES");
}

TEST(ConfigTest, EnvironmentNamesTheVariableAtFault) {
  const std::map<std::string, std::string> variables = {
      {"LINNETD_TRACES_QUEUE", "5"}, {"LINNETD_DRAIN_LIMIT", "x"}};
  Settings settings;
  const absl::Status status = ApplyEnvironment(
      [&](const char* name) -> const char* {
        const auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      settings);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("LINNETD_DRAIN_LIMIT must be a time"));
}

TEST(ConfigTest, RefusesAnOpenAddressUnlessToldTo) {
  Settings settings;
  settings.listen = "0.0.0.0:7433";
  EXPECT_FALSE(CheckSettings(settings).ok());
  settings.allow_remote_plaintext = true;
  EXPECT_TRUE(CheckSettings(settings).ok());
}

TEST(ConfigTest, NeedsSomethingToListenOn) {
  Settings settings;
  EXPECT_FALSE(CheckSettings(settings).ok());
  settings.socket = "/run/a";
  EXPECT_TRUE(CheckSettings(settings).ok());
}

TEST(ConfigTest, KnowsLoopbackAddresses) {
  EXPECT_TRUE(IsLoopback("127.0.0.1:1"));
  EXPECT_TRUE(IsLoopback("127.1.2.3:1"));
  EXPECT_TRUE(IsLoopback("localhost:1"));
  EXPECT_TRUE(IsLoopback("[::1]:1"));
  EXPECT_FALSE(IsLoopback("127.0.0.1.example.com:1"));
  EXPECT_FALSE(IsLoopback("127.evil:1"));
  EXPECT_FALSE(IsLoopback("0.0.0.0:1"));
  EXPECT_FALSE(IsLoopback("[::]:1"));
}

}  // namespace
}  // namespace linnet::server
