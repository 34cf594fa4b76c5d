#include "core/planner/model.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "core/ir/lower.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"
#include "core/library/standard_library.h"
#include "core/planner/error.h"
#include "core/zoo/import.h"
#include "core/zoo/registry.h"

namespace linnet::planner {
namespace {

constexpr absl::string_view kCardFile = "nest.toml";

// The files of a model by path, wherever their content lives.
class BundleFiles final : public lang::FileProvider {
 public:
  void Add(std::string path, absl::string_view content) {
    files_.insert_or_assign(std::move(path), content);
  }
  std::optional<absl::string_view> Find(absl::string_view path) const override {
    const auto it = files_.find(path);
    if (it == files_.end()) return std::nullopt;
    return it->second;
  }

 private:
  absl::flat_hash_map<std::string, absl::string_view> files_;
};

// What is read of a model before its sources are.
struct Bundle {
  BundleFiles files;
  std::string root_file;
};

absl::StatusOr<Bundle> OpenBuiltin(absl::string_view name) {
  const zoo::BuiltinModel* model = zoo::FindBuiltin(name);
  if (model == nullptr) {
    std::vector<absl::string_view> known;
    for (const zoo::BuiltinModel& each : zoo::BuiltinModels()) {
      known.push_back(each.name);
    }
    return UnknownName(absl::StatusCode::kNotFound,
                       absl::StrCat("there is no built-in model `", name, "`"),
                       name, known);
  }
  Bundle bundle;
  for (const EmbeddedFile& file : model->files) {
    bundle.files.Add(std::string(file.path.substr(name.size() + 1)),
                     file.content);
  }
  bundle.root_file = std::string(kCardFile);
  return bundle;
}

absl::StatusOr<Bundle> OpenBundle(const ModelRef& ref, const Limits& limits) {
  LINNET_RETURN_IF_ERROR(CheckBundle(ref.files, limits));
  Bundle bundle;
  for (const SourceFile& file : ref.files) {
    bundle.files.Add(file.path, file.content);
  }
  if (!bundle.files.Find(ref.root_file)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the bundle has no file `", ref.root_file, "` to start from"));
  }
  bundle.root_file = ref.root_file;
  return bundle;
}

// The directory of a path with its final '/', or "".
std::string DirectoryOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos
             ? std::string()
             : std::string(path.substr(0, slash + 1));
}

absl::Status SourceErrors(const lang::CheckResult& result) {
  const int errors = result.diagnostics.num_errors();
  absl::Status status = absl::InvalidArgumentError(absl::StrCat(
      "the model has ", errors, errors == 1 ? " error" : " errors"));
  status.SetPayload(
      kDiagnosticsPayload,
      absl::Cord(lang::DiagnosticsToJson(result.diagnostics, *result.sources)));
  status.SetPayload(
      kRenderedPayload,
      absl::Cord(lang::FormatDiagnostics(result.diagnostics, *result.sources)));
  return status;
}

absl::Status ReadCard(const Bundle& bundle, Model* model,
                      std::string* source_path) {
  const std::string directory = DirectoryOf(bundle.root_file);
  LINNET_ASSIGN_OR_RETURN(
      model->card,
      zoo::ParseCard(*bundle.files.Find(bundle.root_file), bundle.root_file));
  model->has_card = true;
  *source_path = absl::StrCat(directory, model->card.source_path);
  if (!bundle.files.Find(*source_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(bundle.root_file, ": the source `",
                     model->card.source_path, "` is not among its files"));
  }
  if (model->card.bindings_file.empty()) return absl::OkStatus();
  const std::string path = absl::StrCat(directory, model->card.bindings_file);
  const auto text = bundle.files.Find(path);
  if (!text) {
    return absl::InvalidArgumentError(
        absl::StrCat(bundle.root_file, ": the bindings `",
                     model->card.bindings_file, "` are not among its files"));
  }
  LINNET_ASSIGN_OR_RETURN(model->bindings, zoo::ParseBindings(*text, path));
  return absl::OkStatus();
}

// Takes the place of a checkpoint that others have saved by a program of ours.
// The bundle's files are then those of `imported`, which must outlive it.
void OpenImport(const zoo::ImportedModel& imported, Bundle* bundle,
                Model* model) {
  model->has_card = true;
  model->imported = true;
  model->card = imported.card;
  model->bindings = imported.bindings;
  // No tensor shows these optional members; their own paths do.
  for (const std::string& path : imported.present) {
    model->bindings.emplace_back(path, path);
  }
  model->weight_bytes = imported.weight_bytes;
  model->notes = imported.notes;
  bundle->files = BundleFiles();
  for (const auto& [path, content] : imported.files) {
    bundle->files.Add(path, content);
  }
}

// `tiny` of "models/tiny.linnet".
std::string Stem(absl::string_view path) {
  path = path.substr(DirectoryOf(path).size());
  return std::string(path.substr(0, path.rfind('.')));
}

}  // namespace

