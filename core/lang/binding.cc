#include "core/lang/binding.h"

#include <algorithm>
#include <cstddef>

namespace linnet::lang {

void Bind(const Generic& generic, const GenericArg& arg, expr::Pool& pool,
          Substitution& substitution) {
  switch (generic.kind) {
    case GenericKind::kDim:
      substitution.dims[generic.dim.symbol()] = arg.dim;
      return;
    case GenericKind::kShape:
      substitution.BindPack(generic.pack, generic.dim, arg.shape, pool);
      return;
    default:
      substitution.dtypes[generic.dtype] = arg.dtype;
  }
}

Substitution BindGenerics(absl::Span<const Generic> generics,
                          absl::Span<const GenericArg> args, expr::Pool& pool) {
  Substitution substitution;
  const size_t count = std::min(generics.size(), args.size());
  for (size_t i = 0; i < count; ++i) {
    Bind(generics[i], args[i], pool, substitution);
  }
  return substitution;
}

}  // namespace linnet::lang
