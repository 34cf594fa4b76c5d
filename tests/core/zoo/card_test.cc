#include "core/zoo/card.h"

#include <string>

#include "core/zoo/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace linnet::zoo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ParseCardTest, ReadsEveryTable) {
  const auto card = ParseCard(R"(
[model]
name = "tiny"
parameters = 12
[source]
path = "tiny.linnet"
root = "Model"
[generics]
H = 64
T = "bf16"
[weights]
repo = "org/tiny"
files = ["a.safetensors", "b.safetensors"]
bindings = "bindings.json"
[anything.else]
x = 1
)",
                              "nest.toml");
  ASSERT_TRUE(card.ok()) << card.status();
  EXPECT_EQ(card->name, "tiny");
  EXPECT_EQ(card->parameters, 12);
  EXPECT_EQ(card->source_path, "tiny.linnet");
  ASSERT_EQ(card->generics.size(), 2u);
  EXPECT_EQ(card->generics[0].value, "64");
  EXPECT_EQ(card->generics[1].value, "bf16");
  EXPECT_THAT(card->weights_files,
              ElementsAre("a.safetensors", "b.safetensors"));
  EXPECT_TRUE(card->has_weights);
}

struct BadCase {
  std::string name, text, message;
};

class BadCardTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadCardTest, IsRefusedWithItsPlace) {
  const auto card = ParseCard(GetParam().text, "m/nest.toml");
  ASSERT_FALSE(card.ok());
  EXPECT_EQ(card.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(card.status().message()),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadCardTest,
    ::testing::ValuesIn<BadCase>({
        {"Syntax", "[model\n", "m/nest.toml:"},
        {"NoTable", "model = 3\n", "`model` must be a table"},
        {"WrongType", "[model]\nname = 3\n",
         "m/nest.toml:2: `name` of [model] must be a string"},
        {"UnknownKey", "[source]\nentri = \"x\"\n", "did you mean `entry`?"},
        {"BooleanGeneric", "[generics]\nH = true\n",
         "an integer or the name of a dtype"},
        {"ListOfNumbers", "[weights]\nfiles = [1]\n", "a list of strings"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ParseBindingsTest, KeepsTheOrder) {
  const auto bindings = ParseBindings(R"({"b": "x", "a": "x"})", "b.json");
  ASSERT_TRUE(bindings.ok()) << bindings.status();
  EXPECT_THAT(*bindings, ElementsAre(Pair("b", "x"), Pair("a", "x")));
}

class BadBindingsTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadBindingsTest, IsRefused) {
  const auto bindings = ParseBindings(GetParam().text, "b.json");
  ASSERT_FALSE(bindings.ok());
  EXPECT_THAT(std::string(bindings.status().message()),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadBindingsTest,
    ::testing::ValuesIn<BadCase>({
        {"NotJson", "{", "not JSON"},
        {"Empty", "", "not JSON"},
        {"List", "[]", "must be one object"},
        {"Text", "\"a\"", "must be one object"},
        {"Nested", R"({"a": {"b": "c"}})", "`a` must be the name"},
        {"Number", R"({"a": 1})", "`a` must be the name"},
        {"Twice", R"({"a": "x", "a": "y"})", "`a` is bound twice"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(BuiltinModelsTest, EveryCardReads) {
  ASSERT_NE(FindBuiltin("llama-3.1-8b-instruct"), nullptr);
  EXPECT_EQ(FindBuiltin("llama"), nullptr);
  for (const BuiltinModel& model : BuiltinModels()) {
    SCOPED_TRACE(std::string(model.name));
    std::string text;
    for (const EmbeddedFile& file : model.files) {
      const absl::string_view path = file.path.substr(model.name.size() + 1);
      if (path == "nest.toml") text = std::string(file.content);
      if (path == "bindings.json") {
        const auto bindings = ParseBindings(file.content, file.path);
        EXPECT_TRUE(bindings.ok()) << bindings.status();
      }
    }
    const auto card = ParseCard(text, "nest.toml");
    ASSERT_TRUE(card.ok()) << card.status();
    EXPECT_EQ(card->name, model.name);
    EXPECT_NE(card->title, "");
  }
}

TEST(CardErrorTest, WhatIsNoTomlIsAnErrorInEveryBuild) {
  for (const char* text :
       {"[&mo", "[ &]", "[[&", "[model]\n[%", "[=", "[.a]", "[model]\u0325\n",
        "[model]\nname = \"m\" \u00e9\n"}) {
    const auto card = ParseCard(text, "nest.toml");
    EXPECT_EQ(card.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(card.status().message().substr(0, 10), "nest.toml:") << text;
  }
}

}  // namespace
}  // namespace linnet::zoo
