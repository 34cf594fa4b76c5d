#include "client/api/bundle.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "linnet/v1/model.pb.h"

namespace linnet::client {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BundleTest : public ::testing::Test {
 protected:
  BundleTest() {
    std::string name = ::testing::TempDir() + "linnet-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    root_ = fs::canonical(name);
  }
  ~BundleTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text = "x") {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string At(const std::string& path) { return (root_ / path).string(); }

  static std::vector<std::string> Paths(const v1::ModelRef& model) {
    std::vector<std::string> paths;
    for (const auto& file : model.bundle().files()) {
      paths.push_back(file.path());
    }
    return paths;
  }

  fs::path root_;
};

TEST_F(BundleTest, AnyOtherWordIsAName) {
  const auto model = ReadModel("llama-3.1-8b-instruct");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->name(), "llama-3.1-8b-instruct");
}

TEST_F(BundleTest, AFileOutsideAPackageGoesAlone) {
  Write("a.linnet", "module a");
  Write("b.linnet");
  const auto model = ReadModel(At("a.linnet"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Paths(*model), ElementsAre("a.linnet"));
  EXPECT_EQ(model->bundle().root_file(), "a.linnet");
  EXPECT_EQ(model->bundle().files(0).content(), "module a");
}

TEST_F(BundleTest, APackageBringsItsSourcesAndThoseOfItsDependencies) {
  Write("net/linnet.toml",
        "[package]\nname = \"net\"\n[dependencies]\n"
        "blocks = { path = \"../blocks\" }\n");
  Write("net/src/lib.linnet");
  Write("net/src/deep/a.linnet");
  Write("net/src/notes.txt");
  Write("net/other.linnet");
  Write("blocks/linnet.toml",
        "[dependencies]\nnet = { path = \"../net\" }\n");  // A circle.
  Write("blocks/src/lib.linnet");
  const auto model = ReadModel(At("net/src/lib.linnet"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Paths(*model),
              ElementsAre("blocks/linnet.toml", "blocks/src/lib.linnet",
                          "net/linnet.toml", "net/src/deep/a.linnet",
                          "net/src/lib.linnet"));
  EXPECT_EQ(model->bundle().root_file(), "net/src/lib.linnet");
}

TEST_F(BundleTest, AFolderWithACard) {
  Write("m/nest.toml", "[weights]\nbindings = \"b.json\"\n");
  Write("m/b.json", "{}");
  Write("m/tokenizer.json", "{}");
  Write("m/src/lib.linnet");
  Write("m/.git/x.linnet");
  for (const char* path : {"m", "m/nest.toml"}) {
    const auto model = ReadModel(At(path));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_THAT(Paths(*model),
                ElementsAre("b.json", "nest.toml", "src/lib.linnet"));
    EXPECT_EQ(model->bundle().root_file(), "nest.toml");
  }
}

TEST_F(BundleTest, SaysWhatIsMissing) {
  EXPECT_TRUE(absl::IsNotFound(ReadModel(At("no.linnet")).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadModel(At("no/folder")).status()));
  fs::create_directories(root_ / "empty");
  const absl::Status status = ReadModel(At("empty")).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a folder without a nest.toml"));
}

TEST_F(BundleTest, AManifestThatIsNoTomlHasAPlace) {
  Write("m/nest.toml", "[weights\n");
  const absl::Status status = ReadModel(At("m")).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("nest.toml:1:"));
}

TEST_F(BundleTest, DoesNotFollowLinksOut) {
  Write("secret.linnet");
  Write("m/nest.toml", "");
  fs::create_symlink(root_ / "secret.linnet", root_ / "m/a.linnet");
  const absl::Status status = ReadModel(At("m")).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("leads out of"));
  fs::remove(root_ / "m/a.linnet");
  // Bindings that a card names must lie beside it too.
  Write("m/nest.toml", "[weights]\nbindings = \"../secret.linnet\"\n");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadModel(At("m")).status()));
}

TEST_F(BundleTest, FollowsLinksInside) {
  Write("m/nest.toml", "");
  Write("m/a.linnet");
  fs::create_symlink("a.linnet", root_ / "m/b.linnet");
  const auto model = ReadModel(At("m"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Paths(*model), ElementsAre("a.linnet", "b.linnet", "nest.toml"));
}

TEST_F(BundleTest, LimitsAreAtTheirValueAndOnePastIt) {
  Write("m/nest.toml", "");
  Write("m/a.linnet", "12345");
  Write("m/b.linnet", "67890");
  EXPECT_TRUE(ReadModel(At("m"), {.max_bytes = 10}).ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(ReadModel(At("m"), {.max_bytes = 9}).status()));
  EXPECT_TRUE(ReadModel(At("m"), {.max_files = 3}).ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(ReadModel(At("m"), {.max_files = 2}).status()));
  EXPECT_TRUE(ReadModel(At("m"), {.max_entries = 3}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(
      ReadModel(At("m"), {.max_entries = 2}).status()));
}

}  // namespace
}  // namespace linnet::client
