// Text in columns.

#ifndef LINNET_CLIENT_RENDER_TABLE_H_
#define LINNET_CLIENT_RENDER_TABLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace linnet::client {

// Columns as wide as their longest cell, two blanks between them. Those in
// `right` have their cells at the right.
std::string RenderTable(const std::vector<std::vector<std::string>>& rows,
                        absl::string_view indent,
                        const std::vector<size_t>& right = {});

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_TABLE_H_
