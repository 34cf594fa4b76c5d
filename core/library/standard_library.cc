#include "core/library/standard_library.h"

#include <cstddef>

namespace linnet {

extern const EmbeddedFile kStdFiles[];
extern const int kStdFilesCount;

namespace library {

absl::Span<const EmbeddedFile> StandardLibrary() {
  return absl::MakeConstSpan(kStdFiles, static_cast<size_t>(kStdFilesCount));
}

}  // namespace library
}  // namespace linnet
