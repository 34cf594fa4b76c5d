#include "core/expr/evaluator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/expr/checked.h"
#include "core/expr/expr.h"

namespace linnet::expr {
namespace {

using internal::CheckedAdd;
using internal::CheckedDivide;
using internal::CheckedMul;

// The oracle: a walk that remembers the atoms it has seen.
class Walk {
 public:
  explicit Walk(const absl::flat_hash_map<SymbolId, int64_t>& values)
      : values_(values) {}

  Value Of(Expr e) {
    if (!e.valid()) return {0, e.error()};
    int64_t sum = 0;
    for (const Term& term : e.terms()) {
      int64_t product = 1;
      for (const Atom* atom : term.factors()) {
        const Value factor = Of(*atom);
        if (!factor.ok()) return factor;
        if (!CheckedMul(product, factor.value, &product)) return kOverflowed;
      }
      if (!CheckedMul(product, term.coefficient, &product) ||
          !CheckedAdd(sum, product, &sum)) {
        return kOverflowed;
      }
    }
    return {sum, Error::kNone};
  }

 private:
  static constexpr Value kOverflowed = {0, Error::kOverflow};

  Value Of(const Atom& atom) {
    if (const auto it = done_.find(&atom); it != done_.end()) return it->second;
    const Value value = Compute(atom);
    done_[&atom] = value;
    return value;
  }

  Value Compute(const Atom& atom) {
    if (atom.kind == AtomKind::kSymbol) {
      const auto it = values_.find(atom.symbol);
      return it == values_.end() ? Value{0, Error::kUnbound}
                                 : Value{it->second, Error::kNone};
    }
    const Value a = Of(atom.a);
    if (!a.ok()) return a;
    const Value b = Of(atom.b);
    if (!b.ok()) return b;
    if (atom.kind == AtomKind::kMin)
      return std::min(a.value, b.value) == a.value ? a : b;
    if (atom.kind == AtomKind::kMax)
      return std::max(a.value, b.value) == a.value ? a : b;
    Value result;
    result.error = CheckedDivide(atom.kind, a.value, b.value, &result.value);
    return result;
  }

  const absl::flat_hash_map<SymbolId, int64_t>& values_;
  absl::flat_hash_map<const Atom*, Value> done_;
};

constexpr size_t kInlineRegisters = 256;

}  // namespace

Value Evaluate(Expr e, const absl::flat_hash_map<SymbolId, int64_t>& values) {
  return Walk(values).Of(e);
}

absl::Status ToStatus(Error error, absl::string_view what) {
  if (error == Error::kNone) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("`", what, "` ", ErrorText(error)));
}

// Emits instructions, each distinct one once.
class Compiler {
 public:
  Compiler(absl::Span<const SymbolId> symbols, Evaluator* out) : out_(out) {
    out->num_inputs_ = symbols.size();
    for (size_t i = 0; i < symbols.size(); ++i) {
      inputs_[symbols[i]] = static_cast<int32_t>(i);
    }
  }

  // The register of a sum.
  absl::StatusOr<int32_t> Sum(absl::Span<const Term> terms) {
    if (terms.size() == 1 && terms[0].coefficient == 1 &&
        !terms[0].factors().empty()) {
      return Product(*terms[0].monomial);
    }
    std::vector<Evaluator::Part> parts;
    for (const Term& term : terms) {
      int32_t reg = -1;
      if (!term.factors().empty()) {
        LINNET_ASSIGN_OR_RETURN(reg, Product(*term.monomial));
      }
      parts.push_back({term.coefficient, reg});
    }
    const auto begin = static_cast<int32_t>(out_->parts_.size());
    out_->parts_.insert(out_->parts_.end(), parts.begin(), parts.end());
    return Append({Evaluator::Op::kSum, begin,
                   static_cast<int32_t>(out_->parts_.size())});
  }

  absl::StatusOr<int32_t> Of(Expr e) {
    if (!e.valid()) {
      return absl::InvalidArgumentError(
          absl::StrCat("an expression ", ErrorText(e.error())));
    }
    if (const auto it = sums_.find(e); it != sums_.end()) return it->second;
    LINNET_ASSIGN_OR_RETURN(const int32_t reg, Sum(e.terms()));
    sums_[e] = reg;
    return reg;
  }

 private:
  // Multiplies from the first factor on, so products share their beginnings.
  absl::StatusOr<int32_t> Product(const Monomial& monomial) {
    int32_t product = -1;
    for (const Atom* atom : monomial.factors) {
      LINNET_ASSIGN_OR_RETURN(const int32_t factor, Of(*atom));
      product =
          product < 0 ? factor : Once({Evaluator::Op::kMul, product, factor});
    }
    return product;
  }

