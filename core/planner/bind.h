// Which entry of which root block a configuration means, and what every generic
// of theirs is bound to.

#ifndef LINNET_CORE_PLANNER_BIND_H_
#define LINNET_CORE_PLANNER_BIND_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/expr/pool.h"
#include "core/lang/program.h"
#include "core/planner/model.h"
#include "core/planner/planner.h"
#include "core/trace/concrete.h"

namespace linnet::planner {

// The sizes a request may leave free, in the order in which they are symbols.
enum class Role : uint8_t { kBatch, kContext, kCache };
inline constexpr int kNumRoles = 3;
// "batch", "context" or "cache".
absl::string_view RoleName(Role role);
// The role whose generics include `generic` (`B`, `Batch`; `S`, `P`, `Seq`,
// `SeqLen`; `MaxSeq`).
std::optional<Role> RoleOf(absl::string_view generic);
// Whether `config` gives the role a value: the cache follows the context.
bool IsFree(const Config& config, Role role);

struct Target {
  lang::BlockId root;  // Invalid for a module-level entry.
  lang::FunctionId entry;
};

// NotFound for a root or entry that does not exist, InvalidArgument when there
// are several and none is named.
absl::StatusOr<lang::BlockId> FindRoot(const Model& model,
                                       const Config& config);
absl::StatusOr<Target> FindTarget(const Model& model, const Config& config);

// The entries of a root block, or the module-level ones.
std::vector<lang::FunctionId> EntriesOf(const lang::Program& program,
                                        lang::BlockId root);

// Binds generics: roles that are free to their symbols, then `--bind`, then the
// card, then `--dtype`, then declared defaults.
class Binder {
 public:
  Binder(const Model& model, const Config& config, expr::Pool* pool);

  // Binds the root block's generics. InvalidArgument names every generic
  // without a value and how to give it one.
  absl::StatusOr<trace::ConcreteArgs> BindRoot(lang::BlockId root);
  // The same for an entry; a method's block generics are taken from `root`.
  absl::StatusOr<trace::ConcreteArgs> BindEntry(
      lang::FunctionId entry, const trace::ConcreteArgs& root);
  // InvalidArgument when a `--bind` names no generic met so far.
  absl::Status CheckAllUsed() const;

  // The value of a root generic without failing: empty when it has none.
  std::optional<trace::ConcreteArg> TryBind(
      const lang::Generic& generic, bool of_root,
      const trace::ConcreteArgs& earlier,
      absl::Span<const lang::Generic> generics);

  // Free roles that some generic was bound to, in the order of Role.
  std::vector<Role> roles() const;
  expr::SymbolId symbol(Role role) const {
    return symbols_[static_cast<size_t>(role)];
  }

 private:
  absl::StatusOr<std::optional<trace::ConcreteArg>> Value(
      const lang::Generic& generic, bool of_root,
      const trace::ConcreteArgs& earlier,
      absl::Span<const lang::Generic> generics);
  absl::StatusOr<trace::ConcreteArg> Parse(const lang::Generic& generic,
                                           absl::string_view text,
                                           absl::string_view source) const;
  absl::Status Bind(absl::Span<const lang::Generic> generics, bool of_root,
                    absl::string_view owner, trace::ConcreteArgs* args);

  const Model& model_;
  const lang::Program& program_;
  const Config& config_;
  expr::Pool* const pool_;
  expr::SymbolId symbols_[kNumRoles];
  bool used_roles_[kNumRoles] = {};
  std::vector<bool> used_bindings_;
  std::vector<std::string> met_;  // Names of generics met so far.
};

}  // namespace linnet::planner

#endif  // LINNET_CORE_PLANNER_BIND_H_
