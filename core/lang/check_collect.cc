// What modules declare and import (language.md sections 3.1 to 3.3).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

bool Checker::RejectPreludeName(Ident ident) {
  if (!ident.valid() ||
      static_cast<size_t>(ident.name.index) >= prelude_.size()) {
    return false;
  }
  const Found& found = prelude_[static_cast<size_t>(ident.name.index)];
  if (found.kind == FoundKind::kPreludeFunction &&
      found.prelude >= Prelude::kProgramId) {
    return false;  // Means something in kernels only.
  }
  Error(Code::kE1207, ident.span,
        absl::StrCat(Quote(ident.name),
                     " is a name of the prelude and cannot be declared again"));
  return true;
}

void Checker::DeclareInModule(ModuleId module, NameId name, const Decl& decl) {
  const auto [it, is_new] = scopes_[module].decls.try_emplace(name, decl);
  if (is_new) return;
  Error(Code::kE1204,
        decl.import >= 0
            ? scopes_[module].imports[static_cast<size_t>(decl.import)].span
            : decl.span,
        absl::StrCat("the name ", Quote(name),
                     " is declared twice in this module"))
      .Relate(it->second.import >= 0
                  ? scopes_[module]
                        .imports[static_cast<size_t>(it->second.import)]
                        .span
                  : it->second.span,
              "declared here first");
}

void Checker::CollectModule(ModuleId module) {
  const Tree& tree = program_.modules[module].tree;
  for (const ItemId item : tree.list(tree.items)) {
    CollectItem(module, {}, item);
  }
}

void Checker::CollectItem(ModuleId module, BlockId block, ItemId item) {
  const ItemNode& node = program_.modules[module].tree.item(item);
  RejectPreludeName(node.name);
  const Decl decl = AddDeclaration(module, block, item);
  if (!block.valid()) {
    DeclareInModule(module, node.name.name, decl);
    return;
  }
  BlockState& state = blocks_[block];
  if (state.members.contains(node.name.name) ||
      !state.decls.try_emplace(node.name.name, decl).second) {
    Error(Code::kE1205, node.name.span,
          absl::StrCat("the block already has a member or item ",
                       Quote(node.name.name)));
  }
}

Decl Checker::AddDeclaration(ModuleId module, BlockId block, ItemId item) {
  const Tree& tree = program_.modules[module].tree;
  const ItemNode& node = tree.item(item);
  const NameId name = node.name.name;
  const Place place{module, block, item};
  Decl decl{DeclKind::kNone, -1, node.is_public, node.name.span, -1};
  switch (node.kind) {
    case ItemKind::kConst:
      decl.kind = DeclKind::kConst;
      decl.id =
          program_.constants
              .push_back({name, module, {}, tree.as<ConstItem>(item).value})
              .index;
      consts_.push_back({place, Stage::kNew, {}});
      return decl;
    case ItemKind::kAlias: {
      decl.kind = DeclKind::kAlias;
      decl.id = static_cast<int32_t>(aliases_.size());
      AliasState state;
      state.place = place;
      state.name = name;
      aliases_.push_back(std::move(state));
      return decl;
    }
    case ItemKind::kStruct:
      decl.kind = DeclKind::kStruct;
      decl.id = program_.structs.push_back({name, module, {}, {}, {}}).index;
      structs_.push_back({place, Stage::kNew, 0});
      return decl;
    case ItemKind::kEnum: {
      decl.kind = DeclKind::kEnum;
      Enum entry{name, module, {}};
      absl::flat_hash_set<NameId> seen;
      for (const Ident& variant : tree.list(tree.as<EnumItem>(item).variants)) {
        RejectPreludeName(variant);
        if (!seen.insert(variant.name).second) {
          Error(Code::kE1205, variant.span,
                absl::StrCat("the variant ", Quote(variant.name),
                             " is declared twice"));
        }
        entry.variants.push_back(variant.name);
      }
      decl.id = program_.enums.push_back(std::move(entry)).index;
      enums_.push_back(place);
      return decl;
    }
    case ItemKind::kFn:
    case ItemKind::kOp:
    case ItemKind::kEntry:
    case ItemKind::kKernel:
      return AddFunction(place, node);
    case ItemKind::kBlock:
      return AddBlock(place, node);
  }
  return decl;
}

