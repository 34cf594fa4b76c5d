#include "core/lang/module.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/nearest.h"
#include "core/base/status_macros.h"
#include "core/lang/manifest.h"
#include "core/lang/parser.h"

namespace linnet::lang {

std::optional<absl::string_view> MemoryFiles::Find(
    absl::string_view path) const {
  const auto it = files_.find(path);
  if (it == files_.end()) return std::nullopt;
  return it->second;
}

namespace {

std::string DirectoryOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == absl::string_view::npos ? absl::string_view()
                                                      : path.substr(0, slash));
}

// A package of the bundle: the directory of its manifest.
struct Package {
  std::string directory;
  Manifest manifest;
};

// Where a module's file is. `package` is null for the standard library.
struct Location {
  std::string key;   // Tells files apart.
  std::string path;  // As shown.
  absl::string_view content;
  const Package* package = nullptr;
};

class Loader {
 public:
  Loader(const CheckInput& input, NameTable& names, SourceSet& sources,
         DiagnosticList& diagnostics)
      : input_(input),
        names_(names),
        sources_(sources),
        diagnostics_(diagnostics) {}

  absl::StatusOr<IdMap<ModuleId, LoadedModule>> Load();

 private:
  ModuleId Add(const Location& location);
  const Package* PackageOf(absl::string_view directory);
  const Package* LoadPackage(const std::string& directory);
  std::optional<Location> Resolve(const Package* package,
                                  const std::vector<absl::string_view>& path,
                                  const UseNode& use);
  std::optional<Location> FindInPackage(
      const Package& package, absl::Span<const absl::string_view> rest);
  std::optional<Location> FindStandard(
      absl::Span<const absl::string_view> rest);
  void LoadUse(ModuleId importer, size_t use);
  void ReportMissing(const UseNode& use, absl::string_view path);
  void ReportCycles();
  std::string PathText(const Tree& tree, NodeList<Ident> path) const;

  const CheckInput& input_;
  NameTable& names_;
  SourceSet& sources_;
  DiagnosticList& diagnostics_;
  IdMap<ModuleId, LoadedModule> modules_;
  IdMap<ModuleId, const Package*> packages_of_;
  absl::flat_hash_map<std::string, ModuleId> by_key_;
  absl::flat_hash_map<std::string, std::unique_ptr<Package>> packages_;
  absl::flat_hash_map<std::string, const Package*> package_of_directory_;
};

std::string Loader::PathText(const Tree& tree, NodeList<Ident> path) const {
  return absl::StrJoin(tree.list(path), ".",
                       [&](std::string* out, const Ident& ident) {
                         absl::StrAppend(out, names_.text(ident.name));
                       });
}

const Package* Loader::LoadPackage(const std::string& directory) {
  std::unique_ptr<Package>& package = packages_[directory];
  if (package != nullptr) return package.get();
  package = std::make_unique<Package>();
  package->directory = directory;
  std::string path(kManifestName);
  if (!directory.empty()) path = absl::StrCat(directory, "/", path);
  const std::optional<absl::string_view> text = input_.files->Find(path);
  if (!text.has_value()) return package.get();
  const Source& source = sources_.Add(path, std::string(*text));
  package->manifest = ReadManifest(source, directory, diagnostics_);
  for (const auto& [name, dependency] : package->manifest.dependencies) {
    const std::string manifest =
        dependency.directory.empty()
            ? std::string(kManifestName)
            : absl::StrCat(dependency.directory, "/", kManifestName);
    if (!input_.files->Find(manifest).has_value()) {
      diagnostics_.Report(Code::kE5001, dependency.span,
                          absl::StrCat("there is no `", manifest,
                                       "` for the dependency `", name, "`"));
    }
  }
  return package.get();
}

// The nearest ancestor with a manifest. Without any, the package is the
// directory that holds `src`, or the file's own.
const Package* Loader::PackageOf(absl::string_view directory) {
  const auto [it, is_new] =
      package_of_directory_.try_emplace(std::string(directory), nullptr);
  if (!is_new) return it->second;
  std::string at(directory);
  while (true) {
    const std::string manifest = at.empty()
                                     ? std::string(kManifestName)
                                     : absl::StrCat(at, "/", kManifestName);
    if (input_.files->Find(manifest).has_value()) {
      const Package* package = LoadPackage(at);
      package_of_directory_[directory] = package;
      return package;
    }
    if (at.empty()) break;
    at = DirectoryOf(at);
  }
  absl::string_view top = directory;
  if (top == "src") {
    top = "";
  } else {
    absl::ConsumeSuffix(&top, "/src");
  }
  const Package* package = LoadPackage(std::string(top));
  package_of_directory_[directory] = package;
  return package;
}

std::optional<Location> Loader::FindInPackage(
    const Package& package, absl::Span<const absl::string_view> rest) {
  std::string path = package.directory;
  if (!path.empty()) path += '/';
  absl::StrAppend(&path, "src/",
                  rest.empty() ? std::string("lib") : absl::StrJoin(rest, "/"),
                  ".linnet");
  const std::optional<absl::string_view> content = input_.files->Find(path);
  if (!content.has_value()) return std::nullopt;
  return Location{path, path, *content, PackageOf(DirectoryOf(path))};
}

std::optional<Location> Loader::FindStandard(
    absl::Span<const absl::string_view> rest) {
  const std::string path = absl::StrCat(absl::StrJoin(rest, "/"), ".linnet");
  for (const EmbeddedFile& file : input_.standard_library) {
    if (file.path == path) {
      const std::string shown = absl::StrCat("std/", path);
      return Location{absl::StrCat("std:", path), shown, file.content, nullptr};
    }
  }
  return std::nullopt;
}

