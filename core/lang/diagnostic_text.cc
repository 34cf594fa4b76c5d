// The human form of diagnostics.

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/lang/diagnostic.h"
#include "core/lang/utf8.h"

namespace linnet::lang {
namespace {

// The most code points of a source line that are shown, and how many of them
// stand before the place when the line is longer.
constexpr int kMaxShown = 120;
constexpr int kShownBefore = 60;

// The byte where the code point number `count` from `at` begins.
size_t Skip(absl::string_view text, size_t at, int count) {
  for (; count > 0 && at < text.size(); --count) {
    at += static_cast<size_t>(DecodeUtf8(text, at).length);
  }
  return at;
}

int CountCodePoints(absl::string_view text) {
  int count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    at += static_cast<size_t>(DecodeUtf8(text, at).length);
  }
  return count;
}

// A line and the marked bytes [begin, end) of it, cut and without indentation.
struct Excerpt {
  absl::string_view before, marked, after;
  bool cut_left = false;
  bool cut_right = false;
};

Excerpt MakeExcerpt(absl::string_view line, size_t begin, size_t end) {
  Excerpt excerpt;
  size_t first = line.find_first_not_of(" \t");
  if (first == line.npos || first > begin) first = begin;
  size_t last = line.size();
  if (CountCodePoints(line.substr(first)) > kMaxShown) {
    const int before = CountCodePoints(line.substr(first, begin - first));
    if (before > kShownBefore) {
      first = Skip(line, first, before - kShownBefore);
      excerpt.cut_left = true;
    }
    last = Skip(line, first, kMaxShown);
    excerpt.cut_right = last < line.size();
  }
  end = std::min(end, last);
  excerpt.before = line.substr(first, begin - first);
  excerpt.marked = line.substr(begin, end - begin);
  excerpt.after = line.substr(end, last - end);
  return excerpt;
}

// "  path:line:column" and the source line with its underline.
void AppendPlace(Span span, absl::string_view label, const SourceSet& sources,
                 std::string* out) {
  const Source& source = sources.get(span.file);
  const LineColumn place = source.Locate(span.begin);
  absl::StrAppend(out, "  ", Printable(source.path()), ":", place.line, ":",
                  place.column, "\n");
  absl::string_view line = source.Line(place.line);
  auto begin = static_cast<size_t>(span.begin - source.LineStart(place.line));
  auto end = static_cast<size_t>(span.end - source.LineStart(place.line));
  if (place.line == 1 && line.substr(0, 3) == kByteOrderMark) {
    line.remove_prefix(3);
    begin -= std::min<size_t>(begin, 3);
    end -= std::min<size_t>(end, 3);
  }
  begin = std::min(begin, line.size());
  end = std::min(std::max(begin, end), line.size());
  const Excerpt excerpt = MakeExcerpt(line, begin, end);
  const absl::string_view left = excerpt.cut_left ? "..." : "";
  absl::StrAppend(out, "    ", left, Printable(excerpt.before),
                  Printable(excerpt.marked), Printable(excerpt.after),
                  excerpt.cut_right ? "..." : "", "\n");
  const int carets = std::max(1, CountCodePoints(excerpt.marked));
  out->append(
      4 + left.size() + static_cast<size_t>(CountCodePoints(excerpt.before)),
      ' ');
  out->append(static_cast<size_t>(carets), '^');
  if (!label.empty()) absl::StrAppend(out, " ", Printable(label));
  out->push_back('\n');
}

void AppendDiagnostic(const Diagnostic& diagnostic, const SourceSet& sources,
                      std::string* out) {
  const bool error = diagnostic.severity() == Severity::kError;
  absl::StrAppend(out, error ? "error" : "warning", "[",
                  CodeName(diagnostic.code),
                  "]: ", Printable(diagnostic.message), "\n");
  if (diagnostic.primary.valid()) {
    AppendPlace(diagnostic.primary, diagnostic.label, sources, out);
  }
  for (const Related& related : diagnostic.related) {
    absl::StrAppend(out, "note: ", Printable(related.message), "\n");
    if (related.span.valid()) AppendPlace(related.span, "", sources, out);
  }
  for (const std::string& note : diagnostic.notes) {
    absl::StrAppend(out, "note: ", Printable(note), "\n");
  }
  for (const std::string& help : diagnostic.help) {
    absl::StrAppend(out, "help: ", Printable(help), "\n");
  }
}

}  // namespace

std::string FormatDiagnostics(const DiagnosticList& diagnostics,
                              const SourceSet& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    AppendDiagnostic(diagnostic, sources, &out);
  }
  const auto shown = static_cast<int>(diagnostics.all().size());
  const int total = diagnostics.num_errors() + diagnostics.num_warnings();
  if (total > shown) {
    absl::StrAppend(&out, "note: ", total - shown, " more not shown\n");
  }
  return out;
}

}  // namespace linnet::lang
