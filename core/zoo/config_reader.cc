#include "core/zoo/config_reader.h"

#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace linnet::zoo {
namespace {

using nlohmann::json;

// A value as a message shows it, cut when long. Texts may hold anything.
std::string Shown(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 60) text = absl::StrCat(text.substr(0, 57), "...");
  return absl::CHexEscape(text);
}

std::string RangeText(int64_t low, int64_t high) {
  return high >= kMaxConfigSize
             ? absl::StrCat("an integer of at least ", low)
             : absl::StrCat("an integer from ", low, " to ", high);
}

}  // namespace

const json* ConfigReader::Get(absl::string_view key) const {
  if (!config_.is_object()) return nullptr;
  const auto it = config_.find(std::string(key));
  return it == config_.end() || it->is_null() ? nullptr : &*it;
}

void ConfigReader::Fail(absl::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrCat(path_, ": ", what));
}

void ConfigReader::FailType(absl::string_view key, const json& value,
                            absl::string_view want) {
  Fail(absl::StrCat("`", key, "` must be ", want, ", but is ", Shown(value)));
}

const json* ConfigReader::Need(absl::string_view key, absl::string_view want) {
  const json* value = Get(key);
  if (value == nullptr) {
    const bool null = config_.is_object() && config_.contains(std::string(key));
    Fail(absl::StrCat("`", key, "` is ", null ? "null" : "missing",
                      "; it must be ", want));
  }
  return value;
}

int64_t ConfigReader::Integer(absl::string_view key,
                              std::optional<int64_t> missing, int64_t low,
                              int64_t high) {
  if (missing && !Has(key)) return *missing;
  const std::string want = RangeText(low, high);
  const json* value = Need(key, want);
  if (value == nullptr) return low;
  if (value->is_number_unsigned() &&
      value->get<uint64_t>() > static_cast<uint64_t>(high)) {
    FailType(key, *value, absl::StrCat("an integer of at most ", high));
    return low;
  }
  if (!value->is_number_integer()) {
    FailType(key, *value, want);
    return low;
  }
  const int64_t number = value->get<int64_t>();
  if (number < low || number > high) {
    FailType(key, *value, want);
    return low;
  }
  return number;
}

double ConfigReader::Real(absl::string_view key,
                          std::optional<double> missing) {
  if (missing && !Has(key)) return *missing;
  const json* value = Need(key, "a number");
  if (value == nullptr) return 0;
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    FailType(key, *value, "a number");
    return 0;
  }
  return value->get<double>();
}

bool ConfigReader::Bool(absl::string_view key, bool missing) {
  const json* value = Get(key);
  if (value == nullptr) return missing;
  if (!value->is_boolean()) {
    FailType(key, *value, "true or false");
    return missing;
  }
  return value->get<bool>();
}

std::string ConfigReader::Text(absl::string_view key,
                               absl::string_view missing) {
  const json* value = Get(key);
  if (value == nullptr) return std::string(missing);
  if (!value->is_string()) {
    FailType(key, *value, "a text");
    return std::string(missing);
  }
  return value->get<std::string>();
}

std::vector<int64_t> ConfigReader::Integers(absl::string_view key) {
  const json* value = Get(key);
  std::vector<int64_t> numbers;
  if (value == nullptr) return numbers;
  if (!value->is_array()) {
    FailType(key, *value, "a list of integers");
    return numbers;
  }
  for (const json& each : *value) {
    if (each.is_boolean()) {
      numbers.push_back(each.get<bool>() ? 1 : 0);
    } else if (each.is_number_integer()) {
      numbers.push_back(each.get<int64_t>());
    } else {
      FailType(key, *value, "a list of integers");
      return {};
    }
  }
  return numbers;
}

std::vector<std::string> ConfigReader::Texts(absl::string_view key) {
  const json* value = Get(key);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (!value->is_array()) {
    FailType(key, *value, "a list of texts");
    return texts;
  }
  for (const json& each : *value) {
    if (!each.is_string()) {
      FailType(key, *value, "a list of texts");
      return {};
    }
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

const json* ConfigReader::Object(absl::string_view key) {
  const json* value = Get(key);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) {
    FailType(key, *value, "an object");
    return nullptr;
  }
  return value;
}

void ConfigReader::CheckDivides(absl::string_view key, int64_t value,
                                absl::string_view divisor_key,
                                int64_t divisor) {
  if (divisor > 0 && value % divisor == 0) return;
  Fail(absl::StrCat("`", key, "` (", value, ") is not a multiple of `",
                    divisor_key, "` (", divisor, ")"));
}

}  // namespace linnet::zoo
