#include "client/api/bundle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/api/checkpoint.h"
#include "client/api/client.h"
#include "core/base/status_macros.h"
#include "core/base/toml.h"
#include "linnet/v1/model.pb.h"
#include "linnet/v1/models.pb.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

namespace fs = std::filesystem;

constexpr char kCard[] = "nest.toml";
constexpr char kManifest[] = "linnet.toml";
constexpr char kSourceSuffix[] = ".linnet";
constexpr char kConfig[] = "config.json";
constexpr char kIndex[] = "model.safetensors.index.json";
constexpr char kSingle[] = "model.safetensors";
constexpr char kGgufSuffix[] = ".gguf";

// Whether `path` is `folder` or below it. Both canonical.
bool IsInside(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end())
             .first == folder.end();
}

absl::Status LimitError(absl::string_view what, int64_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the model has more than ", limit, " ", what));
}

// Collects files by their canonical paths.
class Collector {
 public:
  explicit Collector(const BundleLimits& limits) : limits_(limits) {}

  // Takes the header of a checkpoint file as the whole of it. Links are
  // followed as AddFile() does.
  absl::Status AddHeader(const fs::path& path, const fs::path& home) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return NotFound(path, error.message());
    if (!IsInside(home, real)) return LeadsOut(path, home);
    if (static_cast<int64_t>(files_.size()) >= limits_.max_files) {
      return LimitError("files", limits_.max_files);
    }
    const bool gguf = absl::EndsWithIgnoreCase(path.string(), kGgufSuffix);
    const int64_t left = limits_.max_bytes - bytes_;
    std::string header;
    LINNET_ASSIGN_OR_RETURN(header, gguf ? ReadGgufHeader(real, left)
                                         : ReadSafetensorsHeader(real, left));
    bytes_ += static_cast<int64_t>(header.size());
    files_.emplace(path, std::move(header));
    return absl::OkStatus();
  }

  // The content of a file that AddFile() took.
  const std::string& content(const fs::path& path) const {
    return files_.at(path);
  }

  // Reads one file, which must lie inside `home` once links are followed.
  absl::Status AddFile(const fs::path& path, const fs::path& home) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return NotFound(path, error.message());
    if (!IsInside(home, real)) return LeadsOut(path, home);
    if (!fs::is_regular_file(real, error)) return NotFound(path, "not a file");
    // Sources import by their path in the tree, so that is the one to keep.
    const fs::path kept =
        fs::canonical(path.parent_path(), error) / path.filename();
    if (files_.contains(kept)) return absl::OkStatus();
    if (static_cast<int64_t>(files_.size()) >= limits_.max_files) {
      return LimitError("files", limits_.max_files);
    }
    const auto size = static_cast<int64_t>(fs::file_size(real, error));
    if (error) return NotFound(path, error.message());
    if (size > limits_.max_bytes - bytes_) {
      return LimitError("bytes", limits_.max_bytes);
    }
    std::ifstream in(real, std::ios::binary);
    std::string content(static_cast<size_t>(size), '\0');
    in.read(content.data(), size);
    if (in.gcount() != size) return NotFound(path, "cannot be read");
    bytes_ += size;
    files_.emplace(kept, std::move(content));
    return absl::OkStatus();
  }

  // Every source below `folder`, hidden folders left out.
  absl::Status AddSources(const fs::path& folder, const fs::path& home) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) return absl::OkStatus();
    fs::recursive_directory_iterator it(folder, error);
    if (error) return NotFound(folder, error.message());
    for (; it != fs::recursive_directory_iterator(); it.increment(error)) {
      if (error) return NotFound(folder, error.message());
      if (++entries_ > limits_.max_entries) {
        return LimitError("entries in its folders", limits_.max_entries);
      }
      const std::string name = it->path().filename().string();
      std::error_code ignored;
      if (it->is_directory(ignored)) {
        if (it.depth() >= limits_.max_depth) {
          return LimitError("folders inside each other", limits_.max_depth);
        }
        if (absl::StartsWith(name, ".")) it.disable_recursion_pending();
      } else if (absl::EndsWith(name, kSourceSuffix)) {
        LINNET_RETURN_IF_ERROR(AddFile(it->path(), home));
      }
    }
    return error ? NotFound(folder, error.message()) : absl::OkStatus();
  }

  // The manifest in `folder`, its sources, and those of its dependencies.
  absl::Status AddPackage(const fs::path& folder, int depth) {
    if (std::find(packages_.begin(), packages_.end(), folder) !=
        packages_.end()) {
      return absl::OkStatus();
    }
    if (depth > limits_.max_depth) {
      return LimitError("dependencies inside each other", limits_.max_depth);
    }
    packages_.push_back(folder);
    LINNET_RETURN_IF_ERROR(AddFile(folder / kManifest, folder));
    LINNET_RETURN_IF_ERROR(AddSources(folder / "src", folder));
    toml::table manifest;
    const fs::path path = folder / kManifest;
    LINNET_ASSIGN_OR_RETURN(manifest, Parse(path));
    const toml::table* dependencies = manifest["dependencies"].as_table();
    if (dependencies == nullptr) return absl::OkStatus();
    for (const auto& [key, node] : *dependencies) {
      const toml::table* dependency = node.as_table();
      if (dependency == nullptr) continue;  // The server says what is wrong.
      const auto target = (*dependency)["path"].value<std::string>();
      if (!target) continue;
      std::error_code error;
      const fs::path real = fs::canonical(folder / *target, error);
      if (error || !fs::is_regular_file(real / kManifest, error)) continue;
      LINNET_RETURN_IF_ERROR(AddPackage(real, depth + 1));
    }
    return absl::OkStatus();
  }

  // A file that AddFile() took.
  absl::StatusOr<toml::table> Parse(const fs::path& path) const {
    toml::parse_result parsed = toml::parse(std::string_view(files_.at(path)));
    if (parsed) return std::move(parsed).table();
    const toml::parse_error& error = parsed.error();
    return ModelError(
        absl::StrCat(path.string(), ":", error.source().begin.line, ":",
                     error.source().begin.column, ": ",
                     absl::string_view(error.description().data(),
                                       error.description().size())));
  }

  // The manifest above `file` that its package lies at, with the package.
  absl::Status AddPackageOf(const fs::path& file) {
    std::error_code error;
    for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
      if (fs::is_regular_file(folder / kManifest, error)) {
        return AddPackage(folder, 0);
      }
      if (folder == folder.parent_path()) return absl::OkStatus();
    }
  }

  // The sources taken so far that lie below `folder`.
  std::vector<fs::path> SourcesBelow(const fs::path& folder) const {
    std::vector<fs::path> sources;
    for (const auto& [path, content] : files_) {
      if (IsInside(folder, path) &&
          absl::EndsWith(path.filename().string(), kSourceSuffix)) {
        sources.push_back(path);
      }
    }
    return sources;
  }

  // All files, with paths relative to `top`, the folder that holds them all.
  template <typename Files>
  void Take(const fs::path& top, Files& to) const {
    for (const auto& [path, content] : files_) {
      v1::SourceFile& file = *to.Add();
      file.set_path(path.lexically_relative(top).generic_string());
      file.set_content(content);
    }
  }
  // The innermost folder that holds all files.
  fs::path Top() const {
    if (files_.empty()) return fs::path("/");
    fs::path top = files_.begin()->first.parent_path();
    for (const auto& [path, content] : files_) {
      while (!IsInside(top, path)) top = top.parent_path();
    }
    return top;
  }

  v1::ModelRef Finish(const fs::path& root_file) const {
    return Finish(root_file, Top());
  }
  v1::ModelRef Finish(const fs::path& root_file, const fs::path& top) const {
    v1::ModelRef model;
    v1::SourceBundle& bundle = *model.mutable_bundle();
    Take(top, *bundle.mutable_files());
    bundle.set_root_file(root_file.lexically_relative(top).generic_string());
    return model;
  }

 private:
  static absl::Status LeadsOut(const fs::path& path, const fs::path& home) {
    return ModelError(absl::StrCat(
        path.string(), " is a link that leads out of ", home.string()));
  }
  static absl::Status NotFound(const fs::path& path, absl::string_view why) {
    return absl::NotFoundError(absl::StrCat(path.string(), ": ", why));
  }

  const BundleLimits limits_;
  std::map<fs::path, std::string> files_;
  std::vector<fs::path> packages_;
  int64_t bytes_ = 0;
  int32_t entries_ = 0;
};

