#include "core/base/json.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace linnet {
namespace {

using nlohmann::json;

// Looks at the structure without keeping it.
class StructureCheck : public nlohmann::json_sax<json> {
 public:
  explicit StructureCheck(int32_t max_depth) : max_depth_(max_depth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& text) override {
    if (keys_.back().insert(text).second) return true;
    problem_ =
        absl::StrCat("the key `", absl::CHexEscape(text), "` comes twice");
    return false;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem_ = absl::StrCat("not JSON at byte ", position);
    return false;
  }

  const std::string& problem() const { return problem_; }

 private:
  bool Enter() {
    keys_.emplace_back();
    if (static_cast<int32_t>(keys_.size()) <= max_depth_) return true;
    problem_ = absl::StrCat("nested more than ", max_depth_, " deep");
    return false;
  }
  bool Leave() {
    keys_.pop_back();
    return true;
  }

  const int32_t max_depth_;
  std::vector<absl::flat_hash_set<std::string>> keys_;  // Of what is open.
  std::string problem_;
};

}  // namespace

absl::StatusOr<json> ParseJson(absl::string_view text, absl::string_view path,
                               const JsonLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has ", text.size(), " bytes; at most ",
                     limits.max_bytes, " are taken"));
  }
  StructureCheck check(limits.max_depth);
  if (!json::sax_parse(text.begin(), text.end(), &check)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", check.problem()));
  }
  return json::parse(text.begin(), text.end(), nullptr,
                     /*allow_exceptions=*/false);
}

}  // namespace linnet
