// The sources of the standard library, embedded in the binary.

#ifndef LINNET_CORE_LIBRARY_STANDARD_LIBRARY_H_
#define LINNET_CORE_LIBRARY_STANDARD_LIBRARY_H_

#include "absl/types/span.h"
#include "core/base/embedded.h"

namespace linnet::library {

// Every module, sorted by path: `nn/linear.linnet` is std.nn.linear.
absl::Span<const EmbeddedFile> StandardLibrary();

}  // namespace linnet::library

#endif  // LINNET_CORE_LIBRARY_STANDARD_LIBRARY_H_
