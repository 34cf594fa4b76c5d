#include "server/lifecycle/process_lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "server/lifecycle/private_folder.h"

namespace linnet::server {
namespace {

std::string NewFolder() {
  std::string name = ::testing::TempDir() + "linnet-XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

TEST(ProcessLockTest, OneHolderAtATime) {
  const std::string path = NewFolder() + "/lock";
  {
    const auto lock = ProcessLock::Acquire(path);
    ASSERT_TRUE(lock.ok()) << lock.status();
    std::ifstream in(path);
    int pid = 0;
    in >> pid;
    EXPECT_EQ(pid, getpid());
    const absl::Status second = ProcessLock::Acquire(path).status();
    EXPECT_TRUE(absl::IsAlreadyExists(second));
    EXPECT_NE(second.message().find(std::to_string(pid)), std::string::npos);
  }
  EXPECT_TRUE(ProcessLock::Acquire(path).ok()) << "free again";
}

TEST(ProcessLockTest, DoesNotFollowALink) {
  const std::string folder = NewFolder();
  ASSERT_EQ(symlink("/tmp/elsewhere", (folder + "/lock").c_str()), 0);
  EXPECT_TRUE(
      absl::IsUnavailable(ProcessLock::Acquire(folder + "/lock").status()));
}

TEST(PrivateFolderTest, MakesOneThatIsClosed) {
  const std::string folder = NewFolder() + "/linnet";
  ASSERT_TRUE(EnsurePrivateFolder(folder).ok());
  ASSERT_TRUE(EnsurePrivateFolder(folder).ok()) << "again";
  struct stat info;
  ASSERT_EQ(stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST(PrivateFolderTest, RefusesWhatOthersMayEnter) {
  const std::string folder = NewFolder();
  ASSERT_EQ(chmod(folder.c_str(), 0750), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(EnsurePrivateFolder(folder)));
  const std::string link = NewFolder() + "/link";
  ASSERT_EQ(symlink(folder.c_str(), link.c_str()), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(EnsurePrivateFolder(link)));
  EXPECT_TRUE(absl::IsUnavailable(EnsurePrivateFolder("/nowhere/linnet")));
}

}  // namespace
}  // namespace linnet::server
