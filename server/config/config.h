// The settings of linnetd, from a file, the environment and flags.
//
// Every setting has one key. The file writes it in TOML (`cache.max_bytes`, so
// `max_bytes` in the table `cache`), the environment as
// LINNETD_CACHE_MAX_BYTES, a flag as --cache-max-bytes. A flag wins over the
// environment, and that over the file.

#ifndef LINNET_SERVER_CONFIG_CONFIG_H_
#define LINNET_SERVER_CONFIG_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace linnet::server {

struct Settings {
  // The Unix socket to listen on; empty for none. Its folder is made when it is
  // missing, and must belong to this user and be closed to others. Default: in
  // this user's runtime folder.
  std::string socket;

  // `host:port` to listen on by TCP; empty for none. Port 0 takes a free one,
  // which the log names. Default: none.
  std::string listen;

  // Lets `listen` name an address other than a loopback one. Calls are neither
  // encrypted nor authenticated: only for a network that is trusted as a whole.
  bool allow_remote_plaintext = false;

  // `host:port` that serves /metrics for Prometheus; empty for none.
  std::string metrics;

  // Exits after this long without a call. Default: never.
  absl::Duration idle_exit = absl::InfiniteDuration();

  // On SIGTERM, how long calls in flight may still take before they are
  // cancelled.
  absl::Duration drain_limit = absl::Seconds(30);

  std::string log_level = "info";  // `debug`, `info`, `warning` or `error`.

  // Threads that trace models; 0 for one per core.
  int64_t traces_threads = 0;

  // Traces that may wait for a thread; a call past it is RESOURCE_EXHAUSTED,
  // with a delay after which to retry.
  int64_t traces_queue = 64;

  // Bytes of traces kept for later calls, the least recently used dropped
  // first. A trace of a 32-layer decoder takes a few megabytes.
  int64_t cache_max_bytes = int64_t{1} << 30;

  // What one call may ask; past one it is RESOURCE_EXHAUSTED and names it.
  int64_t limits_max_message_bytes = int64_t{32} << 20;
  int64_t limits_max_source_bytes = int64_t{16} << 20;  // All files of a model.
  int64_t limits_max_files = 4096;                      // Files of a model.
  int64_t limits_max_steps = 1'000'000;                 // Steps of a trace.
  int64_t limits_max_objects = 2'000'000;               // Tensors of a trace.
  int64_t limits_max_call_depth = 256;            // Nested calls of a trace.
  int64_t limits_max_sweep_points = 100'000'000;  // Points of a sweep.
};

// One setting by its key.
struct SettingInfo {
  absl::string_view key;
  absl::string_view help;
  bool is_flag;  // Its value is `true` or `false`.
  // InvalidArgument, saying what is allowed, when `value` is not one.
  absl::Status (*set)(absl::string_view value, Settings& settings);
};

// Every setting, in the order of the help text.
absl::Span<const SettingInfo> AllSettings();

std::string EnvironmentName(absl::string_view key);
std::string FlagName(absl::string_view key);  // With its dashes.

// Applies the TOML `text` of the file `name`.
// InvalidArgument with the place when it is not TOML, when a key is unknown
// (with the nearest one), or when a value is not allowed.
absl::Status ApplyFile(absl::string_view text, absl::string_view name,
                       Settings& settings);

// Applies every variable that is set. `get` is like getenv().
absl::Status ApplyEnvironment(absl::FunctionRef<const char*(const char*)> get,
                              Settings& settings);

// Checks what no setting can say alone: something to listen on, and no address
// open to others without `allow_remote_plaintext`.
absl::Status CheckSettings(const Settings& settings);

// Splits `host:port`, where host may be `[::1]`. InvalidArgument otherwise.
absl::Status CheckAddress(absl::string_view address);
bool IsLoopback(absl::string_view address);

}  // namespace linnet::server

#endif  // LINNET_SERVER_CONFIG_CONFIG_H_
