#include "server/rpc/diagnostics.h"

#include <cstdint>

#include "nlohmann/json.hpp"

namespace linnet::server {
namespace {

using nlohmann::json;

void FillPosition(const json& from, v1::Position& to) {
  to.set_line(from.value("line", int32_t{0}));
  to.set_column(from.value("column", int32_t{0}));
  to.set_offset_bytes(from.value("offset", int64_t{0}));
}

void FillLocation(const json& from, v1::Location& to) {
  to.set_file(from.value("file", ""));
  if (from.contains("start")) FillPosition(from["start"], *to.mutable_start());
  if (from.contains("end")) FillPosition(from["end"], *to.mutable_end());
}

bool HasLocation(const json& from) {
  return from.contains("location") && from["location"].is_object();
}

v1::Diagnostic ToDiagnostic(const json& from) {
  v1::Diagnostic to;
  to.set_code(from.value("code", ""));
  to.set_severity(from.value("severity", "") == "warning" ? v1::SEVERITY_WARNING
                                                          : v1::SEVERITY_ERROR);
  to.set_message(from.value("message", ""));
  if (from.contains("label") && from["label"].is_string()) {
    to.set_label(from["label"].get<std::string>());
  }
  if (HasLocation(from)) FillLocation(from["location"], *to.mutable_location());
  for (const json& related : from.value("related", json::array())) {
    v1::RelatedPlace& place = *to.add_related();
    place.set_message(related.value("message", ""));
    if (HasLocation(related)) {
      FillLocation(related["location"], *place.mutable_location());
    }
  }
  for (const json& note : from.value("notes", json::array())) {
    to.add_notes(note.get<std::string>());
  }
  for (const json& help : from.value("help", json::array())) {
    to.add_help(help.get<std::string>());
  }
  return to;
}

}  // namespace

std::vector<v1::Diagnostic> ParseDiagnostics(const std::string& text) {
  std::vector<v1::Diagnostic> diagnostics;
  try {
    const json document = json::parse(text);
    for (const json& item : document.value("diagnostics", json::array())) {
      diagnostics.push_back(ToDiagnostic(item));
    }
  } catch (const json::exception&) {
    diagnostics.clear();
  }
  return diagnostics;
}

}  // namespace linnet::server
