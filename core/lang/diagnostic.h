// Reports about source text: what is wrong, where, and what helps.

#ifndef LINNET_CORE_LANG_DIAGNOSTIC_H_
#define LINNET_CORE_LANG_DIAGNOSTIC_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/lang/source.h"

namespace linnet::lang {

// A number keeps its meaning across versions.
enum class Code : uint8_t {
#define LINNET_DIAGNOSTIC(code, summary) k##code,
#include "core/lang/diagnostic_code.def"
};

enum class Severity : uint8_t { kError, kWarning };

absl::string_view CodeName(Code code);     // "E1101"
absl::string_view CodeSummary(Code code);  // When it is given, in one line.
Severity SeverityOf(Code code);            // By the first letter of the name.
int NumCodes();                            // They are 0, 1, … as integers.
std::ostream& operator<<(std::ostream& os, Code code);

struct Related {
  Span span;
  std::string message;
};

struct Diagnostic {
  Code code;
  std::string message;  // One sentence, no full stop, names in `backquotes`.
  Span primary;         // Invalid: a report without a file.
  std::string label;    // Said at the primary span; may be empty.
  std::vector<Related> related;
  std::vector<std::string> notes;
  std::vector<std::string> help;

  Severity severity() const { return SeverityOf(code); }

  // For a chain at the place that reports:
  //   diagnostics.Report(Code::kE1201, span, "…").Label("…").Help("…");
  Diagnostic& Label(std::string text);
  Diagnostic& Note(std::string text);
  Diagnostic& Help(std::string text);
  Diagnostic& Relate(Span span, std::string text);
};

// The reports of one check, in the order they were made.
class DiagnosticList {
 public:
  // Past `max_errors` errors (and as many warnings) reports are counted but
  // not kept: a file that wrong does not get clearer with more of them.
  explicit DiagnosticList(int max_errors = 200) : max_errors_(max_errors) {}

  // The reference is good until the next report.
  Diagnostic& Report(Code code, Span primary, std::string message);
  void Add(Diagnostic diagnostic);

  // Orders by file (as added to the SourceSet), then by place; reports without
  // a place come first. Equal places keep their order.
  void Sort();

  // Drops every warning, as is done when there are errors.
  void DropWarnings();

  const std::vector<Diagnostic>& all() const { return all_; }
  int num_errors() const { return num_errors_; }  // Kept or not.
  int num_warnings() const { return num_warnings_; }
  bool has_errors() const { return num_errors_ > 0; }
  bool truncated() const;

 private:
  int max_errors_;
  int num_errors_ = 0;
  int num_warnings_ = 0;
  std::vector<Diagnostic> all_;
  Diagnostic dropped_{};  // What Report() returns past the limit.
};

// The human form. Each report is
//   error[E2202]: `b` has the wrong shape for `matmul`
//     net.linnet:7:22
//       return matmul(a, b)
//                        ^ expected `[K, _]`
//   help: …
// with related places as `note:` lines with their own source line. Control
// characters and ill-formed bytes are shown as U+FFFD, and only the part of a
// long line around the place is shown, so the text is fit for a terminal.
std::string FormatDiagnostics(const DiagnosticList& diagnostics,
                              const SourceSet& sources);

// The form of `linnet check --json`: one object on one line, with its newline.
std::string DiagnosticsToJson(const DiagnosticList& diagnostics,
                              const SourceSet& sources);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_DIAGNOSTIC_H_
