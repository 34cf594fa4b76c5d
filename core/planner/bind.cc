#include "core/planner/bind.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/dtype.h"
#include "core/base/status_macros.h"
#include "core/planner/error.h"

namespace linnet::planner {
namespace {

using lang::GenericKind;
using trace::ConcreteArg;
using trace::ConcreteArgs;

std::vector<absl::string_view> Views(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

bool Admits(GenericKind kind, DType dtype) {
  switch (kind) {
    case GenericKind::kDType:
      return true;
    case GenericKind::kNumeric:
      return IsNumeric(dtype);
    case GenericKind::kInteger:
      return IsInteger(dtype);
    case GenericKind::kFloat:
      return IsFloat(dtype);
    default:
      return false;
  }
}

absl::string_view ClassText(GenericKind kind) {
  switch (kind) {
    case GenericKind::kNumeric:
      return "a numeric dtype";
    case GenericKind::kInteger:
      return "an integer dtype";
    case GenericKind::kFloat:
      return "a float dtype";
    default:
      return "a dtype";
  }
}

absl::string_view RoleFlag(Role role) {
  switch (role) {
    case Role::kBatch:
      return "--batch";
    case Role::kContext:
      return "--seq-len";
    case Role::kCache:
      break;
  }
  return "--cache-len";
}

// Public blocks of the root module that have entries.
std::vector<lang::BlockId> RootCandidates(const lang::Program& program) {
  std::vector<lang::BlockId> found;
  for (int32_t i = 0; i < program.blocks.size(); ++i) {
    const lang::Block& block = program.blocks[lang::BlockId{i}];
    if (block.module == program.root && !block.outer.valid() &&
        block.is_public && !EntriesOf(program, lang::BlockId{i}).empty()) {
      found.push_back(lang::BlockId{i});
    }
  }
  return found;
}

std::vector<std::string> EntryNames(const lang::Program& program,
                                    const std::vector<lang::FunctionId>& ids) {
  std::vector<std::string> names;
  for (lang::FunctionId id : ids) {
    names.emplace_back(program.name(program.functions[id].name));
  }
  return names;
}

std::optional<lang::FunctionId> EntryNamed(
    const lang::Program& program, const std::vector<lang::FunctionId>& ids,
    absl::string_view name) {
  for (lang::FunctionId id : ids) {
    if (program.name(program.functions[id].name) == name) return id;
  }
  return std::nullopt;
}

}  // namespace

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kBatch:
      return "batch";
    case Role::kContext:
      return "context";
    case Role::kCache:
      break;
  }
  return "cache";
}

std::optional<Role> RoleOf(absl::string_view generic) {
  if (generic == "B" || generic == "Batch") return Role::kBatch;
  if (generic == "S" || generic == "P" || generic == "Seq" ||
      generic == "SeqLen") {
    return Role::kContext;
  }
  if (generic == "MaxSeq") return Role::kCache;
  return std::nullopt;
}

bool IsFree(const Config& config, Role role) {
  switch (role) {
    case Role::kBatch:
      return config.batch.has_value();
    case Role::kContext:
      return config.context.has_value();
    case Role::kCache:
      break;
  }
  return config.cache_len.has_value() || config.context.has_value();
}

std::vector<lang::FunctionId> EntriesOf(const lang::Program& program,
                                        lang::BlockId root) {
  std::vector<lang::FunctionId> entries;
  for (int32_t i = 0; i < program.functions.size(); ++i) {
    const lang::FunctionId id{i};
    const lang::Function& function = program.functions[id];
    if (function.kind == lang::FunctionKind::kEntry &&
        function.module == program.root && function.block == root) {
      entries.push_back(id);
    }
  }
  return entries;
}

absl::StatusOr<lang::BlockId> FindRoot(const Model& model,
                                       const Config& config) {
  const lang::Program& program = *model.program->source;
  const std::string& wanted =
      !config.root.empty() ? config.root : model.card.root;
  const std::vector<lang::BlockId> candidates = RootCandidates(program);
  std::vector<std::string> names;
  for (lang::BlockId id : candidates) {
    names.emplace_back(program.name(program.blocks[id].name));
  }
  if (!wanted.empty()) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == wanted) return candidates[i];
    }
    return UnknownName(absl::StatusCode::kNotFound,
                       absl::StrCat("`", model.name, "` has no public block `",
                                    wanted, "` with entries"),
                       wanted, Views(names));
  }
  if (candidates.size() == 1) return candidates[0];
  if (candidates.empty()) return lang::BlockId();
  return absl::InvalidArgumentError(
      absl::StrCat("`", model.name,
                   "` has several blocks with entries; say which with "
                   "--root: ",
                   absl::StrJoin(names, ", ")));
}

