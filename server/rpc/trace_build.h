// How the calls of the planner have traces built.

#ifndef LINNET_SERVER_RPC_TRACE_BUILD_H_
#define LINNET_SERVER_RPC_TRACE_BUILD_H_

#include <memory>

#include "core/planner/planner.h"
#include "server/cache/trace_cache.h"
#include "server/rpc/context.h"

namespace linnet::server {

// Builds the trace of `config` and says so in the log, since that is what takes
// time. `context` must outlive it.
TraceCache::Build MakeBuild(const Context& context,
                            std::shared_ptr<const planner::Config> config);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_TRACE_BUILD_H_
