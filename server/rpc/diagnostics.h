// Diagnostics from the engine's JSON to the protocol.

#ifndef LINNET_SERVER_RPC_DIAGNOSTICS_H_
#define LINNET_SERVER_RPC_DIAGNOSTICS_H_

#include <string>
#include <vector>

#include "linnet/v1/diagnostic.pb.h"

namespace linnet::server {

// The reports of a document as language.md 11.1 defines it. Empty when `text`
// is not such a document.
std::vector<v1::Diagnostic> ParseDiagnostics(const std::string& text);

}  // namespace linnet::server

#endif  // LINNET_SERVER_RPC_DIAGNOSTICS_H_
