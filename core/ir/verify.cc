#include "core/ir/verify.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/dtype.h"
#include "core/base/status_macros.h"
#include "core/ir/arity.h"
#include "core/lang/type_text.h"

namespace linnet::ir {
namespace {

using lang::Type;
using lang::TypeId;
using lang::TypeKind;

bool IsElementwise(OpKind kind) {
  return kind >= OpKind::kAdd && kind <= OpKind::kTanh;
}

bool Differs(int expected, int64_t actual) {
  return expected != kAnyNumber && expected != actual;
}

class Verifier {
 public:
  Verifier(const lang::Program& program, const Function& function)
      : program_(program),
        types_(*program.types),
        function_(function),
        visible_(static_cast<size_t>(function.value_types.size()), false) {}

  absl::Status Run() {
    const lang::Function& source = program_.functions[function_.id];
    if (function_.body.valid()) {
      const size_t num_args =
          source.params.size() + (source.block.valid() ? 1 : 0);
      if (function_.regions[function_.body].args.size() != num_args) {
        return absl::InternalError(
            absl::StrCat(source.qualified_name, ": the body takes ",
                         function_.regions[function_.body].args.size(),
                         " arguments, not ", num_args));
      }
      LINNET_RETURN_IF_ERROR(VerifyRegion(function_.body, OpKind::kReturn));
    }
    if (function_.grad.valid()) {
      LINNET_RETURN_IF_ERROR(VerifyRegion(function_.grad, OpKind::kReturn));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const Operation& op, absl::string_view what) const {
    return absl::InternalError(absl::StrCat(
        program_.functions[function_.id].qualified_name, ": ", OpName(op.kind),
        " of %", op.first_result.index, ": ", what));
  }

  const Type& TypeOf(ValueId value) const {
    return types_.get(function_.value_types[value]);
  }

  // A value of type `actual` may stand where `wanted` is: the same type, or a
  // scalar i64 (a compile-time integer) for any scalar number.
  bool Fits(TypeId actual, TypeId wanted) const {
    if (actual == wanted) return true;
    const Type& a = types_.get(actual);
    const Type& w = types_.get(wanted);
    if (a.kind == TypeKind::kScalar && w.kind == TypeKind::kScalar) {
      return IsCompileInt(a);
    }
    return SameButDims(actual, wanted);
  }

  static bool IsCompileInt(const Type& type) {
    return type.kind == TypeKind::kScalar && !type.dtype.is_var() &&
           type.dtype.dtype == DType::kI64;
  }

  // Dimensions that are only provably equal differ in form.
  bool SameButDims(TypeId left, TypeId right) const {
    if (left == right) return true;
    const Type& a = types_.get(left);
    const Type& b = types_.get(right);
    if (a.kind != b.kind || a.dtype != b.dtype || a.decl != b.decl ||
        a.shape.size() != b.shape.size() ||
        a.elements.size() != b.elements.size()) {
      return false;
    }
    for (size_t i = 0; i < a.elements.size(); ++i) {
      if (!SameButDims(a.elements[i], b.elements[i])) return false;
    }
    return true;
  }

  absl::Status VerifyRegion(RegionId id, OpKind terminator) {
    const Region& region = function_.regions[id];
    std::vector<ValueId> defined = region.args;
    for (ValueId arg : region.args) visible_[arg] = true;
    if (region.ops.empty()) {
      return absl::InternalError(
          absl::StrCat(program_.functions[function_.id].qualified_name,
                       ": a region without a terminator"));
    }
    for (size_t i = 0; i < region.ops.size(); ++i) {
      const Operation& op = function_.ops[region.ops[i]];
      const bool is_last = i + 1 == region.ops.size();
      const bool is_terminator =
          op.kind == OpKind::kYield || op.kind == OpKind::kReturn;
      if (is_last != is_terminator || (is_last && op.kind != terminator)) {
        return Error(op, is_last ? "the wrong terminator"
                                 : "a terminator in the middle");
      }
      for (ValueId operand : function_.operands_of(op)) {
        if (!function_.value_types.contains(operand) || !visible_[operand]) {
          return Error(op, absl::StrCat("%", operand.index,
                                        " is used before it is defined"));
        }
      }
      LINNET_RETURN_IF_ERROR(VerifyArity(op));
      LINNET_RETURN_IF_ERROR(VerifyTypes(op));
      for (int r = 0; r < op.num_regions; ++r) {
        LINNET_RETURN_IF_ERROR(
            VerifyRegion(function_.region(op, r), OpKind::kYield));
      }
      LINNET_RETURN_IF_ERROR(VerifyYields(op));
      for (int32_t r = 0; r < op.num_results; ++r) {
        visible_[function_.result(op, r)] = true;
        defined.push_back(function_.result(op, r));
      }
    }
    for (ValueId value : defined) visible_[value] = false;
    return absl::OkStatus();
  }

  absl::Status VerifyArity(const Operation& op) const {
    const Arity arity = ArityOf(op.kind);
    if (Differs(arity.operands, op.num_operands)) {
      return Error(op, absl::StrCat(op.num_operands, " operands"));
    }
    if (Differs(arity.results, op.num_results)) {
      return Error(op, absl::StrCat(op.num_results, " results"));
    }
    if (Differs(arity.regions, op.num_regions)) {
      return Error(op, absl::StrCat(op.num_regions, " regions"));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyTypes(const Operation& op) const {
    for (int32_t i = 0; i < op.num_results; ++i) {
      const TypeId type = function_.value_types[function_.result(op, i)];
      if (!type.valid() || type == types_.error() ||
          type == types_.compile_int() || type == types_.float_literal() ||
          type == types_.none()) {
        return Error(op, "a result without a type");
      }
    }
    if (IsElementwise(op.kind)) return VerifyElementwise(op);
    switch (op.kind) {
      case OpKind::kCall:
      case OpKind::kSemanticCall:
        return VerifyCall(op);
      case OpKind::kBlockParam:
      case OpKind::kBlockSub:
      case OpKind::kStateRead:
      case OpKind::kStateWrite:
        return VerifyMember(op);
      case OpKind::kTupleGet:
        return VerifyPart(op, TypeKind::kTuple,
                          TypeOf(function_.operands_of(op)[0]).elements.size());
      case OpKind::kStructGet: {
        const Type& type = TypeOf(function_.operands_of(op)[0]);
        if (type.kind != TypeKind::kStruct) return Error(op, "not a struct");
        return VerifyPart(
            op, TypeKind::kStruct,
            program_.structs[lang::StructId{type.decl}].fields.size());
      }
      case OpKind::kOptionMatch:
        if (TypeOf(function_.operands_of(op)[0]).kind != TypeKind::kOptional) {
          return Error(op, "the subject is no option");
        }
        return absl::OkStatus();
      case OpKind::kElement:
        if (TypeOf(op.first_result).kind != TypeKind::kScalar) {
          return Error(op, "the result is no scalar");
        }
        return absl::OkStatus();
      default:
        return absl::OkStatus();
    }
  }

  absl::Status VerifyElementwise(const Operation& op) const {
    const Type& result = TypeOf(op.first_result);
    // Select's condition, a cast's operand and a comparison's result have
    // dtypes of their own.
    const bool compares = op.kind == OpKind::kCompare;
    const lang::DTypeRef dtype =
        compares ? TypeOf(function_.operands_of(op)[0]).dtype : result.dtype;
    if (compares && result.dtype != lang::DTypeRef::Of(DType::kBool)) {
      return Error(op, "a comparison that is not bool");
    }
    for (ValueId operand : function_.operands_of(op)) {
      const Type& type = TypeOf(operand);
      const bool is_number =
          type.kind == TypeKind::kScalar || type.kind == TypeKind::kTensor;
      if (compares && type.kind == TypeKind::kEnum) continue;
      if (!is_number) return Error(op, "an operand that is no number");
      if (type.dtype == dtype || IsCompileInt(type)) continue;
      if (compares && IsCompileInt(TypeOf(function_.operands_of(op)[0]))) {
        continue;
      }
      return Error(
          op, absl::StrCat("operand %", operand.index, " has another dtype"));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyCall(const Operation& op) const {
    const OpData& data = function_.data_of(op);
    const lang::Function& callee = program_.functions[data.callee];
    const bool is_method = callee.block.valid();
    const auto operands = function_.operands_of(op);
    if (operands.size() != callee.params.size() + (is_method ? 1 : 0)) {
      return Error(op, "the wrong number of arguments");
    }
    if (data.bindings.size() != callee.generics.size()) {
      return Error(op, "the wrong number of bindings");
    }
    const bool has_result = callee.result != types_.unit();
    if (op.num_results != (has_result ? 1 : 0)) {
      return Error(op, "the wrong number of results");
    }
    if ((callee.kind == lang::FunctionKind::kOp) !=
        (op.kind == OpKind::kSemanticCall)) {
      return Error(op, "the wrong kind of call");
    }
    if (is_method && TypeOf(operands[0]).kind != TypeKind::kBlock) {
      return Error(op, "a receiver that is no block");
    }
    for (size_t i = 0; i < callee.params.size(); ++i) {
      const Type& want = types_.get(callee.params[i].type);
      const Type& have = TypeOf(operands[i + (is_method ? 1 : 0)]);
      // A pack alone may be bound to nothing, so that a scalar meets it.
      const bool both_numbers =
          (want.kind == TypeKind::kTensor || want.kind == TypeKind::kScalar) &&
          (have.kind == TypeKind::kTensor || have.kind == TypeKind::kScalar);
      if (want.kind != have.kind && !both_numbers) {
        return Error(op, absl::StrCat("argument ", i, " is of another kind"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyMember(const Operation& op) const {
    const Type& type = TypeOf(function_.operands_of(op)[0]);
    if (type.kind != TypeKind::kBlock) return Error(op, "not of a block");
    const lang::Block& block = program_.blocks[lang::BlockId{type.decl}];
    if (op.integer < 0 ||
        static_cast<size_t>(op.integer) >= block.members.size()) {
      return Error(op, "no such member");
    }
    const lang::MemberKind kind =
        block.members[static_cast<size_t>(op.integer)].kind;
    const bool fits =
        op.kind == OpKind::kBlockParam ? kind == lang::MemberKind::kParam ||
                                             kind == lang::MemberKind::kBuffer
        : op.kind == OpKind::kBlockSub ? kind == lang::MemberKind::kSub
                                       : kind == lang::MemberKind::kState;
    return fits ? absl::OkStatus() : Error(op, "a member of another kind");
  }

  absl::Status VerifyPart(const Operation& op, TypeKind kind,
                          size_t count) const {
    if (TypeOf(function_.operands_of(op)[0]).kind != kind) {
      return Error(op, "an operand of another kind");
    }
    if (op.integer < 0 || static_cast<size_t>(op.integer) >= count) {
      return Error(op, "no such part");
    }
    return absl::OkStatus();
  }

  // What the terminator of a region of `op` hands over.
  absl::Span<const ValueId> Yielded(const Operation& op, int region) const {
    const Region& r = function_.regions[function_.region(op, region)];
    return function_.operands_of(function_.ops[r.ops.back()]);
  }
  absl::Span<const ValueId> RegionArgs(const Operation& op, int region) const {
    return function_.regions[function_.region(op, region)].args;
  }

  absl::Status VerifyYields(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kComprehension:
      case OpKind::kReduce: {
        const OpData& data = function_.data_of(op);
        if (data.domains.size() != RegionArgs(op, 0).size() ||
            data.domains.size() != data.is_pack.size()) {
          return Error(op, "not one argument per index");
        }
        if (Yielded(op, 0).size() != 1 ||
            TypeOf(Yielded(op, 0)[0]).kind != TypeKind::kScalar) {
          return Error(op, "it does not yield one scalar");
        }
        return absl::OkStatus();
      }
      case OpKind::kIf:
      case OpKind::kOptionMatch:
      case OpKind::kEnumMatch:
        return VerifyBranches(op);
      case OpKind::kStaticFor:
        return VerifyLoop(op, 1, 1, false);
      case OpKind::kStaticRange:
        return VerifyLoop(op, 2, 1, false);
      case OpKind::kFor:
        return VerifyLoop(op, 2, 1, op.integer != 0);
      case OpKind::kWhile:
        return VerifyWhile(op);
      default:
        return absl::OkStatus();
    }
  }

  absl::Status VerifyBranches(const Operation& op) const {
    if (op.kind == OpKind::kEnumMatch &&
        static_cast<int32_t>(function_.data_of(op).ints.size()) !=
            op.num_regions) {
      return Error(op, "not one region per arm");
    }
    for (int r = 0; r < op.num_regions; ++r) {
      if (Yielded(op, r).size() != 1) return Error(op, "not one value yielded");
      if (!Fits(function_.value_types[Yielded(op, r)[0]],
                function_.value_types[op.first_result])) {
        return Error(op, absl::StrCat("region ", r, " yields another type"));
      }
      const size_t num_args = op.kind == OpKind::kOptionMatch && r == 0 ? 1 : 0;
      if (RegionArgs(op, r).size() != num_args) {
        return Error(op, absl::StrCat("region ", r, " takes arguments"));
      }
    }
    return absl::OkStatus();
  }

  // `header`: operands before the carried ones; `leading`: region arguments
  // before them.
  absl::Status VerifyLoop(const Operation& op, int header, int leading,
                          bool is_scan) const {
    const int carried = op.num_operands - header;
    const int extra = is_scan ? 1 : 0;
    if (carried < 0 || op.num_results != carried + extra ||
        static_cast<int>(RegionArgs(op, 0).size()) != carried + leading ||
        static_cast<int>(Yielded(op, 0).size()) != carried + extra) {
      return Error(op, "carried values do not match");
    }
    for (int i = 0; i < carried; ++i) {
      LINNET_RETURN_IF_ERROR(VerifyCarried(
          op, function_.operands_of(op)[static_cast<size_t>(header + i)],
          RegionArgs(op, 0)[static_cast<size_t>(leading + i)],
          Yielded(op, 0)[static_cast<size_t>(i)], function_.result(op, i)));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyWhile(const Operation& op) const {
    const int carried = op.num_operands;
    if (op.num_results != carried ||
        static_cast<int>(RegionArgs(op, 0).size()) != carried ||
        static_cast<int>(RegionArgs(op, 1).size()) != carried ||
        static_cast<int>(Yielded(op, 1).size()) != carried) {
      return Error(op, "carried values do not match");
    }
    if (Yielded(op, 0).size() != 1) {
      return Error(op, "the condition does not yield one value");
    }
    for (int i = 0; i < carried; ++i) {
      LINNET_RETURN_IF_ERROR(VerifyCarried(
          op, function_.operands_of(op)[static_cast<size_t>(i)],
          RegionArgs(op, 1)[static_cast<size_t>(i)],
          Yielded(op, 1)[static_cast<size_t>(i)], function_.result(op, i)));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyCarried(const Operation& op, ValueId start, ValueId arg,
                             ValueId next, ValueId result) const {
    const TypeId type = function_.value_types[result];
    if (function_.value_types[arg] != type ||
        !Fits(function_.value_types[start], type) ||
        !Fits(function_.value_types[next], type)) {
      return Error(op, absl::StrCat("the carried value %", result.index,
                                    " changes its type"));
    }
    return absl::OkStatus();
  }

  const lang::Program& program_;
  const lang::TypeTable& types_;
  const Function& function_;
  IdMap<ValueId, char> visible_;
};

}  // namespace

absl::Status Verify(const lang::Program& program, const Function& function) {
  return Verifier(program, function).Run();
}

absl::Status Verify(const Program& program) {
  for (const Function& function : program.functions) {
    LINNET_RETURN_IF_ERROR(Verify(*program.source, function));
  }
  return absl::OkStatus();
}

}  // namespace linnet::ir
