#include "client/render/diagnostic.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "linnet/v1/diagnostic.pb.h"
#include "linnet/v1/error.pb.h"

namespace linnet::client {
namespace {

constexpr absl::string_view kRed = "\033[1;31m";
constexpr absl::string_view kYellow = "\033[1;33m";
constexpr absl::string_view kCyan = "\033[1;36m";
constexpr absl::string_view kPlain = "\033[0m";

// A terminal obeys control characters, and these texts quote what others wrote.
std::string Printable(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += (byte < ' ' && c != '\n' && c != '\t') || byte == 127 ? '?' : c;
  }
  return out;
}

absl::string_view ColourOf(absl::string_view line) {
  if (absl::StartsWith(line, "error")) return kRed;
  if (absl::StartsWith(line, "warning")) return kYellow;
  if (absl::StartsWith(line, "help") || absl::StartsWith(line, "note")) {
    return kCyan;
  }
  return "";
}

// Colours the word that a line starts with, up to its colon.
std::string Coloured(absl::string_view text) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view colour = ColourOf(line);
    const size_t colon = line.find(':');
    if (colour.empty() || colon == absl::string_view::npos) {
      lines.emplace_back(line);
    } else {
      lines.push_back(absl::StrCat(colour, line.substr(0, colon), kPlain,
                                   line.substr(colon)));
    }
  }
  return absl::StrJoin(lines, "\n");
}

std::string OneLine(const v1::Diagnostic& diagnostic) {
  std::string out = absl::StrCat(
      diagnostic.severity() == v1::SEVERITY_WARNING ? "warning" : "error", "[",
      diagnostic.code(), "]: ", diagnostic.message(), "\n");
  if (diagnostic.has_location()) {
    const v1::Location& location = diagnostic.location();
    absl::StrAppend(&out, "  ", location.file(), ":", location.start().line(),
                    ":", location.start().column(), "\n");
  }
  for (const std::string& help : diagnostic.help()) {
    absl::StrAppend(&out, "help: ", help, "\n");
  }
  return out;
}

}  // namespace

std::string RenderFailure(const absl::Status& status,
                          const v1::ErrorDetail& detail, bool colour) {
  std::string out = detail.rendered();
  if (out.empty()) {
    for (const v1::Diagnostic& diagnostic : detail.diagnostics()) {
      absl::StrAppend(&out, OneLine(diagnostic));
    }
  }
  if (!out.empty()) {
    if (!absl::EndsWith(out, "\n")) absl::StrAppend(&out, "\n");
    absl::StrAppend(&out, "\n");
  }
  absl::StrAppend(&out, "error: ", status.message(), "\n");
  // A message may name them itself.
  if (detail.suggestions_size() > 0 &&
      !absl::StrContains(status.message(), "did you mean")) {
    absl::StrAppend(&out, "help: did you mean `",
                    absl::StrJoin(detail.suggestions(), "`, `"), "`?\n");
  }
  out = Printable(out);
  return colour ? Coloured(out) : out;
}

}  // namespace linnet::client
