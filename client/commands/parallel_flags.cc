#include "client/commands/parallel_flags.h"

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace linnet::client {
namespace {

void AddCount(CLI::App& command, const std::string& name,
              const std::string& help, void (v1::Parallel::*set)(int64_t),
              v1::Configuration& config) {
  command.add_option_function<std::string>(
      name,
      [&config, name, set](const std::string& text) {
        int64_t count = 0;
        if (!absl::SimpleAtoi(text, &count) || count < 1) {
          throw CLI::ValidationError(
              name, "must be a whole number, at least 1, not " + text);
        }
        (config.mutable_parallel()->*set)(count);
      },
      help);
}

}  // namespace

void AddParallelFlags(CLI::App& command, v1::Configuration& config) {
  AddCount(command, "--tensor-parallel", "processes that split every weight",
           &v1::Parallel::set_tensor, config);
  command.add_flag_callback(
      "--sequence-parallel",
      [&config] { config.mutable_parallel()->set_sequence(true); },
      "the tensor-parallel processes split residuals and norms by the "
      "sequence");
  AddCount(command, "--expert-parallel",
           "processes that split the experts of every mixture",
           &v1::Parallel::set_expert, config);
  AddCount(command, "--pipeline-parallel",
           "devices of a pipeline, each with a stage of the model",
           &v1::Parallel::set_pipeline, config);
  AddCount(command, "--microbatches",
           "micro-batches of a pipeline, by default as many as devices",
           &v1::Parallel::set_microbatches, config);
  AddCount(command, "--virtual-stages",
           "stages of a pipeline on each device, under interleaved-1f1b (2 by "
           "default) and zero-bubble",
           &v1::Parallel::set_virtual_stages, config);
  command.add_option_function<std::string>(
      "--schedule",
      [&config](const std::string& text) {
        config.mutable_parallel()->set_schedule(text);
      },
      "1f1b (default), gpipe, interleaved-1f1b or zero-bubble: the order of a "
      "training pipeline");
  command.add_option_function<std::string>(
      "--stages",
      [&config](const std::string& text) {
        for (absl::string_view name :
             absl::StrSplit(text, ',', absl::SkipWhitespace())) {
          config.mutable_parallel()->add_stages(std::string(name));
        }
      },
      "the blocks where all stages but the first begin, with commas between, "
      "such as layers.8,layers.16; by default balanced");
}

}  // namespace linnet::client
