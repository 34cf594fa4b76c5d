#include "client/render/check.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "linnet/v1/diagnostic.pb.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using Json = nlohmann::ordered_json;

std::string Count(int64_t count, const char* what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

Json PositionJson(const v1::Position& position) {
  return {{"line", position.line()},
          {"column", position.column()},
          {"offset", position.offset_bytes()}};
}

Json LocationJson(const v1::Location& location) {
  return {{"file", location.file()},
          {"start", PositionJson(location.start())},
          {"end", PositionJson(location.end())}};
}

template <typename Texts>
Json List(const Texts& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

Json DiagnosticJson(const v1::Diagnostic& diagnostic) {
  Json related = Json::array();
  for (const v1::RelatedPlace& place : diagnostic.related()) {
    related.push_back({{"location", LocationJson(place.location())},
                       {"message", place.message()}});
  }
  return {{"code", diagnostic.code()},
          {"severity",
           diagnostic.severity() == v1::SEVERITY_WARNING ? "warning" : "error"},
          {"message", diagnostic.message()},
          {"label", diagnostic.label()},
          {"location", diagnostic.has_location()
                           ? LocationJson(diagnostic.location())
                           : Json(nullptr)},
          {"related", related},
          {"notes", List(diagnostic.notes())},
          {"help", List(diagnostic.help())}};
}

}  // namespace

std::string RenderCheck(const v1::ModelsCheckResponse& response) {
  return absl::StrCat(response.text(), response.text().empty() ? "" : "\n",
                      Count(response.num_errors(), "error"), ", ",
                      Count(response.num_warnings(), "warning"), "\n");
}

std::string CheckJson(const v1::ModelsCheckResponse& response) {
  Json list = Json::array();
  for (const v1::Diagnostic& diagnostic : response.diagnostics()) {
    list.push_back(DiagnosticJson(diagnostic));
  }
  const Json document = {{"version", 1},
                         {"diagnostics", list},
                         {"summary",
                          {{"errors", response.num_errors()},
                           {"warnings", response.num_warnings()}}}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace linnet::client
