// `if`, `match` and patterns (language.md sections 6.2 to 6.4).

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/lang/checker.h"

namespace linnet::lang {

void Checker::CheckCondition(ExprId e, absl::string_view what) {
  const TypeId id = Infer(e);
  if (is_error(id) || id == types_.Scalar(DTypeRef::Of(DType::kBool))) return;
  Diagnostic& report =
      Error(Code::kE2114, span(e),
            absl::StrCat("the condition of ", what,
                         " must be a scalar `bool`, not `", Text(id), "`"));
  if (kind(id) == TypeKind::kTensor) {
    report.Help(
        "reduce it with `any[…]` or `all[…]`, or choose elementwise "
        "with `select`");
  }
}

// The type that both can have; invalid when there is none.
TypeId Checker::Join(TypeId a, TypeId b) {
  if (a == b && !IsContextual(a)) return a;
  const Type& x = type(a);
  const Type& y = type(b);
  if (x.kind == TypeKind::kError || y.kind == TypeKind::kError) {
    return types_.error();
  }
  if (x.kind == TypeKind::kCompileInt && y.kind == TypeKind::kCompileInt) {
    return types_.Scalar(DTypeRef::Of(DType::kI64));
  }
  const auto is_literal = [](const Type& t) {
    return t.kind == TypeKind::kCompileInt || t.kind == TypeKind::kFloatLit;
  };
  if (is_literal(x) && is_literal(y)) return types_.float_literal();
  if (is_literal(x) && y.kind == TypeKind::kScalar) return b;
  if (is_literal(y) && x.kind == TypeKind::kScalar) return a;
  if (x.kind == TypeKind::kNone) {
    return y.kind == TypeKind::kOptional || y.kind == TypeKind::kNone
               ? b
               : TypeId();
  }
  if (y.kind == TypeKind::kNone) {
    return x.kind == TypeKind::kOptional ? a : TypeId();
  }
  if (x.kind == y.kind && x.elements.size() == y.elements.size() &&
      (x.kind == TypeKind::kOptional || x.kind == TypeKind::kTuple)) {
    std::vector<TypeId> elements;
    for (size_t i = 0; i < x.elements.size(); ++i) {
      elements.push_back(Join(x.elements[i], y.elements[i]));
      if (!elements.back().valid()) return {};
      if (is_error(elements.back())) return elements.back();
    }
    return x.kind == TypeKind::kTuple ? types_.Tuple(std::move(elements))
                                      : types_.Optional(elements[0]);
  }
  return Agree(a, b) == Agreement::kYes ? a : TypeId();
}

TypeId Checker::JoinArms(ExprId e, absl::Span<const ExprId> arms, Code code) {
  TypeId joined = info(arms[0]).type;
  for (size_t i = 1; i < arms.size(); ++i) {
    const TypeId next = info(arms[i]).type;
    if (is_error(joined) || is_error(next)) {
      joined = types_.error();
      continue;
    }
    const TypeId both = Join(joined, next);
    if (!both.valid()) {
      Error(code, span(arms[i]),
            absl::StrCat("the branches have different types, `", Text(joined),
                         "` and `", Text(next), "`"))
          .Relate(span(arms[0]),
                  absl::StrCat("this one is `", Text(info(arms[0]).type), "`"));
      return types_.error();
    }
    joined = both;
  }
  if (is_error(joined)) return joined;
  if (!IsContextual(joined)) {
    for (const ExprId arm : arms) {
      if (!Adopt(arm, joined)) return types_.error();
    }
  }
  info(e).dim = {};
  // One arm of a compile-time integer: a value all the same.
  if (kind(joined) == TypeKind::kCompileInt) {
    joined = types_.Scalar(DTypeRef::Of(DType::kI64));
    for (const ExprId arm : arms) Adopt(arm, joined);
  }
  return joined;
}

TypeId Checker::InferIf(ExprId e) {
  const IfExpr& node = tree().as<IfExpr>(e);
  CheckCondition(node.condition, "`if`");
  Infer(node.then_value);
  Infer(node.else_value);
  const ExprId arms[] = {node.then_value, node.else_value};
  return JoinArms(e, arms, Code::kE2115);
}

TypeId Checker::InferMatch(ExprId e) {
  const MatchExpr& match = tree().as<MatchExpr>(e);
  const TypeId scrutinee = InferAny(match.scrutinee);
  switch (kind(scrutinee)) {
    case TypeKind::kOptional:
      return MatchOptional(e, match, scrutinee);
    case TypeKind::kEnum:
      return MatchEnum(e, match, scrutinee);
    case TypeKind::kError:
      break;
    case TypeKind::kNone:
      Error(Code::kE2113, span(match.scrutinee),
            "the type of this `none` is not known");
      break;
    default:
      Error(Code::kE2117, span(match.scrutinee),
            absl::StrCat("`match` looks into optionals and enums, not `",
                         Text(scrutinee), "`"));
      break;
  }
  // Whatever the arms bind is unknown.
  for (const ArmNode& arm : tree().list(match.arms)) {
    const size_t scope = OpenScope();
    BindPattern(arm.pattern, types_.error(), LocalKind::kLet);
    Infer(arm.value);
    CloseScope(scope);
  }
  return types_.error();
}

TypeId Checker::MatchOptional(ExprId e, const MatchExpr& match,
                              TypeId scrutinee_type) {
  TypeId scrutinee = scrutinee_type;
  if (IsContextual(scrutinee)) scrutinee = Settle(match.scrutinee);
  MatchInfo result;
  bool seen_some = false;
  bool seen_none = false;
  bool fine = !is_error(scrutinee);
  std::vector<ExprId> values;
  for (const ArmNode& arm : tree().list(match.arms)) {
    const PatternNode& pattern = tree().pattern(arm.pattern);
    const size_t scope = OpenScope();
    const bool reachable = !(seen_some && seen_none) &&
                           !(seen_some && pattern.kind == PatternKind::kSome) &&
                           !(seen_none && pattern.kind == PatternKind::kNone);
    if (!reachable) {
      Error(Code::kE2117, pattern.span, "this arm is never reached");
      fine = false;
    }
    LocalId bound;
    int32_t covers = -1;
    if (pattern.kind == PatternKind::kSome) {
      covers = 0;
      seen_some = true;
      BindPattern(tree().as<SomePattern>(arm.pattern).inner,
                  fine && !is_error(scrutinee) ? type(scrutinee).elements[0]
                                               : types_.error(),
                  LocalKind::kLet);
    } else if (pattern.kind == PatternKind::kNone) {
      covers = 1;
      seen_none = true;
    } else if (pattern.kind == PatternKind::kName) {
      seen_some = seen_none = true;
      bound = Bind(tree().as<NamePattern>(arm.pattern).name, LocalKind::kLet,
                   scrutinee);
      module_info().patterns[arm.pattern].local = bound;
    } else {
      Error(Code::kE2117, pattern.span,
            "a tuple pattern never matches an optional");
      BindPattern(arm.pattern, types_.error(), LocalKind::kLet);
      seen_some = seen_none = true;
      fine = false;
    }
    Infer(arm.value);
    CloseScope(scope);
    values.push_back(arm.value);
    result.arms.push_back(covers);
    result.bound.push_back(bound);
  }
  if (!seen_some || !seen_none) {
    return Fail(Code::kE2118, span(e),
                absl::StrCat("this `match` leaves out the case `",
                             seen_some ? "none" : "some(…)", "`"));
  }
  const TypeId joined = JoinArms(e, values, Code::kE2115);
  if (!fine || is_error(joined)) return types_.error();
  info(e).detail = static_cast<int32_t>(module_info().matches.size());
  module_info().matches.push_back(std::move(result));
  return joined;
}

TypeId Checker::MatchEnum(ExprId e, const MatchExpr& match, TypeId scrutinee) {
  const Enum& entry = program_.enums[EnumId{type(scrutinee).decl}];
  MatchInfo result;
  result.is_enum = true;
  std::vector<bool> covered(entry.variants.size(), false);
  bool catch_all = false;
  bool fine = true;
  std::vector<ExprId> values;
  for (const ArmNode& arm : tree().list(match.arms)) {
    const PatternNode& pattern = tree().pattern(arm.pattern);
    const size_t scope = OpenScope();
    LocalId bound;
    int32_t covers = -1;
    bool reachable = !catch_all;
    if (pattern.kind == PatternKind::kName) {
      const Ident name = tree().as<NamePattern>(arm.pattern).name;
      for (size_t i = 0; i < entry.variants.size(); ++i) {
        if (entry.variants[i] != name.name) continue;
        covers = static_cast<int32_t>(i);
        reachable &= !covered[i];
        covered[i] = true;
      }
      if (covers < 0) {
        catch_all = true;
        bound = Bind(name, LocalKind::kLet, scrutinee);
        module_info().patterns[arm.pattern].local = bound;
      }
    } else {
      Error(Code::kE2117, pattern.span,
            absl::StrCat("this pattern never matches the enum ",
                         Quote(entry.name)));
      BindPattern(arm.pattern, types_.error(), LocalKind::kLet);
      fine = false;
    }
    if (!reachable) {
      Error(Code::kE2117, pattern.span, "this arm is never reached");
      fine = false;
    }
    Infer(arm.value);
    CloseScope(scope);
    values.push_back(arm.value);
    result.arms.push_back(covers);
    result.bound.push_back(bound);
  }
  for (size_t i = 0; !catch_all && fine && i < covered.size(); ++i) {
    if (covered[i]) continue;
    return Fail(Code::kE2118, span(e),
                absl::StrCat("this `match` leaves out the case ",
                             Quote(entry.variants[i])));
  }
  const TypeId joined = JoinArms(e, values, Code::kE2115);
  if (!fine || is_error(joined)) return types_.error();
  info(e).detail = static_cast<int32_t>(module_info().matches.size());
  module_info().matches.push_back(std::move(result));
  return joined;
}

void Checker::BindPattern(PatternId id, TypeId bound, LocalKind local_kind,
                          expr::Expr dim) {
  const PatternNode& pattern = tree().pattern(id);
  switch (pattern.kind) {
    case PatternKind::kName:
      module_info().patterns[id].local =
          Bind(tree().as<NamePattern>(id).name, local_kind, bound, dim);
      return;
    case PatternKind::kTuple: {
      const absl::Span<const PatternId> elements =
          tree().list(tree().as<TuplePattern>(id).elements);
      const bool fits = kind(bound) == TypeKind::kTuple &&
                        type(bound).elements.size() == elements.size();
      if (!fits && !is_error(bound)) {
        Error(Code::kE2117, pattern.span,
              absl::StrCat("this pattern takes ", elements.size(),
                           " values, but the value is `", Text(bound), "`"));
      }
      for (size_t i = 0; i < elements.size(); ++i) {
        BindPattern(elements[i],
                    fits ? type(bound).elements[i] : types_.error(),
                    local_kind);
      }
      return;
    }
    case PatternKind::kSome:
      if (!is_error(bound)) {
        Error(Code::kE2117, pattern.span,
              "`some(…)` may not match; only an arm of `match` can say so");
      }
      BindPattern(tree().as<SomePattern>(id).inner, types_.error(), local_kind);
      return;
    case PatternKind::kNone:
      if (!is_error(bound)) {
        Error(Code::kE2117, pattern.span,
              "`none` may not match; only an arm of `match` can say so");
      }
      return;
  }
}

}  // namespace linnet::lang
