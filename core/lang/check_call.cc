// Calls of functions, methods and structs (language.md sections 4.4, 4.8, 6.7).

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/nearest.h"
#include "core/lang/checker.h"

namespace linnet::lang {

void Checker::InferArguments(const CallExpr& call) {
  for (const ArgNode& arg : tree().list(call.args)) InferAny(arg.value);
}

TypeId Checker::AddCall(ExprId e, CallInfo call, TypeId result) {
  std::vector<CallInfo>& calls = module_info().calls;
  info(e).detail = static_cast<int32_t>(calls.size());
  calls.push_back(std::move(call));
  return result;
}

TypeId Checker::NotCallable(ExprId e, absl::string_view what) {
  const CallExpr& call = tree().as<CallExpr>(e);
  const TypeId result =
      Fail(Code::kE2106, span(call.callee),
           absl::StrCat(what, " is not a function and cannot be called"));
  InferArguments(call);
  return result;
}

TypeId Checker::InferCall(ExprId e) {
  const CallExpr& call = tree().as<CallExpr>(e);
  if (const NameExpr* name = tree().try_as<NameExpr>(call.callee)) {
    return CallBare(e, Lookup(name->name), name->name);
  }
  const MemberExpr* member = tree().try_as<MemberExpr>(call.callee);
  if (member == nullptr) {
    const TypeId callee = InferAny(call.callee);
    if (!is_error(callee)) return NotCallable(e, "this");
    InferArguments(call);
    return callee;
  }
  Decl decl;
  if (TryDecl(call.callee, &decl)) {
    return CallDecl(e, decl, member->name.name);
  }
  return CallMethod(e);
}

TypeId Checker::CallBare(ExprId e, const Found& found, NameId name) {
  const CallExpr& call = tree().as<CallExpr>(e);
  switch (found.kind) {
    case FoundKind::kNothing:
      ReportUndeclared(name, span(call.callee));
      InferArguments(call);
      return types_.error();
    case FoundKind::kDecl:
      return CallDecl(e, found.decl, name);
    case FoundKind::kPreludeFunction:
      return CallPrelude(e, found.prelude);
    case FoundKind::kUnimplemented:
      Error(Code::kE2190, span(call.callee),
            absl::StrCat(Quote(name), " is not implemented"));
      InferArguments(call);
      return types_.error();
    case FoundKind::kLocal: {
      Binding& binding = ctx_->bindings[static_cast<size_t>(found.index)];
      binding.used = true;
      if (is_error(binding.type)) {
        InferArguments(call);
        return types_.error();
      }
      break;
    }
    default:
      break;
  }
  return NotCallable(e, Quote(name));
}

TypeId Checker::CallDecl(ExprId e, const Decl& decl, NameId name) {
  const CallExpr& call = tree().as<CallExpr>(e);
  switch (decl.kind) {
    case DeclKind::kFailed:
      InferArguments(call);
      return types_.error();
    case DeclKind::kStruct:
      return Construct(e, StructId{decl.id});
    case DeclKind::kFunction: {
      const FunctionId id{decl.id};
      const Function& function = program_.functions[id];
      if (function.kind == FunctionKind::kKernel) {
        Error(Code::kE2106, span(call.callee),
              absl::StrCat(Quote(name), " is a kernel and cannot be called"));
        InferArguments(call);
        return types_.error();
      }
      if (!function.block.valid()) return CallFunction(e, id, {}, {});
      if (function.block != ctx_->block) {
        Error(Code::kE2190, span(call.callee),
              absl::StrCat("the method ", Quote(name),
                           " of an outer block cannot be called from a nested "
                           "one"));
        InferArguments(call);
        return types_.error();
      }
      Type self;
      self.kind = TypeKind::kBlock;
      self.decl = function.block.index;
      for (const Generic& generic : program_.blocks[function.block].generics) {
        self.args.push_back(generic.AsArg());
      }
      return CallFunction(e, id, types_.Intern(std::move(self)), {});
    }
    default:
      return NotCallable(e, Quote(name));
  }
}

void Checker::ReportNoMethod(BlockId block, Ident name) {
  Diagnostic& report =
      Error(Code::kE2107, name.span,
            absl::StrCat("the block ", Quote(program_.blocks[block].name),
                         " has no method ", Quote(name.name)));
  std::vector<absl::string_view> known;
  for (const auto& [id, decl] : blocks_[block].decls) {
    if (decl.kind == DeclKind::kFunction) known.push_back(names_.text(id));
  }
  std::sort(known.begin(), known.end());
  for (const std::string& near :
       NearestNames(names_.text(name.name), known, 1)) {
    report.Help(absl::StrCat("did you mean `", near, "`?"));
  }
}

TypeId Checker::CallMethod(ExprId e) {
  const CallExpr& call = tree().as<CallExpr>(e);
  const MemberExpr& member = tree().as<MemberExpr>(call.callee);
  const TypeId base = InferAny(member.base);
  if (is_error(base)) {
    InferArguments(call);
    return base;
  }
  if (kind(base) == TypeKind::kBlock) {
    const BlockId block{type(base).decl};
    const auto& decls = blocks_[block].decls;
    const auto it = decls.find(member.name.name);
    if (it != decls.end() && it->second.kind == DeclKind::kFunction) {
      const FunctionId id{it->second.id};
      if (!it->second.is_public &&
          program_.functions[id].module != ctx_->module) {
        Error(Code::kE1203, member.name.span,
              absl::StrCat("the method ", Quote(member.name.name),
                           " is private to the module of its block"));
        InferArguments(call);
        return types_.error();
      }
      return CallFunction(e, id, base, member.base);
    }
    if (blocks_[block].members.contains(member.name.name)) {
      return NotCallable(e, Quote(member.name.name));
    }
    ReportNoMethod(block, member.name);
    InferArguments(call);
    return types_.error();
  }
  if (kind(base) == TypeKind::kStruct) {
    const TypeId field = InferField(call.callee, base, member.name);
    if (!is_error(field)) return NotCallable(e, Quote(member.name.name));
    InferArguments(call);
    return field;
  }
  Diagnostic& report = Error(Code::kE2107, member.name.span,
                             absl::StrCat("`", Text(base), "` has no method ",
                                          Quote(member.name.name)));
  if (kind(base) == TypeKind::kOptional) {
    report.Help("look into the optional with `match`");
  }
  InferArguments(call);
  return types_.error();
}

// The parameter that an argument names; the number of parameters after a
// report.
size_t Checker::SlotOf(const Function& function, Ident name) {
  std::vector<absl::string_view> known;
  for (size_t i = 0; i < function.params.size(); ++i) {
    if (function.params[i].name == name.name) return i;
    known.push_back(names_.text(function.params[i].name));
  }
  Diagnostic& report =
      Error(Code::kE2102, name.span,
            absl::StrCat(Quote(function.name), " has no parameter ",
                         Quote(name.name)));
  for (const std::string& near :
       NearestNames(names_.text(name.name), known, 1)) {
    report.Help(absl::StrCat("did you mean `", near, "`?"));
  }
  return function.params.size();
}

// Step 2 of 4.4: which argument goes to which parameter.
bool Checker::AssignArguments(ExprId e, FunctionId id, CallInfo& result) {
  const CallExpr& call = tree().as<CallExpr>(e);
  const Function& function = program_.functions[id];
  const size_t count = function.params.size();
  const std::string what = Quote(function.name);
  result.args.resize(count);
  bool fine = true;
  size_t next = 0;
  for (const ArgNode& arg : tree().list(call.args)) {
    const bool named = arg.name.valid();
    const size_t slot = named ? SlotOf(function, arg.name) : next++;
    if (!named && slot >= count) {
      Error(Code::kE2102, arg.span,
            absl::StrCat(what, " takes ", count,
                         count == 1 ? " argument" : " arguments", ", not ",
                         call.args.size));
      return false;
    }
    if (slot == count) {
      fine = false;
    } else if (result.args[slot].valid()) {
      Error(Code::kE2102, arg.span,
            absl::StrCat("the parameter ", Quote(function.params[slot].name),
                         " is given twice"));
      fine = false;
    } else {
      result.args[slot] = arg.value;
      result.written_order.push_back(static_cast<int32_t>(slot));
    }
  }
  for (size_t i = 0; fine && i < count; ++i) {
    if (result.args[i].valid() || function.params[i].default_value.valid()) {
      continue;
    }
    Error(Code::kE2102, span(e),
          absl::StrCat("the call of ", what, " misses the argument ",
                       Quote(function.params[i].name)))
        .Relate(function.params[i].span, "the parameter");
    fine = false;
  }
  return fine;
}

// Step 3: all arguments are looked at, also after a mismatch.
bool Checker::UnifyArguments(const Function& function, const CallInfo& call,
                             Inference& inference) {
  bool fine = true;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const ExprId arg = call.args[i];
    if (!arg.valid()) continue;
    const TypeId found = Infer(arg);
    if (is_error(found)) {
      fine = false;
      continue;
    }
    const Param& param = function.params[i];
    const Agreement agreement = inference.Unify(param.type, found);
    if (agreement == Agreement::kYes) continue;
    fine = false;
    if (agreement == Agreement::kTwoPacks) {
      Error(Code::kE2110, span(arg),
            absl::StrCat("the packs of ", Quote(param.name),
                         " cannot be inferred"))
          .Help("give the generic arguments explicitly");
      continue;
    }
    ReportMismatch(span(arg),
                   absl::StrCat("the parameter ", Quote(param.name), " of ",
                                Quote(function.name)),
                   inference.Apply(param.type), found, agreement, Code::kE2202);
  }
  return fine;
}

