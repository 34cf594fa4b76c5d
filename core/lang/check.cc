#include "core/lang/check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/status_macros.h"
#include "core/expr/pool.h"
#include "core/lang/checker.h"
#include "core/lang/module.h"

namespace linnet::lang {
namespace {

// The prelude (section 6.8). Its names are the first of the table.
std::vector<Found> MakePrelude(NameTable& names) {
  std::vector<Found> prelude;
  const auto add = [&](absl::string_view name, Found found) {
    names.Intern(name);
    prelude.push_back(std::move(found));
  };
  for (const DType dtype : kAllDTypes) {
    Found found;
    found.kind = FoundKind::kPreludeDType;
    found.dtype = dtype;
    add(DTypeName(dtype), found);
  }
  Found found;
  found.kind = FoundKind::kTensorWord;
  add("Tensor", found);
  found.kind = FoundKind::kUnimplemented;
  for (const char* name : {"pad", "gather", "scatter"}) add(name, found);
  found.kind = FoundKind::kPreludeFunction;
  // In the order of Prelude.
  constexpr absl::string_view kFunctions[] = {
      "cast",       "exp",          "log",    "sqrt",   "rsqrt",
      "sin",        "cos",          "tanh",   "abs",    "min",
      "max",        "shl",          "shr",    "select", "reshape",
      "permute",    "broadcast_to", "concat", "iota",   "fill",
      "cumsum",     "program_id",   "load",   "store",  "atomic_add",
      "atomic_max", "atomic_min"};
  int next = 0;
  for (const absl::string_view name : kFunctions) {
    found.prelude = static_cast<Prelude>(next++);
    add(name, found);
  }
  return prelude;
}

}  // namespace

Checker::Checker(Program* program, IdMap<ModuleId, LoadedModule> modules,
                 DiagnosticList* diagnostics)
    : program_(*program),
      types_(*program->types),
      pool_(*program->pool),
      names_(*program->names),
      diagnostics_(*diagnostics),
      underscore_(program->names->Intern("_")),
      no_facts_(program->pool.get()),
      prelude_(MakePrelude(*program->names)) {
  for (LoadedModule& module : modules) {
    ModuleScope scope;
    scope.targets = std::move(module.targets);
    scope.is_standard = module.is_standard;
    scopes_.push_back(std::move(scope));
    ModuleInfo out;
    out.path = std::move(module.path);
    out.tree = std::move(module.tree);
    out.exprs.resize(static_cast<size_t>(out.tree.num_exprs()));
    out.stmts.resize(static_cast<size_t>(out.tree.num_stmts()));
    out.patterns.resize(static_cast<size_t>(out.tree.num_patterns()));
    program_.modules.push_back(std::move(out));
  }
  program_.root = ModuleId{0};
}

void Checker::Run() {
  const int32_t num_modules = program_.modules.size();
  for (ModuleId id{0}; id.index < num_modules; ++id.index) CollectModule(id);
  for (ModuleId id{0}; id.index < num_modules; ++id.index) CollectImports(id);
  for (ConstId id{0}; id.index < program_.constants.size(); ++id.index) {
    EnsureConst(id);
  }
  for (size_t i = 0; i < aliases_.size(); ++i) {
    EnsureAlias(static_cast<int32_t>(i));
  }
  for (StructId id{0}; id.index < program_.structs.size(); ++id.index) {
    ReadStructFields(id);
  }
  for (BlockId id{0}; id.index < program_.blocks.size(); ++id.index) {
    ReadBlockMembers(id);
  }
  CheckContainment();
  for (FunctionId id{0}; id.index < program_.functions.size(); ++id.index) {
    ReadSignature(id);
  }
  for (FunctionId id{0}; id.index < program_.functions.size(); ++id.index) {
    CheckKernelUse(id);
    CheckDefaults(id);
    CheckBody(id);
  }
  CheckRecursion();
  Warn();
}

absl::StatusOr<CheckResult> Check(const CheckInput& input) {
  auto program = std::make_shared<Program>();
  program->names = std::make_shared<NameTable>();
  program->sources = std::make_shared<SourceSet>();
  program->pool = std::make_shared<expr::Pool>();
  program->types = std::make_shared<TypeTable>();
  MakePrelude(*program->names);
  CheckResult result;
  result.diagnostics = DiagnosticList(input.max_errors);
  LINNET_ASSIGN_OR_RETURN(auto modules,
                          LoadModules(input, *program->names, *program->sources,
                                      result.diagnostics));
  // What a syntax error left out would be reported again where it is used.
  const bool readable =
      std::none_of(modules.begin(), modules.end(),
                   [](const LoadedModule& m) { return m.tree.has_errors; });
  if (readable) {
    Checker(program.get(), std::move(modules), &result.diagnostics).Run();
  }
  if (result.diagnostics.has_errors()) result.diagnostics.DropWarnings();
  result.diagnostics.Sort();
  result.sources = program->sources;
  if (!result.diagnostics.has_errors()) result.program = std::move(program);
  return result;
}

}  // namespace linnet::lang