std::optional<Location> Loader::Resolve(
    const Package* package, const std::vector<absl::string_view>& path,
    const UseNode& use) {
  const absl::string_view root = path[0];
  const absl::Span<const absl::string_view> rest =
      absl::MakeConstSpan(path).subspan(1);
  if (root == "std") return FindStandard(rest);
  if (root == "crate") {
    return package == nullptr ? std::nullopt : FindInPackage(*package, rest);
  }
  if (package != nullptr) {
    const auto it = package->manifest.dependencies.find(root);
    if (it != package->manifest.dependencies.end()) {
      return FindInPackage(*LoadPackage(it->second.directory), rest);
    }
  }
  diagnostics_
      .Report(
          Code::kE1202, use.span,
          absl::StrCat("`", root, "` is not a package that can be imported"))
      .Help(
          "a path starts with `std`, `crate` or a dependency of "
          "`linnet.toml`");
  return std::nullopt;
}

void Loader::ReportMissing(const UseNode& use, absl::string_view path) {
  Diagnostic& report = diagnostics_.Report(
      Code::kE1202, use.span, absl::StrCat("there is no module `", path, "`"));
  if (!absl::StartsWith(path, "std.")) return;
  std::vector<std::string> known;
  for (const EmbeddedFile& file : input_.standard_library) {
    absl::string_view name = absl::StripSuffix(file.path, ".linnet");
    known.push_back(
        absl::StrCat("std.", absl::StrJoin(absl::StrSplit(name, '/'), ".")));
  }
  const std::vector<absl::string_view> views(known.begin(), known.end());
  for (const std::string& name : NearestNames(path, views, 1)) {
    report.Help(absl::StrCat("did you mean `", name, "`?"));
  }
}

ModuleId Loader::Add(const Location& location) {
  const auto [it, is_new] = by_key_.try_emplace(location.key, ModuleId{});
  if (!is_new) return it->second;
  const Source& source =
      sources_.Add(location.path, std::string(location.content));
  LoadedModule module;
  module.tree = ParseFile(source, names_, diagnostics_, input_.limits);
  module.path = PathText(module.tree, module.tree.module_path);
  module.is_standard = location.package == nullptr;
  module.targets.resize(static_cast<size_t>(module.tree.uses.size));
  const ModuleId id = modules_.push_back(std::move(module));
  packages_of_.push_back(location.package);
  by_key_[location.key] = id;
  return id;
}

void Loader::LoadUse(ModuleId importer, size_t use_index) {
  // Copies: Add() moves the modules.
  const Tree& tree = modules_[importer].tree;
  const UseNode use = tree.list(tree.uses)[use_index];
  std::vector<absl::string_view> path;
  for (const Ident& ident : tree.list(use.path)) {
    path.push_back(names_.text(ident.name));
  }
  const int errors = diagnostics_.num_errors();
  const std::optional<Location> location =
      Resolve(packages_of_[importer], path, use);
  if (location.has_value()) {
    const ModuleId target = Add(*location);
    modules_[importer].targets[use_index] = target;
  } else if (diagnostics_.num_errors() == errors) {
    ReportMissing(use, absl::StrJoin(path, "."));
  }
}

// A depth-first walk; an import of a module that is still open closes a cycle.
void Loader::ReportCycles() {
  enum class State : uint8_t { kNew, kOpen, kDone };
  IdMap<ModuleId, State> states(static_cast<size_t>(modules_.size()),
                                State::kNew);
  std::vector<std::pair<ModuleId, size_t>> stack;
  stack.emplace_back(ModuleId{0}, 0);
  states[ModuleId{0}] = State::kOpen;
  while (!stack.empty()) {
    const ModuleId module = stack.back().first;
    const size_t next = stack.back().second++;
    if (next == modules_[module].targets.size()) {
      states[module] = State::kDone;
      stack.pop_back();
      continue;
    }
    ModuleId& target = modules_[module].targets[next];
    if (!target.valid()) continue;
    if (states[target] == State::kNew) {
      states[target] = State::kOpen;
      stack.emplace_back(target, 0);
    } else if (states[target] == State::kOpen) {
      const Tree& tree = modules_[module].tree;
      diagnostics_
          .Report(Code::kE1206, tree.list(tree.uses)[next].span,
                  absl::StrFormat("importing `%s` here closes a cycle of "
                                  "imports",
                                  modules_[target].path))
          .Note(absl::StrFormat("`%s` reaches `%s` through its own imports",
                                modules_[target].path, modules_[module].path));
      target = ModuleId{};
    }
  }
}

absl::StatusOr<IdMap<ModuleId, LoadedModule>> Loader::Load() {
  const std::optional<absl::string_view> content =
      input_.files->Find(input_.root_path);
  if (!content.has_value()) {
    return absl::NotFoundError(
        absl::StrFormat("there is no file `%s`", input_.root_path));
  }
  Add({input_.root_path, input_.root_path, *content,
       PackageOf(DirectoryOf(input_.root_path))});
  for (ModuleId id{0}; id.index < modules_.size(); ++id.index) {
    if (modules_.size() > input_.max_modules) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("the root file reaches more than max_modules=%d "
                          "modules",
                          input_.max_modules));
    }
    for (size_t use = 0; use < modules_[id].targets.size(); ++use) {
      LoadUse(id, use);
    }
  }
  ReportCycles();
  return std::move(modules_);
}

}  // namespace

absl::StatusOr<IdMap<ModuleId, LoadedModule>> LoadModules(
    const CheckInput& input, NameTable& names, SourceSet& sources,
    DiagnosticList& diagnostics) {
  return Loader(input, names, sources, diagnostics).Load();
}

}  // namespace linnet::lang