absl::Status AddIfThere(const fs::path& path, const fs::path& home,
                        Collector& collector) {
  std::error_code error;
  if (!fs::exists(path, error)) return absl::OkStatus();
  return collector.AddFile(path, home);
}

absl::StatusOr<v1::ModelRef> ReadCard(const fs::path& folder,
                                      const BundleLimits& limits) {
  Collector collector(limits);
  const fs::path card_path = folder / kCard;
  LINNET_RETURN_IF_ERROR(collector.AddFile(card_path, folder));
  LINNET_ASSIGN_OR_RETURN(const toml::table card, collector.Parse(card_path));
  const std::string bindings =
      card["weights"]["bindings"].value_or<std::string>("bindings.json");
  LINNET_RETURN_IF_ERROR(AddIfThere(folder / bindings, folder, collector));
  LINNET_RETURN_IF_ERROR(AddIfThere(folder / "config.json", folder, collector));
  LINNET_RETURN_IF_ERROR(collector.AddSources(folder, folder));
  std::error_code error;
  if (fs::exists(folder / kManifest, error)) {
    LINNET_RETURN_IF_ERROR(collector.AddPackage(folder, 0));
  }
  return collector.Finish(card_path);
}

// Where the links of a checkpoint may lead: the folder itself, or, in a cache
// of the Hub (`<repository>/snapshots/<revision>`), the whole repository.
fs::path CheckpointHome(const fs::path& folder) {
  const fs::path snapshots = folder.parent_path();
  return snapshots.filename() == "snapshots" ? snapshots.parent_path() : folder;
}

