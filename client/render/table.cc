#include "client/render/table.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace linnet::client {

std::string RenderTable(const std::vector<std::vector<std::string>>& rows,
                        absl::string_view indent,
                        const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string text(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string fill(widths[i] - row[i].size(), ' ');
      const bool at_right =
          std::find(right.begin(), right.end(), i) != right.end();
      absl::StrAppend(&text, at_right ? fill : "", row[i], at_right ? "" : fill,
                      "  ");
    }
    text.erase(text.find_last_not_of(' ') + 1);
    absl::StrAppend(&out, text, "\n");
  }
  return out;
}

}  // namespace linnet::client
