// Any bytes as a model's folder: its card, manifest, bindings and source, with
// zero bytes between them; through everything up to a trace.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/planner/planner.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view rest(reinterpret_cast<const char*>(data), size);
  linnet::planner::Config config;
  config.batch = 2;
  config.context = 16;
  for (const char* path :
       {"nest.toml", "linnet.toml", "bindings.json", "src/lib.linnet"}) {
    const absl::string_view content = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(content.size() < rest.size() ? content.size() + 1
                                                    : rest.size());
    config.model.files.push_back({path, std::string(content)});
  }
  config.model.root_file = "nest.toml";
  linnet::planner::Limits limits;
  limits.max_steps = 10'000;
  limits.max_objects = 20'000;
  const auto prepared = linnet::planner::Prepare(config, limits);
  if (prepared.ok()) (void)(*prepared)->Analyze(config);
  return 0;
}
