#include "core/runtime/backend.h"

#include <memory>
#include <string>
#include <vector>

#include "core/expr/evaluator.h"
#include "core/graph/graph_builder.h"
#include "core/runtime/cuda.h"
#include "gtest/gtest.h"

namespace linnet::runtime {
namespace {

struct Tensor {
  std::vector<int64_t> shape;
  DType dtype;
};

// The workspace of one native step over `inputs` with one output, as the
// backend states it; -1 when unknown.
int64_t WorkspaceOf(const std::string& backend, const std::string& native,
                    const std::vector<Tensor>& inputs, const Tensor& output,
                    Confidence* confidence) {
  auto pool = std::make_shared<expr::Pool>();
  graph::GraphBuilder builder(pool, {});
  const auto add = [&](const Tensor& tensor) {
    std::vector<expr::Expr> shape;
    for (int64_t size : tensor.shape) shape.push_back(pool->Constant(size));
    graph::ObjectSpec spec;
    spec.shape = shape;
    spec.dtype = tensor.dtype;
    return builder.AddObject(spec);
  };
  std::vector<graph::ObjectId> ids;
  for (const Tensor& input : inputs) {
    ids.push_back(add(input));
    builder.MarkInput(ids.back());
  }
  const std::vector<graph::ObjectId> outputs = {add(output)};
  graph::StepSpec spec;
  spec.label = "op";
  spec.inputs = ids;
  spec.outputs = outputs;
  spec.native = native;
  builder.AddStep(spec);
  const auto graph = *builder.Build();
  expr::Pool extension(graph->shared_pool());
  const Workspace workspace = FindBackend(backend)->StepWorkspace(
      *graph, graph->step(graph::StepId{0}), extension);
  *confidence = workspace.confidence;
  if (!workspace.known()) return -1;
  return expr::Evaluate(workspace.bytes, {}).value;
}

constexpr char kAttention[] =
    "torch.nn.functional.scaled_dot_product_attention(enable_gqa)(input dtype)";

struct WorkspaceCase {
  std::string name, backend, native;
  std::vector<Tensor> inputs;
  Tensor output;
  int64_t want;
  Confidence confidence;
};

class StepWorkspaceTest : public ::testing::TestWithParam<WorkspaceCase> {};

TEST_P(StepWorkspaceTest, FollowsTheRule) {
  const WorkspaceCase& c = GetParam();
  Confidence confidence = Confidence::kExact;
  EXPECT_EQ(WorkspaceOf(c.backend, c.native, c.inputs, c.output, &confidence),
            c.want);
  EXPECT_EQ(confidence, c.confidence);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, StepWorkspaceTest,
    ::testing::ValuesIn<WorkspaceCase>({
        {"LinearTakesNone",
         "cuda",
         "torch.nn.functional.linear",
         {{{4, 8}, DType::kBF16}, {{16, 8}, DType::kBF16}},
         {{4, 16}, DType::kBF16},
         0,
         Confidence::kExact},
        // 4 bytes for each of 2 x 3 x 5 rows.
        {"AttentionWithoutMask",
         "cuda",
         kAttention,
         {{{2, 3, 5, 8}, DType::kBF16}, {{2, 3, 7, 8}, DType::kBF16}},
         {{2, 3, 5, 8}, DType::kBF16},
         4 * 30,
         Confidence::kEstimated},
        // And a bf16 bias of the mask's 5 x 7 elements.
        {"AttentionWithMask",
         "cuda",
         kAttention,
         {{{2, 3, 5, 8}, DType::kBF16},
          {{2, 3, 7, 8}, DType::kBF16},
          {{2, 3, 7, 9}, DType::kBF16},
          {{5, 7}, DType::kBool}},
         {{2, 3, 5, 8}, DType::kBF16},
         4 * 30 + 2 * 35,
         Confidence::kEstimated},
        // V = 2^20: blocks of 256 rows. 300 rows: 256, then 44.
        // max(8, 2 + 4) x 256 x V against 4 x 256 x V + 6 x 44 x V.
        {"LossInBlocks",
         "cuda",
         "linnet.linear_cross_entropy",
         {{{300, 16}, DType::kBF16}, {{1 << 20, 16}, DType::kBF16}},
         {{300}, DType::kF32},
         int64_t{8} * 256 * (1 << 20),
         Confidence::kModeled},
        // All rows in one block.
        {"LossInOneBlock",
         "cuda",
         "linnet.linear_token_log_probs",
         {{{10, 16}, DType::kF32}, {{100, 16}, DType::kF32}},
         {{10}, DType::kF32},
         8 * 10 * 100,
         Confidence::kModeled},
        // Two full blocks: 4 x 256 x V + (8) x 256 x V in f32.
        {"LossSecondBlock",
         "cuda",
         "linnet.linear_cross_entropy",
         {{{512, 16}, DType::kF32}, {{1 << 20, 16}, DType::kF32}},
         {{512}, DType::kF32},
         int64_t{12} * 256 * (1 << 20),
         Confidence::kModeled},
        {"GatherAcrossProcesses",
         "cuda",
         "torch.distributed.all_gather",
         {{{4, 8}, DType::kF32}},
         {{4, 16}, DType::kF32},
         4 * 16 * 4,
         Confidence::kModeled},
        {"ConvolutionIsUnknown",
         "cuda",
         "torch.nn.functional.conv2d",
         {{{1, 3, 8, 8}, DType::kF32}},
         {{1, 4, 8, 8}, DType::kF32},
         -1,
         Confidence::kUnknown},
        {"GenericKnowsNothing",
         "generic",
         "torch.nn.functional.linear",
         {{{4, 8}, DType::kBF16}, {{16, 8}, DType::kBF16}},
         {{4, 16}, DType::kBF16},
         -1,
         Confidence::kUnknown},
    }),
    [](const auto& test) { return test.param.name; });

int64_t KnownBytes(const ProcessMemory& memory) {
  int64_t total = 0;
  for (const ProcessItem& item : memory.items) total += item.bytes.value_or(0);
  return total;
}

TEST(MemoryOfProcessTest, CudaIsWhatWasMeasured) {
  const ProcessMemory memory = FindBackend("cuda")->MemoryOfProcess({});
  EXPECT_EQ(KnownBytes(memory), (621 + 74 + 32) * kMiB);
  ASSERT_EQ(memory.items.size(), 4u);
  EXPECT_EQ(memory.items[3].name, "Allocator fragmentation");
  EXPECT_FALSE(memory.items[3].bytes.has_value());
}

TEST(MemoryOfProcessTest, SettingsReplaceTheDefaults) {
  ProcessSettings settings;
  settings.context_bytes = 438 * kMiB;
  settings.compiled = true;
  settings.cublas_workspace_config = ":4096:2:16:8";
  const ProcessMemory memory = FindBackend("cuda")->MemoryOfProcess(settings);
  EXPECT_EQ(KnownBytes(memory), (438 + 74 + 8) * kMiB + 128 * kKiB);
  EXPECT_EQ(memory.items[0].confidence, Confidence::kModeled);
  EXPECT_EQ(memory.items.back().name, "Compilation");
  EXPECT_TRUE(memory.warnings.empty());
}

TEST(MemoryOfProcessTest, WarnsOfAConfigItCannotRead) {
  ProcessSettings settings;
  settings.cublas_workspace_config = "4096";
  const ProcessMemory memory = FindBackend("cuda")->MemoryOfProcess(settings);
  EXPECT_EQ(KnownBytes(memory), (621 + 74 + 32) * kMiB);
  EXPECT_EQ(memory.warnings.size(), 1u);
}

TEST(MemoryOfProcessTest, GenericIsUnknown) {
  const ProcessMemory memory = FindBackend("generic")->MemoryOfProcess({});
  ASSERT_EQ(memory.items.size(), 1u);
  EXPECT_FALSE(memory.items[0].bytes.has_value());
}

struct CublasCase {
  std::string name, text;
  std::optional<int64_t> want;
};

class ParseCublasWorkspaceTest : public ::testing::TestWithParam<CublasCase> {};

TEST_P(ParseCublasWorkspaceTest, SumsThePairs) {
  EXPECT_EQ(ParseCublasWorkspace(GetParam().text), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ParseCublasWorkspaceTest,
    ::testing::ValuesIn<CublasCase>({
        {"OnePair", ":4096:8", 4096 * 8 * kKiB},
        {"TwoPairs", ":4096:2:16:8", (4096 * 2 + 16 * 8) * kKiB},
        {"Zero", ":0:0", 0},
        {"NoColon", "4096:8", std::nullopt},
        {"Half", ":4096", std::nullopt},
        {"OddParts", ":4096:8:16", std::nullopt},
        {"Words", ":a:b", std::nullopt},
        {"Negative", ":-1:8", std::nullopt},
        {"TooLarge", ":9223372036854775807:2", std::nullopt},
        {"Empty", "", std::nullopt},
    }),
    [](const auto& test) { return test.param.name; });

TEST(FindBackendTest, KnowsItsNames) {
  for (absl::string_view name : BackendNames()) {
    ASSERT_NE(FindBackend(name), nullptr) << name;
    EXPECT_EQ(FindBackend(name)->name(), name);
  }
  EXPECT_EQ(FindBackend("rocm"), nullptr);
}

}  // namespace
}  // namespace linnet::runtime
