// Substitutions from generic parameters to their arguments.

#ifndef LINNET_CORE_LANG_BINDING_H_
#define LINNET_CORE_LANG_BINDING_H_

#include "absl/types/span.h"
#include "core/expr/pool.h"
#include "core/lang/program.h"
#include "core/lang/type.h"

namespace linnet::lang {

// Adds generic -> arg to `substitution`.
// REQUIRES: the argument is of the generic's kind.
void Bind(const Generic& generic, const GenericArg& arg, expr::Pool& pool,
          Substitution& substitution);

// Of all generics that have an argument: the first generics.size() or
// args.size(), whichever is less.
Substitution BindGenerics(absl::Span<const Generic> generics,
                          absl::Span<const GenericArg> args, expr::Pool& pool);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_BINDING_H_
