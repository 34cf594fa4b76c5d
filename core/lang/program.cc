#include "core/lang/program.h"

#include "absl/strings/string_view.h"

namespace linnet::lang {

GenericArg Generic::AsArg() const {
  switch (kind) {
    case GenericKind::kDim:
      return GenericArg::Dim(dim);
    case GenericKind::kShape:
      return GenericArg::ShapeOf({Unit{dim, pack}});
    default:
      return GenericArg::DTypeOf(DTypeRef::Of(dtype));
  }
}

absl::string_view Program::name(NameId id) const { return names->text(id); }

}  // namespace linnet::lang
