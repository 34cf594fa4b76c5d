// Names as 32-bit ids, so that comparing two is comparing integers.

#ifndef LINNET_CORE_LANG_NAME_TABLE_H_
#define LINNET_CORE_LANG_NAME_TABLE_H_

#include <deque>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/base/id.h"

namespace linnet::lang {

struct NameTag;
using NameId = Id<NameTag>;

// The names of all the modules of one check. Ids and texts stay valid for the
// life of the table. Not thread-safe while names are added; reading is.
class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;

  // The id of `text`, new or as given before.
  NameId Intern(absl::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) {
      return found->second;
    }
    const NameId id{static_cast<int32_t>(texts_.size())};
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }

  // The id of `text` if it was interned before.
  std::optional<NameId> Find(absl::string_view text) const {
    const auto found = ids_.find(text);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }

  // The text of a valid id of this table; "" for an invalid one.
  absl::string_view text(NameId id) const {
    if (!id.valid()) return {};
    return texts_[static_cast<size_t>(id.index)];
  }

  int32_t size() const { return static_cast<int32_t>(texts_.size()); }

 private:
  std::deque<std::string> texts_;  // A deque keeps the addresses of its items.
  absl::flat_hash_map<absl::string_view, NameId> ids_;
};

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_NAME_TABLE_H_
