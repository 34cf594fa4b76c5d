// Any bytes are a tree and diagnostics. Every node that is reached is complete,
// and a tree that is printed and that has errors says so.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/lang/parser.h"
#include "core/lang/tree_text.h"

namespace linnet::lang {
namespace {

void Try(const uint8_t* data, size_t size) {
  SourceSet sources;
  NameTable names;
  DiagnosticList diagnostics;
  const Source& source = sources.Add(
      "f.linnet", std::string(reinterpret_cast<const char*>(data), size));
  const Tree tree = ParseFile(source, names, diagnostics);
  TreeText(tree, names);
  std::set<std::pair<int32_t, Code>> places;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    const Span span = diagnostic.primary;
    LINNET_CHECK(0 <= span.begin && span.begin <= span.end &&
                 span.end <= static_cast<int32_t>(size));
    if (diagnostic.code != Code::kE1101) continue;
    LINNET_CHECK(places.insert({span.begin, diagnostic.code}).second)
        << "two syntax errors at byte " << span.begin << ": "
        << diagnostic.message;
  }
  FormatDiagnostics(diagnostics, sources);
}

}  // namespace
}  // namespace linnet::lang

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  linnet::lang::Try(data, size);
  return 0;
}
