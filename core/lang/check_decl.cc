// What modules declare and import (language.md section 3), and the parts of
// declarations that come before bodies: generics, `where`, members, signatures.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

Context Checker::ContextOf(const Place& place) {
  Context context;
  context.module = place.module;
  context.block = place.block;
  context.facts = &no_facts_;
  if (place.block.valid()) {
    EnsureBlockHeader(place.block);
    context.generics = program_.blocks[place.block].generics;
    context.facts = blocks_[place.block].facts.get();
  }
  return context;
}

void Checker::EnsureConst(ConstId id) {
  ConstState& state = consts_[id];
  if (state.stage == Stage::kDone) return;
  Constant& constant = program_.constants[id];
  if (state.stage == Stage::kOpen) {
    if (!constant.type.valid()) {
      Error(Code::kE2122,
            program_.modules[state.place.module]
                .tree.item(state.place.item)
                .name.span,
            absl::StrCat("the constant ", Quote(constant.name),
                         " is defined through itself"));
      constant.type = types_.error();
    }
    return;
  }
  state.stage = Stage::kOpen;
  Context context = ContextOf(state.place);
  const Enter enter(this, &context);
  const ConstItem& item = tree().as<ConstItem>(state.place.item);
  TypeId result;
  if (item.type.valid()) {
    result = ReadSignatureType(item.type);
    if (!is_error(result)) {
      Coerce(item.value, result, Quote(constant.name));
    } else {
      Infer(item.value);
    }
  } else {
    result = Infer(item.value);
    const TypeKind k = kind(result);
    if (IsContextual(result) && k != TypeKind::kCompileInt &&
        k != TypeKind::kFloatLit) {
      result = Settle(item.value);
    }
    if (k == TypeKind::kCompileInt) state.dim = info(item.value).dim;
  }
  // A report about the definition itself wins.
  if (!constant.type.valid()) constant.type = result;
  state.stage = Stage::kDone;
}

void Checker::EnsureAlias(int32_t alias) {
  AliasState& state = aliases_[static_cast<size_t>(alias)];
  if (state.stage == Stage::kDone) return;
  if (state.stage == Stage::kOpen) {
    if (!state.type.valid()) {
      Error(Code::kE2122,
            program_.modules[state.place.module]
                .tree.item(state.place.item)
                .name.span,
            absl::StrCat("the type ", Quote(state.name),
                         " is defined through itself"));
      state.type = types_.error();
    }
    return;
  }
  state.stage = Stage::kOpen;
  Context context = ContextOf(state.place);
  context.in_alias = true;
  const Enter enter(this, &context);
  const AliasItem& item = tree().as<AliasItem>(state.place.item);
  state.generics.assign(context.generics.begin(), context.generics.end());
  state.num_outer = state.generics.size();
  ReadGenerics(item.generics, state.generics);
  const TypeId result = ReadType(item.type);
  if (!state.type.valid()) state.type = result;
  state.stage = Stage::kDone;
}

void Checker::EnsureStructHeader(StructId id) {
  StructState& state = structs_[id];
  if (state.header != Stage::kNew) return;
  state.header = Stage::kOpen;
  Context context = ContextOf(state.place);
  const Enter enter(this, &context);
  std::vector<Generic>& generics = program_.structs[id].generics;
  generics.assign(context.generics.begin(), context.generics.end());
  state.num_outer = generics.size();
  ReadGenerics(tree().as<StructItem>(state.place.item).generics, generics);
  state.header = Stage::kDone;
}

void Checker::ReadStructFields(StructId id) {
  EnsureStructHeader(id);
  const StructState& state = structs_[id];
  Context context = ContextOf(state.place);
  context.generics = program_.structs[id].generics;
  const Enter enter(this, &context);
  Struct& entry = program_.structs[id];
  absl::flat_hash_set<NameId> seen;
  for (const FieldNode& field :
       tree().list(tree().as<StructItem>(state.place.item).fields)) {
    RejectPreludeName(field.name);
    if (!seen.insert(field.name.name).second) {
      Error(Code::kE1205, field.name.span,
            absl::StrCat("the field ", Quote(field.name.name),
                         " is declared twice"));
    }
    entry.fields.push_back(field.name.name);
    entry.field_types.push_back(ReadSignatureType(field.type));
  }
}

