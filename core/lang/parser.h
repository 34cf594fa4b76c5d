// Source text to a syntax tree (language.md section 2).

#ifndef LINNET_CORE_LANG_PARSER_H_
#define LINNET_CORE_LANG_PARSER_H_

#include "core/lang/diagnostic.h"
#include "core/lang/limits.h"
#include "core/lang/name_table.h"
#include "core/lang/source.h"
#include "core/lang/tree.h"

namespace linnet::lang {

// Reads one file. All its lexical and syntax errors are reported, at most one
// syntax error per token; the tree holds the rest of the file (see tree.h).
// Names go into `names`, which the files of one check share.
//
// Any text is accepted; the recursion is bounded by limits.max_depth. Linear in
// the text, times the nesting of generic arguments at the worst.
Tree ParseFile(const Source& source, NameTable& names,
               DiagnosticList& diagnostics, const Limits& limits = {});

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_PARSER_H_
