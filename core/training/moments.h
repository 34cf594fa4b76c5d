// The order of a training step: which moment is what.
//
//   forward   0 1 2 3 4 5
//                 [region)            steps 2 to 4 are run again
//   backward              5' 2 3 4 4' 3' 2' 1' 0'
//   optimizer                                     last
//
// Primes are backward steps; every step has one, differentiable or not.

#ifndef LINNET_CORE_TRAINING_MOMENTS_H_
#define LINNET_CORE_TRAINING_MOMENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/training/gradient_flow.h"
#include "core/training/options.h"

namespace linnet::training {

// Consecutive steps of one block whose results are made again when its backward
// comes; `first` and `last` included.
struct Region {
  std::string block;
  int32_t first = 0;
  int32_t last = 0;
};

// The regions of `policy`, in program order: the longest runs of steps whose
// scope lies in one checkpointed block. Those without a differentiable step are
// left out, for they have no backward.
std::vector<Region> FindRegions(const graph::Graph& graph,
                                const GradientFlow& flow,
                                const CheckpointPolicy& policy);

// The blocks whose steps a pattern can name, numbers as `*`, each once:
// `layers.*`, `layers.*.mlp`.
std::vector<std::string> BlockPatterns(const graph::Graph& graph);

enum class Part : uint8_t { kForward, kRecompute, kBackward, kOptimizer };

struct Place {
  Part part = Part::kForward;
  int32_t step = -1;  // -1 for the optimizer.
};

class Moments {
 public:
  Moments(int32_t num_steps, std::vector<Region> regions);

  int64_t count() const { return optimizer() + 1; }
  int64_t forward(int32_t step) const { return step; }
  // REQUIRES: the step lies in a region.
  int64_t recompute(int32_t step) const { return again_[Index(step)]; }
  int64_t backward(int32_t step) const { return backward_[Index(step)]; }
  int64_t first_backward() const { return num_steps_; }
  int64_t optimizer() const {
    return num_steps_ + static_cast<int64_t>(places_.size());
  }

  Place At(int64_t moment) const;

  const std::vector<Region>& regions() const { return regions_; }
  // The region of a step by its index, or -1.
  int32_t region_of(int32_t step) const { return region_of_[Index(step)]; }
  // When the backward of a region ends.
  int64_t region_end(int32_t region) const {
    return backward(regions_[Index(region)].first);
  }

 private:
  static size_t Index(int32_t i) { return static_cast<size_t>(i); }

  int64_t num_steps_ = 0;
  std::vector<Region> regions_;
  std::vector<int32_t> region_of_;
  std::vector<int64_t> again_;
  std::vector<int64_t> backward_;
  std::vector<Place> places_;  // From the first moment after the forward pass.
};

}  // namespace linnet::training

#endif  // LINNET_CORE_TRAINING_MOMENTS_H_