void Checker::EnsureBlockHeader(BlockId id) {
  if (blocks_[id].header != Stage::kNew) return;
  blocks_[id].header = Stage::kOpen;
  Block& block = program_.blocks[id];
  BlockState& state = blocks_[id];
  Context context = ContextOf({state.place.module, block.outer, {}});
  context.block = id;
  state.facts = std::make_unique<ShapeFacts>(*context.facts);
  block.generics.assign(context.generics.begin(), context.generics.end());
  block.num_outer_generics = static_cast<int32_t>(block.generics.size());
  context.facts = state.facts.get();
  const Enter enter(this, &context);
  const BlockItem& item = tree().as<BlockItem>(state.place.item);
  ReadGenerics(item.generics, block.generics);
  ReadWhere(item.where, block.where, *state.facts);
  state.header = Stage::kDone;
}

void Checker::ReadBlockMembers(BlockId id) {
  EnsureBlockHeader(id);
  Context context = ContextOf({blocks_[id].place.module, id, {}});
  const Enter enter(this, &context);
  const BlockItem& item = tree().as<BlockItem>(blocks_[id].place.item);
  size_t i = 0;
  for (const MemberNode& node : tree().list(item.members)) {
    const TypeId member_type = ReadType(node.type);
    program_.blocks[id].members[i++].type = member_type;
    if (!is_error(member_type)) CheckMemberType(node, member_type);
  }
}

void Checker::CheckMemberType(const MemberNode& node, TypeId member_type) {
  const Type& t = type(member_type);
  const bool optional = t.kind == TypeKind::kOptional;
  const Type& inner = optional ? type(t.elements[0]) : t;
  bool fits = inner.kind == TypeKind::kTensor;
  absl::string_view wanted = "a tensor or an optional tensor";
  if (node.kind == MemberKind::kState) {
    fits = fits && !optional;
    wanted = "a tensor";
  } else if (node.kind == MemberKind::kSub) {
    fits = inner.kind == TypeKind::kBlock ||
           (inner.kind == TypeKind::kArray && !optional);
    wanted = "a block, an optional block or an array of blocks";
  }
  const Span type_span = tree().type(node.type).span;
  if (inner.kind == TypeKind::kError) return;
  if (!fits) {
    Error(Code::kE4101, type_span,
          absl::StrCat("the member ", Quote(node.name.name), " must be ",
                       wanted, ", not `", Text(member_type), "`"));
    return;
  }
  if (!node.default_value.valid()) return;
  const Span value_span = tree().expr(node.default_value).span;
  if (tree().expr(node.default_value).kind != ExprKind::kNone) {
    Error(Code::kE4102, value_span,
          absl::StrCat("the member ", Quote(node.name.name),
                       " cannot have a value in source"))
        .Help(
            "the data of members comes from the weights; only `none` may "
            "be written");
  } else if (!optional) {
    Error(Code::kE4101, value_span,
          absl::StrCat("the member ", Quote(node.name.name),
                       " is not optional, so it cannot be `none`"))
        .Help("make its type optional with `?`");
  } else {
    info(node.default_value).type = member_type;
  }
}

void Checker::ReadGenerics(NodeList<GenericNode> nodes,
                           std::vector<Generic>& out) {
  const size_t first = out.size();
  for (const GenericNode& node : tree().list(nodes)) {
    RejectPreludeName(node.name);
    if (node.is_pack != (node.kind == GenericKind::kShape)) {
      Error(Code::kE2111, node.span,
            node.is_pack ? "a generic written with `*` has the kind `Shape`"
                         : "a `Shape` generic is written with `*`");
    }
    for (size_t i = first; i < out.size(); ++i) {
      if (out[i].name == node.name.name) {
        Error(Code::kE1205, node.name.span,
              absl::StrCat("the generic ", Quote(node.name.name),
                           " is declared twice"));
        break;
      }
    }
    Generic generic;
    generic.name = node.name.name;
    generic.kind = node.kind;
    generic.span = node.name.span;
    const absl::string_view text = names_.text(generic.name);
    if (node.kind == GenericKind::kDim) {
      generic.dim = pool_.AddSymbol(text);
    } else if (node.kind == GenericKind::kShape) {
      generic.dim = pool_.AddSymbol(absl::StrCat("*", text));
      generic.pack = program_.packs.push_back(generic.name);
    } else {
      generic.dtype = program_.dtype_vars.push_back({generic.name, node.kind});
    }
    if (node.has_default) generic.default_value = ReadDefault(node, generic);
    out.push_back(std::move(generic));
    ctx_->generics = out;
  }
  ctx_->generics = out;
}

