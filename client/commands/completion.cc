// linnet completion: scripts with which shells complete linnet's arguments.

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/commands/command.h"

namespace linnet::client {
namespace {

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string CommandNames(const CLI::App& app) {
  return absl::StrJoin(Commands(app), " ",
                       [](std::string* out, const CLI::App* command) {
                         absl::StrAppend(out, command->get_name());
                       });
}

std::string Flags(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      flags.push_back(absl::StrCat("--", name));
    }
  }
  return absl::StrJoin(flags, " ");
}

// Model names come from a server that already runs; none is started for this.
constexpr char kModels[] = "linnet models --names --no-autostart 2>/dev/null";

std::string Bash(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* command : Commands(app)) {
    absl::StrAppend(&cases, "    ", command->get_name(), ") words=\"",
                    Flags(*command), "\" ;;\n");
  }
  return absl::StrCat(
      "_linnet() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\"\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W \"",
      CommandNames(app),
      "\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${COMP_WORDS[1]}\" in\n",
      cases,
      "  esac\n"
      "  if [[ $current != -* ]]; then\n"
      "    case \"${COMP_WORDS[1]}\" in\n"
      "      memory | fit | time | sweep | models | explain) words=\"$(",
      kModels,
      ")\" ;;\n"
      "    esac\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}\n"
      "complete -o default -F _linnet linnet\n");
}

std::string Zsh(const CLI::App& app) {
  // zsh runs the bash script as it is.
  return absl::StrCat("autoload -U +X bashcompinit && bashcompinit\n",
                      Bash(app));
}

std::string Fish(const CLI::App& app) {
  std::string out =
      absl::StrCat("complete -c linnet -n __fish_use_subcommand -f -a '",
                   CommandNames(app), "'\n");
  for (const CLI::App* command : Commands(app)) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        absl::StrAppend(
            &out, "complete -c linnet -n '__fish_seen_subcommand_from ",
            command->get_name(), "' -l ", name, " -d '",
            absl::StrReplaceAll(option->get_description(), {{"'", "\\'"}}),
            "'\n");
      }
    }
  }
  absl::StrAppend(&out,
                  "complete -c linnet -n '__fish_seen_subcommand_from memory "
                  "fit time sweep models explain' -a '(",
                  kModels, ")'\n");
  return out;
}

}  // namespace

Command AddCompletion(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "completion", "a script that completes arguments in a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish");
  return {command, [&app, shell]() -> Outcome {
            if (*shell == "bash") return {kExitOk, Bash(app), ""};
            if (*shell == "zsh") return {kExitOk, Zsh(app), ""};
            if (*shell == "fish") return {kExitOk, Fish(app), ""};
            return UsageError(
                "there is a completion for bash, zsh and fish, "
                "not for `" +
                *shell + "`");
          }};
}

}  // namespace linnet::client