// Steps 4 to 7 without literals; `inference` binds everything after success.
bool Checker::FinishInference(absl::string_view what,
                              absl::Span<const Generic> generics,
                              Inference& inference, Span where) {
  if (const std::optional<size_t> open = inference.ApplyDefaults()) {
    Error(Code::kE2110, where,
          absl::StrCat("the generic ", Quote(generics[*open].name), " of ",
                       what, " does not follow from the arguments"))
        .Help("give it explicitly, as in `name<…>(…)`");
    return false;
  }
  if (const auto unequal = inference.FirstUnequal()) {
    Error(Code::kE2202, where,
          absl::StrCat("an argument of ", what, " has the dimension `",
                       unequal->second.ToString(), "` where `",
                       unequal->first.ToString(), "` is needed"));
    return false;
  }
  bool fine = true;
  for (const Generic& generic : generics) {
    if (!generic.dtype.valid()) continue;
    const auto it = inference.substitution().dtypes.find(generic.dtype);
    if (it == inference.substitution().dtypes.end()) continue;
    fine &= RequireClass(
        it->second, generic.kind, where,
        absl::StrCat("the generic ", Quote(generic.name), " of ", what));
  }
  return fine;
}

TypeId Checker::CallFunction(ExprId e, FunctionId id, TypeId receiver_type,
                             ExprId receiver) {
  const CallExpr& call = tree().as<CallExpr>(e);
  const Function& function = program_.functions[id];
  const std::string what = Quote(function.name);
  if (!ctx_->function.valid()) {
    Error(Code::kE2104, span(e),
          absl::StrCat(what,
                       " cannot be called here: only constants and "
                       "generics may be used"));
    InferArguments(call);
    return types_.error();
  }
  FunctionState& caller = functions_[ctx_->function];
  caller.callees.push_back(id);
  caller.call_spans.push_back(span(call.callee));
  const auto num_outer = static_cast<size_t>(function.num_block_generics);
  Inference inference(&program_, &facts(), function.generics);
  for (size_t i = 0; i < num_outer; ++i) {
    inference.Bind(i, type(receiver_type).args[i]);
  }
  CallInfo result;
  result.callee = id;
  result.receiver = receiver;
  bool fine = BindExplicit(inference, what, function.generics, num_outer,
                           call.generics, span(call.callee));
  if (!AssignArguments(e, id, result)) {
    InferArguments(call);
    return types_.error();
  }
  fine = UnifyArguments(function, result, inference) && fine;
  if (!fine || !FinishInference(what, function.generics, inference, span(e))) {
    return types_.error();
  }
  for (size_t i = 0; i < result.args.size(); ++i) {
    if (!result.args[i].valid()) continue;
    fine &= Adopt(result.args[i], inference.Apply(function.params[i].type));
  }
  ProveConstraints(what, function.where, inference.substitution(), span(e));
  const TypeId type = Bounded(inference.Apply(function.result), span(e));
  result.bindings = inference.TakeArgs();
  AddCall(e, std::move(result), type);
  return fine ? type : types_.error();
}
}  // namespace linnet::lang
