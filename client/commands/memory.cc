// linnet memory: how much memory a model needs.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/model_flags.h"
#include "client/commands/parallel_flags.h"
#include "client/commands/training_flags.h"
#include "client/render/json.h"
#include "client/render/report.h"
#include "core/base/bytes.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {
namespace {

struct Flags {
  ServerFlags server;
  ModelFlags model;
  TrainingFlags training;
  bool why = false;
};

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

void AddFlags(CLI::App& command, Flags& flags) {
  v1::Configuration& config = flags.model.config;
  command.add_option("MODEL", flags.model.model,
                     "a built-in model, a .linnet file, or a model folder");
  AddEntryFlags(command, flags.model);
  AddModelFlags(command, flags.model);
  AddText(command, "--backend", "cuda (default) or generic", SetBackend,
          config);
  AddSize(command, "--batch", "binds the generics B and Batch",
          &v1::Configuration::set_batch, config);
  AddSize(command, "--seq-len,--context", "binds S, P, Seq and SeqLen",
          &v1::Configuration::set_context, config);
  AddSize(command, "--cache-len",
          "binds MaxSeq; follows the sequence length when not given",
          &v1::Configuration::set_cache_len, config);
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
  command.add_flag("--why", flags.why,
                   "what is in memory over the step, and which tensors at its "
                   "peak");
  AddServerFlags(command, flags.server);
}

Outcome RunMemory(Flags& flags) {
  if (flags.model.model.empty()) {
    return UsageError(
        "which model? try `linnet memory MODEL`, and `linnet "
        "models` for the built-in ones");
  }
  if (absl::Status status = FinishModel(flags.model); !status.ok()) {
    return Failure(status);
  }
  if (absl::Status status = FinishTraining(flags.training, flags.model.config);
      !status.ok()) {
    return Failure(status);
  }
  v1::AnalyzeRequest request;
  request.set_view(flags.why ? v1::VIEW_TIMELINE : v1::VIEW_FULL);
  request.mutable_config()->Swap(&flags.model.config);
  if (const char* config = std::getenv("CUBLAS_WORKSPACE_CONFIG")) {
    request.mutable_config()->set_cublas_workspace_config(config);
  }
  const auto client = Client::Connect(flags.server.connect);
  if (!client.ok()) return Failure(client.status());
  const auto response = (*client)->Analyze(request);
  if (!response.ok()) return Failure(response.status());
  return {kExitOk,
          flags.server.json ? ReportJson(*response, flags.model.model)
                            : RenderReport(*response),
          ""};
}

}  // namespace

Command AddMemory(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "memory", "how much memory a model needs, before it runs");
  auto flags = std::make_shared<Flags>();
  AddFlags(*command, *flags);
  return {command, [flags] { return RunMemory(*flags); }};
}

}  // namespace linnet::client
