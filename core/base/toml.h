// toml++, as everything here includes it.
//
// Version 3.3 states as a fact that the key of a table header begins like a
// key, so that a release build may do anything at all with `[&`, and others
// abort. Each such statement is followed by a check, so here they say nothing.

#ifndef LINNET_CORE_BASE_TOML_H_
#define LINNET_CORE_BASE_TOML_H_

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#include "toml++/toml.h"
#pragma pop_macro("NDEBUG")

#endif  // LINNET_CORE_BASE_TOML_H_
