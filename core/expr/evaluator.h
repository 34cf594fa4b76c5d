// Values of expressions at given sizes: a compiled program for many
// evaluations, and a plain walk as its oracle.

#ifndef LINNET_CORE_EXPR_EVALUATOR_H_
#define LINNET_CORE_EXPR_EVALUATOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/expr/expr.h"

namespace linnet::expr {

// A value, or why there is none.
struct Value {
  int64_t value = 0;
  Error error = Error::kNone;

  bool ok() const { return error == Error::kNone; }
  friend bool operator==(Value, Value) = default;
};

// The value of `e`, computed from its definition: each monomial from its first
// atom to its last, then the coefficient, then the sum in the order of terms,
// every step checked. Slow; for tests and for single values.
Value Evaluate(Expr e, const absl::flat_hash_map<SymbolId, int64_t>& values);

// "`batch * context` overflows 64 bits" as OutOfRange; OK for kNone.
absl::Status ToStatus(Error error, absl::string_view what);

// Expressions as one flat program over shared products: tens of nanoseconds
// for a handful of polynomials. Immutable once compiled; holds no expression.
class Evaluator {
 public:
  Evaluator() = default;

  // `symbols` gives the order of values in Run(). Returns InvalidArgument when
  // an expression is invalid or has a symbol that is not among them.
  static absl::StatusOr<Evaluator> Compile(absl::Span<const SymbolId> symbols,
                                           absl::Span<const Expr> outputs);
  // The same for sums that were never interned; each has distinct monomials.
  static absl::StatusOr<Evaluator> CompileSums(
      absl::Span<const SymbolId> symbols,
      absl::Span<const absl::Span<const Term>> outputs);

  size_t num_inputs() const { return num_inputs_; }
  size_t num_outputs() const { return outputs_.size(); }

  // Evaluates all outputs. Returns the first error met, and then leaves
  // `results` unspecified. Does not allocate for programs of up to 256
  // instructions.
  // REQUIRES: values.size() == num_inputs(), results.size() == num_outputs().
  Error Run(absl::Span<const int64_t> values,
            absl::Span<int64_t> results) const;

  size_t ByteSize() const;

 private:
  friend class Compiler;
  enum class Op : uint8_t { kMul, kSum, kFloorDiv, kCeilDiv, kMod, kMin, kMax };
  struct Instruction {
    Op op;
    int32_t a, b;  // Registers; for kSum a range of parts_.
  };
  struct Part {
    int64_t coefficient;
    int32_t reg;  // Register; -1 for the constant.
  };

  // Registers: the inputs, then one per instruction.
  size_t num_inputs_ = 0;
  std::vector<Instruction> code_;
  std::vector<Part> parts_;
  std::vector<int32_t> outputs_;  // Registers.
};

}  // namespace linnet::expr

#endif  // LINNET_CORE_EXPR_EVALUATOR_H_