absl::StatusOr<Target> FindTarget(const Model& model, const Config& config) {
  const lang::Program& program = *model.program->source;
  Target target;
  // A module-level entry needs no root block.
  const std::vector<lang::FunctionId> loose = EntriesOf(program, {});
  if (config.root.empty() && !config.entry.empty()) {
    if (const auto id = EntryNamed(program, loose, config.entry)) {
      target.entry = *id;
      return target;
    }
  }
  LINNET_ASSIGN_OR_RETURN(target.root, FindRoot(model, config));
  const std::vector<lang::FunctionId> entries = EntriesOf(program, target.root);
  const std::vector<std::string> names = EntryNames(program, entries);
  if (entries.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`", model.name, "` has no entry; declare one with `pub entry`"));
  }
  const std::string& wanted =
      !config.entry.empty() ? config.entry : model.card.entry;
  if (!wanted.empty()) {
    if (const auto id = EntryNamed(program, entries, wanted)) {
      target.entry = *id;
      return target;
    }
    return UnknownName(
        absl::StatusCode::kNotFound,
        absl::StrCat("`", model.name, "` has no entry `", wanted, "`"), wanted,
        Views(names));
  }
  if (entries.size() == 1) {
    target.entry = entries[0];
    return target;
  }
  if (const auto id = EntryNamed(program, entries, "forward")) {
    target.entry = *id;
    return target;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "`", model.name, "` has several entries; say which with --entry: ",
      absl::StrJoin(names, ", ")));
}

Binder::Binder(const Model& model, const Config& config, expr::Pool* pool)
    : model_(model),
      program_(*model.program->source),
      config_(config),
      pool_(pool),
      used_bindings_(config.bindings.size(), false) {
  for (int i = 0; i < kNumRoles; ++i) {
    symbols_[i] = pool_->Symbol(RoleName(static_cast<Role>(i))).symbol();
  }
}

std::vector<Role> Binder::roles() const {
  std::vector<Role> roles;
  for (int i = 0; i < kNumRoles; ++i) {
    if (used_roles_[i]) roles.push_back(static_cast<Role>(i));
  }
  return roles;
}

