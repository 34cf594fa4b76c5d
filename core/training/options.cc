#include "core/training/options.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_split.h"

namespace linnet::training {
namespace {

// In the order of the enumerators.
constexpr std::array<absl::string_view, 6> kOptimizers = {
    "sgd", "sgd-momentum", "adam", "adamw", "adamw-8bit", "adafactor"};
constexpr std::array<absl::string_view, 3> kFormats = {"plain", "nf4",
                                                       "nf4-double"};

template <typename Enum, size_t N>
std::optional<Enum> Parse(const std::array<absl::string_view, N>& names,
                          absl::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

absl::string_view OptimizerName(Optimizer optimizer) {
  return kOptimizers[static_cast<size_t>(optimizer)];
}

std::optional<Optimizer> ParseOptimizer(absl::string_view name) {
  return Parse<Optimizer>(kOptimizers, name);
}

std::vector<absl::string_view> OptimizerNames() {
  return {kOptimizers.begin(), kOptimizers.end()};
}

absl::string_view BaseFormatName(BaseFormat format) {
  return kFormats[static_cast<size_t>(format)];
}

std::optional<BaseFormat> ParseBaseFormat(absl::string_view name) {
  return Parse<BaseFormat>(kFormats, name);
}

std::vector<absl::string_view> BaseFormatNames() {
  return {kFormats.begin(), kFormats.end()};
}

CheckpointPolicy ParsePolicy(absl::string_view text) {
  CheckpointPolicy policy;
  policy.name = std::string(text);
  if (text == "none") return policy;
  if (text == "block") {
    policy.every_element = true;
    return policy;
  }
  policy.patterns = absl::StrSplit(text, ',', absl::SkipWhitespace());
  return policy;
}

}  // namespace linnet::training
