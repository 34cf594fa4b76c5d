#include "client/render/explanation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace linnet::client {

using Json = nlohmann::ordered_json;

std::string RenderExplanation(const v1::ModelsExplainResponse& response) {
  std::string out =
      absl::StrCat("Library calls of `", response.entry(), "` of ",
                   response.model(), " under `", response.numerics(), "`\n");
  for (const v1::LibraryCall& call : response.calls()) {
    absl::StrAppend(
        &out, "\n", call.op(), "  x ", call.count(), "\n  ",
        call.has_implementation() ? call.implementation() : "its own body",
        "\n  ", call.reason(), "\n");
    if (!call.first_scope().empty()) {
      absl::StrAppend(&out, "  first in `", call.first_scope(), "`\n");
    }
  }
  if (response.calls().empty()) absl::StrAppend(&out, "\nnone\n");
  return out;
}

std::string ExplanationJson(const v1::ModelsExplainResponse& response) {
  Json calls = Json::array();
  for (const v1::LibraryCall& call : response.calls()) {
    calls.push_back({{"op", call.op()},
                     {"count", call.count()},
                     {"implementation", call.has_implementation()
                                            ? Json(call.implementation())
                                            : Json(nullptr)},
                     {"reason", call.reason()},
                     {"first_scope", call.first_scope()}});
  }
  const Json document = {{"version", 1},
                         {"model", response.model()},
                         {"entry", response.entry()},
                         {"numerics", response.numerics()},
                         {"calls", calls}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace linnet::client
