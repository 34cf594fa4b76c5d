#include "core/lang/type.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"

namespace linnet::lang {
namespace {

bool IsClosedShape(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Unit& unit) {
    return !unit.is_pack() && unit.dim.is_constant();
  });
}

bool IsClosedArg(const GenericArg& arg) {
  switch (arg.kind) {
    case GenericArg::Kind::kDim:
      return arg.dim.is_constant();
    case GenericArg::Kind::kDType:
      return !arg.dtype.is_var();
    case GenericArg::Kind::kShape:
      return IsClosedShape(arg.shape);
  }
  return false;
}

}  // namespace

GenericArg GenericArg::Dim(expr::Expr dim) {
  GenericArg arg;
  arg.kind = Kind::kDim;
  arg.dim = dim;
  return arg;
}

GenericArg GenericArg::DTypeOf(DTypeRef dtype) {
  GenericArg arg;
  arg.kind = Kind::kDType;
  arg.dtype = dtype;
  return arg;
}

GenericArg GenericArg::ShapeOf(Shape shape) {
  GenericArg arg;
  arg.kind = Kind::kShape;
  arg.shape = std::move(shape);
  return arg;
}

expr::Expr ElementCount(const Shape& shape, expr::Pool& pool) {
  expr::Expr count = pool.One();
  for (const Unit& unit : shape) count = pool.Mul(count, unit.dim);
  return count;
}

void Substitution::BindPack(PackId pack, expr::Expr count, Shape shape,
                            expr::Pool& pool) {
  if (count.symbol().valid()) dims[count.symbol()] = ElementCount(shape, pool);
  packs[pack] = std::move(shape);
}

TypeTable::TypeTable() : ids_(64, Hash{&entries_}, Eq{&entries_}) {
  const auto plain = [this](TypeKind kind) {
    Type type;
    type.kind = kind;
    return Intern(std::move(type));
  };
  error_ = plain(TypeKind::kError);
  unit_ = plain(TypeKind::kUnit);
  compile_int_ = plain(TypeKind::kCompileInt);
  float_literal_ = plain(TypeKind::kFloatLit);
  none_ = plain(TypeKind::kNone);
}

TypeId TypeTable::Intern(Type type) {
  const Key key{&type, absl::Hash<Type>()(type)};
  const auto found = ids_.find(key);
  if (found != ids_.end()) return *found;
  const TypeId id{size()};
  const bool is_closed = IsClosed(type);
  entries_.push_back(Entry{std::move(type), key.hash, is_closed});
  ids_.insert(id);
  return id;
}

bool TypeTable::IsClosed(const Type& type) const {
  const bool count_closed = !type.count.valid() || type.count.is_constant();
  return count_closed && !type.dtype.is_var() && IsClosedShape(type.shape) &&
         std::all_of(type.elements.begin(), type.elements.end(),
                     [this](TypeId id) { return closed(id); }) &&
         std::all_of(type.args.begin(), type.args.end(), IsClosedArg);
}

TypeId TypeTable::Scalar(DTypeRef dtype) {
  Type type;
  type.kind = TypeKind::kScalar;
  type.dtype = dtype;
  return Intern(std::move(type));
}

TypeId TypeTable::Tensor(Shape shape, DTypeRef dtype) {
  if (shape.empty()) return Scalar(dtype);
  Type type;
  type.kind = TypeKind::kTensor;
  type.shape = std::move(shape);
  type.dtype = dtype;
  return Intern(std::move(type));
}

TypeId TypeTable::Optional(TypeId inner) {
  Type type;
  type.kind = TypeKind::kOptional;
  type.elements = {inner};
  return Intern(std::move(type));
}

TypeId TypeTable::Tuple(std::vector<TypeId> elements) {
  Type type;
  type.kind = TypeKind::kTuple;
  type.elements = std::move(elements);
  return Intern(std::move(type));
}

TypeId TypeTable::Substitute(TypeId id, const Substitution& substitution,
                             expr::Pool& pool) {
  if (closed(id) || substitution.empty()) return id;
  absl::flat_hash_map<TypeId, TypeId> done;
  return SubstituteIn(id, substitution, pool, done);
}

// Recursion: types nest no deeper than their source text does.
TypeId TypeTable::SubstituteIn(TypeId id, const Substitution& substitution,
                               expr::Pool& pool,
                               absl::flat_hash_map<TypeId, TypeId>& done) {
  if (closed(id)) return id;
  const Type& from = get(id);
  if (!from.elements.empty()) {
    const auto found = done.find(id);
    if (found != done.end()) return found->second;
  }
  Type type;
  type.kind = from.kind;
  type.decl = from.decl;
  type.dtype = SubstituteDType(from.dtype, substitution);
  if (from.count.valid()) {
    type.count = SubstituteDim(from.count, substitution, pool);
  }
  type.shape = SubstituteShape(from.shape, substitution, pool);
  if (type.kind == TypeKind::kTensor && type.shape.empty()) {
    return Scalar(type.dtype);
  }
  type.elements.reserve(from.elements.size());
  for (TypeId element : from.elements) {
    type.elements.push_back(SubstituteIn(element, substitution, pool, done));
  }
  type.args.reserve(from.args.size());
  for (const GenericArg& arg : from.args) {
    type.args.push_back(SubstituteArg(arg, substitution, pool));
  }
  const TypeId result = Intern(std::move(type));
  if (!from.elements.empty()) done[id] = result;
  return result;
}

expr::Expr SubstituteDim(expr::Expr dim, const Substitution& substitution,
                         expr::Pool& pool) {
  if (substitution.dims.empty() || dim.is_constant()) return dim;
  const expr::SymbolId symbol = dim.symbol();
  if (!symbol.valid()) return pool.Substitute(dim, substitution.dims);
  const auto found = substitution.dims.find(symbol);
  return found == substitution.dims.end() ? dim : found->second;
}

Shape SubstituteShape(const Shape& shape, const Substitution& substitution,
                      expr::Pool& pool) {
  Shape result;
  result.reserve(shape.size());
  for (const Unit& unit : shape) {
    if (unit.is_pack()) {
      const auto found = substitution.packs.find(unit.pack);
      if (found == substitution.packs.end()) {
        result.push_back(unit);
      } else {
        result.insert(result.end(), found->second.begin(), found->second.end());
      }
    } else {
      result.push_back(Unit{SubstituteDim(unit.dim, substitution, pool), {}});
    }
  }
  return result;
}

DTypeRef SubstituteDType(DTypeRef dtype, const Substitution& substitution) {
  if (!dtype.is_var()) return dtype;
  const auto found = substitution.dtypes.find(dtype.var);
  return found == substitution.dtypes.end() ? dtype : found->second;
}

GenericArg SubstituteArg(const GenericArg& arg,
                         const Substitution& substitution, expr::Pool& pool) {
  switch (arg.kind) {
    case GenericArg::Kind::kDim:
      return GenericArg::Dim(SubstituteDim(arg.dim, substitution, pool));
    case GenericArg::Kind::kDType:
      return GenericArg::DTypeOf(SubstituteDType(arg.dtype, substitution));
    case GenericArg::Kind::kShape:
      return GenericArg::ShapeOf(
          SubstituteShape(arg.shape, substitution, pool));
  }
  return arg;
}

}  // namespace linnet::lang
