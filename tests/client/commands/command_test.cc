#include "client/commands/command.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::client {
namespace {

using ::testing::HasSubstr;

Outcome RunWords(std::vector<const char*> words) {
  words.insert(words.begin(), "linnet");
  return RunCommandLine(static_cast<int>(words.size()), words.data());
}

struct MistakeCase {
  std::string name;
  std::vector<const char*> words;
  std::string error;
};

class MistakeTest : public ::testing::TestWithParam<MistakeCase> {};

TEST_P(MistakeTest, IsExplainedAndPrintsNothingElse) {
  const Outcome outcome = RunWords(GetParam().words);
  EXPECT_EQ(outcome.exit_status, kExitUsage);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, MistakeTest,
    ::testing::ValuesIn<MistakeCase>({
        {"Nothing", {}, "Usage:"},
        {"UnknownCommand",
         {"memry", "x"},
         "unknown command `memry`; did you mean `memory`?"},
        {"UnknownFlag",
         {"memory", "x", "--batchh", "3"},
         "unknown flag `--batchh`; did you mean `--batch`?"},
        {"UnknownFlagWithValue",
         {"memory", "x", "--sec-len=3"},
         "unknown flag `--sec-len`; did you mean `--seq-len`?"},
        {"UnknownFlagBeforeTheModel",
         {"memory", "--trainin", "x"},
         "unknown flag `--trainin`"},
        {"NoModel", {"memory"}, "which model?"},
        {"TwoModels", {"memory", "x", "y"}, "unexpected argument `y`"},
        {"ZeroBatch", {"memory", "x", "--batch", "0"}, "at least 1, not 0"},
        {"WordForNumber", {"memory", "x", "--context", "8k"}, "not 8k"},
        {"NumberPast64Bits",
         {"memory", "x", "--batch", "9223372036854775808"},
         "--batch"},
        {"MissingValue", {"memory", "x", "--batch"}, "--batch"},
        {"BadBackend",
         {"memory", "x", "--backend", "tpu"},
         "must be cuda or generic, not tpu"},
        {"BadNumerics", {"memory", "x", "--numerics", "slow"}, "not slow"},
        {"BadBinding", {"memory", "x", "--bind", "H"}, "G=VALUE"},
        {"BindingTwice",
         {"memory", "x", "--bind", "H=1", "--bind", "H=2"},
         "gives `H` twice"},
        {"BadBytes", {"memory", "x", "--context-bytes", "5 apples"}, "apples"},
        {"BadTimeout", {"memory", "x", "--timeout", "soon"}, "not soon"},
        {"TrainingFlagAlone",
         {"memory", "x", "--optimizer", "sgd"},
         "--optimizer says how to train; add --training"},
        {"NoShards",
         {"memory", "x", "--training", "--shards", "0"},
         "at least 1, not 0"},
        {"MissingFile", {"memory", "/no/such.linnet"}, "/no/such.linnet"},
        {"NoShell", {"completion", "tcsh"}, "bash"},
        {"UnknownTopic", {"help", "fly"}, "`fly`"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(CommandTest, HelpAndVersionNeedNoServer) {
  for (const auto& words :
       std::vector<std::vector<const char*>>{{"help"},
                                             {"help", "memory"},
                                             {"--help"},
                                             {"memory", "--help"},
                                             {"version"},
                                             {"--version"}}) {
    const Outcome outcome = RunWords(words);
    EXPECT_EQ(outcome.exit_status, kExitOk);
    EXPECT_THAT(outcome.output, HasSubstr("linnet"));
    EXPECT_EQ(outcome.errors, "");
  }
}

TEST(CommandTest, CompletionsKnowEveryFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = RunWords({"completion", shell});
    EXPECT_EQ(outcome.exit_status, kExitOk);
    EXPECT_THAT(outcome.output, HasSubstr("kv-block-size"));
  }
}

TEST(CommandTest, AServerOutOfReachIsStatusThree) {
  const Outcome outcome =
      RunWords({"memory", "m", "--server", "unix:/nowhere/linnetd.sock"});
  EXPECT_EQ(outcome.exit_status, kExitServer);
  EXPECT_THAT(outcome.errors, HasSubstr("cannot reach the server"));
}

}  // namespace
}  // namespace linnet::client
