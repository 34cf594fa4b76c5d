#include "core/trace/concrete.h"

#include "core/base/check.h"

namespace linnet::trace {

ConcreteArg ConcreteArg::Dim(expr::Expr dim) {
  ConcreteArg arg;
  arg.dim = dim;
  return arg;
}

ConcreteArg ConcreteArg::Of(DType dtype) {
  ConcreteArg arg;
  arg.kind = lang::GenericArg::Kind::kDType;
  arg.dtype = dtype;
  return arg;
}

Environment::Environment(const std::vector<lang::Generic>& generics,
                         ConcreteArgs args, expr::Pool* pool)
    : args_(std::move(args)), pool_(pool) {
  LINNET_CHECK(args_.size() == generics.size())
      << "the checker binds every generic";
  for (size_t i = 0; i < generics.size(); ++i) {
    const lang::Generic& generic = generics[i];
    const ConcreteArg& arg = args_[i];
    switch (arg.kind) {
      case lang::GenericArg::Kind::kDim:
        dims_[generic.dim.symbol()] = arg.dim;
        break;
      case lang::GenericArg::Kind::kShape:
        packs_[generic.pack] = arg.shape;
        if (generic.dim.symbol().valid()) {
          dims_[generic.dim.symbol()] = pool_->Product(arg.shape);
        }
        break;
      case lang::GenericArg::Kind::kDType:
        dtypes_[generic.dtype] = arg.dtype;
        break;
    }
  }
}

expr::Expr Environment::Dim(expr::Expr dim) const {
  if (dim.is_constant()) return pool_->Constant(dim.constant());
  if (const expr::SymbolId symbol = dim.symbol(); symbol.valid()) {
    const auto it = dims_.find(symbol);
    LINNET_CHECK(it != dims_.end()) << "the symbol of another declaration";
    return it->second;
  }
  return pool_->Substitute(dim, dims_);
}

DType Environment::Element(lang::DTypeRef dtype) const {
  if (!dtype.is_var()) return dtype.dtype;
  const auto it = dtypes_.find(dtype.var);
  LINNET_CHECK(it != dtypes_.end()) << "the dtype of another declaration";
  return it->second;
}

std::vector<expr::Expr> Environment::Units(
    absl::Span<const lang::Unit> shape) const {
  std::vector<expr::Expr> units;
  units.reserve(shape.size());
  for (const lang::Unit& unit : shape) {
    if (!unit.is_pack()) {
      units.push_back(Dim(unit.dim));
      continue;
    }
    const auto it = packs_.find(unit.pack);
    LINNET_CHECK(it != packs_.end()) << "the pack of another declaration";
    units.insert(units.end(), it->second.begin(), it->second.end());
  }
  return units;
}

expr::Expr Environment::ElementCount(absl::Span<const lang::Unit> shape) const {
  return pool_->Product(Units(shape));
}

ConcreteArg Environment::Arg(const lang::GenericArg& arg) const {
  switch (arg.kind) {
    case lang::GenericArg::Kind::kDim:
      return ConcreteArg::Dim(Dim(arg.dim));
    case lang::GenericArg::Kind::kDType:
      return ConcreteArg::Of(Element(arg.dtype));
    case lang::GenericArg::Kind::kShape:
      break;
  }
  ConcreteArg result;
  result.kind = lang::GenericArg::Kind::kShape;
  result.shape = Units(arg.shape);
  return result;
}

ConcreteArgs Environment::Args(
    const std::vector<lang::GenericArg>& args) const {
  ConcreteArgs result;
  result.reserve(args.size());
  for (const lang::GenericArg& arg : args) result.push_back(Arg(arg));
  return result;
}

ConcreteType Environment::Type(const lang::Type& type) const {
  ConcreteType result;
  result.elements = pool_->One();
  if (type.kind == lang::TypeKind::kScalar) {
    result.dtype = Element(type.dtype);
  } else if (type.kind == lang::TypeKind::kTensor) {
    result.dtype = Element(type.dtype);
    result.shape = Units(type.shape);
    // A shape of packs may turn out to have no axis: then it is a scalar.
    result.is_tensor = !result.shape.empty();
    result.elements = pool_->Product(result.shape);
  }
  return result;
}

}  // namespace linnet::trace
