#include "core/planner/maximize.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/planner/devices.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace linnet::planner {
namespace {

using ::testing::HasSubstr;
using testing_support::ConfigOf;
using testing_support::FullText;

// Answers with any function of the batch, so that searches meet every shape.
class Fake final : public Prepared {
 public:
  std::vector<int64_t>
      bytes;  // By size, from 1; sizes past it are out of range.
  int64_t largest_valid = INT64_MAX;
  int64_t multiple = 1;
  mutable std::vector<int64_t> asked;

  absl::StatusOr<Report> Analyze(const Config&) const override {
    Report report;
    report.warnings.push_back("something else");
    report.warnings.push_back(
        "the model's clause `B <= 7` does not hold at these sizes");
    return report;
  }
  absl::StatusOr<Summary> Summarize(const Config& config) const override {
    const int64_t size = config.batch.value_or(0);
    asked.push_back(size);
    EXPECT_EQ(size % multiple, 0);
    if (size / multiple > static_cast<int64_t>(bytes.size())) {
      return absl::OutOfRangeError("too large");
    }
    Summary summary;
    summary.expected_peak_bytes =
        bytes[static_cast<size_t>(size / multiple - 1)];
    summary.constraints_hold = size <= largest_valid;
    return summary;
  }
  std::vector<FreeSize> FreeSizes() const override {
    return {{"batch", multiple}};
  }
  std::string StepText(int64_t) const override { return ""; }
  int64_t ByteSize() const override { return 0; }
};

Maximum Find(const Fake& fake, int64_t device_bytes) {
  const auto found = Maximize(fake, WithGoal({}, Goal::kBatch), Goal::kBatch,
                              {device_bytes, 0, 0.0});
  EXPECT_TRUE(found.ok()) << found.status();
  return found.value_or(Maximum());
}

TEST(MaximizeTest, EverySizeIsFound) {
  Fake fake;
  for (int64_t i = 1; i <= 40; ++i) fake.bytes.push_back(10 * (i / 3) + 5);
  for (int64_t budget = 1; budget < 160; ++budget) {
    int64_t want = 0;
    while (want < 40 && fake.bytes[static_cast<size_t>(want)] <= budget) ++want;
    const Maximum found = Find(fake, budget);
    EXPECT_EQ(found.value.value_or(0), want) << budget;
    EXPECT_EQ(found.stopped_by, StoppedBy::kMemory);
    EXPECT_EQ(
        found.headroom_bytes,
        budget -
            fake.bytes[static_cast<size_t>(std::max<int64_t>(want, 1) - 1)]);
  }
}

TEST(MaximizeTest, ClausesOfTheModelStopIt) {
  Fake fake;
  fake.bytes.assign(100, 1);
  fake.largest_valid = 7;
  const Maximum found = Find(fake, 10);
  EXPECT_EQ(found.value, 7);
  EXPECT_EQ(found.stopped_by, StoppedBy::kModel);
  EXPECT_EQ(found.clause, "B <= 7");
  // What the next size breaks counts, not what a larger one did.
  for (size_t i = 4; i < fake.bytes.size(); ++i) fake.bytes[i] = 50;
  const Maximum memory = Find(fake, 10);
  EXPECT_EQ(memory.value, 4);
  EXPECT_EQ(memory.stopped_by, StoppedBy::kMemory);
  fake.largest_valid = 0;
  EXPECT_FALSE(Find(fake, 10).value.has_value());
}

TEST(MaximizeTest, SizesAreMultiples) {
  Fake fake;
  fake.multiple = 4;
  fake.bytes = {10, 20, 30, 40};
  const Maximum found = Find(fake, 35);
  EXPECT_EQ(found.value, 12);
  EXPECT_EQ(found.smallest, 4);
}

TEST(MaximizeTest, NothingFits) {
  Fake fake;
  fake.bytes = {10, 20};
  const Maximum found = Find(fake, 7);
  EXPECT_FALSE(found.value.has_value());
  EXPECT_EQ(found.headroom_bytes, -3);
  EXPECT_EQ(found.at.expected_peak_bytes, 10);
}

TEST(MaximizeTest, StopsWhenTold) {
  Fake fake;
  fake.bytes.assign(1000, 1);
  int left = 3;
  const auto found = Maximize(fake, WithGoal({}, Goal::kBatch), Goal::kBatch,
                              {10, 0, 0.0}, [&] { return left-- == 0; });
  EXPECT_EQ(found.status().code(), absl::StatusCode::kCancelled);
}

TEST(BudgetTest, ReservesAreTakenOff) {
  EXPECT_EQ(*BudgetBytes({80 * kGiB, 2 * kGiB, 0.0}), 78 * kGiB);
  EXPECT_EQ(*BudgetBytes({1000, 100, 10.0}), 800);
  EXPECT_EQ(*BudgetBytes({1001, 0, 10.0}), 900);  // Never too much.
  for (const Budget& budget :
       {Budget{100, 100, 0.0}, Budget{100, 0, 100.0}, Budget{0, 0, 0.0},
        Budget{100, -1, 0.0}, Budget{100, 0, 101.0}, Budget{100, 0, -1.0},
        Budget{100, 0, std::numeric_limits<double>::quiet_NaN()}}) {
    EXPECT_EQ(BudgetBytes(budget).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

struct Question {
  const char* model;
  const char* entry;
  Goal goal;
  int64_t batch, context;
  bool training = false;
  int64_t pipeline = 1;
};

// What is found fits, and one step more does not.
TEST(MaximizePropertyTest, AgreesWithReports) {
  const Question questions[] = {
      {"llama-3.1-8b-instruct", "decode_rows", Goal::kBatch, 0, 8192},
      {"llama-3.1-8b-instruct", "decode_rows", Goal::kContext, 16, 0},
      {"llama-3.1-8b-instruct", "decode_rows", Goal::kKvCache, 16, 0},
      {"llama-3.1-8b-instruct", "forward", Goal::kContext, 1, 0},
      {"tinyllama-1.1b-chat", "forward", Goal::kBatch, 0, 2048},
      {"tinyllama-1.1b-chat", "loss_packed", Goal::kContext, 0, 0, true},
      {"tinyllama-1.1b-chat", "loss_packed", Goal::kContext, 0, 0, true, 4},
      {"gpt2", "forward", Goal::kBatch, 0, 1024},
  };
  for (const Question& question : questions) {
    SCOPED_TRACE(question.model);
    Config config;
    config.model.name = question.model;
    config.entry = question.entry;
    if (question.batch > 0) config.batch = question.batch;
    if (question.context > 0) config.context = question.context;
    if (question.training) config.training.emplace();
    config.parallel.pipeline = question.pipeline;
    config = WithGoal(config, question.goal);
    const auto prepared = Prepare(config);
    ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
    const Budget budget = {FindDevice("h100-80gb")->memory_bytes, kGiB, 1.0};
    const auto found = Maximize(**prepared, config, question.goal, budget);
    ASSERT_TRUE(found.ok()) << FullText(found.status());
    ASSERT_TRUE(found->value.has_value());
    EXPECT_LT(found->evaluations, 60);
    const auto at = [&](int64_t size) {
      Config of = config;
      (question.goal == Goal::kBatch     ? of.batch
       : question.goal == Goal::kContext ? of.context
                                         : of.cache_len) = size;
      const auto summary = (*prepared)->Summarize(of);
      EXPECT_TRUE(summary.ok()) << summary.status();
      return summary.value_or(Summary());
    };
    EXPECT_LE(at(*found->value).expected_peak_bytes, found->budget_bytes);
    EXPECT_EQ(at(*found->value).expected_peak_bytes + found->headroom_bytes,
              found->budget_bytes);
    const Summary next = at(*found->value + found->smallest);
    EXPECT_TRUE(next.expected_peak_bytes > found->budget_bytes ||
                !next.constraints_hold);
  }
}

TEST(MaximizePropertyTest, MemoryNeverShrinksAsSizesGrow) {
  for (const char* entry : {"forward", "decode_rows", "prefill"}) {
    Config config;
    config.model.name = "llama-3.1-8b-instruct";
    config.entry = entry;
    config.batch = config.context = config.cache_len = 1;
    const auto prepared = Prepare(config);
    ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
    for (std::optional<int64_t> Config::*size :
         {&Config::batch, &Config::context, &Config::cache_len}) {
      Config of = config;
      of.batch = 3;
      of.context = 700;
      of.cache_len = 900;
      int64_t before = 0;
      for (int64_t value = 1; value < 3000; value += 37) {
        of.*size = value;
        const auto summary = (*prepared)->Summarize(of);
        ASSERT_TRUE(summary.ok()) << summary.status();
        EXPECT_GE(summary->expected_peak_bytes, before) << entry << value;
        before = summary->expected_peak_bytes;
      }
    }
  }
}

TEST(MaximizeTest, ASizeThatTheEntryHasNot) {
  Config config;
  config.model.name = "bert-base-uncased";
  config.batch = 2;
  config.context = 64;
  config = WithGoal(config, Goal::kKvCache);
  const auto prepared = Prepare(config);
  ASSERT_TRUE(prepared.ok()) << FullText(prepared.status());
  const auto found =
      Maximize(**prepared, config, Goal::kKvCache, {kGiB, 0, 0.0});
  EXPECT_THAT(
      std::string(found.status().message()),
      HasSubstr("no cache that could grow; its sizes are: batch, context"));
}

TEST(DevicesTest, AreKnownByName) {
  const auto devices = ListDevices();
  ASSERT_GE(devices.size(), 13u);
  for (const DeviceSummary& device : devices) {
    EXPECT_GT(device.memory_bytes, 20'000'000'000) << device.name;
    EXPECT_FALSE(device.title.empty()) << device.name;
    EXPECT_FALSE(device.source.empty()) << device.name;
  }
  EXPECT_EQ(FindDevice("h100-80gb")->memory_bytes, 85017493504);
  EXPECT_THAT(std::string(FindDevice("h100-80").status().message()),
              HasSubstr("did you mean `h100-80gb`"));
}

}  // namespace
}  // namespace linnet::planner
