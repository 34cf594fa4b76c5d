// Agreement of types up to what can be proved about dimensions, and the
// inference of generic arguments (language.md section 4.4).

#ifndef LINNET_CORE_LANG_INFER_H_
#define LINNET_CORE_LANG_INFER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/expr/pool.h"
#include "core/lang/program.h"
#include "core/lang/shape_proof.h"
#include "core/lang/type.h"

namespace linnet::lang {

// How an argument meets a parameter; the first difference found.
enum class Agreement : uint8_t {
  kYes,
  kOtherType,   // Another kind of type.
  kOtherDType,  // Both tensors, or both scalars.
  kOtherShape,  // Both tensors of one dtype.
  kTwoPacks,    // Two packs of one tensor are still open: not inferable.
  kWrap,        // A bare value for an optional parameter.
};

// What the generics of one use of a declaration are bound to so far. With no
// generics it decides whether two types agree.
class Inference {
 public:
  // The arguments must outlive this object. Dimensions are made in the pool of
  // `program`; `facts` are the ones of the place of use.
  Inference(Program* program, const ShapeFacts* facts,
            absl::Span<const Generic> generics);

  bool bound(size_t generic) const { return args_[generic].has_value(); }
  // REQUIRES: the kind of `arg` is the kind of the generic.
  void Bind(size_t generic, GenericArg arg);

  // Unifies and binds. A literal agrees with any scalar and `none` with any
  // optional (the caller gives them their type later); an error type agrees
  // with everything. Dimension pairs that cannot be decided yet are remembered.
  Agreement Unify(TypeId param, TypeId arg);

  // Fills what is unbound from the defaults. Returns the first generic that
  // stays unbound, or nothing.
  std::optional<size_t> ApplyDefaults();

  // The first remembered pair that is not provably equal, parameter first,
  // substituted. REQUIRES: all generics are bound.
  std::optional<std::pair<expr::Expr, expr::Expr>> FirstUnequal();

  TypeId Apply(TypeId type);
  expr::Expr Apply(expr::Expr dim);
  const Substitution& substitution() const { return substitution_; }
  // REQUIRES: all generics are bound.
  std::vector<GenericArg> TakeArgs();

 private:
  int FindDim(expr::SymbolId symbol) const;
  bool HasUnbound(expr::Expr dim) const;
  Agreement UnifyDim(expr::Expr param, expr::Expr arg);
  Agreement UnifyDType(DTypeRef param, DTypeRef arg);
  Agreement UnifyShape(const Shape& param, const Shape& arg);
  Agreement UnifyUnits(absl::Span<const Unit> param,
                       absl::Span<const Unit> arg);
  Agreement UnifyArg(const GenericArg& param, const GenericArg& arg);
  Agreement UnifyElements(const Type& param, const Type& arg);
  int FindOpenPack(PackId pack) const;

  Program* program_;
  const ShapeFacts* facts_;
  absl::Span<const Generic> generics_;
  std::vector<std::optional<GenericArg>> args_;
  Substitution substitution_;
  std::vector<std::pair<expr::Expr, expr::Expr>> deferred_;
};

// Whether the two dimensions are provably equal.
bool SameDim(const ShapeFacts& facts, expr::Expr a, expr::Expr b);
bool SameUnit(const ShapeFacts& facts, const Unit& a, const Unit& b);
bool SameShape(const ShapeFacts& facts, const Shape& a, const Shape& b);

// The shape of an elementwise operation (section 4.6), or nothing when it is
// not provable.
std::optional<Shape> BroadcastShapes(const ShapeFacts& facts, const Shape& a,
                                     const Shape& b);

}  // namespace linnet::lang

#endif  // LINNET_CORE_LANG_INFER_H_