Decl Checker::AddFunction(const Place& place, const ItemNode& node) {
  const Tree& tree = program_.modules[place.module].tree;
  const FunctionItem& item = tree.as<FunctionItem>(place.item);
  Function function;
  function.name = node.name.name;
  std::string path;
  for (BlockId block = place.block; block.valid();
       block = program_.blocks[block].outer) {
    path = absl::StrCat(names_.text(program_.blocks[block].name), ".", path);
  }
  function.qualified_name =
      absl::StrCat(program_.modules[place.module].path, "::", path,
                   names_.text(function.name));
  function.module = place.module;
  function.block = place.block;
  switch (node.kind) {
    case ItemKind::kOp:
      function.kind = FunctionKind::kOp;
      break;
    case ItemKind::kEntry:
      function.kind = FunctionKind::kEntry;
      break;
    case ItemKind::kKernel:
      function.kind = FunctionKind::kKernel;
      break;
    default:
      function.kind = FunctionKind::kFn;
      break;
  }
  function.is_public = node.is_public;
  function.has_grad = item.has_grad();
  if (function.kind != FunctionKind::kKernel) {
    const absl::Span<const StmtId> body = tree.list(item.body);
    function.body.assign(body.begin(), body.end());
    const absl::Span<const StmtId> grad = tree.list(item.grad_body);
    function.grad_body.assign(grad.begin(), grad.end());
  }
  function.result = types_.unit();
  function.span = node.name.span;
  const FunctionId id = program_.functions.push_back(std::move(function));
  FunctionState state;
  state.place = place;
  functions_.push_back(std::move(state));
  if (place.block.valid()) program_.blocks[place.block].methods.push_back(id);
  return {DeclKind::kFunction, id.index, node.is_public, node.name.span, -1};
}

Decl Checker::AddBlock(const Place& place, const ItemNode& node) {
  Block block;
  block.name = node.name.name;
  block.module = place.module;
  block.outer = place.block;
  block.is_public = node.is_public;
  block.span = node.name.span;
  const BlockId id = program_.blocks.push_back(std::move(block));
  BlockState state;
  state.place = place;
  blocks_.push_back(std::move(state));
  CollectMembers(id);
  const Tree& tree = program_.modules[place.module].tree;
  for (const ItemId item : tree.list(tree.as<BlockItem>(place.item).items)) {
    CollectItem(place.module, id, item);
  }
  return {DeclKind::kBlock, id.index, node.is_public, node.name.span, -1};
}

void Checker::CollectMembers(BlockId id) {
  BlockState& state = blocks_[id];
  const Tree& tree = program_.modules[state.place.module].tree;
  for (const MemberNode& node :
       tree.list(tree.as<BlockItem>(state.place.item).members)) {
    RejectPreludeName(node.name);
    std::vector<Member>& members = program_.blocks[id].members;
    const auto index = static_cast<int32_t>(members.size());
    if (!state.members.try_emplace(node.name.name, index).second) {
      Error(Code::kE1205, node.name.span,
            absl::StrCat("the member ", Quote(node.name.name),
                         " is declared twice"));
    }
    members.push_back(
        {node.name.name, node.kind, types_.error(), node.name.span});
    state.used.push_back(false);
  }
}

void Checker::CollectImports(ModuleId module) {
  Context context;
  context.module = module;
  context.facts = &no_facts_;
  const Enter enter(this, &context);
  const Tree& tree = program_.modules[module].tree;
  const absl::Span<const UseNode> uses = tree.list(tree.uses);
  for (size_t i = 0; i < uses.size(); ++i) {
    const ModuleId target = scopes_[module].targets[i];
    for (const SelectorNode& selector : tree.list(uses[i].selectors)) {
      ImportName(module, target, selector.name,
                 selector.alias.valid() ? selector.alias : selector.name);
    }
    if (!uses[i].selectors.empty()) continue;
    const Ident last = tree.list(uses[i].path).back();
    RejectPreludeName(last);
    Decl decl;
    decl.kind = target.valid() ? DeclKind::kModule : DeclKind::kFailed;
    decl.id = target.index;
    decl.span = last.span;
    decl.import = static_cast<int32_t>(scopes_[module].imports.size());
    scopes_[module].imports.push_back({last.name, last.span});
    DeclareInModule(module, last.name, decl);
  }
}

void Checker::ImportName(ModuleId module, ModuleId target, Ident name,
                         Ident alias) {
  RejectPreludeName(alias);
  Decl decl;
  decl.kind = DeclKind::kFailed;
  decl.span = alias.span;
  if (target.valid()) decl = FindInModule(target, name);
  decl.import = static_cast<int32_t>(scopes_[module].imports.size());
  scopes_[module].imports.push_back({alias.name, alias.span});
  DeclareInModule(module, alias.name, decl);
}

}  // namespace linnet::lang
