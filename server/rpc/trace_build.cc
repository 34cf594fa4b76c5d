#include "server/rpc/trace_build.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/log/log.h"

namespace linnet::server {
namespace {

std::string ModelText(const planner::Config& config) {
  return config.model.name.empty() ? config.model.root_file : config.model.name;
}

}  // namespace

TraceCache::Build MakeBuild(const Context& context,
                            std::shared_ptr<const planner::Config> config) {
  return
      [&context, config = std::move(config)](const planner::StopFunction& stop)
          -> absl::StatusOr<TraceCache::Trace> {
        Log(LogLevel::kDebug, "trace_started", {{"model", ModelText(*config)}});
        const absl::Time start = absl::Now();
        auto prepared = context.engine.prepare(*config, context.limits, stop);
        Log(LogLevel::kInfo, "traced",
            {{"model", ModelText(*config)},
             {"seconds", absl::ToDoubleSeconds(absl::Now() - start)},
             {"bytes", prepared.ok() ? (*prepared)->ByteSize() : 0},
             {"status", absl::StatusCodeToString(prepared.status().code())}});
        return prepared;
      };
}

}  // namespace linnet::server
