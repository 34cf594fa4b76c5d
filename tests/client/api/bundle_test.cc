#include "client/api/bundle.h"

#include <cstddef>
#include <cstdint>
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
    std::ofstream(root_ / path, std::ios::binary) << text;
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

// A file of eight bytes of length, the header, and data.
std::string Safetensors(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  return bytes + header + data;
}

TEST_F(BundleTest, ACheckpointGoesWithoutItsWeights) {
  Write("tiny/config.json", "{}");
  Write("tiny/model.safetensors", Safetensors("{}   ", "weights"));
  Write("tiny/other.bin");
  for (const char* path : {"tiny", "tiny/config.json"}) {
    const auto model = ReadModel(At(path));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_THAT(Paths(*model),
                ElementsAre("tiny/config.json", "tiny/model.safetensors"));
    EXPECT_EQ(model->bundle().root_file(), "tiny/config.json");
    EXPECT_EQ(model->bundle().files(1).content(), Safetensors("{}   ", ""));
  }
}

TEST_F(BundleTest, AnIndexNamesTheFilesOfACheckpoint) {
  Write("m/config.json", "{}");
  Write("m/model.safetensors.index.json",
        R"({"weight_map": {"a": "x.safetensors", "b": "x.safetensors",
            "c": "../secret", "d": "missing.safetensors"}})");
  Write("m/x.safetensors", Safetensors("{}", "weights"));
  Write("secret");
  const auto model = ReadModel(At("m"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Paths(*model),
              ElementsAre("m/config.json", "m/model.safetensors.index.json",
                          "m/x.safetensors"));
}

TEST_F(BundleTest, LinksOfAHubCacheStayInItsRepository) {
  Write("repo/blobs/1", "{}");
  Write("repo/blobs/2", Safetensors("{}", "weights"));
  const fs::path snapshot = root_ / "repo/snapshots/abc";
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/1", snapshot / "config.json");
  fs::create_symlink("../../blobs/2", snapshot / "model.safetensors");
  const auto model = ReadModel(snapshot.string());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Paths(*model), ElementsAre("config.json", "model.safetensors"));
  // Elsewhere a link must stay in the folder.
  Write("m/config.json", "{}");
  fs::create_symlink(root_ / "repo/blobs/2", root_ / "m/model.safetensors");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadModel(At("m")).status()));
}

TEST_F(BundleTest, AHeaderMustFitItsFile) {
  Write("m/config.json", "{}");
  Write("m/model.safetensors", Safetensors("{}  ", "").substr(0, 10));
  const absl::Status status = ReadModel(At("m")).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("said to have 4 bytes, but the file has 10"));
  BundleLimits limits;
  limits.max_bytes = 20;
  Write("m/model.safetensors", Safetensors("{}              ", ""));
  EXPECT_TRUE(absl::IsResourceExhausted(ReadModel(At("m"), limits).status()));
}

TEST_F(BundleTest, AGgufFileGoesWithoutItsWeights) {
  const auto number = [](uint64_t value, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i) {
      text += static_cast<char>((value >> (8 * i)) & 0xff);
    }
    return text;
  };
  const auto text = [&](const std::string& value) {
    return number(value.size(), 8) + value;
  };
  const std::string header =
      "GGUF" + number(3, 4) + number(1, 8) + number(2, 8) + text("list") +
      number(9, 4) + number(8, 4) + number(2, 8) + text("a") + text("bc") +
      text("n") + number(4, 4) + number(7, 4) + text("t") + number(1, 4) +
      number(32, 8) + number(0, 4) + number(0, 8);
  Write("m.gguf", header + std::string(100'000, 'w'));
  const auto model = ReadModel(At("m.gguf"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->bundle().root_file(), "m.gguf");
  EXPECT_EQ(model->bundle().files(0).content(), header);
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
