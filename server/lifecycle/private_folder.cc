#include "server/lifecycle/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace linnet::server {

absl::Status EnsurePrivateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::UnavailableError(
        absl::StrCat("cannot make ", folder, ": ", std::strerror(errno)));
  }
  struct stat info;
  if (lstat(folder.c_str(), &info) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot read ", folder, ": ", std::strerror(errno)));
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " is not a folder"));
  }
  if (info.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " belongs to another user"));
  }
  if ((info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " is open to other users; close it with: chmod ",
                     "700 ", folder));
  }
  return absl::OkStatus();
}

}  // namespace linnet::server
