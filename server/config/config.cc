#include "server/config/config.h"

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/bytes.h"
#include "core/base/nearest.h"
#include "core/base/status_macros.h"
#include "core/base/toml.h"
#include "core/base/user_socket.h"

namespace linnet::server {
namespace {

using SetFunction = absl::Status (*)(absl::string_view, Settings&);

template <std::string Settings::*Member>
absl::Status SetText(absl::string_view value, Settings& settings) {
  settings.*Member = std::string(value);
  return absl::OkStatus();
}

template <std::string Settings::*Member>
absl::Status SetAddress(absl::string_view value, Settings& settings) {
  if (!value.empty()) LINNET_RETURN_IF_ERROR(CheckAddress(value));
  settings.*Member = std::string(value);
  return absl::OkStatus();
}

absl::Status SetSocket(absl::string_view value, Settings& settings) {
  if (!value.empty() && value[0] != '/') {
    return absl::InvalidArgumentError("must be an absolute path or empty");
  }
  if (value.size() > kMaxSocketPathBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("must have at most ", kMaxSocketPathBytes, " bytes, not ",
                     value.size()));
  }
  settings.socket = std::string(value);
  return absl::OkStatus();
}

template <bool Settings::*Member>
absl::Status SetBool(absl::string_view value, Settings& settings) {
  if (value != "true" && value != "false") {
    return absl::InvalidArgumentError("must be true or false");
  }
  settings.*Member = value == "true";
  return absl::OkStatus();
}

template <absl::Duration Settings::*Member>
absl::Status SetDuration(absl::string_view value, Settings& settings) {
  absl::Duration duration = absl::InfiniteDuration();
  if (value != "never" && (!absl::ParseDuration(value, &duration) ||
                           duration <= absl::ZeroDuration())) {
    return absl::InvalidArgumentError(
        "must be a time such as 30s, 10m or 1h30m, or never");
  }
  settings.*Member = duration;
  return absl::OkStatus();
}

template <int64_t Settings::*Member, int64_t Minimum, int64_t Maximum>
absl::Status SetCount(absl::string_view value, Settings& settings) {
  int64_t count = 0;
  if (!absl::SimpleAtoi(value, &count) || count < Minimum || count > Maximum) {
    return absl::InvalidArgumentError(
        absl::StrCat("must be a whole number from ", Minimum, " to ", Maximum));
  }
  settings.*Member = count;
  return absl::OkStatus();
}

template <int64_t Settings::*Member, int64_t Maximum>
absl::Status SetBytes(absl::string_view value, Settings& settings) {
  LINNET_ASSIGN_OR_RETURN(const int64_t bytes, ParseBytes(value));
  if (bytes > Maximum) {
    return absl::InvalidArgumentError(
        absl::StrCat("must be at most ", FormatBytes(Maximum)));
  }
  settings.*Member = bytes;
  return absl::OkStatus();
}

absl::Status SetLevel(absl::string_view value, Settings& settings) {
  if (value != "debug" && value != "info" && value != "warning" &&
      value != "error") {
    return absl::InvalidArgumentError("must be debug, info, warning or error");
  }
  settings.log_level = std::string(value);
  return absl::OkStatus();
}

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

constexpr SettingInfo kSettings[] = {
    {"socket", "the Unix socket to listen on, empty for none", false,
     SetSocket},
    {"listen", "host:port to listen on by TCP", false,
     SetAddress<&Settings::listen>},
    {"allow_remote_plaintext",
     "let --listen name an address other than a loopback one; calls are not "
     "encrypted",
     true, SetBool<&Settings::allow_remote_plaintext>},
    {"metrics", "host:port to serve Prometheus metrics on", false,
     SetAddress<&Settings::metrics>},
    {"idle_exit", "exit after this long without a call", false,
     SetDuration<&Settings::idle_exit>},
    {"drain_limit", "how long calls may still take on SIGTERM", false,
     SetDuration<&Settings::drain_limit>},
    {"log_level", "debug, info, warning or error", false, SetLevel},
    {"traces.threads", "threads that trace models, 0 for one per core", false,
     SetCount<&Settings::traces_threads, 0, 1024>},
    {"traces.queue", "traces that may wait for a thread", false,
     SetCount<&Settings::traces_queue, 0, 1'000'000>},
    {"cache.max_bytes", "memory for traces kept for later calls", false,
     SetBytes<&Settings::cache_max_bytes, kMaxInt64>},
    {"limits.max_message_bytes", "size of one call's message", false,
     SetBytes<&Settings::limits_max_message_bytes, kMaxInt32>},
    {"limits.max_source_bytes", "size of all files of a model", false,
     SetBytes<&Settings::limits_max_source_bytes, kMaxInt32>},
    {"limits.max_files", "files of a model", false,
     SetCount<&Settings::limits_max_files, 1, kMaxInt32>},
    {"limits.max_steps", "steps of a trace", false,
     SetCount<&Settings::limits_max_steps, 1, kMaxInt32>},
    {"limits.max_objects", "tensors of a trace", false,
     SetCount<&Settings::limits_max_objects, 1, kMaxInt32>},
    {"limits.max_call_depth", "nested calls of a trace", false,
     SetCount<&Settings::limits_max_call_depth, 1, 100'000>},
    {"limits.max_sweep_points", "points of a sweep", false,
     SetCount<&Settings::limits_max_sweep_points, 1, kMaxInt64>},
};

const SettingInfo* FindSetting(absl::string_view key) {
  for (const SettingInfo& setting : kSettings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

absl::Status At(absl::string_view name, const toml::source_region& where,
                absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(
      name, ":", where.begin.line, ":", where.begin.column, ": ", message));
}

absl::Status UnknownKey(absl::string_view name,
                        const toml::source_region& where,
                        absl::string_view key) {
  std::vector<absl::string_view> known;
  for (const SettingInfo& setting : kSettings) known.push_back(setting.key);
  const std::vector<std::string> close = NearestNames(key, known);
  return At(
      name, where,
      absl::StrCat("unknown key `", key, "`",
                   close.empty() ? "" : "; did you mean `",
                   absl::StrJoin(close, "` or `"), close.empty() ? "" : "`?"));
}

absl::StatusOr<std::string> ValueText(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) {
    return absl::StrCat(number->get());
  }
  if (const auto* flag = node.as_boolean()) {
    return std::string(flag->get() ? "true" : "false");
  }
  return absl::InvalidArgumentError("must be text, a whole number or a flag");
}

absl::Status ApplyTable(const toml::table& table, absl::string_view prefix,
                        absl::string_view name, Settings& settings) {
  for (const auto& [toml_key, node] : table) {
    const std::string key = absl::StrCat(
        prefix,
        absl::string_view(toml_key.str().data(), toml_key.str().size()));
    const toml::source_region& where = node.source();
    if (const toml::table* inner = node.as_table()) {
      const std::string inner_prefix = absl::StrCat(key, ".");
      bool known = false;
      for (const SettingInfo& setting : kSettings) {
        known = known || absl::StartsWith(setting.key, inner_prefix);
      }
      // Settings are one table deep, so neither is this.
      if (!known) return UnknownKey(name, where, key);
      LINNET_RETURN_IF_ERROR(ApplyTable(*inner, inner_prefix, name, settings));
      continue;
    }
    const SettingInfo* setting = FindSetting(key);
    if (setting == nullptr) return UnknownKey(name, where, key);
    absl::StatusOr<std::string> value = ValueText(node);
    absl::Status status =
        value.ok() ? setting->set(*value, settings) : value.status();
    if (!status.ok()) {
      return At(name, where, absl::StrCat("`", key, "` ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const SettingInfo> AllSettings() { return kSettings; }

std::string EnvironmentName(absl::string_view key) {
  return absl::StrCat("LINNETD_", absl::AsciiStrToUpper(
                                      absl::StrReplaceAll(key, {{".", "_"}})));
}

std::string FlagName(absl::string_view key) {
  return absl::StrCat("--", absl::StrReplaceAll(key, {{".", "-"}, {"_", "-"}}));
}

absl::Status ApplyFile(absl::string_view text, absl::string_view name,
                       Settings& settings) {
  const toml::parse_result parsed =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return At(name, error.source(),
              absl::string_view(error.description().data(),
                                error.description().size()));
  }
  return ApplyTable(parsed.table(), "", name, settings);
}

absl::Status ApplyEnvironment(absl::FunctionRef<const char*(const char*)> get,
                              Settings& settings) {
  for (const SettingInfo& setting : kSettings) {
    const std::string name = EnvironmentName(setting.key);
    const char* value = get(name.c_str());
    if (value == nullptr) continue;
    if (absl::Status status = setting.set(value, settings); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAddress(absl::string_view address) {
  const size_t colon = address.rfind(':');
  int32_t port = 0;
  const absl::string_view host = address.substr(0, colon);
  if (colon == absl::string_view::npos || host.empty() ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 ||
      port > 65535 ||
      (absl::StrContains(host, ':') &&
       !(absl::StartsWith(host, "[") && absl::EndsWith(host, "]")))) {
    return absl::InvalidArgumentError(
        "must be host:port, such as 127.0.0.1:7433 or [::1]:7433");
  }
  return absl::OkStatus();
}

bool IsLoopback(absl::string_view address) {
  const absl::string_view host = address.substr(0, address.rfind(':'));
  if (host == "localhost" || host == "[::1]") return true;
  // Four decimal numbers of which the first is 127; a name that only starts so
  // is not an address.
  int dots = 0;
  for (char c : host) {
    if (c == '.') {
      ++dots;
    } else if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      return false;
    }
  }
  return dots == 3 && absl::StartsWith(host, "127.");
}

absl::Status CheckSettings(const Settings& settings) {
  if (settings.socket.empty() && settings.listen.empty()) {
    return absl::InvalidArgumentError(
        "nothing to listen on: `socket` and `listen` are both empty");
  }
  if (!settings.listen.empty() && !IsLoopback(settings.listen) &&
      !settings.allow_remote_plaintext) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`listen` is ", settings.listen,
        ", which other machines can reach, and calls are not encrypted; set "
        "`allow_remote_plaintext` if the whole network is trusted"));
  }
  return absl::OkStatus();
}

}  // namespace linnet::server