// The files that an index names; the server says what is wrong with one.
std::set<std::string> FilesOfIndex(const std::string& text) {
  std::set<std::string> files;
  const auto index = nlohmann::json::parse(text, nullptr, false);
  if (!index.is_object() || !index.contains("weight_map")) return files;
  for (const auto& file : index["weight_map"]) {
    if (!file.is_string()) continue;
    const std::string& name = file.get_ref<const std::string&>();
    if (name.find_first_of("/\\") == std::string::npos) files.insert(name);
  }
  return files;
}

// A checkpoint of the Hub: its config, and of its weights the headers.
absl::StatusOr<v1::ModelRef> ReadCheckpoint(const fs::path& folder,
                                            const BundleLimits& limits) {
  Collector collector(limits);
  std::error_code error;
  const fs::path home = CheckpointHome(folder);
  const fs::path config = folder / kConfig;
  LINNET_RETURN_IF_ERROR(collector.AddFile(config, home));
  std::set<std::string> weights;
  if (fs::exists(folder / kIndex, error)) {
    LINNET_RETURN_IF_ERROR(collector.AddFile(folder / kIndex, home));
    weights = FilesOfIndex(collector.content(folder / kIndex));
  } else {
    weights.insert(kSingle);
  }
  for (const std::string& name : weights) {
    if (!fs::exists(folder / name, error)) continue;
    LINNET_RETURN_IF_ERROR(collector.AddHeader(folder / name, home));
  }
  // The folder's name is the model's, unless it is that of a revision.
  return collector.Finish(config,
                          home == folder ? folder.parent_path() : folder);
}

