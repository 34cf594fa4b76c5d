// Small programs for tests: prepared from the text of one file.

#ifndef LINNET_TESTS_SUPPORT_PROGRAM_H_
#define LINNET_TESTS_SUPPORT_PROGRAM_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "core/planner/planner.h"
#include "core/planner/prepared.h"
#include "gtest/gtest.h"

namespace linnet::testing_support {

// A configuration of the one-file model `source`.
inline planner::Config ConfigOf(absl::string_view source) {
  planner::Config config;
  config.model.files.push_back({"model.linnet", std::string(source)});
  config.model.root_file = "model.linnet";
  return config;
}

// What a status says, with the diagnostics it carries.
inline std::string FullText(const absl::Status& status) {
  std::string text(status.message());
  if (const auto rendered = status.GetPayload(planner::kRenderedPayload)) {
    text += "\n" + std::string(*rendered);
  }
  return text;
}

// The prepared entry of `config`; fails the test when there is none.
inline std::shared_ptr<const planner::PreparedEntry> PrepareOrFail(
    const planner::Config& config) {
  const auto prepared = planner::Prepare(config);
  if (!prepared.ok()) {
    ADD_FAILURE() << FullText(prepared.status());
    return nullptr;
  }
  return std::static_pointer_cast<const planner::PreparedEntry>(*prepared);
}

}  // namespace linnet::testing_support

#endif  // LINNET_TESTS_SUPPORT_PROGRAM_H_
