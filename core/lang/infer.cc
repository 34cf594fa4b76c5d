#include "core/lang/infer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace linnet::lang {

bool SameDim(const ShapeFacts& facts, expr::Expr a, expr::Expr b) {
  return a == b || facts.Prove(Relation::kEq, a, b);
}

bool SameUnit(const ShapeFacts& facts, const Unit& a, const Unit& b) {
  if (a.is_pack() || b.is_pack()) return a.pack == b.pack;
  return SameDim(facts, a.dim, b.dim);
}

bool SameShape(const ShapeFacts& facts, const Shape& a, const Shape& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](const Unit& x, const Unit& y) { return SameUnit(facts, x, y); });
}

namespace {

bool IsOne(const ShapeFacts& facts, expr::Expr dim) {
  if (dim.is_constant()) return dim.constant() == 1;
  const std::optional<int64_t> low = facts.Low(dim);
  const std::optional<int64_t> high = facts.High(dim);
  return low.has_value() && high.has_value() && *low == 1 && *high == 1;
}

// The unit that an aligned pair gives.
std::optional<Unit> BroadcastUnit(const ShapeFacts& facts, const Unit& a,
                                  const Unit& b) {
  if (SameUnit(facts, a, b)) return a;
  if (a.is_pack() && b.is_pack()) return std::nullopt;
  if (!b.is_pack() && IsOne(facts, b.dim) && !a.is_pack()) return a;
  if (!a.is_pack() && IsOne(facts, a.dim) && !b.is_pack()) return b;
  return std::nullopt;
}

}  // namespace

std::optional<Shape> BroadcastShapes(const ShapeFacts& facts, const Shape& a,
                                     const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t extra = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    std::optional<Unit> unit =
        BroadcastUnit(facts, longer[extra + i], shorter[i]);
    if (!unit.has_value()) return std::nullopt;
    result[extra + i] = *unit;
  }
  return result;
}

Inference::Inference(Program* program, const ShapeFacts* facts,
                     absl::Span<const Generic> generics)
    : program_(program),
      facts_(facts),
      generics_(generics),
      args_(generics.size()) {}

void Inference::Bind(size_t i, GenericArg arg) {
  const Generic& generic = generics_[i];
  switch (generic.kind) {
    case GenericKind::kDim:
      substitution_.dims[generic.dim.symbol()] = arg.dim;
      break;
    case GenericKind::kShape:
      substitution_.packs[generic.pack] = arg.shape;
      substitution_.dims[generic.dim.symbol()] =
          ElementCount(arg.shape, *program_->pool);
      break;
    default:
      substitution_.dtypes[generic.dtype] = arg.dtype;
      break;
  }
  args_[i] = std::move(arg);
}

