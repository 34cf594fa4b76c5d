#include "core/planner/check_sources.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"
#include "core/library/standard_library.h"
#include "core/planner/error.h"
#include "core/planner/model.h"
#include "nlohmann/json.hpp"

namespace linnet::planner {
namespace {

using Json = nlohmann::ordered_json;

// Collects the reports of several checks, each once.
class Reports {
 public:
  void Add(const lang::CheckResult& result) {
    for (const lang::Diagnostic& each : result.diagnostics.all()) {
      lang::DiagnosticList one;
      one.Add(each);
      const std::string json = lang::DiagnosticsToJson(one, *result.sources);
      if (!seen_.insert(json).second) continue;
      list_.push_back(Json::parse(json)["diagnostics"][0]);
      if (!text_.empty()) text_ += "\n";
      text_ += lang::FormatDiagnostics(one, *result.sources);
      ++(each.severity() == lang::Severity::kError ? errors_ : warnings_);
    }
  }

  CheckedSources Finish() {
    Json document;
    document["version"] = 1;
    document["diagnostics"] = std::move(list_);
    document["summary"] = {{"errors", errors_}, {"warnings", warnings_}};
    return {absl::StrCat(document.dump(), "\n"), std::move(text_), errors_,
            warnings_};
  }

 private:
  absl::flat_hash_set<std::string> seen_;
  Json list_ = Json::array();
  std::string text_;
  int64_t errors_ = 0;
  int64_t warnings_ = 0;
};

}  // namespace

absl::StatusOr<CheckedSources> CheckSources(
    const std::vector<SourceFile>& files, const std::vector<std::string>& roots,
    const Limits& limits, const StopFunction& stop) {
  LINNET_RETURN_IF_ERROR(CheckBundle(files, limits));
  if (roots.empty()) {
    return absl::InvalidArgumentError("no file to check is named");
  }
  lang::MemoryFiles bundle;
  for (const SourceFile& file : files) bundle.Add(file.path, file.content);
  Reports reports;
  for (const std::string& root : roots) {
    if (stop && stop()) return absl::CancelledError("the check was stopped");
    if (!bundle.Find(root)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the bundle has no file `", root, "` to check"));
    }
    lang::CheckInput input;
    input.root_path = root;
    input.files = &bundle;
    input.standard_library = library::StandardLibrary();
    LINNET_ASSIGN_OR_RETURN(const lang::CheckResult result, lang::Check(input));
    reports.Add(result);
  }
  return reports.Finish();
}

}  // namespace linnet::planner