std::optional<GenericArg> Checker::ReadDefault(const GenericNode& node,
                                               const Generic& generic) {
  std::optional<GenericArg> arg = ReadGenericArg(node.default_value, generic);
  if (arg.has_value() && arg->kind == GenericArg::Kind::kDType &&
      !InClass(arg->dtype, generic.kind)) {
    RequireClass(arg->dtype, generic.kind, node.default_value.span,
                 Quote(generic.name));
  }
  return arg;
}

void Checker::ReadWhere(NodeList<ExprId> clauses, std::vector<Constraint>& out,
                        ShapeFacts& facts) {
  for (const ExprId clause : tree().list(clauses)) {
    const BinaryExpr* binary = tree().try_as<BinaryExpr>(clause);
    if (binary == nullptr || !IsComparison(binary->op)) continue;  // E1101
    ctx_->in_where = true;
    Constraint constraint;
    constraint.left = ReadCompileInt(binary->left, "a side of a constraint");
    constraint.right = ReadCompileInt(binary->right, "a side of a constraint");
    ctx_->in_where = false;
    if (!constraint.left.valid() || !constraint.right.valid()) continue;
    constraint.relation = static_cast<Relation>(
        static_cast<int>(binary->op) - static_cast<int>(BinaryOp::kEq));
    constraint.span = span(clause);
    constraint.text = std::string(program_.sources->text(constraint.span));
    info(clause).type = types_.Scalar(DTypeRef::Of(DType::kBool));
    facts.Add(constraint);
    out.push_back(std::move(constraint));
  }
}

TypeId Checker::ReadSignatureType(TypeNodeId node) {
  const TypeId result = ReadType(node);
  if (!IsBlockLike(result)) return result;
  return Fail(Code::kE2104, tree().type(node).span,
              absl::StrCat("`", Text(result),
                           "` is not a value: blocks are only members"));
}

void Checker::ReadSignature(FunctionId id) {
  FunctionState& state = functions_[id];
  Context context = ContextOf(state.place);
  state.facts = std::make_unique<ShapeFacts>(*context.facts);
  Function& function = program_.functions[id];
  function.generics.assign(context.generics.begin(), context.generics.end());
  function.num_block_generics = static_cast<int32_t>(function.generics.size());
  context.facts = state.facts.get();
  const Enter enter(this, &context);
  const FunctionItem& item = tree().as<FunctionItem>(state.place.item);
  ReadGenerics(item.generics, function.generics);
  ReadWhere(item.where, function.where, *state.facts);
  absl::flat_hash_set<NameId> seen;
  for (const ParamNode& node : tree().list(item.params)) {
    RejectPreludeName(node.name);
    if (!seen.insert(node.name.name).second && node.name.name != underscore_) {
      Error(Code::kE1205, node.name.span,
            absl::StrCat("the parameter ", Quote(node.name.name),
                         " is declared twice"));
    }
    Param param;
    param.name = node.name.name;
    param.type = ReadSignatureType(node.type);
    param.local = LocalId{static_cast<int32_t>(function.params.size())};
    param.default_value = node.default_value;
    param.span = node.name.span;
    function.params.push_back(param);
  }
  function.num_locals = static_cast<int32_t>(function.params.size());
  if (item.result.valid()) function.result = ReadSignatureType(item.result);
  if (function.kind == FunctionKind::kKernel) ReadKernelHeader(id);
}

void Checker::ReadKernelHeader(FunctionId id) {
  Function& function = program_.functions[id];
  const FunctionItem& item = tree().as<FunctionItem>(functions_[id].place.item);
  std::vector<TypeId> results;
  for (const FieldNode& field : tree().list(item.kernel_results)) {
    results.push_back(ReadSignatureType(field.type));
  }
  if (results.size() == 1) function.result = results[0];
  if (results.size() > 1) function.result = types_.Tuple(std::move(results));
  for (const ExprId axis : tree().list(item.grid)) {
    ReadCompileInt(axis, "an axis of the grid");
  }
  for (const ExprId e : {item.warps, item.stages}) {
    if (e.valid()) ReadCompileInt(e, "this setting of a kernel");
  }
}

