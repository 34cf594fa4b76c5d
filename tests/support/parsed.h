// One source text, parsed, for tests.

#ifndef LINNET_TESTS_SUPPORT_PARSED_H_
#define LINNET_TESTS_SUPPORT_PARSED_H_

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/lang/diagnostic.h"
#include "core/lang/parser.h"
#include "core/lang/source.h"
#include "core/lang/tree.h"

namespace linnet::lang {

struct Parsed {
  explicit Parsed(std::string text, const Limits& limits = {}) {
    const Source& source = sources.Add("t.linnet", std::move(text));
    tree = ParseFile(source, names, diagnostics, limits);
    diagnostics.Sort();
  }

  // "E1101 2:5; E1001 3:1": codes and places, in order of place.
  std::string Errors() const {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      const Source& source = sources.get(diagnostic.primary.file);
      const LineColumn place = source.Locate(diagnostic.primary.begin);
      absl::StrAppend(&out, out.empty() ? "" : "; ", CodeName(diagnostic.code),
                      " ", place.line, ":", place.column);
    }
    return out;
  }
  std::string Message() const {
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].message;
  }

  SourceSet sources;
  NameTable names;
  DiagnosticList diagnostics;
  Tree tree;
};

}  // namespace linnet::lang

#endif  // LINNET_TESTS_SUPPORT_PARSED_H_
