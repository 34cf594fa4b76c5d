// `linnet.toml` (language.md section 3.4).

#ifndef LINNET_CORE_LANG_MANIFEST_H_
#define LINNET_CORE_LANG_MANIFEST_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/lang/diagnostic.h"
#include "core/lang/source.h"

namespace linnet::lang {

inline constexpr absl::string_view kManifestName = "linnet.toml";

// One dependency: where it is and where the manifest says so.
struct Dependency {
  std::string directory;  // Relative to the bundle; "" is its top.
  Span span;
};

struct Manifest {
  absl::flat_hash_map<std::string, Dependency> dependencies;
};

// Reads the manifest of the package in `directory`. What is wrong is reported
// as E5001, and what is right is still returned.
Manifest ReadManifest(const Source& source, absl::string_view directory,
                      DiagnosticList& diagnostics);

// `path` relative to `directory`, without `.` and `..`; nothing when it leaves
// the bundle or is absolute. JoinPath("a/b", "../c") is "a/c".
std::optional<std::string> JoinPath(absl::string_view directory,
                                    absl::string_view path);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_MANIFEST_H_
