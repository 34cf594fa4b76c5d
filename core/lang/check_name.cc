// Lookup of names (language.md section 3.3).

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/nearest.h"
#include "core/lang/checker.h"

namespace linnet::lang {
namespace {

// Looking for near names costs time in proportion to the names there are.
constexpr int kMaxSuggestions = 100;

absl::string_view KindText(DeclKind kind) {
  switch (kind) {
    case DeclKind::kConst:
      return "a constant";
    case DeclKind::kAlias:
      return "a type alias";
    case DeclKind::kStruct:
      return "a struct";
    case DeclKind::kEnum:
      return "an enum";
    case DeclKind::kFunction:
      return "a function";
    case DeclKind::kBlock:
      return "a block";
    case DeclKind::kModule:
      return "a module";
    case DeclKind::kNone:
    case DeclKind::kFailed:
      break;
  }
  return "something else";
}

}  // namespace

void Checker::MarkUsed(const Decl& decl) {
  if (decl.import < 0) return;
  scopes_[ctx_->module].imports[static_cast<size_t>(decl.import)].used = true;
}

Found Checker::Lookup(NameId name) {
  const auto head = ctx_->heads.find(name);
  return LookupFrom(head == ctx_->heads.end() ? -1 : head->second, name);
}

Found Checker::LookupValue(NameId name) {
  const auto head = ctx_->heads.find(name);
  int32_t at = head == ctx_->heads.end() ? -1 : head->second;
  while (at >= 0 &&
         ctx_->bindings[static_cast<size_t>(at)].kind == LocalKind::kIndex) {
    at = ctx_->bindings[static_cast<size_t>(at)].previous;
  }
  return LookupFrom(at, name);
}

Found Checker::LookupFrom(int32_t binding, NameId name) {
  Found found;
  if (binding >= 0) {
    found.kind = FoundKind::kLocal;
    found.index = binding;
    return found;
  }
  for (size_t i = ctx_->generics.size(); i-- > 0;) {
    if (ctx_->generics[i].name == name) {
      found.kind = FoundKind::kGeneric;
      found.index = static_cast<int32_t>(i);
      return found;
    }
  }
  for (BlockId block = ctx_->block; block.valid();
       block = program_.blocks[block].outer) {
    const BlockState& state = blocks_[block];
    if (const auto it = state.members.find(name); it != state.members.end()) {
      found.kind = FoundKind::kMember;
      found.index = it->second;
      found.block = block;
      return found;
    }
    if (const auto it = state.decls.find(name); it != state.decls.end()) {
      found.kind = FoundKind::kDecl;
      found.decl = it->second;
      return found;
    }
  }
  const auto& decls = scopes_[ctx_->module].decls;
  if (const auto it = decls.find(name); it != decls.end()) {
    found.kind = FoundKind::kDecl;
    found.decl = it->second;
    MarkUsed(found.decl);
    return found;
  }
  if (static_cast<size_t>(name.index) < prelude_.size()) {
    return prelude_[static_cast<size_t>(name.index)];
  }
  return found;
}

Decl Checker::FindInModule(ModuleId module, Ident name) {
  const auto& decls = scopes_[module].decls;
  const auto it = decls.find(name.name);
  const std::string& path = program_.modules[module].path;
  if (it == decls.end() || it->second.import >= 0) {
    Diagnostic& report = Error(
        Code::kE1201, name.span,
        absl::StrCat("the module `", path, "` has no item ", Quote(name.name)));
    std::vector<absl::string_view> known;
    if (diagnostics_.num_errors() > kMaxSuggestions) {
      return Decl{.kind = DeclKind::kFailed, .span = {}};
    }
    for (const auto& [id, decl] : decls) {
      if (decl.import < 0 && decl.is_public) known.push_back(names_.text(id));
    }
    std::sort(known.begin(), known.end());
    for (const std::string& near :
         NearestNames(names_.text(name.name), known, 1)) {
      report.Help(absl::StrCat("did you mean `", near, "`?"));
    }
    return Decl{.kind = DeclKind::kFailed, .span = {}};
  }
  if (!it->second.is_public && module != ctx_->module) {
    Error(Code::kE1203, name.span,
          absl::StrCat(Quote(name.name), " is private to the module `", path,
                       "`"))
        .Help("declare it `pub` to use it from other modules");
    return Decl{.kind = DeclKind::kFailed, .span = {}};
  }
  return it->second;
}

bool Checker::TryDecl(ExprId e, Decl* decl) {
  if (const NameExpr* name = tree().try_as<NameExpr>(e)) {
    const Found found = Lookup(name->name);
    if (found.kind != FoundKind::kDecl) return false;
    *decl = found.decl;
    return true;
  }
  const MemberExpr* member = tree().try_as<MemberExpr>(e);
  if (member == nullptr) return false;
  Decl base;
  if (!TryDecl(member->base, &base)) return false;
  if (base.kind == DeclKind::kFailed) {
    *decl = base;
    return true;
  }
  if (base.kind != DeclKind::kModule) return false;
  *decl = FindInModule(ModuleId{base.id}, member->name);
  return true;
}

std::vector<absl::string_view> Checker::VisibleNames() const {
  std::vector<absl::string_view> known;
  for (const auto& [name, index] : ctx_->heads) {
    if (index >= 0) known.push_back(names_.text(name));
  }
  for (const Generic& generic : ctx_->generics) {
    known.push_back(names_.text(generic.name));
  }
  for (BlockId block = ctx_->block; block.valid();
       block = program_.blocks[block].outer) {
    for (const auto& [name, index] : blocks_[block].members) {
      known.push_back(names_.text(name));
    }
    for (const auto& [name, decl] : blocks_[block].decls) {
      known.push_back(names_.text(name));
    }
  }
  for (const auto& [name, decl] : scopes_[ctx_->module].decls) {
    known.push_back(names_.text(name));
  }
  for (size_t i = 0; i < prelude_.size(); ++i) {
    known.push_back(names_.text(NameId{static_cast<int32_t>(i)}));
  }
  std::sort(known.begin(), known.end());
  return known;
}

TypeId Checker::ReportUndeclared(NameId name, Span span) {
  if (!ctx_->undeclared.insert(name).second) return types_.error();
  Diagnostic& report =
      Error(Code::kE1201, span,
            absl::StrCat("the name ", Quote(name), " is not declared"));
  if (diagnostics_.num_errors() > kMaxSuggestions) return types_.error();
  for (const std::string& near :
       NearestNames(names_.text(name), VisibleNames(), 1)) {
    report.Help(absl::StrCat("did you mean `", near, "`?"));
  }
  return types_.error();
}

TypeId Checker::ReportWrongKind(const Decl& decl, NameId name, Span span,
                                absl::string_view wanted) {
  if (decl.kind == DeclKind::kFailed) return types_.error();
  Diagnostic& report = Error(
      Code::kE1208, span,
      absl::StrCat(Quote(name), " is ", KindText(decl.kind), ", not ", wanted));
  if (decl.kind == DeclKind::kFunction) {
    report.Help("call it with `(…)`");
  }
  return types_.error();
}

LocalId Checker::Bind(Ident name, LocalKind kind, TypeId type, expr::Expr dim) {
  if (name.name == underscore_) return {};
  if (kind != LocalKind::kParam) RejectPreludeName(name);
  Binding binding;
  binding.name = name.name;
  binding.local = NewLocal();
  binding.kind = kind;
  binding.type = type;
  binding.dim = dim;
  binding.span = name.span;
  const auto index = static_cast<int32_t>(ctx_->bindings.size());
  const auto [head, is_new] = ctx_->heads.try_emplace(name.name, -1);
  binding.previous = head->second;
  head->second = index;
  const LocalId local = binding.local;
  ctx_->bindings.push_back(std::move(binding));
  return local;
}

void Checker::CloseScope(size_t mark) {
  while (ctx_->bindings.size() > mark) {
    const Binding& binding = ctx_->bindings.back();
    ctx_->heads[binding.name] = binding.previous;
    const absl::string_view text = names_.text(binding.name);
    if (!binding.used && !is_error(binding.type) && text[0] != '_' &&
        (binding.kind == LocalKind::kLet || binding.kind == LocalKind::kVar) &&
        !scopes_[ctx_->module].is_standard) {
      Error(Code::kW1002, binding.span,
            absl::StrCat(Quote(binding.name), " is never used"))
          .Help("a name that starts with `_` may stay unused");
    }
    ctx_->bindings.pop_back();
  }
}

}  // namespace linnet::lang