int Inference::FindDim(expr::SymbolId symbol) const {
  for (size_t i = 0; i < generics_.size(); ++i) {
    if (generics_[i].dim.valid() && generics_[i].dim.symbol() == symbol) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int Inference::FindOpenPack(PackId pack) const {
  for (size_t i = 0; i < generics_.size(); ++i) {
    if (generics_[i].kind == GenericKind::kShape && generics_[i].pack == pack) {
      return args_[i].has_value() ? -1 : static_cast<int>(i);
    }
  }
  return -1;
}

bool Inference::HasUnbound(expr::Expr dim) const {
  if (generics_.empty() || dim.is_constant()) return false;
  for (const expr::SymbolId symbol : expr::SymbolsOf(dim)) {
    const int i = FindDim(symbol);
    if (i >= 0 && !args_[static_cast<size_t>(i)].has_value()) return true;
  }
  return false;
}

Agreement Inference::UnifyDim(expr::Expr param, expr::Expr arg) {
  if (!param.valid() || !arg.valid()) return Agreement::kYes;
  if (generics_.empty()) {
    return SameDim(*facts_, param, arg) ? Agreement::kYes
                                        : Agreement::kOtherShape;
  }
  const expr::SymbolId symbol = param.symbol();
  if (symbol.valid()) {
    const int i = FindDim(symbol);
    if (i >= 0 && !args_[static_cast<size_t>(i)].has_value() &&
        generics_[static_cast<size_t>(i)].kind == GenericKind::kDim) {
      Bind(static_cast<size_t>(i), GenericArg::Dim(arg));
      return Agreement::kYes;
    }
  }
  if (HasUnbound(param)) {
    deferred_.emplace_back(param, arg);
    return Agreement::kYes;
  }
  return SameDim(*facts_, Apply(param), arg) ? Agreement::kYes
                                             : Agreement::kOtherShape;
}

Agreement Inference::UnifyDType(DTypeRef param, DTypeRef arg) {
  if (param.is_var()) {
    for (size_t i = 0; i < generics_.size(); ++i) {
      if (generics_[i].dtype != param.var || !generics_[i].dtype.valid()) {
        continue;
      }
      if (!args_[i].has_value()) {
        Bind(i, GenericArg::DTypeOf(arg));
        return Agreement::kYes;
      }
      return args_[i]->dtype == arg ? Agreement::kYes : Agreement::kOtherDType;
    }
  }
  return param == arg ? Agreement::kYes : Agreement::kOtherDType;
}

Agreement Inference::UnifyUnits(absl::Span<const Unit> param,
                                absl::Span<const Unit> arg) {
  for (size_t i = 0; i < param.size(); ++i) {
    Agreement agreement = Agreement::kYes;
    if (param[i].is_pack() || arg[i].is_pack()) {
      if (param[i].pack != arg[i].pack) agreement = Agreement::kOtherShape;
    } else {
      agreement = UnifyDim(param[i].dim, arg[i].dim);
    }
    if (agreement != Agreement::kYes) return agreement;
  }
  return Agreement::kYes;
}

Agreement Inference::UnifyShape(const Shape& param, const Shape& arg) {
  // Bound packs give way to what they are bound to.
  const Shape* wanted = &param;
  Shape substituted;
  int open = -1;
  bool any_bound = false;
  for (const Unit& unit : param) {
    if (!unit.is_pack()) continue;
    if (FindOpenPack(unit.pack) < 0) {
      any_bound |= substitution_.packs.contains(unit.pack);
    } else if (open >= 0) {
      return Agreement::kTwoPacks;
    } else {
      open = 0;
    }
  }
  if (any_bound) {
    // Dimensions stay as they are, so that they can still bind.
    for (const Unit& unit : param) {
      const auto it = unit.is_pack() ? substitution_.packs.find(unit.pack)
                                     : substitution_.packs.end();
      if (it == substitution_.packs.end()) {
        substituted.push_back(unit);
      } else {
        substituted.insert(substituted.end(), it->second.begin(),
                           it->second.end());
      }
    }
    wanted = &substituted;
  }
  const absl::Span<const Unit> left(*wanted);
  const absl::Span<const Unit> right(arg);
  if (open < 0) {
    if (left.size() != right.size()) return Agreement::kOtherShape;
    return UnifyUnits(left, right);
  }
  size_t before = 0;
  while (!left[before].is_pack() || FindOpenPack(left[before].pack) < 0) {
    ++before;
  }
  const size_t after = left.size() - before - 1;
  if (right.size() < before + after) return Agreement::kOtherShape;
  Agreement agreement =
      UnifyUnits(left.subspan(0, before), right.subspan(0, before));
  if (agreement != Agreement::kYes) return agreement;
  agreement =
      UnifyUnits(left.subspan(before + 1), right.subspan(right.size() - after));
  if (agreement != Agreement::kYes) return agreement;
  const absl::Span<const Unit> covered =
      right.subspan(before, right.size() - before - after);
  Bind(static_cast<size_t>(FindOpenPack(left[before].pack)),
       GenericArg::ShapeOf(Shape(covered.begin(), covered.end())));
  return Agreement::kYes;
}

Agreement Inference::UnifyArg(const GenericArg& param, const GenericArg& arg) {
  if (param.kind != arg.kind) return Agreement::kOtherType;
  switch (param.kind) {
    case GenericArg::Kind::kDim:
      return UnifyDim(param.dim, arg.dim);
    case GenericArg::Kind::kDType:
      return UnifyDType(param.dtype, arg.dtype);
    case GenericArg::Kind::kShape:
      return UnifyShape(param.shape, arg.shape);
  }
  return Agreement::kOtherType;
}

Agreement Inference::UnifyElements(const Type& param, const Type& arg) {
  if (param.decl != arg.decl || param.args.size() != arg.args.size() ||
      param.elements.size() != arg.elements.size()) {
    return Agreement::kOtherType;
  }
  for (size_t i = 0; i < param.elements.size(); ++i) {
    const Agreement agreement = Unify(param.elements[i], arg.elements[i]);
    if (agreement != Agreement::kYes) return agreement;
  }
  for (size_t i = 0; i < param.args.size(); ++i) {
    if (UnifyArg(param.args[i], arg.args[i]) != Agreement::kYes) {
      return Agreement::kOtherType;
    }
  }
  return Agreement::kYes;
}

Agreement Inference::Unify(TypeId param, TypeId arg) {
  TypeTable& types = *program_->types;
  if (param == arg && generics_.empty()) return Agreement::kYes;
  // By reference: interned types never move.
  const Type& want = types.get(param);
  const Type& have = types.get(arg);
  if (want.kind == TypeKind::kError || have.kind == TypeKind::kError) {
    return Agreement::kYes;
  }
  if (want.kind == TypeKind::kOptional) {
    if (have.kind == TypeKind::kNone) return Agreement::kYes;
    if (have.kind != TypeKind::kOptional) return Agreement::kWrap;
    return Unify(want.elements[0], have.elements[0]);
  }
  if (want.kind == TypeKind::kScalar && (have.kind == TypeKind::kCompileInt ||
                                         have.kind == TypeKind::kFloatLit)) {
    return Agreement::kYes;
  }
  if (want.kind != have.kind) return Agreement::kOtherType;
  switch (want.kind) {
    case TypeKind::kScalar:
      return UnifyDType(want.dtype, have.dtype);
    case TypeKind::kTensor: {
      const Agreement agreement = UnifyDType(want.dtype, have.dtype);
      if (agreement != Agreement::kYes) return agreement;
      return UnifyShape(want.shape, have.shape);
    }
    case TypeKind::kArray:
      if (UnifyDim(want.count, have.count) != Agreement::kYes) {
        return Agreement::kOtherType;
      }
      return UnifyElements(want, have);
    case TypeKind::kShape:
      return UnifyShape(want.shape, have.shape);
    default:
      return UnifyElements(want, have);
  }
}

std::optional<size_t> Inference::ApplyDefaults() {
  for (size_t i = 0; i < generics_.size(); ++i) {
    if (args_[i].has_value()) continue;
    if (!generics_[i].default_value.has_value()) return i;
    Bind(i, SubstituteArg(*generics_[i].default_value, substitution_,
                          *program_->pool));
  }
  return std::nullopt;
}

std::optional<std::pair<expr::Expr, expr::Expr>> Inference::FirstUnequal() {
  for (const auto& [param, arg] : deferred_) {
    const expr::Expr wanted = Apply(param);
    if (!SameDim(*facts_, wanted, arg)) return std::make_pair(wanted, arg);
  }
  return std::nullopt;
}

TypeId Inference::Apply(TypeId type) {
  return program_->types->Substitute(type, substitution_, *program_->pool);
}

expr::Expr Inference::Apply(expr::Expr dim) {
  return SubstituteDim(dim, substitution_, *program_->pool);
}

std::vector<GenericArg> Inference::TakeArgs() {
  std::vector<GenericArg> args;
  args.reserve(args_.size());
  for (std::optional<GenericArg>& arg : args_) args.push_back(*std::move(arg));
  return args;
}

}  // namespace linnet::lang
