// Construction of structs (language.md section 4.8).

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

// Which argument goes to which field.
bool Checker::AssignFields(ExprId e, StructId id, CallInfo& result) {
  const CallExpr& call = tree().as<CallExpr>(e);
  const Struct& entry = program_.structs[id];
  const std::string what = Quote(entry.name);
  result.args.resize(entry.fields.size());
  bool fine = true;
  const auto report = [&](Span where, std::string message) {
    Error(Code::kE2102, where, std::move(message));
    fine = false;
  };
  for (const ArgNode& arg : tree().list(call.args)) {
    if (!arg.name.valid()) {
      report(arg.span,
             absl::StrCat("the fields of ", what, " are given by name"));
      continue;
    }
    const std::string field = Quote(arg.name.name);
    const auto it =
        std::find(entry.fields.begin(), entry.fields.end(), arg.name.name);
    const auto slot = static_cast<size_t>(it - entry.fields.begin());
    if (it == entry.fields.end()) {
      report(arg.name.span, absl::StrCat(what, " has no field ", field));
    } else if (result.args[slot].valid()) {
      report(arg.name.span,
             absl::StrCat("the field ", field, " is given twice"));
    } else {
      result.args[slot] = arg.value;
      result.written_order.push_back(static_cast<int32_t>(slot));
    }
  }
  for (size_t i = 0; fine && i < result.args.size(); ++i) {
    if (result.args[i].valid()) continue;
    report(span(e), absl::StrCat("the field ", Quote(entry.fields[i]), " of ",
                                 what, " is missing"));
  }
  return fine;
}

bool Checker::UnifyFields(const Struct& entry, const CallInfo& call,
                          Inference& inference) {
  bool fine = true;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const TypeId found = Infer(call.args[i]);
    if (is_error(found)) {
      fine = false;
      continue;
    }
    const Agreement agreement = inference.Unify(entry.field_types[i], found);
    if (agreement == Agreement::kYes) continue;
    ReportMismatch(
        span(call.args[i]), absl::StrCat("the field ", Quote(entry.fields[i])),
        inference.Apply(entry.field_types[i]), found, agreement, Code::kE2202);
    fine = false;
  }
  return fine;
}

TypeId Checker::Construct(ExprId e, StructId id) {
  const CallExpr& call = tree().as<CallExpr>(e);
  EnsureStructHeader(id);
  const Struct& entry = program_.structs[id];
  const std::string what = Quote(entry.name);
  CallInfo result;
  result.kind = CallKind::kStruct;
  if (!AssignFields(e, id, result)) {
    InferArguments(call);
    return types_.error();
  }
  Inference inference(&program_, &facts(), entry.generics);
  const size_t num_outer = structs_[id].num_outer;
  for (size_t i = 0; i < num_outer; ++i) {
    inference.Bind(i, entry.generics[i].AsArg());
  }
  bool fine = BindExplicit(inference, what, entry.generics, num_outer,
                           call.generics, span(call.callee));
  fine = UnifyFields(entry, result, inference) && fine;
  if (!fine || !FinishInference(what, entry.generics, inference, span(e))) {
    return types_.error();
  }
  for (size_t i = 0; i < result.args.size(); ++i) {
    fine &= Adopt(result.args[i], inference.Apply(entry.field_types[i]));
  }
  Type made;
  made.kind = TypeKind::kStruct;
  made.decl = id.index;
  made.args = inference.TakeArgs();
  const TypeId type_id = Bounded(types_.Intern(std::move(made)), span(e));
  AddCall(e, std::move(result), type_id);
  return fine ? type_id : types_.error();
}

}  // namespace linnet::lang