absl::StatusOr<ConcreteArg> Binder::Parse(const lang::Generic& generic,
                                          absl::string_view text,
                                          absl::string_view source) const {
  const absl::string_view name = program_.name(generic.name);
  if (generic.kind == GenericKind::kShape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`", name, "` is a shape, which cannot be given from outside"));
  }
  if (generic.kind != GenericKind::kDim) {
    const auto dtype = ParseDType(text);
    if (!dtype) {
      std::vector<absl::string_view> known;
      for (DType each : kAllDTypes) {
        if (Admits(generic.kind, each)) known.push_back(DTypeName(each));
      }
      return UnknownName(absl::StatusCode::kInvalidArgument,
                         absl::StrCat("`", text, "` (", source, " of `", name,
                                      "`) is no dtype"),
                         text, known);
    }
    if (!Admits(generic.kind, *dtype)) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", name, "` must be ", ClassText(generic.kind),
                       ", not `", text, "` (", source, ")"));
    }
    return ConcreteArg::Of(*dtype);
  }
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", name, "` must be an integer below 2^63, not `", text,
                     "` (", source, ")"));
  }
  if (number < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", name, "` must not be negative, but is ", number, " (",
                     source, ")"));
  }
  return ConcreteArg::Dim(pool_->Constant(number));
}

absl::StatusOr<std::optional<ConcreteArg>> Binder::Value(
    const lang::Generic& generic, bool of_root, const ConcreteArgs& earlier,
    absl::Span<const lang::Generic> generics) {
  const absl::string_view name = program_.name(generic.name);
  std::optional<ConcreteArg> bound;
  for (size_t i = 0; i < config_.bindings.size(); ++i) {
    if (config_.bindings[i].first != name) continue;
    used_bindings_[i] = true;
    LINNET_ASSIGN_OR_RETURN(
        bound, Parse(generic, config_.bindings[i].second, "--bind"));
  }
  if (const auto role = RoleOf(name);
      role && generic.kind == GenericKind::kDim && IsFree(config_, *role)) {
    used_roles_[static_cast<size_t>(*role)] = true;
    return std::optional(ConcreteArg::Dim(pool_->SymbolExpr(symbol(*role))));
  }
  if (bound) return bound;
  if (of_root && generic.kind == GenericKind::kFloat &&
      !config_.dtype.empty()) {
    LINNET_ASSIGN_OR_RETURN(ConcreteArg arg,
                            Parse(generic, config_.dtype, "--dtype"));
    return std::optional(std::move(arg));
  }
  if (of_root) {
    for (const zoo::GenericValue& value : model_.card.generics) {
      if (value.name != name) continue;
      LINNET_ASSIGN_OR_RETURN(ConcreteArg arg,
                              Parse(generic, value.value, "the card"));
      return std::optional(std::move(arg));
    }
  }
  if (generic.default_value) {
    const std::vector<lang::Generic> known(
        generics.begin(),
        generics.begin() + static_cast<ptrdiff_t>(earlier.size()));
    return std::optional(
        trace::Environment(known, earlier, pool_).Arg(*generic.default_value));
  }
  return std::optional<ConcreteArg>();
}

absl::Status Binder::Bind(absl::Span<const lang::Generic> generics,
                          bool of_root, absl::string_view owner,
                          ConcreteArgs* args) {
  std::vector<std::string> unbound;
  for (const lang::Generic& generic : generics.subspan(args->size())) {
    met_.emplace_back(program_.name(generic.name));
    LINNET_ASSIGN_OR_RETURN(std::optional<ConcreteArg> arg,
                            Value(generic, of_root, *args, generics));
    if (!arg) {
      const absl::string_view name = program_.name(generic.name);
      const auto role = RoleOf(name);
      unbound.push_back(absl::StrCat(
          "`", name, "` (",
          role && generic.kind == GenericKind::kDim
              ? absl::StrCat(RoleFlag(*role), " N")
              : absl::StrCat("--bind ", name, "=",
                             generic.kind == GenericKind::kDim ? "N" : "bf16"),
          ")"));
      // Goes on with a stand-in, to name all that are missing.
      arg = generic.kind == GenericKind::kDim ? ConcreteArg::Dim(pool_->One())
                                              : ConcreteArg::Of(DType::kF32);
      if (generic.kind == GenericKind::kShape) {
        arg = ConcreteArg();
        arg->kind = lang::GenericArg::Kind::kShape;
      }
    }
    args->push_back(*std::move(arg));
  }
  if (unbound.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      unbound.size() == 1 ? "a generic of " : "generics of ", owner,
      unbound.size() == 1 ? " has no value: " : " have no value: ",
      absl::StrJoin(unbound, ", ")));
}

absl::StatusOr<ConcreteArgs> Binder::BindRoot(lang::BlockId root) {
  ConcreteArgs args;
  if (!root.valid()) return args;
  const lang::Block& block = program_.blocks[root];
  LINNET_RETURN_IF_ERROR(
      Bind(block.generics, /*of_root=*/true,
           absl::StrCat("the block `", program_.name(block.name), "`"), &args));
  return args;
}

absl::StatusOr<ConcreteArgs> Binder::BindEntry(lang::FunctionId entry,
                                               const ConcreteArgs& root) {
  ConcreteArgs args = root;
  const lang::Function& function = program_.functions[entry];
  LINNET_RETURN_IF_ERROR(Bind(
      function.generics, /*of_root=*/!function.block.valid(),
      absl::StrCat("the entry `", program_.name(function.name), "`"), &args));
  return args;
}

std::optional<ConcreteArg> Binder::TryBind(
    const lang::Generic& generic, bool of_root, const ConcreteArgs& earlier,
    absl::Span<const lang::Generic> generics) {
  auto value = Value(generic, of_root, earlier, generics);
  if (!value.ok()) return std::nullopt;
  return *std::move(value);
}

absl::Status Binder::CheckAllUsed() const {
  for (size_t i = 0; i < used_bindings_.size(); ++i) {
    if (used_bindings_[i]) continue;
    const std::string& name = config_.bindings[i].first;
    return UnknownName(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("--bind names `", name,
                     "`, which is no generic of the root block or the entry"),
        name, Views(met_));
  }
  return absl::OkStatus();
}

}  // namespace linnet::planner
