// What is wrong with a request, and what it says; what sizes change.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/graph/plain_walk.h"
#include "core/planner/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::HasSubstr;
using testing_support::ConfigOf;
using testing_support::FullText;
using testing_support::PrepareOrFail;

constexpr char kModel[] = R"(module t
use std.nn.linear::{Linear}
pub block Model<H: Dim, Layers: Dim, Batch: Dim, T: Float = f32>
where H % 2 == 0 {
    sub layers: [Linear<H, H, T>; Layers]
    pub entry forward<S: Dim>(x: Tensor[Batch, S, H; T]) -> Tensor[Batch, S, H; T]
    where S <= 4096 {
        var y = x
        static for layer in layers { y = layer.forward(y) }
        return y
    }
    pub entry repeat<Steps: Dim>(x: Tensor[Batch, H; T]) -> Tensor[Batch, H; T] {
        var y = x
        static for i in 0..Steps { y = y + x }
        return y
    }
}
)";

Config Bound() {
  Config config = ConfigOf(kModel);
  config.bindings = {{"H", "64"}, {"Layers", "3"}};
  config.batch = 2;
  config.context = 16;
  return config;
}

struct RefusedCase {
  std::string name;
  void (*change)(Config&);
  absl::StatusCode code;
  std::string message;
};

