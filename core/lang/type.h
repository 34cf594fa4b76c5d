// Types of the language, as the checker sees them: interned, so that equality
// of ids is structural equality.
//
// Dimensions are polynomials of core/expr over the symbols of generic
// parameters; every generic of every declaration has symbols of its own, all in
// one expr::Pool of the program.

#ifndef LINNET_CORE_LANG_TYPE_H_
#define LINNET_CORE_LANG_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/dtype.h"
#include "core/base/id.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"

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
// and dtype variables of its generic parameters to arguments. See binding.h for
// making one from a list of generics.
struct Substitution {
  absl::flat_hash_map<expr::SymbolId, expr::Expr> dims;
  absl::flat_hash_map<PackId, Shape> packs;
  absl::flat_hash_map<DTypeVarId, DTypeRef> dtypes;

  bool empty() const { return dims.empty() && packs.empty() && dtypes.empty(); }
  // Binds a pack and its element count, the product of the units of `shape`.
  // `count` is the symbol of Unit::dim wherever the pack itself is a unit.
  void BindPack(PackId pack, expr::Expr count, Shape shape, expr::Pool& pool);
};

// The product of the units; 1 for no unit.
expr::Expr ElementCount(const Shape& shape, expr::Pool& pool);

// Interns types. Ids stay valid for the life of the table, and so do references
// that get() returned. Not thread-safe while types are added; reading is.
class TypeTable {
 public:
  TypeTable();
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  TypeId Intern(Type type);
  const Type& get(TypeId id) const { return entry(id).type; }
  int32_t size() const { return static_cast<int32_t>(entries_.size()); }
  // Whether no generic occurs in it, so that substituting changes nothing.
  bool closed(TypeId id) const { return entry(id).closed; }

  TypeId error() const { return error_; }
  TypeId unit() const { return unit_; }
  TypeId compile_int() const { return compile_int_; }
  TypeId float_literal() const { return float_literal_; }
  TypeId none() const { return none_; }
  TypeId Scalar(DTypeRef dtype);
  // A scalar when `shape` has no unit.
  TypeId Tensor(Shape shape, DTypeRef dtype);
  TypeId Optional(TypeId inner);
  TypeId Tuple(std::vector<TypeId> elements);

  // `type` with generics replaced; what `substitution` does not name stays. A
  // pack unit is replaced by the units that it stands for. Dimensions are made
  // in `pool`. Constant time for closed types.
  TypeId Substitute(TypeId type, const Substitution& substitution,
                    expr::Pool& pool);

 private:
  struct Entry {
    Type type;
    size_t hash;
    bool closed;
  };
  // Looks entries up by id or by a type not yet stored.
  struct Key {
    const Type* type;
    size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    const std::deque<Entry>* entries;
    size_t operator()(TypeId id) const {
      return (*entries)[static_cast<size_t>(id.index)].hash;
    }
    size_t operator()(const Key& key) const { return key.hash; }
  };
  struct Eq {
    using is_transparent = void;
    const std::deque<Entry>* entries;
    bool operator()(TypeId a, TypeId b) const { return a == b; }
    bool operator()(TypeId a, const Key& b) const {
      return (*entries)[static_cast<size_t>(a.index)].type == *b.type;
    }
    bool operator()(const Key& a, TypeId b) const { return (*this)(b, a); }
  };

  const Entry& entry(TypeId id) const {
    return entries_[static_cast<size_t>(id.index)];
  }
  bool IsClosed(const Type& type) const;
  // `done`: types with elements that were substituted already; a type may hold
  // another many times over.
  TypeId SubstituteIn(TypeId type, const Substitution& substitution,
                      expr::Pool& pool,
                      absl::flat_hash_map<TypeId, TypeId>& done);

  std::deque<Entry> entries_;
  absl::flat_hash_set<TypeId, Hash, Eq> ids_;
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
