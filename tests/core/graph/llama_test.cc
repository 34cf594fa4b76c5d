// The published figures of Llama 3.1 8B, batch 1, 8192 tokens: 1.00 GiB of
// cache, a peak of 2.02 GiB at step 1603 in lm_head, 60.89 GiB with a buffer
// per tensor, 2.02 GiB planned.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/bytes.h"
#include "core/expr/evaluator.h"
#include "core/graph/buffer_plan.h"
#include "core/graph/graph.h"
#include "core/graph/liveness.h"
#include "core/graph/memory_function.h"
#include "core/graph/plain_walk.h"
#include "gtest/gtest.h"
#include "tests/support/graph_text.h"
#include "tests/support/llama_graph.h"

namespace linnet::graph {
namespace {

const std::vector<int64_t> kSizes = {1, 8192, 8192};

class LlamaTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Graph> graph_ = LlamaGraph::Make();
  Timeline timeline_ = ComputeLiveness(*graph_);
};

TEST_F(LlamaTest, HasItsSteps) {
  EXPECT_EQ(graph_->num_steps(), 1606);
  EXPECT_EQ(VerifyGraph(*graph_), absl::OkStatus());
  EXPECT_LT(graph_->ByteSize(), size_t{1} << 20);
}

TEST_F(LlamaTest, HoldsItsWeightsAndCaches) {
  int64_t weights = 0;
  int64_t caches = 0;
  for (const Object& object : graph_->objects()) {
    if (!object.persistent) continue;
    const expr::Value bytes =
        expr::Evaluate(object.bytes, SizesOf(*graph_, kSizes));
    (object.category == Category::kKvCache ? caches : weights) += bytes.value;
  }
  EXPECT_EQ(weights, 16060522496);
  EXPECT_EQ(caches, kGiB);
}

TEST_F(LlamaTest, PeaksAtTheHead) {
  const auto function =
      MemoryFunction::Build(graph_->shared_pool(), graph_->roles(), timeline_);
  ASSERT_TRUE(function.ok()) << function.status();
  const Peak peak = function->Evaluate(kSizes);
  EXPECT_EQ(peak.moment, 1603);
  EXPECT_EQ(peak.bytes, 2068 * kMiB + 32 * kKiB);  // And the token ids.
  EXPECT_EQ(FormatBytes(peak.bytes), "2.02 GiB");
  const Step& step = graph_->step(StepId{static_cast<int32_t>(peak.moment)});
  EXPECT_EQ(graph_->text(step.label), "linear");
  EXPECT_EQ(graph_->text(step.scope), "lm_head");
  EXPECT_LE(function->num_candidates(), 12) << function->FormulaText();

  for (const std::vector<int64_t>& sizes :
       {kSizes, {1, 1, 1}, {8, 32768, 32768}, {1, 131072, 131072}}) {
    const Peak got = function->Evaluate(sizes);
    const Peak want = PlainWalk(timeline_, SizesOf(*graph_, sizes));
    EXPECT_EQ(got.bytes, want.bytes);
    EXPECT_EQ(got.moment, want.moment);
  }
}

TEST_F(LlamaTest, PlansItsBuffers) {
  const auto plan = PlanBuffers(timeline_, graph_->roles(), kSizes, 512);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(VerifyBufferPlan(*plan), absl::OkStatus());
  EXPECT_EQ(FormatBytes(plan->naive_bytes), "60.89 GiB");
  EXPECT_EQ(FormatBytes(plan->planned_bytes), "2.02 GiB");
  EXPECT_EQ(FormatBytes(plan->lower_bound_bytes), "2.02 GiB");
}

}  // namespace
}  // namespace linnet::graph