// `kernel name<args>` of an op.
void Checker::CheckKernelUse(FunctionId id) {
  Function& function = program_.functions[id];
  const FunctionState& state = functions_[id];
  Context context = ContextOf(state.place);
  context.generics = function.generics;
  context.facts = state.facts.get();
  const Enter enter(this, &context);
  const FunctionItem& item = tree().as<FunctionItem>(state.place.item);
  if (!item.kernel.valid()) return;
  const Found found = Lookup(item.kernel.name);
  if (found.kind != FoundKind::kDecl) {
    ReportUndeclared(item.kernel.name, item.kernel.span);
    return;
  }
  if (found.decl.kind == DeclKind::kFailed) return;
  const FunctionId kernel{found.decl.id};
  if (found.decl.kind != DeclKind::kFunction ||
      program_.functions[kernel].kind != FunctionKind::kKernel) {
    Error(Code::kE1208, item.kernel.span,
          absl::StrCat(Quote(item.kernel.name), " is not a kernel"));
    return;
  }
  function.kernel = program_.functions[kernel].qualified_name;
  std::optional<std::vector<GenericArg>> args =
      ReadTypeArgs(Quote(item.kernel.name), program_.functions[kernel].generics,
                   0, item.kernel_args, item.kernel.span);
  if (args.has_value()) function.kernel_args = *std::move(args);
}

// What structs and blocks have as parts: structs count first, then blocks.
std::vector<std::vector<size_t>> Checker::PartsOfDeclarations() const {
  const auto num_structs = static_cast<size_t>(program_.structs.size());
  std::vector<std::vector<size_t>> parts(
      num_structs + static_cast<size_t>(program_.blocks.size()));
  const auto add = [&](size_t whole, TypeId id) {
    std::vector<TypeId> open = {id};
    while (!open.empty()) {
      const Type& t = type(open.back());
      open.pop_back();
      if (t.kind == TypeKind::kStruct) {
        parts[whole].push_back(static_cast<size_t>(t.decl));
      } else if (t.kind == TypeKind::kBlock) {
        parts[whole].push_back(num_structs + static_cast<size_t>(t.decl));
      }
      open.insert(open.end(), t.elements.begin(), t.elements.end());
    }
  };
  size_t whole = 0;
  for (const Struct& entry : program_.structs) {
    for (const TypeId field : entry.field_types) add(whole, field);
    ++whole;
  }
  for (const Block& block : program_.blocks) {
    for (const Member& member : block.members) add(whole, member.type);
    ++whole;
  }
  return parts;
}

// Structs and blocks that contain themselves.
void Checker::CheckContainment() {
  const std::vector<std::vector<size_t>> parts = PartsOfDeclarations();
  std::vector<Stage> stages(parts.size(), Stage::kNew);
  for (size_t root = 0; root < parts.size(); ++root) {
    if (stages[root] != Stage::kNew) continue;
    std::vector<std::pair<size_t, size_t>> stack = {{root, 0}};
    stages[root] = Stage::kOpen;
    while (!stack.empty()) {
      const size_t whole = stack.back().first;
      const size_t next = stack.back().second++;
      if (next == parts[whole].size()) {
        stages[whole] = Stage::kDone;
        stack.pop_back();
        continue;
      }
      const size_t part = parts[whole][next];
      if (stages[part] == Stage::kOpen) ReportContainment(part);
      if (stages[part] != Stage::kNew) continue;
      stages[part] = Stage::kOpen;
      stack.emplace_back(part, 0);
    }
  }
}

void Checker::ReportContainment(size_t declaration) {
  const auto num_structs = static_cast<size_t>(program_.structs.size());
  const bool is_struct = declaration < num_structs;
  const auto id =
      static_cast<int32_t>(is_struct ? declaration : declaration - num_structs);
  const Place& place =
      is_struct ? structs_[StructId{id}].place : blocks_[BlockId{id}].place;
  const ItemNode& item = program_.modules[place.module].tree.item(place.item);
  Error(Code::kE2122, item.name.span,
        absl::StrCat(is_struct ? "the struct " : "the block ",
                     Quote(item.name.name), " contains itself"));
}
}  // namespace linnet::lang
