#include "core/training/moments.h"

#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/training/paths.h"

namespace linnet::training {

using graph::StepId;

std::vector<Region> FindRegions(const graph::Graph& graph,
                                const GradientFlow& flow,
                                const CheckpointPolicy& policy) {
  std::vector<Region> regions;
  if (policy.none()) return regions;
  absl::flat_hash_map<graph::StringId, absl::string_view> block_of;
  bool open = false;  // Whether the last region ends at the step before.
  bool used = false;  // Whether it has a differentiable step.
  const auto close = [&] {
    if (open && !used) regions.pop_back();
    open = false;
  };
  for (int32_t i = 0; i < graph.num_steps(); ++i) {
    const graph::StringId scope = graph.step(StepId{i}).scope;
    const auto [it, added] = block_of.try_emplace(scope);
    if (added) it->second = CheckpointedBlock(graph.text(scope), policy);
    const absl::string_view block = it->second;
    if (!open || block != regions.back().block) {
      close();
      if (block.empty()) continue;
      regions.push_back({std::string(block), i, i});
      open = true;
      used = false;
    }
    regions.back().last = i;
    used = used || flow.differentiable(i);
  }
  close();
  return regions;
}

std::vector<std::string> BlockPatterns(const graph::Graph& graph) {
  std::set<std::string> patterns;
  std::set<std::string> scopes;
  for (const graph::Step& step : graph.steps()) {
    scopes.insert(GeneralPath(graph.text(step.scope)));
  }
  for (const std::string& scope : scopes) {
    for (size_t end = 0; end < scope.size(); ++end) {
      if (scope[end] == '.') patterns.insert(scope.substr(0, end));
    }
    if (!scope.empty()) patterns.insert(scope);
  }
  // An array is no block, its elements are.
  for (auto it = patterns.begin(); it != patterns.end();) {
    it = patterns.contains(*it + ".*") ? patterns.erase(it) : std::next(it);
  }
  return {patterns.begin(), patterns.end()};
}

Moments::Moments(int32_t num_steps, std::vector<Region> regions)
    : num_steps_(num_steps),
      regions_(std::move(regions)),
      region_of_(Index(num_steps), -1),
      again_(Index(num_steps), -1),
      backward_(Index(num_steps)) {
  for (size_t i = 0; i < regions_.size(); ++i) {
    for (int32_t s = regions_[i].first; s <= regions_[i].last; ++s) {
      region_of_[Index(s)] = static_cast<int32_t>(i);
    }
  }
  const auto next = [&] {
    return num_steps_ + static_cast<int64_t>(places_.size());
  };
  for (int32_t s = num_steps; s-- > 0;) {
    const int32_t region = region_of(s);
    if (region >= 0 && regions_[Index(region)].last == s) {
      for (int32_t r = regions_[Index(region)].first; r <= s; ++r) {
        again_[Index(r)] = next();
        places_.push_back({Part::kRecompute, r});
      }
    }
    backward_[Index(s)] = next();
    places_.push_back({Part::kBackward, s});
  }
}

Place Moments::At(int64_t moment) const {
  if (moment < num_steps_) {
    return {Part::kForward, static_cast<int32_t>(moment)};
  }
  if (moment >= optimizer()) return {Part::kOptimizer, -1};
  return places_[static_cast<size_t>(moment - num_steps_)];
}

}  // namespace linnet::training
