// How every document is written.

#ifndef LINNET_CLIENT_RENDER_DUMP_H_
#define LINNET_CLIENT_RENDER_DUMP_H_

#include <string>

#include "nlohmann/json.hpp"

namespace linnet::client {

// Indented by two, with a line break at the end; bytes that are no UTF-8 are
// replaced.
inline std::string Dump(const nlohmann::ordered_json& json) {
  using Handler = nlohmann::ordered_json::error_handler_t;
  return json.dump(2, ' ', /*ensure_ascii=*/false, Handler::replace) + "\n";
}

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_DUMP_H_
