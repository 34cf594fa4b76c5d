#include "core/ir/ir.h"

#include <cstddef>

#include "absl/strings/string_view.h"

namespace linnet::ir {

absl::string_view OpName(OpKind kind) {
  static constexpr absl::string_view kNames[] = {
#define LINNET_OP(name, text) text,
#include "core/ir/op.def"
  };
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace linnet::ir
