#include "core/lang/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace linnet::lang {
namespace {

struct Row {
  absl::string_view name;
  absl::string_view summary;
};
constexpr Row kRows[] = {
#define LINNET_DIAGNOSTIC(code, summary) {#code, summary},
#include "core/lang/diagnostic_code.def"
};

const Row& RowOf(Code code) { return kRows[static_cast<size_t>(code)]; }

}  // namespace

absl::string_view CodeName(Code code) { return RowOf(code).name; }
absl::string_view CodeSummary(Code code) { return RowOf(code).summary; }

Severity SeverityOf(Code code) {
  return CodeName(code)[0] == 'W' ? Severity::kWarning : Severity::kError;
}

int NumCodes() { return static_cast<int>(std::size(kRows)); }

std::ostream& operator<<(std::ostream& os, Code code) {
  return os << CodeName(code);
}

Diagnostic& Diagnostic::Label(std::string text) {
  label = std::move(text);
  return *this;
}
Diagnostic& Diagnostic::Note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}
Diagnostic& Diagnostic::Help(std::string text) {
  help.push_back(std::move(text));
  return *this;
}
Diagnostic& Diagnostic::Relate(Span span, std::string text) {
  related.push_back({span, std::move(text)});
  return *this;
}

Diagnostic& DiagnosticList::Report(Code code, Span primary,
                                   std::string message) {
  const bool error = SeverityOf(code) == Severity::kError;
  int& count = error ? num_errors_ : num_warnings_;
  Diagnostic diagnostic{code, std::move(message), primary, {}, {}, {}, {}};
  if (++count > max_errors_) {
    dropped_ = std::move(diagnostic);
    return dropped_;
  }
  return all_.emplace_back(std::move(diagnostic));
}

void DiagnosticList::Add(Diagnostic diagnostic) {
  Diagnostic& added = Report(diagnostic.code, diagnostic.primary, "");
  added = std::move(diagnostic);
}

void DiagnosticList::Sort() {
  std::stable_sort(all_.begin(), all_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::tie(a.primary.file, a.primary.begin) <
                            std::tie(b.primary.file, b.primary.begin);
                   });
}

void DiagnosticList::DropWarnings() {
  all_.erase(std::remove_if(all_.begin(), all_.end(),
                            [](const Diagnostic& d) {
                              return d.severity() == Severity::kWarning;
                            }),
             all_.end());
  num_warnings_ = 0;
}

bool DiagnosticList::truncated() const {
  return num_errors_ > max_errors_ || num_warnings_ > max_errors_;
}

}  // namespace linnet::lang
