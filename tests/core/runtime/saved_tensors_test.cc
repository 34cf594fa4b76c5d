// What autograd keeps of single steps: each rule on the smallest step that
// shows it.

#include "core/runtime/saved_tensors.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/expr/evaluator.h"
#include "core/runtime/backend.h"
#include "gtest/gtest.h"
#include "tests/support/training_graph.h"

namespace linnet::runtime {
namespace {

struct SavedCase {
  std::string name;
  // Inputs, as `in a 2x3`; each whose name starts with `g` carries a gradient.
  std::string inputs;
  std::string step;     // `y 4 = exp(ga)`
  std::string objects;  // Names kept, in order, with spaces between.
  int64_t extra = 0;
  bool known = true;
};

class SavedTest : public ::testing::TestWithParam<SavedCase> {};

TEST_P(SavedTest, IsWhatTheBackwardReads) {
  const SavedCase& row = GetParam();
  training::TrainingGraphReader reader;
  const auto graph = reader.Read(absl::StrCat(row.inputs, ";", row.step));
  expr::Pool pool(graph->shared_pool());
  const SavedTensors saved = SavedByStep(
      *FindBackend("cuda"), *graph, graph->step(graph::StepId{0}),
      [&](graph::ObjectId id) {
        return graph->text(graph->object(id).name)[0] == 'g';
      },
      pool);
  std::string objects;
  for (graph::ObjectId id : saved.objects) {
    absl::StrAppend(&objects, objects.empty() ? "" : " ",
                    graph->text(graph->object(id).name));
  }
  EXPECT_EQ(objects, row.objects);
  EXPECT_EQ(saved.extra.valid() ? expr::Evaluate(saved.extra, {}).value : 0,
            row.extra);
  EXPECT_EQ(saved.known(), row.known);
}

constexpr char kTwo[] = "in ga 4; in b 4";
constexpr char kBoth[] = "in ga 4; in gb 4";

INSTANTIATE_TEST_SUITE_P(
    Arithmetic, SavedTest,
    ::testing::ValuesIn<SavedCase>({
        {"Add", kBoth, "y 4 = add(ga, gb)", ""},
        {"Sub", kBoth, "y 4 = sub(ga, gb)", ""},
        {"Neg", kTwo, "y 4 = neg(ga)", ""},
        {"Cast", kTwo, "y 4:bf16 = cast(ga)", ""},
        {"Scale", kTwo, "y 4 = scale(ga)", ""},
        {"Reshape", kTwo, "y in ga 2x2 = reshape(ga)", ""},
        {"ReshapeCopy", kTwo, "y 2x2 = reshape(ga)", ""},
        {"Permute", kTwo, "y in ga 4 = permute(ga)", ""},
        {"Broadcast", kTwo, "y in ga 2x4 = broadcast(ga)", ""},
        {"Slice", kTwo, "y in ga 2 = slice(ga)", ""},
        {"Concat", kBoth, "y 8 = concat(ga, gb)", ""},
        {"Exp", kTwo, "y 4 = exp(ga)", "y"},
        {"Sqrt", kTwo, "y 4 = sqrt(ga)", "y"},
        {"Rsqrt", kTwo, "y 4 = rsqrt(ga)", "y"},
        {"Tanh", kTwo, "y 4 = tanh(ga)", "y"},
        {"Reduce", kTwo, "y 1 = reduce(ga)", "ga y"},
        {"ReduceToScalar", kTwo, "reduce(ga)", "ga"},
        {"ProductOfOne", kTwo, "y 4 = mul(ga, b)", "b"},
        {"ProductOfTheOther", kTwo, "y 4 = mul(b, ga)", "b"},
        {"ProductOfBoth", kBoth, "y 4 = mul(ga, gb)", "ga gb"},
        {"Square", kTwo, "y 4 = mul(ga, ga)", "ga"},
        {"ComprehensionOfThree", "in ga 4; in b 4; in c 4",
         "y 4 = comprehension(ga, b, c)", "b c"},
        {"ComprehensionOfOne", kTwo, "y 4 = comprehension(ga)", "ga"},
        {"Quotient", kTwo, "y 4 = div(ga, b)", "b"},
        {"QuotientByGradient", kTwo, "y 4 = div(b, ga)", "ga b"},
        {"ScalarOver", kTwo, "y 4 = div(ga)", "ga"},
        {"Select", "in c 4:bool; in ga 4; in b 4", "y 4 = select(c, ga, b)",
         "c"},
        {"SelectKnown", kTwo, "y 4 = select(ga, b)", ""},
        {"Sin", kTwo, "y 4 = sin(ga)", "ga"},
        {"Log", kTwo, "y 4 = log(ga)", "ga"},
        {"Max", kTwo, "y 4 = max(ga, b)", "ga b"},
        {"Element", kTwo, "y 1 = element(ga)", "ga"},
    }),
    [](const auto& row) { return row.param.name; });

constexpr char kHeads[] =
    "in gq 1x2x3x4:bf16; in gk 1x1x5x4:bf16; in gv 1x1x5x4:bf16;"
    "in m 3x5:bool";
constexpr char kLoss[] = "in gh 3x4:bf16; in gw 7x4:bf16; in t 3:i64; in s 3";

INSTANTIATE_TEST_SUITE_P(
    Native, SavedTest,
    ::testing::ValuesIn<SavedCase>({
        {"Linear", "in ga 2x3; in gw 4x3; in gb 4",
         "y 2x4 = torch.nn.functional.linear(ga, gw, gb)", "ga gw"},
        {"LinearOfInput", "in a 2x3; in gw 4x3",
         "y 2x4 = torch.nn.functional.linear(a, gw)", "a"},
        {"LinearFrozen", "in ga 2x3; in w 4x3",
         "y 2x4 = torch.nn.functional.linear(ga, w)", "w"},
        {"LinearBiasOnly", "in a 2x3; in w 4x3; in gb 4",
         "y 2x4 = torch.nn.functional.linear(a, w, gb)", ""},
        {"Matmul", "in ga 2x3; in b 3x4", "y 2x4 = torch.matmul(ga, b)", "b"},
        {"MatmulOfItself", "in ga 3x3", "y 3x3 = torch.matmul(ga, ga)", "ga"},
        {"Attention", kHeads,
         "y 1x2x3x4:bf16 = torch.nn.functional.scaled_dot_product_attention("
         "enable_gqa)(input dtype)(gq, gk, gv, m)",
         "gq gk gv y", 4 * 6 + 2 * 15},
        {"AttentionOfOneTensor", kHeads,
         "y 1x2x3x4:bf16 = torch.nn.functional.scaled_dot_product_attention("
         "gq)",
         "gq y", 4 * 6},
        {"RmsNorm", "in ga 2x3:bf16; in gw 3:bf16",
         "y 2x3:bf16 = torch.rms_norm(ga, gw)", "ga gw", 4 * 2 + 12},
        {"RmsNormFrozen", "in ga 2x3:bf16; in w 3:bf16",
         "y 2x3:bf16 = torch.rms_norm(input dtype)(ga, w)", "ga w", 4 * 2},
        {"LayerNorm", "in ga 2x3; in gw 3; in gb 3",
         "y 2x3 = torch.nn.functional.layer_norm(ga, gw, gb)", "ga gw",
         8 * 2 + 24},
        {"Softmax", "in ga 4", "y 4 = torch.softmax(ga)", "y"},
        {"Sigmoid", "in ga 4", "y 4 = torch.sigmoid(ga)", "y"},
        {"Relu", "in ga 4", "y 4 = torch.relu(ga)", "y"},
        {"Silu", "in ga 4", "y 4 = torch.nn.functional.silu(ga)", "ga"},
        {"Gelu", "in ga 4", "y 4 = torch.nn.functional.gelu(ga)", "ga"},
        {"GeluTanh", "in ga 4", "y 4 = torch.nn.functional.gelu(tanh)(ga)",
         "ga"},
        {"Embedding", "in i 3:i32; in gw 5x4",
         "y 3x4 = torch.nn.functional.embedding(i, gw)", "i"},
        {"IndexSelect", "in ga 3x4; in i 4:i32",
         "y 3x4 = torch.index_select(ga, i)", "ga"},
        {"Mean", "in ga 4", "y 1 = torch.Tensor.mean(ga)", ""},
        {"CacheWrite", "in c 4x4; in ga 1x4; in i 1:i32",
         "y in c 4x4 = torch.Tensor.index_put(c, ga, i)", ""},
        {"AllReduce", "in ga 4", "y in ga 4 = torch.distributed.all_reduce(ga)",
         ""},
        {"AllGather", "in ga 4", "y 8 = torch.distributed.all_gather(ga)", ""},
        {"Shared", "in ga 4", "y in ga 4 = torch.distributed.shared(ga)", ""},
        {"CrossEntropy", kLoss, "linnet.linear_cross_entropy(gh, gw, t, s)", "",
         24 + 4 * 28},
        {"SplitCrossEntropy", kLoss, "linnet.split_cross_entropy(gh, gw, t, s)",
         "", 24 + 4 * 28},
        {"TokenLogProbs", kLoss,
         "y 3 = linnet.linear_token_log_probs(gh, gw, t)", "gh gw t", 4 * 3},
        {"BatchNorm", "in ga 2x3; in gw 3",
         "y 2x3 = torch.nn.functional.batch_norm(ga, gw)", "ga gw y", 0, false},
        {"Conv", "in ga 2x3; in gw 3",
         "y 2x3 = torch.nn.functional.conv2d(ga, gw)", "ga gw y", 0, false},
        {"NoSuchKernel", "in ga 4", "y 4 = nothing(ga)", "ga y", 0, false},
    }),
    [](const auto& row) { return row.param.name; });

TEST(GenericSavedTest, AssumesAll) {
  training::TrainingGraphReader reader;
  const auto graph =
      reader.Read("in ga 4; in gb 4; y 4 = torch.nn.functional.silu(ga)");
  expr::Pool pool(graph->shared_pool());
  const SavedTensors saved = SavedByStep(
      *FindBackend("generic"), *graph, graph->step(graph::StepId{0}),
      [](graph::ObjectId) { return true; }, pool);
  EXPECT_EQ(saved.objects.size(), 2u);
  EXPECT_FALSE(saved.known());
}

}  // namespace
}  // namespace linnet::runtime
