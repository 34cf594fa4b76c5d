// Which implementations an entry gets, as text and JSON.

#ifndef LINNET_CLIENT_RENDER_EXPLANATION_H_
#define LINNET_CLIENT_RENDER_EXPLANATION_H_

#include <string>

#include "linnet/v1/models.pb.h"

namespace linnet::client {

// One call a paragraph: the op and how often, what it runs with, why.
std::string RenderExplanation(const v1::ModelsExplainResponse& response);

std::string ExplanationJson(const v1::ModelsExplainResponse& response);

}  // namespace linnet::client

#endif  // LINNET_CLIENT_RENDER_EXPLANATION_H_
