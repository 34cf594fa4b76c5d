// A model of this machine as the content that a request carries.

#ifndef LINNET_CLIENT_API_BUNDLE_H_
#define LINNET_CLIENT_API_BUNDLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "linnet/v1/model.pb.h"
#include "linnet/v1/models.pb.h"

namespace linnet::client {

// What is read at most; the server has limits of its own.
struct BundleLimits {
  int64_t max_bytes = int64_t{16} << 20;  // All files.
  int32_t max_files = 4096;
  int32_t max_depth = 32;         // Of folders, and of dependencies.
  int32_t max_entries = 100'000;  // Looked at while searching for sources.
};

// Reads the model that `text` means:
//   - a folder with a `nest.toml`, or that file: the card, the bindings it
//     names, `config.json`, and every source below the folder;
//   - a folder with a `config.json` and no card, or that file: a checkpoint of
//     the Hub, with the headers of its safetensors files and their index;
//   - a file that ends in `.gguf`: its header;
//   - a file that ends in `.linnet`: the file, and, when it lies in a package
//   (a
//     folder with a `linnet.toml` above it), the sources its imports can reach:
//     the package's and, in turn, those of its dependencies;
//   - anything else: the name of a built-in model; nothing is read.
//
// Links are followed only to places inside the same folder or package.
// NotFound when a file or the card is missing; InvalidArgument when a manifest
// is no TOML; ResourceExhausted, naming the limit, past a limit.
absl::StatusOr<v1::ModelRef> ReadModel(const std::string& text,
                                       const BundleLimits& limits = {});

// Reads sources to be checked: files, and every `.linnet` file below folders,
// each with the packages that its imports can reach. The errors of ReadModel();
// NotFound for a folder without a source.
absl::StatusOr<v1::ModelsCheckRequest> ReadSources(
    const std::vector<std::string>& paths, const BundleLimits& limits = {});

}  // namespace linnet::client

#endif  // LINNET_CLIENT_API_BUNDLE_H_
