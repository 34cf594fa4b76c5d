// Checks a program: from the text of a root file and the files that it reaches
// to a Program, or to the reports of what is wrong.

#ifndef LINNET_CORE_LANG_CHECK_H_
#define LINNET_CORE_LANG_CHECK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/embedded.h"
#include "core/lang/diagnostic.h"
#include "core/lang/limits.h"
#include "core/lang/program.h"
#include "core/lang/source.h"

namespace linnet::lang {

// The files of a bundle, by path: relative, with `/`, without `.` and `..`.
// Nothing is read from a file system.
class FileProvider {
 public:
  virtual ~FileProvider() = default;
  // The content of a file, good for the life of the provider, or nothing.
  virtual std::optional<absl::string_view> Find(
      absl::string_view path) const = 0;
};

// Files in memory.
class MemoryFiles final : public FileProvider {
 public:
  void Add(std::string path, std::string content) {
    files_.insert_or_assign(std::move(path), std::move(content));
  }
  std::optional<absl::string_view> Find(absl::string_view path) const override;

 private:
  absl::flat_hash_map<std::string, std::string> files_;
};

struct CheckInput {
  std::string root_path;  // The file to start from.
  const FileProvider* files = nullptr;
  // `nn/linear.linnet` is std.nn.linear.
  absl::Span<const EmbeddedFile> standard_library;
  Limits limits;
  // The most modules that one root may reach; more are ResourceExhausted.
  int32_t max_modules = 4096;
  // Errors past this many are counted but not described.
  int32_t max_errors = 200;
};

struct CheckResult {
  // Null exactly when there are errors.
  std::shared_ptr<const Program> program;
  DiagnosticList diagnostics;
  // For showing the diagnostics; also part of the program.
  std::shared_ptr<const SourceSet> sources;
};

// Loads the root's module and all that it imports, and checks them. What is
// wrong with the sources is in the result; a status means that there is no
// answer: NotFound without the root file, ResourceExhausted past max_modules.
// Cost: linear in the size of the sources.
absl::StatusOr<CheckResult> Check(const CheckInput& input);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_CHECK_H_
