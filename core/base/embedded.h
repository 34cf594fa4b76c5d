// Files compiled into the binary: the standard library and the model zoo.

#ifndef LINNET_CORE_BASE_EMBEDDED_H_
#define LINNET_CORE_BASE_EMBEDDED_H_

#include "absl/strings/string_view.h"

namespace linnet {

struct EmbeddedFile {
  absl::string_view path;     // Relative to the embedded folder, with '/'.
  absl::string_view content;  // Lives as long as the process.
};

}  // namespace linnet

#endif  // LINNET_CORE_BASE_EMBEDDED_H_
