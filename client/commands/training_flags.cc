#include "client/commands/training_flags.h"

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace linnet::client {
namespace {

// A flag with a text; `set` is called with it.
template <typename Set>
void AddText(CLI::App& command, const std::string& name,
             const std::string& help, TrainingFlags& flags, Set set) {
  command.add_option_function<std::string>(
      name,
      [&flags, name, set](const std::string& text) {
        flags.needs_training = name;
        set(flags.settings, text);
      },
      help);
}

// The same for one that may be repeated; `add` is called for each.
template <typename Add>
void AddTexts(CLI::App& command, const std::string& name,
              const std::string& help, TrainingFlags& flags, Add add) {
  command
      .add_option_function<std::vector<std::string>>(
          name,
          [&flags, name, add](const std::vector<std::string>& texts) {
            flags.needs_training = name;
            for (const std::string& text : texts) add(flags.settings, text);
          },
          help)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

int64_t Count(const std::string& flag, const std::string& text) {
  int64_t count = 0;
  if (!absl::SimpleAtoi(text, &count) || count < 1) {
    throw CLI::ValidationError(
        flag, "must be a whole number, at least 1, not " + text);
  }
  return count;
}

int32_t Stage(const std::string& text) {
  const int64_t stage = Count("--zero-stage", text);
  if (stage > 3) {
    throw CLI::ValidationError("--zero-stage",
                               "must be 1, 2 or 3, not " + text);
  }
  return static_cast<int32_t>(stage);
}

void AddLoraFlags(CLI::App& command, TrainingFlags& flags) {
  using Settings = v1::TrainingSettings;
  AddText(command, "--lora-rank",
          "adapters of this rank beside linear layers, which are frozen", flags,
          [](Settings& settings, const std::string& text) {
            settings.mutable_lora()->set_rank(Count("--lora-rank", text));
          });
  AddTexts(
      command, "--lora-target",
      "a pattern over linear layers, such as q_proj, by default all of the "
      "block arrays; may be repeated",
      flags, [](Settings& settings, const std::string& text) {
        settings.mutable_lora()->add_targets(text);
      });
  AddText(command, "--lora-dtype", "the dtype of adapters, by default f32",
          flags, [](Settings& settings, const std::string& text) {
            settings.mutable_lora()->set_dtype(text);
          });
  AddText(command, "--lora-base",
          "how frozen linear layers are stored: plain (default), nf4 or "
          "nf4-double",
          flags, [](Settings& settings, const std::string& text) {
            settings.mutable_lora()->set_base_format(text);
          });
}

}  // namespace

void AddTrainingFlags(CLI::App& command, TrainingFlags& flags) {
  command.add_flag("--training", flags.training,
                   "a training step of an entry that returns its loss");
  AddText(command, "--optimizer",
          "sgd, sgd-momentum, adam, adamw (default), adamw-8bit or adafactor",
          flags, [](v1::TrainingSettings& settings, const std::string& text) {
            settings.set_optimizer(text);
          });
  AddText(command, "--master-dtype",
          "the dtype of the copy of the weights that is updated", flags,
          [](v1::TrainingSettings& settings, const std::string& text) {
            settings.set_master_dtype(text);
          });
  AddText(command, "--gradient-dtype",
          "the dtype of gradients, by default that of what is updated", flags,
          [](v1::TrainingSettings& settings, const std::string& text) {
            settings.set_gradient_dtype(text);
          });
  AddTexts(command, "--trainable",
           "a pattern over the paths of the parameters to train, such as "
           "layers.*; may be repeated",
           flags, [](v1::TrainingSettings& settings, const std::string& text) {
             settings.add_trainable(text);
           });
  AddTexts(command, "--checkpoint",
           "none, block, or patterns over block paths: what is computed again "
           "in the backward pass; may be repeated to compare",
           flags, [](v1::TrainingSettings& settings, const std::string& text) {
             settings.add_checkpoints(text);
           });
  AddText(command, "--shards",
          "processes that split every parameter and its states", flags,
          [](v1::TrainingSettings& settings, const std::string& text) {
            settings.set_shards(Count("--shards", text));
          });
  AddText(command, "--zero-stage",
          "what --shards splits: 1 optimizer states, 2 gradients too, 3 "
          "parameters too (default)",
          flags, [](v1::TrainingSettings& settings, const std::string& text) {
            settings.set_zero_stage(Stage(text));
          });
  AddLoraFlags(command, flags);
}

absl::Status FinishTraining(const TrainingFlags& flags,
                            v1::Configuration& config) {
  if (!flags.training) {
    return flags.needs_training.empty()
               ? absl::OkStatus()
               : absl::InvalidArgumentError(
                     absl::StrCat(flags.needs_training,
                                  " says how to train; add --training"));
  }
  *config.mutable_training() = flags.settings;
  return absl::OkStatus();
}

}  // namespace linnet::client
