#include "client/commands/model_flags.h"

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/api/bundle.h"
#include "core/base/status_macros.h"
#include "linnet/v1/model.pb.h"

namespace linnet::client {
namespace {

void SetNumerics(v1::Configuration& config, const std::string& text) {
  if (text == "exact") {
    config.set_numerics(v1::NUMERICS_EXACT);
  } else if (text == "equivalent") {
    config.set_numerics(v1::NUMERICS_EQUIVALENT);
  } else if (text == "fast") {
    config.set_numerics(v1::NUMERICS_FAST);
  } else {
    throw CLI::ValidationError(
        "--numerics", "must be exact, equivalent or fast, not " + text);
  }
}

}  // namespace

void AddEntryFlags(CLI::App& command, ModelFlags& flags) {
  v1::Configuration& config = flags.config;
  command.add_option_function<std::string>(
      "--entry", [&config](const std::string& text) { config.set_entry(text); },
      "the entry to run");
  command.add_option_function<std::string>(
      "--numerics",
      [&config](const std::string& text) { SetNumerics(config, text); },
      "exact, equivalent or fast (default)");
}

void AddModelFlags(CLI::App& command, ModelFlags& flags) {
  v1::Configuration& config = flags.config;
  command.add_option_function<std::string>(
      "--root", [&config](const std::string& text) { config.set_root(text); },
      "the root block, when a file has several public ones");
  command.add_option_function<std::string>(
      "--dtype", [&config](const std::string& text) { config.set_dtype(text); },
      "the dtype of every float dtype generic of the root block");
  command
      .add_option("--bind", flags.bindings,
                  "G=VALUE: a generic and its value; may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option_function<std::vector<std::string>>(
          "--optional",
          [&config](const std::vector<std::string>& paths) {
            config.mutable_optionals()->Assign(paths.begin(), paths.end());
          },
          "the path of an optional parameter or block that is present; may be "
          "repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag_callback(
      "--no-bindings", [&config] { config.set_ignore_weight_bindings(true); },
      "ignore the card's weight bindings: nothing tied, nothing optional "
      "present");
}

absl::Status FinishModel(ModelFlags& flags) {
  for (const std::string& binding : flags.bindings) {
    const size_t equals = binding.find('=');
    if (equals == 0 || equals == std::string::npos ||
        equals + 1 == binding.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--bind takes G=VALUE, such as H=1024, not `", binding, "`"));
    }
    const auto [place, is_new] = flags.config.mutable_bindings()->insert(
        {binding.substr(0, equals), binding.substr(equals + 1)});
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind gives `", binding.substr(0, equals), "` twice"));
    }
  }
  LINNET_ASSIGN_OR_RETURN(*flags.config.mutable_model(),
                          ReadModel(flags.model));
  return absl::OkStatus();
}

}  // namespace linnet::client
