// Types of the language, as the checker sees them: interned, so that equality
// of ids is structural equality.
//
// Dimensions are polynomials of core/expr over the symbols of generic
// parameters; every generic of every declaration has symbols of its own, all in
// one expr::Pool of the program.

#ifndef LINNET_CORE_LANG_TYPE_H_
#define LINNET_CORE_LANG_TYPE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "core/base/dtype.h"
#include "core/base/id.h"
#include "core/expr/expr.h"

namespace linnet::lang {

struct TypeTag;
struct PackTag;
struct DTypeVarTag;
struct BlockTag;
struct StructTag;
struct EnumTag;
using TypeId = Id<TypeTag>;
using PackId = Id<PackTag>;          // A `*S: Shape` generic.
using DTypeVarId = Id<DTypeVarTag>;  // A `T: Float` generic.
using BlockId = Id<BlockTag>;
using StructId = Id<StructTag>;
using EnumId = Id<EnumTag>;

// An element type: a concrete dtype, or a generic one.
struct DTypeRef {
  DType dtype = DType::kBool;  // Meaningless when `var` is valid.
  DTypeVarId var;

  static DTypeRef Of(DType dtype) { return {dtype, {}}; }
  static DTypeRef Of(DTypeVarId var) { return {DType::kBool, var}; }
  bool is_var() const { return var.valid(); }
  friend bool operator==(DTypeRef, DTypeRef) = default;
  template <typename H>
  friend H AbslHashValue(H h, DTypeRef r) {
    return H::combine(std::move(h), static_cast<int>(r.dtype), r.var);
  }
};

// One unit of a shape: a dimension, or a pack standing for any number of them.
struct Unit {
  expr::Expr dim;  // The dimension; for a pack, its element count.
  PackId pack;     // Valid for a pack.

  bool is_pack() const { return pack.valid(); }
  friend bool operator==(const Unit&, const Unit&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Unit& u) {
    return H::combine(std::move(h), u.dim, u.pack);
  }
};
using Shape = std::vector<Unit>;

// What a generic parameter is bound to.
struct GenericArg {
  enum class Kind : uint8_t { kDim, kShape, kDType } kind = Kind::kDim;
  expr::Expr dim;  // kDim
  DTypeRef dtype;  // kDType
  Shape shape;     // kShape

  static GenericArg Dim(expr::Expr dim);
  static GenericArg DTypeOf(DTypeRef dtype);
  static GenericArg ShapeOf(Shape shape);
  friend bool operator==(const GenericArg&, const GenericArg&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GenericArg& a) {
    return H::combine(std::move(h), static_cast<int>(a.kind), a.dim, a.dtype,
                      a.shape);
  }
};

enum class TypeKind : uint8_t {
  kError,       // Something was reported already; agrees with everything.
  kUnit,        // A function without `->`.
  kScalar,      // dtype
  kTensor,      // shape, dtype
  kOptional,    // elements[0]
  kTuple,       // elements
  kArray,       // elements[0] (a block type), count
  kStruct,      // decl, args
  kEnum,        // decl, args
  kBlock,       // decl, args (the outer blocks' generics first)
  kShape,       // A shape value `[A, B]`: shape
  kCompileInt,  // A compile-time integer without a dtype yet.
  kFloatLit,    // A float literal without a dtype yet.
  kNone,        // `none` without a type yet.
};

struct Type {
  TypeKind kind = TypeKind::kError;
  DTypeRef dtype;
  int32_t decl = -1;  // BlockId, StructId or EnumId, by kind.
  expr::Expr count;   // kArray
  Shape shape;
  std::vector<TypeId> elements;
  std::vector<GenericArg> args;

  friend bool operator==(const Type&, const Type&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Type& t) {
    return H::combine(std::move(h), static_cast<int>(t.kind), t.dtype, t.decl,
                      t.count, t.shape, t.elements, t.args);
  }
};

// What generics stand for, when a declaration is used: from the symbols, packs
// and dtype variables of its generic parameters to arguments.
struct Substitution {
  absl::flat_hash_map<expr::SymbolId, expr::Expr> dims;
  absl::flat_hash_map<PackId, Shape> packs;
  absl::flat_hash_map<DTypeVarId, DTypeRef> dtypes;
};

// Interns types. Ids stay valid for the life of the table. Not thread-safe
// while types are added; reading is.
class TypeTable {
 public:
  TypeTable();
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  TypeId Intern(Type type);
  const Type& get(TypeId id) const { return *types_[id]; }
  int32_t size() const { return types_.size(); }

  TypeId error() const { return error_; }
  TypeId unit() const { return unit_; }
  TypeId compile_int() const { return compile_int_; }
  TypeId float_literal() const { return float_literal_; }
  TypeId none() const { return none_; }
  TypeId Scalar(DTypeRef dtype);
  TypeId Tensor(Shape shape, DTypeRef dtype);
  TypeId Optional(TypeId inner);
  TypeId Tuple(std::vector<TypeId> elements);

  // `type` with generics replaced; symbols that `substitution` does not name
  // stay. Dimensions are made in `pool`.
  TypeId Substitute(TypeId type, const Substitution& substitution,
                    expr::Pool& pool);

 private:
  absl::flat_hash_map<Type, TypeId> ids_;
  IdMap<TypeId, const Type*> types_;  // Into the keys' stable storage.
  std::vector<std::unique_ptr<Type>> storage_;
  TypeId error_, unit_, compile_int_, float_literal_, none_;
};

// Replaces generics in one dimension, shape, dtype or argument.
expr::Expr SubstituteDim(expr::Expr dim, const Substitution& substitution,
                         expr::Pool& pool);
Shape SubstituteShape(const Shape& shape, const Substitution& substitution,
                      expr::Pool& pool);
DTypeRef SubstituteDType(DTypeRef dtype, const Substitution& substitution);
GenericArg SubstituteArg(const GenericArg& arg,
                         const Substitution& substitution, expr::Pool& pool);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_TYPE_H_
