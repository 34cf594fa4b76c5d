// Types of one instance of a generic declaration: dimensions are sizes over the
// roles, element types are concrete.

#ifndef LINNET_CORE_TRACE_CONCRETE_H_
#define LINNET_CORE_TRACE_CONCRETE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "core/base/dtype.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/lang/program.h"
#include "core/lang/type.h"

namespace linnet::trace {

// What one generic parameter stands for.
struct ConcreteArg {
  lang::GenericArg::Kind kind = lang::GenericArg::Kind::kDim;
  DType dtype = DType::kBool;
  expr::Expr dim;
  std::vector<expr::Expr> shape;

  static ConcreteArg Dim(expr::Expr dim);
  static ConcreteArg Of(DType dtype);
  friend bool operator==(const ConcreteArg&, const ConcreteArg&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ConcreteArg& a) {
    return H::combine(std::move(h), static_cast<int>(a.kind),
                      static_cast<int>(a.dtype), a.dim, a.shape);
  }
};
using ConcreteArgs = std::vector<ConcreteArg>;

// A tensor or scalar type; `is_tensor` is false for scalars and for everything
// that is neither.
struct ConcreteType {
  bool is_tensor = false;
  DType dtype = DType::kBool;
  std::vector<expr::Expr> shape;
  expr::Expr elements;  // Their product; 1 for a scalar.
};

// The generics of a declaration, bound. Results are made in the pool given,
// which must outlive it. Not thread-safe.
class Environment {
 public:
  // REQUIRES: args.size() == generics.size(), each of its generic's kind.
  Environment(const std::vector<lang::Generic>& generics, ConcreteArgs args,
              expr::Pool* pool);

  const ConcreteArgs& args() const { return args_; }

  expr::Expr Dim(expr::Expr dim) const;
  DType Element(lang::DTypeRef dtype) const;
  // The units with packs spread out.
  std::vector<expr::Expr> Units(absl::Span<const lang::Unit> shape) const;
  expr::Expr ElementCount(absl::Span<const lang::Unit> shape) const;
  ConcreteArg Arg(const lang::GenericArg& arg) const;
  ConcreteArgs Args(const std::vector<lang::GenericArg>& args) const;
  ConcreteType Type(const lang::Type& type) const;

 private:
  ConcreteArgs args_;
  expr::Pool* pool_;
  absl::flat_hash_map<expr::SymbolId, expr::Expr> dims_;
  absl::flat_hash_map<lang::PackId, std::vector<expr::Expr>> packs_;
  absl::flat_hash_map<lang::DTypeVarId, DType> dtypes_;
};

}  // namespace linnet::trace

#endif  // LINNET_CORE_TRACE_CONCRETE_H_