absl::Status CheckPaths(const std::vector<SourceFile>& files) {
  absl::flat_hash_map<std::string, absl::string_view> seen;
  for (const SourceFile& file : files) {
    const auto refuse = [&](absl::string_view why) {
      return absl::InvalidArgumentError(
          absl::StrCat("the path `", absl::CHexEscape(file.path), "` ", why));
    };
    if (file.path.empty()) return refuse("is empty");
    if (file.path.size() > 1024) return refuse("is longer than 1024 bytes");
    if (file.path[0] == '/') return refuse("is absolute");
    for (char c : file.path) {
      if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) || c == '\\') {
        return refuse("has a character that no path of a model has");
      }
    }
    for (absl::string_view part : absl::StrSplit(file.path, '/')) {
      if (part.empty() || part == "." || part == "..") {
        return refuse("is not a plain relative path");
      }
    }
    const auto [it, added] =
        seen.emplace(absl::AsciiStrToLower(file.path), file.path);
    if (!added) {
      return refuse(it->second == file.path
                        ? "comes twice"
                        : absl::StrCat("differs from `", it->second,
                                       "` in the case of letters only"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBundle(const std::vector<SourceFile>& files,
                         const Limits& limits) {
  if (static_cast<int64_t>(files.size()) > limits.max_files) {
    return LimitPassed(
        absl::StrCat("the model has ", files.size(), " files; at most ",
                     limits.max_files, " are taken"),
        "max_files", limits.max_files);
  }
  int64_t total = 0;
  for (const SourceFile& file : files) {
    total += static_cast<int64_t>(file.content.size());
  }
  if (total > limits.max_source_bytes) {
    return LimitPassed(
        absl::StrCat("the model's files have ", total, " bytes; at most ",
                     limits.max_source_bytes, " are taken"),
        "max_source_bytes", limits.max_source_bytes);
  }
  return CheckPaths(files);
}

namespace {

absl::StatusOr<Model> Load(const ModelRef& ref, const Limits& limits) {
  if (ref.name.empty() && ref.files.empty()) {
    return absl::InvalidArgumentError("no model is given");
  }
  const bool builtin = ref.files.empty();
  LINNET_ASSIGN_OR_RETURN(
      Bundle bundle, builtin ? OpenBuiltin(ref.name) : OpenBundle(ref, limits));
  Model model;
  std::string source_path = bundle.root_file;
  if (absl::EndsWith(bundle.root_file, kCardFile)) {
    LINNET_RETURN_IF_ERROR(ReadCard(bundle, &model, &source_path));
  }
  zoo::ImportedModel imported;
  if (!builtin && zoo::IsImport(bundle.root_file)) {
    LINNET_ASSIGN_OR_RETURN(
        imported,
        zoo::ImportModel(bundle.root_file, [&bundle](absl::string_view path) {
          return bundle.files.Find(path);
        }));
    OpenImport(imported, &bundle, &model);
    source_path = model.card.source_path;
  }
  model.name = builtin                    ? ref.name
               : !model.card.name.empty() ? model.card.name
                                          : Stem(bundle.root_file);
  lang::CheckInput input;
  input.root_path = source_path;
  input.files = &bundle.files;
  input.standard_library = library::StandardLibrary();
  LINNET_ASSIGN_OR_RETURN(const lang::CheckResult checked, lang::Check(input));
  if (checked.program == nullptr) return SourceErrors(checked);
  LINNET_ASSIGN_OR_RETURN(model.program, ir::Lower(checked.program));
  return model;
}

}  // namespace

absl::Status CheckBindings(const Model& model, const Config& config) {
  if (!model.imported || !config.no_bindings) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "weight bindings cannot be left out: they say which parts of the general "
      "program this checkpoint has");
}

absl::StatusOr<Model> LoadModel(const ModelRef& ref, const Limits& limits) {
  absl::StatusOr<Model> model = Load(ref, limits);
  if (model.ok() || ref.files.empty() ||
      !absl::IsInvalidArgument(model.status())) {
    return model;
  }
  absl::Status status = model.status();
  status.SetPayload(kModelPayload, absl::Cord());
  return status;
}

}  // namespace linnet::planner
