// Random programs at random sizes: the memory function against the plain walk
// over the steps, the buffer plan against both, and growth in every role.

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/graph/buffer_plan.h"
#include "core/graph/plain_walk.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using testing_support::ConfigOf;
using testing_support::PrepareOrFail;

// Writes straight-line programs over f32 tensors of rank 2 and 3.
class ProgramWriter {
 public:
  explicit ProgramWriter(uint32_t seed) : random_(seed) {}

  std::string Write() {
    values_ = {{"x", {"B", "S", "8"}}, {"y", {"S", "8"}}};
    const int steps = 4 + Below(20);
    for (int i = 0; i < steps; ++i) AddStatement();
    // Everything but the last value may die early.
    const Value& last = values_.back();
    return absl::StrCat(
        "module random_program\n"
        "use std.nn.linear::{linear}\nuse std.nn.softmax::{softmax}\n"
        "pub entry run<B: Dim, S: Dim>(x: Tensor[B, S, 8; f32], "
        "y: Tensor[S, 8; f32], w: Tensor[8, 8; f32]) -> Tensor[",
        absl::StrJoin(last.dims, ", "), "; f32]\nwhere B > 0, S > 0 {\n", body_,
        "    return exp(", last.name, ")\n}\n");
  }

 private:
  struct Value {
    std::string name;
    std::vector<std::string> dims;
  };

  int Below(int limit) {
    return static_cast<int>(random_() % static_cast<uint32_t>(limit));
  }

  void Define(const std::string& expression, std::vector<std::string> dims) {
    const std::string name = absl::StrCat("v", values_.size());
    absl::StrAppend(&body_, "    let ", name, " = ", expression, "\n");
    values_.push_back({name, std::move(dims)});
  }

  void AddStatement() {
    const Value a =
        values_[static_cast<size_t>(Below(static_cast<int>(values_.size())))];
    const size_t rank = a.dims.size();
    switch (Below(9)) {
      case 0:
        return Define(absl::StrCat("tanh(", a.name, ")"), a.dims);
      case 1:
        return Define(absl::StrCat(a.name, " * ", a.name), a.dims);
      case 2:
        return Define(absl::StrCat(a.name, " * 0.5"), a.dims);
      case 3: {
        std::vector<std::string> dims = a.dims;
        std::vector<int> axes(rank);
        for (size_t i = 0; i < rank; ++i) axes[i] = static_cast<int>(i);
        std::swap(axes[0], axes[rank - 2]);
        std::swap(dims[0], dims[rank - 2]);
        return Define(absl::StrCat("permute(", a.name, ", [",
                                   absl::StrJoin(axes, ", "), "])"),
                      dims);
      }
      case 4: {
        if (rank != 3) break;
        const std::string rows = absl::StrCat(a.dims[0], " * ", a.dims[1]);
        return Define(absl::StrCat("reshape(", a.name, ", [", rows, ", ",
                                   a.dims[2], "])"),
                      {rows, a.dims[2]});
      }
      case 5: {
        std::vector<std::string> dims = a.dims;
        dims[0] = absl::StrCat("2 * ", dims[0]);
        return Define(
            absl::StrCat("concat(", a.name, ", ", a.name, ", axis = 0)"), dims);
      }
      case 6:
        return Define(absl::StrCat("softmax(", a.name, ")"), a.dims);
      case 7:
        return Define(absl::StrCat("linear(", a.name, ", w)"), a.dims);
      default: {
        std::vector<std::string> dims = a.dims;
        dims.insert(dims.begin(), "3");
        if (rank == 3) break;
        return Define(absl::StrCat("broadcast_to(", a.name, ", [",
                                   absl::StrJoin(dims, ", "), "])"),
                      dims);
      }
    }
  }

  std::mt19937 random_;
  std::vector<Value> values_;
  std::string body_;
};

TEST(RandomProgramTest, MemoryFunctionIsThePlainWalk) {
  int checked = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const std::string program = ProgramWriter(seed).Write();
    Config config = ConfigOf(program);
    config.batch = 1;
    config.context = 1;
    const auto entry = PrepareOrFail(config);
    ASSERT_NE(entry, nullptr) << program;
    const auto roles = entry->graph().roles();
    ASSERT_EQ(roles.size(), 2u);
    std::mt19937 random(seed + 1000);
    for (int round = 0; round < 8; ++round) {
      const std::vector<int64_t> sizes = {
          1 + static_cast<int64_t>(random() % 300),
          1 + static_cast<int64_t>(random() % 300)};
      const graph::Peak want = graph::PlainWalk(
          entry->graph(), {{roles[0], sizes[0]}, {roles[1], sizes[1]}});
      const graph::Peak got = entry->peak().Evaluate(sizes);
      ASSERT_TRUE(want.ok() && got.ok());
      ASSERT_EQ(got.bytes, want.bytes) << program;
      ASSERT_EQ(got.moment, want.moment) << program;
      const auto plan =
          graph::PlanBuffers(entry->timeline(), roles, sizes, 512);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_TRUE(graph::VerifyBufferPlan(*plan).ok());
      EXPECT_EQ(plan->lower_bound_bytes, want.bytes);
      for (size_t role = 0; role < sizes.size(); ++role) {
        std::vector<int64_t> larger = sizes;
        ++larger[role];
        EXPECT_GE(entry->peak().Evaluate(larger).bytes, got.bytes);
      }
      ++checked;
    }
  }
  EXPECT_EQ(checked, 2400);
}

}  // namespace
}  // namespace linnet::planner
