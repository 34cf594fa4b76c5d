// Checks files of the language and prints what is wrong, for developers:
//
//   check_tool [--std <dir>] [--top <dir>] [--times <n>] <file>…
//
// Each file is the root of its own check; its package is found as in the
// service, among the files below --top (default: the nearest directory above
// the file with a linnet.toml, else the file's own). Without --std the
// embedded standard library is used. The exit status is 1 when a file has
// errors.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/embedded.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"
#include "core/library/standard_library.h"

namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The `.linnet` files and manifests below a directory, by relative path.
std::map<std::string, std::string> ReadTree(const fs::path& top) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".linnet" && path.filename() != "linnet.toml") {
      continue;
    }
    files[fs::relative(path, top).generic_string()] = ReadFile(path);
  }
  return files;
}

fs::path TopOf(const fs::path& file) {
  for (fs::path at = file.parent_path(); at != at.root_path();
       at = at.parent_path()) {
    if (fs::exists(at / "linnet.toml")) return at;
  }
  return file.parent_path();
}

int Run(const std::vector<std::string>& args) {
  std::optional<fs::path> std_directory;
  std::optional<fs::path> top;
  int times = 1;
  std::vector<fs::path> roots;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool has_next = i + 1 < args.size();
    if (args[i] == "--std" && has_next) {
      std_directory = fs::absolute(args[++i]);
    } else if (args[i] == "--top" && has_next) {
      top = fs::absolute(args[++i]);
    } else if (args[i] == "--times" && has_next) {
      times = std::atoi(args[++i].c_str());
    } else {
      roots.push_back(fs::absolute(args[i]).lexically_normal());
    }
  }
  std::map<std::string, std::string> std_files;
  std::vector<linnet::EmbeddedFile> standard;
  if (std_directory.has_value()) {
    std_files = ReadTree(*std_directory);
    for (const auto& [path, content] : std_files) {
      standard.push_back({path, content});
    }
  } else {
    const auto embedded = linnet::library::StandardLibrary();
    standard.assign(embedded.begin(), embedded.end());
  }
  bool failed = false;
  for (const fs::path& root : roots) {
    const fs::path base = top.has_value() ? *top : TopOf(root);
    linnet::lang::MemoryFiles files;
    for (auto& [path, content] : ReadTree(base)) files.Add(path, content);
    linnet::lang::CheckInput input;
    input.root_path = fs::relative(root, base).generic_string();
    input.files = &files;
    input.standard_library = standard;
    for (int i = 0; i < times; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const auto result = linnet::lang::Check(input);
      const std::chrono::duration<double, std::milli> spent =
          std::chrono::steady_clock::now() - start;
      if (!result.ok()) {
        std::cerr << result.status().message() << "\n";
        return 2;
      }
      if (i + 1 < times) continue;
      std::cout << linnet::lang::FormatDiagnostics(result->diagnostics,
                                                   *result->sources);
      failed |= result->diagnostics.has_errors();
      if (times > 1) std::cout << "checked in " << spent.count() << " ms\n";
    }
  }
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: check_tool [--std <dir>] [--top <dir>] "
                 "[--times <n>] <file>...\n";
    return 2;
  }
  return Run({argv + 1, argv + argc});
}
