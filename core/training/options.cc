#include "core/training/options.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_split.h"

namespace linnet::training {
namespace {

struct OptimizerRow {
  absl::string_view name;
  int64_t states;
};
constexpr std::array<OptimizerRow, 4> kOptimizers = {
    {{"sgd", 0}, {"sgd-momentum", 1}, {"adam", 2}, {"adamw", 2}}};

}  // namespace

absl::string_view OptimizerName(Optimizer optimizer) {
  return kOptimizers[static_cast<size_t>(optimizer)].name;
}

std::optional<Optimizer> ParseOptimizer(absl::string_view name) {
  for (size_t i = 0; i < kOptimizers.size(); ++i) {
    if (kOptimizers[i].name == name) return static_cast<Optimizer>(i);
  }
  return std::nullopt;
}

std::vector<absl::string_view> OptimizerNames() {
  std::vector<absl::string_view> names;
  for (const OptimizerRow& row : kOptimizers) names.push_back(row.name);
  return names;
}

int64_t StatesPerParameter(Optimizer optimizer) {
  return kOptimizers[static_cast<size_t>(optimizer)].states;
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
