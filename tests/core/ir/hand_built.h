// For tests of the passes and the verifier: one function, written by hand.

#ifndef LINNET_TESTS_CORE_IR_HAND_BUILT_H_
#define LINNET_TESTS_CORE_IR_HAND_BUILT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/builder.h"
#include "core/ir/ir.h"
#include "core/ir/text.h"
#include "core/lang/program.h"

namespace linnet::ir {

// A program whose function `f` takes x: Tensor[A, B; f32]; block `Cell` has
// `param weight: Tensor[B; f32]` and `state last: Tensor[B; f32]`; fn `pure`
// and fn `writer` (it writes state) take and return a Tensor[A, B; f32].
class HandBuilt {
 public:
  HandBuilt() : builder(&function) {
    program.names = std::make_shared<lang::NameTable>();
    program.pool = std::make_shared<expr::Pool>();
    program.types = std::make_shared<lang::TypeTable>();
    a = program.pool->AddSymbol("A");
    b = program.pool->AddSymbol("B");
    matrix = Tensor({a, b}, DType::kF32);
    row = Tensor({b}, DType::kF32);
    i64 = Scalar(DType::kI64);
    f32 = Scalar(DType::kF32);
    boolean = Scalar(DType::kBool);

    lang::Block cell;
    cell.name = program.names->Intern("Cell");
    cell.members.push_back(Member("weight", lang::MemberKind::kParam));
    cell.members.push_back(Member("last", lang::MemberKind::kState));
    lang::Type type;
    type.kind = lang::TypeKind::kBlock;
    type.decl = program.blocks.push_back(std::move(cell)).index;
    block = program.types->Intern(std::move(type));

    function.id = AddFunction("demo::f", false);
    pure = AddFunction("demo::pure", false);
    writer = AddFunction("demo::writer", true);
    program.functions[function.id].block = lang::BlockId{0};
    function.body = builder.NewRegions(1);
    builder.set_region(function.body);
    self = builder.NewArg(function.body, block);
    x = builder.NewArg(function.body, matrix);
  }

  lang::TypeId Tensor(std::vector<expr::Expr> dims, DType dtype) {
    lang::Shape shape;
    for (expr::Expr dim : dims) shape.push_back(lang::Unit{dim, {}});
    return program.types->Tensor(std::move(shape), lang::DTypeRef::Of(dtype));
  }
  lang::TypeId Scalar(DType dtype) {
    return program.types->Scalar(lang::DTypeRef::Of(dtype));
  }

  ValueId Op(OpKind kind, std::vector<ValueId> operands, lang::TypeId type,
             int64_t integer = 0) {
    OpExtra extra;
    extra.integer = integer;
    return builder.EmitOne(kind, operands, type, std::move(extra));
  }
  ValueId Int(int64_t value, lang::TypeId type) {
    return Op(OpKind::kConstInt, {}, type, value);
  }
  ValueId Float(double value) {
    OpExtra extra;
    extra.data.emplace();
    extra.data->real = value;
    return builder.EmitOne(OpKind::kConstFloat, {}, f32, std::move(extra));
  }
  ValueId Permute(ValueId value, std::vector<int32_t> axes, lang::TypeId type) {
    OpExtra extra;
    extra.data.emplace();
    extra.data->ints = std::move(axes);
    return builder.EmitOne(OpKind::kPermute, {value}, type, std::move(extra));
  }
  ValueId Call(lang::FunctionId callee, ValueId value) {
    OpExtra extra;
    extra.data.emplace();
    extra.data->callee = callee;
    return builder.EmitOne(OpKind::kCall, {value}, matrix, std::move(extra));
  }
  // `if` with a region per branch, each of which `fill` gives its value.
  template <typename Fill>
  ValueId If(ValueId condition, lang::TypeId type, Fill fill) {
    OpExtra extra;
    extra.num_regions = 2;
    extra.first_region = builder.NewRegions(2);
    const RegionId outer = builder.region();
    for (int32_t i : {0, 1}) {
      builder.set_region(RegionId{extra.first_region.index + i});
      const ValueId value = fill(i);
      builder.Emit(OpKind::kYield, {value}, {});
    }
    builder.set_region(outer);
    return builder.EmitOne(OpKind::kIf, {condition}, type, std::move(extra));
  }
  void Write(ValueId value) {
    OpExtra extra;
    extra.integer = 1;
    builder.Emit(OpKind::kStateWrite, {self, value}, {}, std::move(extra));
  }
  void Return(ValueId value) { builder.Emit(OpKind::kReturn, {value}, {}); }

  std::string Sketch() const { return ToSketch(function); }
  std::string Text() const { return ToText(program, function); }

  lang::Program program;
  Function function;
  Builder builder;
  expr::Expr a, b;
  lang::TypeId matrix, row, i64, f32, boolean, block;
  lang::FunctionId pure, writer;
  ValueId self, x;

 private:
  lang::Member Member(const char* name, lang::MemberKind kind) {
    lang::Member member;
    member.name = program.names->Intern(name);
    member.kind = kind;
    member.type = row;
    return member;
  }
  lang::FunctionId AddFunction(const char* name, bool writes_state) {
    lang::Function f;
    f.qualified_name = name;
    f.params.resize(1);
    f.params[0].type = matrix;
    f.result = matrix;
    f.writes_state = writes_state;
    return program.functions.push_back(std::move(f));
  }
};

}  // namespace linnet::ir

#endif  // LINNET_TESTS_CORE_IR_HAND_BUILT_H_
