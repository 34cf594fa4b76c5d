// Any bytes are tokens and diagnostics, in order and within the file.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "core/lang/lexer.h"

namespace linnet::lang {
namespace {

void Try(const uint8_t* data, size_t size) {
  SourceSet sources;
  NameTable names;
  DiagnosticList diagnostics;
  const Source& source = sources.Add(
      "f.linnet", std::string(reinterpret_cast<const char*>(data), size));
  const TokenBuffer buffer = Lex(source, names, diagnostics);
  int32_t at = 0;
  for (const Token& token : buffer.tokens) {
    LINNET_CHECK(at <= token.begin && token.begin <= token.end);
    at = token.end;
  }
  LINNET_CHECK(at <= static_cast<int32_t>(size));
  LINNET_CHECK(buffer.tokens.back().kind == TokenKind::kEnd);
  FormatDiagnostics(diagnostics, sources);
  DiagnosticsToJson(diagnostics, sources);
}

}  // namespace
}  // namespace linnet::lang

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  linnet::lang::Try(data, size);
  return 0;
}
