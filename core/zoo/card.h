// A model's card (`nest.toml`) and its weight bindings: what turns a program
// into one particular model.

#ifndef LINNET_CORE_ZOO_CARD_H_
#define LINNET_CORE_ZOO_CARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace linnet::zoo {

// What a generic is bound to, as text: an integer in decimal or a dtype's name.
struct GenericValue {
  std::string name;
  std::string value;
};

struct Card {
  std::string name;  // Empty when the card does not say.
  std::string title, summary, license, family;
  std::vector<std::string> tags;
  // The published parameter count, where counting elements would be wrong.
  std::optional<int64_t> parameters;
  std::string huggingface, github, arxiv, homepage;
  std::string source_path = "src/lib.linnet";  // Relative to the card.
  std::string root;                            // Root block; may be empty.
  std::string entry;                           // Main entry; may be empty.
  std::vector<GenericValue> generics;          // Of the root block.
  std::vector<GenericValue> check;             // Of the main entry.
  // Patterns over paths of states, and the positions that the layers of these
  // KV caches look back: a number, or a generic that is one.
  std::vector<GenericValue> windows;
  bool has_weights = false;
  std::string weights_repo, weights_revision;
  std::vector<std::string> weights_files;
  std::string bindings_file;  // Relative to the card; empty: none.
};

// Reads the text of a card; `path` is for messages. InvalidArgument with the
// place when it is not TOML, a table or key has another type than it must, or
// a key of a known table is not known (with the nearest one). Tables that are
// not known are left to others.
absl::StatusOr<Card> ParseCard(absl::string_view text, absl::string_view path);

// Parameter path to checkpoint tensor, in the order of the file.
using Bindings = std::vector<std::pair<std::string, std::string>>;

// Reads `bindings.json`: one flat object of strings. InvalidArgument when it is
// anything else or names a path twice.
absl::StatusOr<Bindings> ParseBindings(absl::string_view text,
                                       absl::string_view path);

}  // namespace linnet::zoo

#endif  // LINNET_CORE_ZOO_CARD_H_
