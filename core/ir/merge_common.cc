#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "core/ir/passes.h"
#include "core/ir/rewriter.h"

namespace linnet::ir {
namespace {

// 0.0 and -0.0 are two constants.
uint64_t Bits(double value) { return absl::bit_cast<uint64_t>(value); }

struct OpHash {
  const Function* function;
  size_t operator()(OpId id) const {
    const Operation& op = function->ops[id];
    size_t hash = absl::HashOf(static_cast<int>(op.kind), op.integer,
                               function->operands_of(op),
                               function->value_types[op.first_result]);
    if (op.data >= 0) {
      const OpData& data = function->data_of(op);
      hash =
          absl::HashOf(hash, Bits(data.real), data.dim, data.ints, data.callee);
    }
    return hash;
  }
};

struct OpEq {
  const Function* function;
  bool operator()(OpId left, OpId right) const {
    const Operation& a = function->ops[left];
    const Operation& b = function->ops[right];
    if (a.kind != b.kind || a.integer != b.integer ||
        function->operands_of(a) != function->operands_of(b) ||
        function->value_types[a.first_result] !=
            function->value_types[b.first_result] ||
        (a.data < 0) != (b.data < 0)) {
      return false;
    }
    if (a.data < 0 || a.data == b.data) return true;
    const OpData& data_a = function->data_of(a);
    const OpData& data_b = function->data_of(b);
    return Bits(data_a.real) == Bits(data_b.real) && data_a == data_b;
  }
};

class Merger {
 public:
  Merger(const lang::Program& program, Function& function)
      : program_(program), function_(function), rewriter_(function) {}

  bool Run() {
    const auto enter = [this] {
      seen_.emplace_back(0, OpHash{&function_}, OpEq{&function_});
    };
    const auto leave = [this] { seen_.pop_back(); };
    const auto visit = [this](OpId id) { return Visit(id); };
    for (RegionId region : {function_.body, function_.grad}) {
      if (region.valid()) rewriter_.Walk(region, enter, visit, leave);
    }
    return rewriter_.changed();
  }

 private:
  bool Visit(OpId id) {
    const Operation& op = function_.ops[id];
    if (!MayMerge(op)) return true;
    const auto [earlier, is_new] = seen_.back().insert(id);
    if (is_new) return true;
    rewriter_.Replace(op.first_result, function_.ops[*earlier].first_result);
    return false;
  }

  bool MayMerge(const Operation& op) const {
    if (op.num_regions > 0 || op.num_results != 1) return false;
    switch (op.kind) {
      case OpKind::kStateRead:
        return false;
      case OpKind::kCall:
      case OpKind::kSemanticCall: {
        const lang::Function& callee =
            program_.functions[function_.data_of(op).callee];
        return !callee.reads_state && !callee.writes_state;
      }
      default:
        return true;
    }
  }

  const lang::Program& program_;
  Function& function_;
  Rewriter rewriter_;
  // Of the region being walked and those around it.
  std::vector<absl::flat_hash_set<OpId, OpHash, OpEq>> seen_;
};

}  // namespace

bool MergeCommon(const lang::Program& program, Function& function) {
  return Merger(program, function).Run();
}

}  // namespace linnet::ir
