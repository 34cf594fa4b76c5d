// Writes docs/models.md: the built-in models with what the engine says of them.
//   build/release/models_table > docs/models.md
// A test holds the file to this output.

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/planner/bind.h"
#include "core/planner/planner.h"

namespace linnet::planner {
namespace {

constexpr int64_t kTokens = 512;

// 8030261248 as 8,030,261,248.
std::string Grouped(int64_t number) {
  const std::string digits = absl::StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

absl::StatusOr<std::string> Row(const ModelSummary& model) {
  Config config;
  config.model.name = model.name;
  const auto description = Describe(config);
  if (!description.ok()) return description.status();
  // The model's main entry, at one row of kTokens tokens.
  const EntryDescription* main = &description->entries.front();
  for (const EntryDescription& entry : description->entries) {
    if (entry.name == description->main_entry) main = &entry;
  }
  config.entry = main->name;
  for (const std::string& generic : main->generics) {
    const auto role = RoleOf(generic);
    if (role == Role::kBatch) {
      config.batch = 1;
    } else if (role == Role::kContext) {
      config.context = kTokens;
    } else {
      config.bindings.emplace_back(generic, "1");
    }
  }
  const auto prepared = Prepare(config);
  if (!prepared.ok()) return prepared.status();
  const auto summary = (*prepared)->Summarize(config);
  if (!summary.ok()) return summary.status();
  return absl::StrCat("| ", model.name, " | ", model.family, " | ",
                      Grouped(description->parameter_count), " | ",
                      FormatBytes(description->parameter_bytes), " | ",
                      description->cache_bytes_per_token
                          ? FormatBytes(*description->cache_bytes_per_token)
                          : "–",
                      " | `", config.entry, "` | ",
                      FormatBytes(summary->graph_peak_bytes), " | ",
                      FormatBytes(summary->expected_peak_bytes), " |\n");
}

int Run() {
  std::string text =
      "# The built-in models\n\n"
      "Made by `build/release/models_table > docs/models.md`; a test compares "
      "the two.\n\n"
      "Parameters are the elements of every weight a checkpoint holds, tied "
      "ones once (in gpt-oss a byte holds two 4-bit weights, so elements are "
      "not weights). The cache is what one more position of every KV cache "
      "takes at batch 1. The peaks are those of the entry at batch 1, with ";
  absl::StrAppend(&text, kTokens,
                  " tokens where it takes a sequence: the program's own memory "
                  "(caches included), and all that is expected on an H100.\n\n"
                  "| model | family | parameters | weights | cache per token | "
                  "entry | graph peak | expected peak |\n"
                  "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const ModelSummary& model : ListModels()) {
    const auto row = Row(model);
    if (!row.ok()) {
      std::cerr << model.name << ": " << row.status() << "\n";
      return 1;
    }
    text += *row;
  }
  std::cout << text;
  return 0;
}

}  // namespace
}  // namespace linnet::planner

int main() { return linnet::planner::Run(); }
