// The form of `linnet check --json` (language.md section 11.1).

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/lang/diagnostic.h"
#include "core/lang/utf8.h"

namespace linnet::lang {
namespace {

void AppendString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : WellFormed(text)) {
    switch (c) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned>(c));
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

void AppendStrings(const std::vector<std::string>& texts, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendString(texts[i], out);
  }
  out->push_back(']');
}

void AppendPlace(const Source& source, int32_t offset, std::string* out) {
  const LineColumn place = source.Locate(offset);
  absl::StrAppend(out, "{\"line\":", place.line, ",\"column\":", place.column,
                  ",\"offset\":", offset, "}");
}

void AppendLocation(Span span, const SourceSet& sources, std::string* out) {
  if (!span.valid()) {
    out->append("null");
    return;
  }
  const Source& source = sources.get(span.file);
  out->append("{\"file\":");
  AppendString(source.path(), out);
  out->append(",\"start\":");
  AppendPlace(source, span.begin, out);
  out->append(",\"end\":");
  AppendPlace(source, span.end, out);
  out->push_back('}');
}

void AppendDiagnostic(const Diagnostic& diagnostic, const SourceSet& sources,
                      std::string* out) {
  const bool error = diagnostic.severity() == Severity::kError;
  absl::StrAppend(out, "{\"code\":\"", CodeName(diagnostic.code),
                  "\",\"severity\":\"", error ? "error" : "warning",
                  "\",\"message\":");
  AppendString(diagnostic.message, out);
  out->append(",\"label\":");
  AppendString(diagnostic.label, out);
  out->append(",\"location\":");
  AppendLocation(diagnostic.primary, sources, out);
  out->append(",\"related\":[");
  for (size_t i = 0; i < diagnostic.related.size(); ++i) {
    out->append(i > 0 ? ",{\"location\":" : "{\"location\":");
    AppendLocation(diagnostic.related[i].span, sources, out);
    out->append(",\"message\":");
    AppendString(diagnostic.related[i].message, out);
    out->push_back('}');
  }
  out->append("],\"notes\":");
  AppendStrings(diagnostic.notes, out);
  out->append(",\"help\":");
  AppendStrings(diagnostic.help, out);
  out->push_back('}');
}

}  // namespace

std::string DiagnosticsToJson(const DiagnosticList& diagnostics,
                              const SourceSet& sources) {
  std::string out = "{\"version\":1,\"diagnostics\":[";
  for (size_t i = 0; i < diagnostics.all().size(); ++i) {
    if (i > 0) out.push_back(',');
    AppendDiagnostic(diagnostics.all()[i], sources, &out);
  }
  absl::StrAppend(&out, "],\"summary\":{\"errors\":", diagnostics.num_errors(),
                  ",\"warnings\":", diagnostics.num_warnings(), "}}\n");
  return out;
}

}  // namespace linnet::lang
