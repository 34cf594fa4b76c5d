#include "client/commands/config_flags.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/commands/parallel_flags.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"

namespace linnet::client {
namespace {

void AddSize(CLI::App& command, const std::string& names,
             const std::string& help, void (v1::Configuration::*set)(int64_t),
             v1::Configuration& config) {
  // Errors name the flag as the help text lists it first.
  const std::string flag = names.substr(0, names.find(','));
  command.add_option_function<std::string>(
      names,
      [&config, set, flag](const std::string& text) {
        int64_t size = 0;
        if (!absl::SimpleAtoi(text, &size) || size < 1) {
          throw CLI::ValidationError(
              flag, "must be a whole number, at least 1, not " + text);
        }
        (config.*set)(size);
      },
      help);
}

void AddText(CLI::App& command, const std::string& name,
             const std::string& help,
             void (*set)(v1::Configuration&, const std::string&),
             v1::Configuration& config) {
  command.add_option_function<std::string>(
      name, [&config, set](const std::string& text) { set(config, text); },
      help);
}

void SetBackend(v1::Configuration& config, const std::string& text) {
  if (text == "cuda") {
    config.set_backend(v1::BACKEND_CUDA);
  } else if (text == "generic") {
    config.set_backend(v1::BACKEND_GENERIC);
  } else {
    throw CLI::ValidationError("--backend",
                               "must be cuda or generic, not " + text);
  }
}

void SetKvLayout(v1::Configuration& config, const std::string& text) {
  if (text == "full") {
    config.set_kv_layout(v1::KV_LAYOUT_FULL);
  } else if (text == "rolling") {
    config.set_kv_layout(v1::KV_LAYOUT_ROLLING);
  } else {
    throw CLI::ValidationError("--kv-layout",
                               "must be full or rolling, not " + text);
  }
}

void SetContextBytes(v1::Configuration& config, const std::string& text) {
  const absl::StatusOr<int64_t> bytes = ParseBytes(text);
  if (!bytes.ok()) {
    throw CLI::ValidationError("--context-bytes",
                               std::string(bytes.status().message()));
  }
  config.set_context_bytes(*bytes);
}

}  // namespace

void AddConfigFlags(CLI::App& command, ConfigFlags& flags) {
  v1::Configuration& config = flags.model.config;
  AddConfigFlagsButSizes(command, flags);
  AddSize(command, "--batch", "binds the generics B and Batch",
          &v1::Configuration::set_batch, config);
  AddSize(command, "--seq-len,--context", "binds S, P, Seq and SeqLen",
          &v1::Configuration::set_context, config);
  AddSize(command, "--cache-len",
          "binds MaxSeq; follows the sequence length when not given",
          &v1::Configuration::set_cache_len, config);
}

void AddConfigFlagsButSizes(CLI::App& command, ConfigFlags& flags) {
  v1::Configuration& config = flags.model.config;
  command.add_option("MODEL", flags.model.model,
                     "a built-in model, a .linnet file, or a model folder");
  AddEntryFlags(command, flags.model);
  AddModelFlags(command, flags.model);
  AddText(command, "--backend", "cuda (default) or generic", SetBackend,
          config);
  AddText(
      command, "--kv-dtype", "the dtype a runtime stores KV caches in",
      [](v1::Configuration& c, const std::string& text) {
        c.set_kv_dtype(text);
      },
      config);
  AddSize(command, "--kv-block-size", "tokens of a page of a paged KV cache",
          &v1::Configuration::set_kv_block_size_tokens, config);
  AddText(command, "--kv-layout",
          "full (default), or rolling: layers with a window keep its positions "
          "only",
          SetKvLayout, config);
  AddText(command, "--context-bytes",
          "what the CUDA context takes, when known, such as 500MiB",
          SetContextBytes, config);
  command.add_flag_callback(
      "--compiled", [&config] { config.set_compiled(true); },
      "calls are issued by a compiled graph");
  AddTrainingFlags(command, flags.training);
  AddParallelFlags(command, config);
  AddServerFlags(command, flags.server);
}

absl::StatusOr<v1::Configuration> FinishConfig(const char* command,
                                               ConfigFlags& flags) {
  if (flags.model.model.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("which model? try `linnet ", command,
                     " MODEL`, and `linnet models` for the built-in ones"));
  }
  LINNET_RETURN_IF_ERROR(FinishModel(flags.model));
  LINNET_RETURN_IF_ERROR(FinishTraining(flags.training, flags.model.config));
  if (const char* config = std::getenv("CUBLAS_WORKSPACE_CONFIG")) {
    flags.model.config.set_cublas_workspace_config(config);
  }
  return std::move(flags.model.config);
}

}  // namespace linnet::client
