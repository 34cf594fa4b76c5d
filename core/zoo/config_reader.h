// Typed access to the keys of a `config.json`. The first thing that is wrong is
// kept, and everything read after it is a harmless value.

#ifndef LINNET_CORE_ZOO_CONFIG_READER_H_
#define LINNET_CORE_ZOO_CONFIG_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace linnet::zoo {

// Sizes above this are no sizes of a model, and their products stay in range.
inline constexpr int64_t kMaxConfigSize = int64_t{1} << 31;
inline constexpr int64_t kMaxConfigLayers = 4096;

class ConfigReader {
 public:
  // `config` must outlive this. `path` is for messages.
  ConfigReader(const nlohmann::json& config, absl::string_view path)
      : config_(config), path_(path) {}

  // Whether the key is there and not null.
  bool Has(absl::string_view key) const { return Get(key) != nullptr; }

  // An integer from `low` to `high`. A key that is missing or null gives
  // `missing`, or is an error without one. What is wrong is an error that names
  // the key, the value and what it must be; `low` is returned then.
  int64_t Integer(absl::string_view key, std::optional<int64_t> missing,
                  int64_t low = 1, int64_t high = kMaxConfigSize);
  double Real(absl::string_view key, std::optional<double> missing);
  bool Bool(absl::string_view key, bool missing);
  std::string Text(absl::string_view key, absl::string_view missing);
  // A list of integers, booleans (as 0 and 1) or texts; empty when missing.
  std::vector<int64_t> Integers(absl::string_view key);
  std::vector<std::string> Texts(absl::string_view key);
  // An object; null when missing.
  const nlohmann::json* Object(absl::string_view key);

  // InvalidArgument "<path>: <what>", unless there is an earlier error.
  void Fail(absl::string_view what);
  // Fails unless `divisor` divides `value`, in terms of both keys.
  void CheckDivides(absl::string_view key, int64_t value,
                    absl::string_view divisor_key, int64_t divisor);

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  absl::string_view path() const { return path_; }

 private:
  const nlohmann::json* Get(absl::string_view key) const;
  // The value, or null after an error when the key may not be missing.
  const nlohmann::json* Need(absl::string_view key, absl::string_view want);
  void FailType(absl::string_view key, const nlohmann::json& value,
                absl::string_view want);

  const nlohmann::json& config_;
  const std::string path_;
  absl::Status status_;
};

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_CONFIG_READER_H_
