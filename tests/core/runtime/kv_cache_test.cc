#include "core/runtime/kv_cache.h"

#include <memory>
#include <string>
#include <vector>

#include "core/expr/evaluator.h"
#include "core/graph/graph_builder.h"
#include "gtest/gtest.h"

namespace linnet::runtime {
namespace {

// One cache bf16[batch, heads, cache, 128].
struct Fixture {
  std::shared_ptr<expr::Pool> pool = std::make_shared<expr::Pool>();
  std::shared_ptr<const graph::Graph> graph;
  std::vector<expr::SymbolId> roles;

  explicit Fixture(int64_t heads) {
    const expr::Expr batch = pool->Symbol("batch");
    const expr::Expr cache = pool->Symbol("cache");
    roles = {batch.symbol(), cache.symbol()};
    graph::GraphBuilder builder(pool, roles);
    const std::vector<expr::Expr> shape = {batch, pool->Constant(heads), cache,
                                           pool->Constant(128)};
    graph::ObjectSpec spec;
    spec.path = "attention.cache_k";
    spec.category = graph::Category::kKvCache;
    spec.shape = shape;
    spec.dtype = DType::kBF16;
    spec.persistent = true;
    builder.AddObject(spec);
    graph = *builder.Build();
  }

  int64_t Bytes(const KvLayout& layout, int64_t batch, int64_t cache) const {
    expr::Pool extension(graph->shared_pool());
    const expr::Expr bytes = CacheBytes(
        *graph, graph->object(graph::ObjectId{0}), layout, extension);
    const expr::Value value =
        expr::Evaluate(bytes, {{roles[0], batch}, {roles[1], cache}});
    EXPECT_TRUE(value.ok());
    return value.value;
  }
};

struct LayoutCase {
  std::string name;
  int64_t heads;  // 32: multi-head, 8: grouped, 1: multi-query.
  KvLayout layout;
  int64_t batch, cache;
  int64_t want;
};

KvLayout Stored(std::optional<DType> dtype = {},
                std::optional<int64_t> block_size = {}) {
  KvLayout layout;
  layout.dtype = dtype;
  layout.block_size = block_size;
  return layout;
}

KvLayout Rolling(int64_t window, const char* states = "*",
                 std::optional<int64_t> block_size = {}) {
  KvLayout layout = Stored({}, block_size);
  layout.rolling = true;
  layout.windows = {{states, window}};
  return layout;
}

class CacheBytesTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(CacheBytesTest, CountsTheLayout) {
  const LayoutCase& c = GetParam();
  EXPECT_EQ(Fixture(c.heads).Bytes(c.layout, c.batch, c.cache), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CacheBytesTest,
    ::testing::ValuesIn<LayoutCase>({
        {"MultiHead", 32, Stored(), 2, 100, 2 * 32 * 100 * 128 * 2},
        {"Grouped", 8, Stored(), 2, 100, 2 * 8 * 100 * 128 * 2},
        {"MultiQuery", 1, Stored(), 2, 100, 2 * 1 * 100 * 128 * 2},
        {"StoredAsBytes", 8, Stored(DType::kI8), 2, 100, 2 * 8 * 100 * 128},
        // 200 tokens fill 13 pages of 16.
        {"PagesRoundUp", 8, Stored({}, 16), 2, 100, 13 * 16 * 8 * 128 * 2},
        {"PagesExact", 8, Stored({}, 16), 1, 160, 160 * 8 * 128 * 2},
        {"PageLargerThanAll", 1, Stored({}, 4096), 1, 1, 4096 * 128 * 2},
        {"WindowAlone", 8, Rolling(64), 2, 100, 2 * 8 * 64 * 128 * 2},
        {"WindowLargerThanAll", 8, Rolling(128), 2, 100, 2 * 8 * 100 * 128 * 2},
        {"WindowOfOthers", 8, Rolling(64, "others.*"), 2, 100,
         2 * 8 * 100 * 128 * 2},
        // 2 rows of 40 positions fill 5 pages of 16.
        {"WindowInPages", 8, Rolling(40, "*", 16), 2, 100,
         5 * 16 * 8 * 128 * 2},
        {"PagesOfBytes", 1, Stored(DType::kI8, 16), 1, 17, 32 * 128},
    }),
    [](const auto& test) { return test.param.name; });

TEST(KvLayoutTest, SaysWhatItIs) {
  EXPECT_EQ(KvLayout{}.Text(), "contiguous");
  EXPECT_EQ(Stored(DType::kI8, 16).Text(), "pages of 16 tokens, stored as i8");
  EXPECT_EQ(Rolling(64).Text(), "contiguous, rolling over windows");
  EXPECT_EQ(Rolling(64).confidence(), Confidence::kModeled);
  EXPECT_EQ(KvLayout{}.confidence(), Confidence::kExact);
  EXPECT_EQ(Stored(DType::kI8).confidence(), Confidence::kModeled);
}

}  // namespace
}  // namespace linnet::runtime