  absl::StatusOr<int32_t> Of(const Atom& atom) {
    if (atom.kind == AtomKind::kSymbol) {
      const auto it = inputs_.find(atom.symbol);
      if (it != inputs_.end()) return it->second;
      return absl::InvalidArgumentError(absl::StrCat(
          "`", atom.name, "` is no size that can be given a value"));
    }
    LINNET_ASSIGN_OR_RETURN(const int32_t a, Of(atom.a));
    LINNET_ASSIGN_OR_RETURN(const int32_t b, Of(atom.b));
    return Once({OpOf(atom.kind), a, b});
  }

  static Evaluator::Op OpOf(AtomKind kind) {
    switch (kind) {
      case AtomKind::kFloorDiv:
        return Evaluator::Op::kFloorDiv;
      case AtomKind::kCeilDiv:
        return Evaluator::Op::kCeilDiv;
      case AtomKind::kMod:
        return Evaluator::Op::kMod;
      case AtomKind::kMin:
        return Evaluator::Op::kMin;
      default:
        return Evaluator::Op::kMax;
    }
  }

  int32_t Once(const Evaluator::Instruction& instruction) {
    const auto key =
        std::make_tuple(instruction.op, instruction.a, instruction.b);
    const auto [it, added] = known_.try_emplace(key, 0);
    if (added) it->second = Append(instruction);
    return it->second;
  }

  int32_t Append(const Evaluator::Instruction& instruction) {
    out_->code_.push_back(instruction);
    return static_cast<int32_t>(out_->num_inputs_ + out_->code_.size() - 1);
  }

  Evaluator* out_;
  absl::flat_hash_map<SymbolId, int32_t> inputs_;
  absl::flat_hash_map<Expr, int32_t> sums_;
  absl::flat_hash_map<std::tuple<Evaluator::Op, int32_t, int32_t>, int32_t>
      known_;
};

absl::StatusOr<Evaluator> Evaluator::Compile(absl::Span<const SymbolId> symbols,
                                             absl::Span<const Expr> outputs) {
  Evaluator evaluator;
  Compiler compiler(symbols, &evaluator);
  for (const Expr output : outputs) {
    LINNET_ASSIGN_OR_RETURN(const int32_t reg, compiler.Of(output));
    evaluator.outputs_.push_back(reg);
  }
  return evaluator;
}

absl::StatusOr<Evaluator> Evaluator::CompileSums(
    absl::Span<const SymbolId> symbols,
    absl::Span<const absl::Span<const Term>> outputs) {
  Evaluator evaluator;
  Compiler compiler(symbols, &evaluator);
  for (const absl::Span<const Term> output : outputs) {
    LINNET_ASSIGN_OR_RETURN(const int32_t reg, compiler.Sum(output));
    evaluator.outputs_.push_back(reg);
  }
  return evaluator;
}

Error Evaluator::Run(absl::Span<const int64_t> values,
                     absl::Span<int64_t> results) const {
  int64_t inline_registers[kInlineRegisters];
  std::vector<int64_t> heap;
  int64_t* regs = inline_registers;
  if (num_inputs_ + code_.size() > kInlineRegisters) {
    heap.resize(num_inputs_ + code_.size());
    regs = heap.data();
  }
  std::copy(values.begin(), values.end(), regs);
  int64_t* next = regs + num_inputs_;
  for (const Instruction& instruction : code_) {
    switch (instruction.op) {
      case Op::kMul:
        if (!CheckedMul(regs[instruction.a], regs[instruction.b], next)) {
          return Error::kOverflow;
        }
        break;
      case Op::kSum: {
        int64_t sum = 0;
        for (int32_t i = instruction.a; i < instruction.b; ++i) {
          const Part& part = parts_[static_cast<size_t>(i)];
          int64_t product = part.coefficient;
          if ((part.reg >= 0 &&
               !CheckedMul(product, regs[part.reg], &product)) ||
              !CheckedAdd(sum, product, &sum)) {
            return Error::kOverflow;
          }
        }
        *next = sum;
        break;
      }
      case Op::kFloorDiv:
      case Op::kCeilDiv:
      case Op::kMod: {
        const AtomKind kind =
            instruction.op == Op::kFloorDiv  ? AtomKind::kFloorDiv
            : instruction.op == Op::kCeilDiv ? AtomKind::kCeilDiv
                                             : AtomKind::kMod;
        const Error error =
            CheckedDivide(kind, regs[instruction.a], regs[instruction.b], next);
        if (error != Error::kNone) return error;
        break;
      }
      case Op::kMin:
        *next = std::min(regs[instruction.a], regs[instruction.b]);
        break;
      case Op::kMax:
        *next = std::max(regs[instruction.a], regs[instruction.b]);
        break;
    }
    ++next;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) results[i] = regs[outputs_[i]];
  return Error::kNone;
}

size_t Evaluator::ByteSize() const {
  return sizeof(*this) + code_.capacity() * sizeof(Instruction) +
         parts_.capacity() * sizeof(Part) +
         outputs_.capacity() * sizeof(int32_t);
}

}  // namespace linnet::expr
