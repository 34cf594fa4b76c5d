// Loading of modules: which files a root file reaches through its imports
// (language.md section 3.1).

#ifndef LINNET_CORE_LANG_MODULE_H_
#define LINNET_CORE_LANG_MODULE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/id.h"
#include "core/lang/check.h"
#include "core/lang/diagnostic.h"
#include "core/lang/name_table.h"
#include "core/lang/program.h"
#include "core/lang/source.h"
#include "core/lang/tree.h"

namespace linnet::lang {

struct LoadedModule {
  std::string path;  // As written after `module`.
  Tree tree;
  bool is_standard = false;  // Of the standard library.
  // The module that each of the tree's `uses` names; invalid when there is
  // none (reported).
  std::vector<ModuleId> targets;
};

// The root first, then the others in the order they were reached. Missing
// modules, cycles, bad manifests and syntax errors are reported.
//
// Returns NotFound when there is no root file, ResourceExhausted when more
// than `input.max_modules` modules are reached.
absl::StatusOr<IdMap<ModuleId, LoadedModule>> LoadModules(
    const CheckInput& input, NameTable& names, SourceSet& sources,
    DiagnosticList& diagnostics);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_MODULE_H_
