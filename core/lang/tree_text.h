// Syntax trees as compact text, for tests and debugging.
//
// Expressions are in prefix form, `a + b * c` being `(+ a (* b c))`; everything
// else looks like source text, one item a line. A generic argument that was
// read as an expression begins with `#`.

#ifndef LINNET_CORE_LANG_TREE_TEXT_H_
#define LINNET_CORE_LANG_TREE_TEXT_H_

#include <string>

#include "core/lang/name_table.h"
#include "core/lang/tree.h"

namespace linnet::lang {

std::string TreeText(const Tree& tree, const NameTable& names);
std::string ExprText(const Tree& tree, const NameTable& names, ExprId id);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_TREE_TEXT_H_
