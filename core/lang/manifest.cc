#include "core/lang/manifest.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/toml.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1

namespace linnet::lang {
namespace {

constexpr std::string_view kLanguage = "0.1";

// The place that the TOML reader names: lines and columns from 1.
Span SpanOf(const Source& source, const toml::source_region& region) {
  const auto offset = [&](const toml::source_position& position) {
    if (position.line < 1) return int32_t{0};
    const auto line = static_cast<int32_t>(
        std::min<int64_t>(position.line, source.num_lines()));
    const int64_t at =
        source.LineStart(line) + std::max<int64_t>(position.column, 1) - 1;
    return static_cast<int32_t>(
        std::min<int64_t>(at, static_cast<int64_t>(source.text().size())));
  };
  const int32_t begin = offset(region.begin);
  return {source.id(), begin, std::max(begin, offset(region.end))};
}

bool IsIdentifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
    return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

class Reader {
 public:
  Reader(const Source& source, absl::string_view directory,
         DiagnosticList& diagnostics)
      : source_(source), directory_(directory), diagnostics_(diagnostics) {}

  Manifest Read();

 private:
  void ReadPackage(const toml::table& root);
  void ReadDependency(std::string_view key, const toml::node& value,
                      Manifest& manifest);
  Diagnostic& Report(const toml::source_region& region, std::string message) {
    return diagnostics_.Report(Code::kE5001, SpanOf(source_, region),
                               std::move(message));
  }

  const Source& source_;
  absl::string_view directory_;
  DiagnosticList& diagnostics_;
};

void Reader::ReadPackage(const toml::table& root) {
  const toml::table* package = root["package"].as_table();
  if (package == nullptr) {
    Report(root.source(), "the manifest has no table `[package]`");
    return;
  }
  const toml::node* language = package->get("language");
  if (language == nullptr) {
    Report(package->source(), "`[package]` does not say the `language`")
        .Help("add `language = \"0.1\"`");
    return;
  }
  const std::optional<std::string_view> version =
      language->value<std::string_view>();
  if (!language->is_string() || *version != kLanguage) {
    Report(language->source(), "this toolchain reads language \"0.1\" only");
  }
  for (const char* name : {"name", "version"}) {
    const toml::node* value = package->get(name);
    if (value != nullptr && !value->is_string()) {
      Report(value->source(), absl::StrCat("`", name, "` is not a string"));
    }
  }
}

void Reader::ReadDependency(std::string_view key, const toml::node& value,
                            Manifest& manifest) {
  const std::string name(key);
  if (!IsIdentifier(key) || key == "std" || key == "crate") {
    Report(value.source(),
           absl::StrCat("`", name, "` cannot be the name of a dependency"));
    return;
  }
  const toml::table* table = value.as_table();
  const toml::node* path = table == nullptr ? nullptr : table->get("path");
  if (path == nullptr || !path->is_string()) {
    Report(value.source(),
           absl::StrCat("the dependency `", name, "` has no `path`"))
        .Help(
            "only dependencies with a path are supported: "
            "`{ path = \"../name\" }`");
    return;
  }
  const std::string text(*path->value<std::string_view>());
  std::optional<std::string> directory = JoinPath(directory_, text);
  if (!directory.has_value()) {
    Report(path->source(),
           absl::StrCat("the path \"", text, "\" leaves the files given"));
    return;
  }
  manifest.dependencies[name] = {*std::move(directory),
                                 SpanOf(source_, path->source())};
}

Manifest Reader::Read() {
  Manifest manifest;
  const absl::string_view text = source_.text();
  const toml::parse_result result =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!result) {
    const toml::parse_error& error = result.error();
    Report(error.source(), absl::StrCat("the manifest is not valid TOML: ",
                                        std::string(error.description())));
    return manifest;
  }
  const toml::table& root = result.table();
  ReadPackage(root);
  const toml::node* dependencies = root.get("dependencies");
  if (dependencies == nullptr) return manifest;
  if (!dependencies->is_table()) {
    Report(dependencies->source(), "`dependencies` is not a table");
    return manifest;
  }
  for (const auto& [key, value] : *dependencies->as_table()) {
    ReadDependency(key.str(), value, manifest);
  }
  return manifest;
}

}  // namespace

Manifest ReadManifest(const Source& source, absl::string_view directory,
                      DiagnosticList& diagnostics) {
  return Reader(source, directory, diagnostics).Read();
}

std::optional<std::string> JoinPath(absl::string_view directory,
                                    absl::string_view path) {
  if (!path.empty() && path[0] == '/') return std::nullopt;
  std::vector<absl::string_view> parts;
  for (const absl::string_view text : {directory, path}) {
    for (const absl::string_view part : absl::StrSplit(text, '/')) {
      if (part.empty() || part == ".") continue;
      if (part != "..") {
        parts.push_back(part);
      } else if (parts.empty()) {
        return std::nullopt;
      } else {
        parts.pop_back();
      }
    }
  }
  return absl::StrJoin(parts, "/");
}

}  // namespace linnet::lang