absl::StatusOr<v1::ModelRef> ReadGguf(const fs::path& file,
                                      const BundleLimits& limits) {
  Collector collector(limits);
  LINNET_RETURN_IF_ERROR(collector.AddHeader(file, file.parent_path()));
  return collector.Finish(file);
}

absl::StatusOr<v1::ModelRef> ReadSource(const fs::path& file,
                                        const BundleLimits& limits) {
  Collector collector(limits);
  LINNET_RETURN_IF_ERROR(collector.AddPackageOf(file));
  LINNET_RETURN_IF_ERROR(collector.AddFile(file, file.parent_path()));
  return collector.Finish(file);
}

// Adds what `path` names, a source or a folder of them, to what is checked.
absl::Status AddRoots(const fs::path& path, Collector& collector,
                      std::vector<fs::path>& roots) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    LINNET_RETURN_IF_ERROR(collector.AddPackageOf(path));
    LINNET_RETURN_IF_ERROR(collector.AddFile(path, path.parent_path()));
    roots.push_back(path);
    return absl::OkStatus();
  }
  LINNET_RETURN_IF_ERROR(collector.AddSources(path, path));
  const std::vector<fs::path> sources = collector.SourcesBelow(path);
  if (sources.empty()) {
    return absl::NotFoundError(absl::StrCat(
        path.string(), ": a folder without a `", kSourceSuffix, "` file"));
  }
  for (const fs::path& source : sources) {
    LINNET_RETURN_IF_ERROR(collector.AddPackageOf(source));
    roots.push_back(source);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ModelsCheckRequest> ReadSources(
    const std::vector<std::string>& paths, const BundleLimits& limits) {
  Collector collector(limits);
  std::vector<fs::path> roots;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) {
      return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
    }
    LINNET_RETURN_IF_ERROR(AddRoots(real, collector, roots));
  }
  const fs::path top = collector.Top();
  v1::ModelsCheckRequest request;
  collector.Take(top, *request.mutable_files());
  for (const fs::path& root : roots) {
    const std::string name = root.lexically_relative(top).generic_string();
    const auto& taken = request.roots();
    if (std::find(taken.begin(), taken.end(), name) == taken.end()) {
      request.add_roots(name);
    }
  }
  return request;
}

absl::StatusOr<v1::ModelRef> ReadModel(const std::string& text,
                                       const BundleLimits& limits) {
  std::error_code error;
  fs::path path(text);
  if (absl::EndsWith(text, kSourceSuffix)) {
    const fs::path real = fs::canonical(path, error);
    if (error) {
      return absl::NotFoundError(absl::StrCat(text, ": ", error.message()));
    }
    return ReadSource(real, limits);
  }
  if (absl::EndsWithIgnoreCase(text, kGgufSuffix)) {
    const fs::path real = fs::canonical(path, error);
    if (error) {
      return absl::NotFoundError(absl::StrCat(text, ": ", error.message()));
    }
    return ReadGguf(real, limits);
  }
  if (path.filename() == kCard || path.filename() == kConfig) {
    path = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  }
  if (fs::is_directory(path, error)) {
    const fs::path folder = fs::canonical(path, error);
    if (!error && fs::exists(folder / kCard, error)) {
      return ReadCard(folder, limits);
    }
    if (!error && fs::exists(folder / kConfig, error)) {
      return ReadCheckpoint(folder, limits);
    }
    return absl::NotFoundError(
        absl::StrCat(text, ": a folder without a ", kCard, " or a ", kConfig));
  }
  if (absl::StartsWith(text, "/") || absl::StartsWith(text, "./") ||
      absl::StartsWith(text, "../")) {
    return absl::NotFoundError(absl::StrCat(text, ": no such file or folder"));
  }
  v1::ModelRef model;
  model.set_name(text);
  return model;
}

}  // namespace linnet::client
