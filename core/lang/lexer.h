// Source text to tokens (language.md section 1).

#ifndef LINNET_CORE_LANG_LEXER_H_
#define LINNET_CORE_LANG_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/lang/diagnostic.h"
#include "core/lang/limits.h"
#include "core/lang/name_table.h"
#include "core/lang/source.h"

namespace linnet::lang {

enum class TokenKind : uint8_t {
#define LINNET_TOKEN(kind, text) kind,
#define LINNET_KEYWORD(kind, text) kind,
#define LINNET_PUNCTUATION(kind, text) kind,
#include "core/lang/token.def"
};

// How a message calls a token: "a name", "keyword `sub`", "`->`".
absl::string_view TokenText(TokenKind kind);
bool IsKeyword(TokenKind kind);
std::ostream& operator<<(std::ostream& os, TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int32_t begin = 0;  // Bytes [begin, end).
  int32_t end = 0;
  // kName and kReserved: the NameId's index. kInt and kFloat: an index into
  // the list of that kind below. kEnd: 1 when the text before it is already in
  // error, so that nothing more is said about the end.
  int32_t value = 0;
};

struct IntLiteral {
  int64_t value = 0;
  bool exceeds_i64 = false;  // `value` is 0 then.
};

struct TokenBuffer {
  std::vector<Token> tokens;  // The last one, and only it, is kEnd.
  std::vector<IntLiteral> ints;
  std::vector<double> floats;
  std::vector<Span> doc_comments;
};

// Reads all of a file. Every mistake is reported: E1001 to E1005, and E1101 for
// a file or token count past its limit (then the tokens before it are
// returned). A malformed number or string is a token nevertheless; illegal
// characters are one kError token, about which a parser has nothing to add.
//
// Linear in the text.
TokenBuffer Lex(const Source& source, NameTable& names,
                DiagnosticList& diagnostics, const Limits& limits = {});

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_LEXER_H_