class RefusedTest : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, SaysWhatToDo) {
  Config config = Bound();
  GetParam().change(config);
  absl::Status status;
  const auto prepared = Prepare(config);
  status =
      prepared.ok() ? (*prepared)->Analyze(config).status() : prepared.status();
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_THAT(FullText(status), HasSubstr(GetParam().message));
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

INSTANTIATE_TEST_SUITE_P(
    Cases, RefusedTest,
    ::testing::ValuesIn<RefusedCase>({
        {"UnknownModel",
         [](Config& c) {
           c.model = {"lama-3.1-8b-instruct", {}, ""};
         },
         kNotFound, "did you mean `llama-3.1-8b-instruct`"},
        {"PartOfAName",
         [](Config& c) {
           c.model = {"qwen3", {}, ""};
         },
         kNotFound, "did you mean `qwen3-4b` or `qwen3-8b`?"},
        {"NoModel", [](Config& c) { c.model = {}; }, kInvalid,
         "no model is given"},
        {"UnknownEntry", [](Config& c) { c.entry = "forwards"; }, kNotFound,
         "has no entry `forwards`; did you mean `forward`?"},
        {"UnknownRoot", [](Config& c) { c.root = "Modl"; }, kNotFound,
         "did you mean `Model`?"},
        {"UnboundGenerics", [](Config& c) { c.bindings.clear(); }, kInvalid,
         "`H` (--bind H=N), `Layers` (--bind Layers=N)"},
        {"UnboundRole", [](Config& c) { c.batch.reset(); }, kInvalid,
         "`Batch` (--batch N)"},
        {"UnboundEntryRole", [](Config& c) { c.context.reset(); }, kInvalid,
         "`S` (--seq-len N)"},
        {"UnknownGeneric",
         [](Config& c) { c.bindings.emplace_back("Layer", "3"); }, kInvalid,
         "did you mean `Layers`?"},
        {"NotANumber", [](Config& c) { c.bindings[0].second = "many"; },
         kInvalid, "`H` must be an integer below 2^63, not `many`"},
        {"BeyondInt64",
         [](Config& c) { c.bindings[0].second = "9223372036854775808"; },
         kInvalid, "below 2^63"},
        {"NegativeDim", [](Config& c) { c.bindings[0].second = "-64"; },
         kInvalid, "`H` must not be negative"},
        {"UnknownDType", [](Config& c) { c.dtype = "bf32"; }, kInvalid,
         "no dtype"},
        {"DTypeOfAnotherClass", [](Config& c) { c.dtype = "i32"; }, kInvalid,
         "`T` must be a float dtype, not `i32`"},
        {"UnknownBackend", [](Config& c) { c.backend = "cude"; }, kInvalid,
         "did you mean `cuda`?"},
        {"UnknownNumerics", [](Config& c) { c.numerics = "quick"; }, kInvalid,
         "no numerics policy `quick`"},
        {"ZeroBatch", [](Config& c) { c.batch = 0; }, kInvalid,
         "the batch must be at least 1"},
        {"NegativeContext", [](Config& c) { c.context = -1; }, kInvalid,
         "the context length must be at least 1"},
        {"ZeroBlock", [](Config& c) { c.kv_block_size = 0; }, kInvalid,
         "block size must be at least 1"},
        {"TooLarge",
         [](Config& c) {
           c.batch = int64_t{1} << 40;
           c.context = int64_t{1} << 40;
         },
         absl::StatusCode::kOutOfRange, "overflows 64 bits"},
        {"FreeStructure",
         [](Config& c) {
           c.model = ConfigOf(R"(module t
pub entry run<S: Dim>(x: Tensor[4; f32]) -> Tensor[4; f32] {
    var y = x
    static for i in 0..S { y = y + x }
    return y
}
)")
                         .model;
           c.bindings.clear();
         },
         kInvalid, "must be a number, but it depends on `context`"},
        {"SourceErrors",
         [](Config& c) { c.model = ConfigOf("module t\nfn f( {").model; },
         kInvalid, "model.linnet:2"},
        {"TypeErrors",
         [](Config& c) {
           c.model = ConfigOf(
                         "module t\npub entry f(x: Tensor[4; f32]) -> "
                         "Tensor[4; bf16] { return x }")
                         .model;
         },
         kInvalid, "error[E2103]"},
        {"AbsolutePath",
         [](Config& c) {
           c.model.files.push_back({"/etc/x", ""});
         },
         kInvalid, "is absolute"},
        {"PathOut",
         [](Config& c) {
           c.model.files.push_back({"a/../../x", ""});
         },
         kInvalid, "not a plain relative path"},
        {"PathTwice",
         [](Config& c) {
           c.model.files.push_back({"model.linnet", ""});
         },
         kInvalid, "comes twice"},
        {"PathInAnotherCase",
         [](Config& c) {
           c.model.files.push_back({"Model.linnet", ""});
         },
         kInvalid, "in the case of letters only"},
        {"NoRootFile", [](Config& c) { c.model.root_file = "x.linnet"; },
         kInvalid, "no file `x.linnet`"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LimitTest, NamesTheLimitThatWasPassed) {
  Config config = Bound();
  config.entry = "repeat";
  config.bindings.emplace_back("Steps", "100000");
  Limits limits;
  limits.max_steps = 5000;
  const auto prepared = Prepare(config, limits);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.status().code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(prepared.status().GetPayload(kLimitPayload).has_value());
  EXPECT_EQ(std::string(*prepared.status().GetPayload(kLimitPayload)),
            "max_steps=5000");
}

TEST(LimitTest, HugeArrayIsRefused) {
  Config config = Bound();
  config.bindings[1].second = "1000000000";
  const auto prepared = Prepare(config);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.status().code(), absl::StatusCode::kResourceExhausted)
      << prepared.status();
}

TEST(StopTest, StopsATrace) {
  Config config = Bound();
  config.entry = "repeat";
  config.bindings.emplace_back("Steps", "100000");
  int polls = 0;
  const auto prepared = Prepare(config, Limits(), [&] { return ++polls > 2; });
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.status().code(), absl::StatusCode::kCancelled);
}

TEST(WhereTest, BrokenClauseIsAWarning) {
  Config config = Bound();
  config.context = 5000;
  const auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  const auto report = entry->Analyze(config);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_THAT(report->warnings[0], HasSubstr("S <= 4096"));
  EXPECT_FALSE(entry->Summarize(config)->constraints_hold);
  config.context = 4096;
  EXPECT_TRUE(entry->Analyze(config)->warnings.empty());
  EXPECT_TRUE(entry->Summarize(config)->constraints_hold);
}

TEST(CacheKeyTest, DependsOnStructureAndNotOnSizes) {
  const Config base = Bound();
  Config sizes = base;
  sizes.batch = 77;
  sizes.context = 5;
  sizes.context_bytes = 1;
  sizes.compiled = true;
  EXPECT_EQ(CacheKey(base), CacheKey(sizes));
  const std::vector<void (*)(Config&)> changes = {
      [](Config& c) { c.batch.reset(); },
      [](Config& c) { c.context.reset(); },
      [](Config& c) { c.entry = "repeat"; },
      [](Config& c) { c.root = "Model"; },
      [](Config& c) { c.dtype = "bf16"; },
      [](Config& c) { c.numerics = "exact"; },
      [](Config& c) { c.backend = "generic"; },
      [](Config& c) { c.bindings[0].second = "32"; },
      [](Config& c) { c.optionals.push_back("layers.0.bias"); },
      [](Config& c) { c.no_bindings = true; },
      [](Config& c) { c.kv_dtype = "i8"; },
      [](Config& c) { c.kv_block_size = 16; },
      [](Config& c) { c.model.files[0].content += " "; },
      [](Config& c) {
        c.model.files.push_back({"b.linnet", ""});
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Config changed = base;
    changes[i](changed);
    EXPECT_NE(CacheKey(base), CacheKey(changed)) << "change " << i;
  }
}

TEST(OptionalTest, PresentMembersAreCounted) {
  Config config = Bound();
  const auto without = PrepareOrFail(config);
  config.optionals = {"layers.1.bias"};
  const auto with = PrepareOrFail(config);
  ASSERT_TRUE(without != nullptr && with != nullptr);
  const int64_t before = *without->Analyze(config)->components[0].bytes;
  EXPECT_EQ(before, 3 * 64 * 64 * 4);
  EXPECT_EQ(*with->Analyze(config)->components[0].bytes, before + 64 * 4);
  config.optionals = {"layers.9.bias"};
  const auto unused = PrepareOrFail(config);
  ASSERT_NE(unused, nullptr);
  EXPECT_THAT(unused->Analyze(config)->warnings[0],
              HasSubstr("`layers.9.bias` is declared present"));
}

// Every entry of the four decoders: the memory function against the plain walk
// over the steps, at sizes that no one chose.
class BuiltinEntryTest
    : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BuiltinEntryTest, MemoryFunctionIsThePlainWalk) {
  Config config;
  config.model.name = GetParam().first;
  config.entry = GetParam().second;
  config.batch = 1;
  config.context = 1;
  config.cache_len = 1;
  config.bindings = {{"Layers", "2"}};
  const std::string entry_name = GetParam().second;
  if (entry_name == "generate" || entry_name == "sample") {
    config.bindings.emplace_back("Steps", "2");
  }
  if (entry_name == "generate_until") {
    config.bindings.emplace_back("MaxNew", "2");
  }
  if (entry_name == "prefill_slots") config.bindings.emplace_back("M", "3");
  const auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  const auto roles = entry->graph().roles();
  uint64_t seed = 12345;
  // The plain walk is quadratic in the steps.
  const int rounds = entry->graph().num_steps() > 1000 ? 2 : 20;
  for (int round = 0; round < rounds; ++round) {
    std::vector<int64_t> sizes;
    absl::flat_hash_map<expr::SymbolId, int64_t> by_symbol;
    for (expr::SymbolId role : roles) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      sizes.push_back(1 + static_cast<int64_t>((seed >> 33) % 5000));
      by_symbol[role] = sizes.back();
    }
    const graph::Peak want = graph::PlainWalk(entry->graph(), by_symbol);
    const graph::Peak got = entry->peak().Evaluate(sizes);
    ASSERT_TRUE(want.ok() && got.ok());
    EXPECT_EQ(got.bytes, want.bytes) << ::testing::PrintToString(sizes);
    EXPECT_EQ(got.moment, want.moment) << ::testing::PrintToString(sizes);
  }
}

std::vector<std::pair<const char*, const char*>> BuiltinEntries() {
  std::vector<std::pair<const char*, const char*>> all;
  for (const char* model : {"llama-3.1-8b-instruct", "tinyllama-1.1b-chat",
                            "qwen2.5-0.5b-instruct"}) {
    for (const char* entry :
         {"forward", "next_token", "decode", "prefill", "decode_rows",
          "prefill_slots", "prefill_packed", "step_packed", "loss_packed",
          "log_probs_packed", "generate", "sample", "generate_until"}) {
      all.emplace_back(model, entry);
    }
  }
  for (const char* entry :
       {"forward", "decode", "prefill", "decode_rows", "prefill_slots"}) {
    all.emplace_back("gpt2", entry);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Entries, BuiltinEntryTest, ::testing::ValuesIn(BuiltinEntries()),
    [](const auto& test) {
      std::string name = absl::StrCat(test.param.first, "_", test.param.second);
      for (char& c : name) {
        if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

// How many operations each entry has, counted by hand in the model sheets.
struct CountCase {
  const char* model;
  const char* entry;
  int32_t layers, per_layer, outside;
};

class OperationCountTest : public ::testing::TestWithParam<CountCase> {};

TEST_P(OperationCountTest, IsTheSheets) {
  const CountCase& c = GetParam();
  Config config;
  config.model.name = c.model;
  config.entry = c.entry;
  config.batch = 1;
  config.context = 8;
  if (std::string(c.entry) == "prefill_slots") {
    config.bindings.emplace_back("M", "1");
  }
  const auto entry = PrepareOrFail(config);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->graph().num_steps(), c.layers * c.per_layer + c.outside);
}

INSTANTIATE_TEST_SUITE_P(
    Sheets, OperationCountTest,
    ::testing::ValuesIn<CountCase>({
        {"llama-3.1-8b-instruct", "forward", 32, 50, 6},
        {"llama-3.1-8b-instruct", "next_token", 32, 50, 5},
        {"llama-3.1-8b-instruct", "decode", 32, 58, 5},
        {"llama-3.1-8b-instruct", "prefill", 32, 57, 5},
        {"llama-3.1-8b-instruct", "prefill_slots", 32, 52, 5},
        {"llama-3.1-8b-instruct", "prefill_packed", 32, 54, 6},
        {"llama-3.1-8b-instruct", "step_packed", 32, 68, 10},
        {"llama-3.1-8b-instruct", "loss_packed", 32, 52, 5},
        {"tinyllama-1.1b-chat", "forward", 22, 46, 6},
        {"tinyllama-1.1b-chat", "decode", 22, 54, 5},
        {"tinyllama-1.1b-chat", "prefill", 22, 53, 5},
        {"tinyllama-1.1b-chat", "prefill_slots", 22, 48, 5},
        {"tinyllama-1.1b-chat", "prefill_packed", 22, 50, 6},
        {"tinyllama-1.1b-chat", "step_packed", 22, 64, 10},
        {"qwen2.5-0.5b-instruct", "forward", 24, 46, 6},
        {"qwen2.5-0.5b-instruct", "loss_packed", 24, 48, 5},
        {"gpt2", "forward", 12, 26, 6},
        {"gpt2", "decode", 12, 30, 7},
        {"gpt2", "prefill", 12, 30, 7},
        {"gpt2", "decode_rows", 12, 30, 7},
        {"gpt2", "prefill_slots", 12, 28, 7},
    }),
    [](const auto& test) {
      std::string name = absl::StrCat(test.param.model, "_", test.param.entry);
      for (char& c : name) {
        if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace linnet::planner
