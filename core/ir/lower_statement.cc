#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/ir/lower_function.h"

namespace linnet::ir {

using lang::LocalId;
using lang::StmtId;
using lang::StmtKind;
using lang::TypeId;

FunctionLowering::FunctionLowering(const lang::Program& program,
                                   lang::FunctionId id, LowerBudget* budget)
    : program_(program),
      source_(program.functions[id]),
      types_(*program.types),
      pool_(*program.pool),
      budget_(*budget),
      builder_(&function_),
      locals_(static_cast<size_t>(source_.num_locals), ValueId{}) {
  function_.id = id;
  context_.module = source_.module;
  i64_ = Scalar(DType::kI64);
  f64_ = Scalar(DType::kF64);
}

Function FunctionLowering::Run() {
  const auto take_arguments = [this](RegionId region) {
    if (source_.block.valid()) {
      lang::Type self;
      self.kind = lang::TypeKind::kBlock;
      self.decl = source_.block.index;
      for (int32_t i = 0; i < source_.num_block_generics; ++i) {
        self.args.push_back(source_.generics[static_cast<size_t>(i)].AsArg());
      }
      self_ = builder_.NewArg(region, types_.Intern(std::move(self)));
    }
    for (const lang::Param& param : source_.params) {
      const ValueId arg = builder_.NewArg(region, param.type);
      if (param.local.valid()) locals_[param.local] = arg;
    }
  };
  function_.body = builder_.NewRegions(1);
  take_arguments(function_.body);
  InRegion(function_.body, [&] {
    const bool is_kernel = source_.kind == lang::FunctionKind::kKernel;
    LowerBody(is_kernel ? StmtList() : StmtList(source_.body), source_.result);
  });
  if (source_.has_grad) {
    function_.grad = builder_.NewRegions(1);
    take_arguments(function_.grad);
    for (LocalId local : {source_.grad_result, source_.grad_incoming}) {
      const ValueId arg = builder_.NewArg(function_.grad, source_.result);
      if (local.valid()) locals_[local] = arg;
    }
    InRegion(function_.grad, [&] { LowerBody(source_.grad_body, TypeId{}); });
  }
  return std::move(function_);
}

void FunctionLowering::LowerBody(StmtList body, TypeId result) {
  result_ = result;
  for (StmtId id : body) LowerStatement(id);
  const bool returns =
      !body.empty() && tree().stmt(body.back()).kind == StmtKind::kReturn;
  if (!returns) EmitPlain(OpKind::kReturn, {});
}

void FunctionLowering::LowerStatement(StmtId id) {
  switch (tree().stmt(id).kind) {
    case StmtKind::kLet: {
      const lang::LetStmt& let = tree().as<lang::LetStmt>(id);
      BindPattern(let.pattern, Lower(let.value, module().stmts[id].type));
      return;
    }
    case StmtKind::kVar: {
      const lang::StmtInfo& info = module().stmts[id];
      const lang::VarStmt& var = tree().as<lang::VarStmt>(id);
      locals_[info.local] = Lower(var.value, info.type);
      return;
    }
    case StmtKind::kReturn: {
      const lang::ReturnStmt& statement = tree().as<lang::ReturnStmt>(id);
      if (!statement.value.valid()) return EmitPlain(OpKind::kReturn, {});
      const ValueId value = Lower(statement.value, result_);
      return EmitPlain(OpKind::kReturn, {value});
    }
    case StmtKind::kAssign:
      return LowerAssignment(id);
    case StmtKind::kComprehension:
      return LowerComprehension(id);
    case StmtKind::kStaticFor:
      return LowerStaticFor(id);
    case StmtKind::kFor:
      return LowerFor(id);
    case StmtKind::kWhile:
      return LowerWhile(id);
    case StmtKind::kYield:  // LowerScan() takes it.
    case StmtKind::kStore:  // Of kernels alone, which are not lowered.
      return;
  }
}

void FunctionLowering::LowerAssignment(StmtId id) {
  const lang::StmtInfo& info = module().stmts[id];
  const lang::AssignStmt& assign = tree().as<lang::AssignStmt>(id);
  const ValueId value = Lower(assign.value, info.type);
  if (info.state < 0) {
    locals_[info.local] = value;
    return;
  }
  OpExtra extra;
  extra.integer = info.state;
  EmitPlain(OpKind::kStateWrite, {self_, value}, std::move(extra));
}

void FunctionLowering::LowerComprehension(StmtId id) {
  const lang::StmtInfo& info = module().stmts[id];
  const lang::ComprehensionStmt& let = tree().as<lang::ComprehensionStmt>(id);
  const auto indices = tree().list(let.indices);
  OpExtra extra;
  extra.num_regions = 1;
  extra.first_region = builder_.NewRegions(1);
  extra.data.emplace();
  for (size_t i = 0; i < info.indices.size(); ++i) {
    extra.data->domains.push_back(info.domains[i]);
    extra.data->is_pack.push_back(indices[i].is_pack);
    TypeId type = i64_;
    if (indices[i].is_pack) {
      lang::Type position;
      position.kind = lang::TypeKind::kShape;
      position.shape = info.domains[i];
      type = types_.Intern(std::move(position));
    }
    locals_[info.indices[i]] = builder_.NewArg(extra.first_region, type);
  }
  InRegion(extra.first_region, [&] {
    const ValueId value = Lower(let.value);
    EmitPlain(OpKind::kYield, {value});
  });
  locals_[info.local] =
      Emit(OpKind::kComprehension, {}, info.type, std::move(extra));
}

void FunctionLowering::BindPattern(lang::PatternId id, ValueId value) {
  switch (tree().pattern(id).kind) {
    case lang::PatternKind::kName: {
      const LocalId local = module().patterns[id].local;
      if (local.valid()) locals_[local] = value;
      return;
    }
    case lang::PatternKind::kTuple: {
      const auto elements =
          tree().list(tree().as<lang::TuplePattern>(id).elements);
      // All of them first, then what is inside.
      std::vector<ValueId> parts;
      for (size_t i = 0; i < elements.size(); ++i) {
        OpExtra extra;
        extra.integer = static_cast<int64_t>(i);
        parts.push_back(Emit(OpKind::kTupleGet, {value},
                             TypeOf(value).elements[i], std::move(extra)));
      }
      for (size_t i = 0; i < elements.size(); ++i) {
        BindPattern(elements[i], parts[i]);
      }
      return;
    }
    case lang::PatternKind::kSome:  // LowerOptionMatch() binds what is inside.
      return BindPattern(tree().as<lang::SomePattern>(id).inner, value);
    case lang::PatternKind::kNone:
      return;
  }
}

// Loops.

void FunctionLowering::CollectAssigned(StmtList body,
                                       std::vector<LocalId>& assigned) {
  const auto visit_value = [&](lang::ExprId value) {
    const auto* scan = tree().try_as<lang::ForExpr>(value);
    if (scan != nullptr) CollectAssigned(tree().list(scan->body), assigned);
  };
  for (StmtId id : body) {
    switch (tree().stmt(id).kind) {
      case StmtKind::kLet:
        visit_value(tree().as<lang::LetStmt>(id).value);
        break;
      case StmtKind::kVar:
        visit_value(tree().as<lang::VarStmt>(id).value);
        break;
      case StmtKind::kAssign: {
        visit_value(tree().as<lang::AssignStmt>(id).value);
        const lang::StmtInfo& info = module().stmts[id];
        if (info.state < 0) assigned.push_back(info.local);
        break;
      }
      case StmtKind::kStaticFor:
        CollectAssigned(tree().list(tree().as<lang::StaticForStmt>(id).body),
                        assigned);
        break;
      case StmtKind::kFor:
        CollectAssigned(tree().list(tree().as<lang::ForStmt>(id).body),
                        assigned);
        break;
      case StmtKind::kWhile:
        CollectAssigned(tree().list(tree().as<lang::WhileStmt>(id).body),
                        assigned);
        break;
      default:
        break;
    }
  }
}

std::vector<LocalId> FunctionLowering::CarriedBy(StmtList body) {
  std::vector<LocalId> assigned;
  CollectAssigned(body, assigned);
  std::vector<LocalId> carried;
  IdMap<LocalId, char> taken(static_cast<size_t>(locals_.size()), 0);
  for (LocalId local : assigned) {
    // One declared inside has no value yet.
    if (!locals_[local].valid() || taken[local] != 0) continue;
    taken[local] = 1;
    carried.push_back(local);
  }
  return carried;
}

std::vector<ValueId> FunctionLowering::CurrentValues(
    const std::vector<LocalId>& locals) {
  std::vector<ValueId> values;
  values.reserve(locals.size());
  for (LocalId local : locals) values.push_back(locals_[local]);
  return values;
}

std::vector<TypeId> FunctionLowering::TypesOf(
    const std::vector<ValueId>& values) const {
  std::vector<TypeId> types;
  types.reserve(values.size());
  for (ValueId value : values) types.push_back(function_.value_types[value]);
  return types;
}

void FunctionLowering::TakeCarried(const std::vector<LocalId>& carried,
                                   absl::Span<const TypeId> types) {
  for (size_t i = 0; i < carried.size(); ++i) {
    locals_[carried[i]] = builder_.NewArg(builder_.region(), types[i]);
  }
}

RegionId FunctionLowering::LowerLoopRegion(
    TypeId leading, StmtList body, const std::vector<LocalId>& carried,
    absl::Span<const TypeId> types, absl::FunctionRef<void(ValueId)> bind) {
  const RegionId region = builder_.NewRegions(1);
  InRegion(region, [&] {
    const ValueId argument = builder_.NewArg(region, leading);
    TakeCarried(carried, types);
    bind(argument);
    for (StmtId id : body) LowerStatement(id);
    std::vector<ValueId> next = CurrentValues(carried);
    if (!body.empty() && tree().stmt(body.back()).kind == StmtKind::kYield) {
      const ValueId value =
          Lower(tree().as<lang::YieldStmt>(body.back()).value);
      next = CurrentValues(carried);
      next.push_back(value);
    }
    EmitPlain(OpKind::kYield, next);
  });
  return region;
}

void FunctionLowering::TakeResults(OpId op,
                                   const std::vector<LocalId>& carried) {
  const Operation& operation = function_.ops[op];
  for (size_t i = 0; i < carried.size(); ++i) {
    locals_[carried[i]] = function_.result(operation, static_cast<int32_t>(i));
  }
}

std::vector<ValueId> FunctionLowering::RangeOperands(
    lang::ExprId start, lang::ExprId stop,
    const std::vector<LocalId>& carried) {
  std::vector<ValueId> operands = {Lower(start, i64_)};
  operands.push_back(Lower(stop, i64_));
  const std::vector<ValueId> values = CurrentValues(carried);
  operands.insert(operands.end(), values.begin(), values.end());
  return operands;
}

void FunctionLowering::LowerStaticFor(StmtId id) {
  const lang::StmtInfo& info = module().stmts[id];
  const lang::StaticForStmt& loop = tree().as<lang::StaticForStmt>(id);
  const StmtList body = tree().list(loop.body);
  const std::vector<LocalId> carried = CarriedBy(body);
  const std::vector<TypeId> types = TypesOf(CurrentValues(carried));
  std::vector<ValueId> operands;
  TypeId element = i64_;
  OpExtra extra;
  if (info.over_array) {
    operands = {Lower(loop.start)};
    element = TypeOf(operands[0]).elements[0];
    const std::vector<ValueId> values = CurrentValues(carried);
    operands.insert(operands.end(), values.begin(), values.end());
  } else {
    operands = RangeOperands(loop.start, loop.stop, carried);
    extra.data.emplace();
    extra.data->dim = pool_.Sub(info.stop, info.start);
  }
  extra.num_regions = 1;
  extra.first_region =
      LowerLoopRegion(element, body, carried, types,
                      [&](ValueId value) { BindPattern(loop.pattern, value); });
  const OpId op =
      builder_.Emit(info.over_array ? OpKind::kStaticFor : OpKind::kStaticRange,
                    operands, types, std::move(extra));
  TakeResults(op, carried);
}

void FunctionLowering::LowerFor(StmtId id) {
  const lang::StmtInfo& info = module().stmts[id];
  const lang::ForStmt& loop = tree().as<lang::ForStmt>(id);
  const StmtList body = tree().list(loop.body);
  const std::vector<LocalId> carried = CarriedBy(body);
  const std::vector<TypeId> types = TypesOf(CurrentValues(carried));
  const std::vector<ValueId> operands =
      RangeOperands(loop.start, loop.stop, carried);
  OpExtra extra;
  extra.data.emplace();
  extra.data->dim = pool_.Sub(info.stop, info.start);
  extra.num_regions = 1;
  extra.first_region =
      LowerLoopRegion(i64_, body, carried, types, [&](ValueId value) {
        if (info.local.valid()) locals_[info.local] = value;
      });
  TakeResults(builder_.Emit(OpKind::kFor, operands, types, std::move(extra)),
              carried);
}

ValueId FunctionLowering::LowerScan(lang::ExprId id) {
  const lang::ScanInfo& scan =
      module().scans[static_cast<size_t>(info(id).detail)];
  const lang::ForExpr& loop = tree().as<lang::ForExpr>(id);
  const StmtList body = tree().list(loop.body);
  const std::vector<LocalId> carried = CarriedBy(body);
  std::vector<TypeId> types = TypesOf(CurrentValues(carried));
  const std::vector<ValueId> operands =
      RangeOperands(loop.start, loop.stop, carried);
  OpExtra extra;
  extra.integer = 1;
  extra.data.emplace();
  extra.data->dim = pool_.Sub(scan.stop, scan.start);
  extra.num_regions = 1;
  extra.first_region =
      LowerLoopRegion(i64_, body, carried, types, [&](ValueId value) {
        if (scan.variable.valid()) locals_[scan.variable] = value;
      });
  types.push_back(Apply(info(id).type));
  const OpId op =
      builder_.Emit(OpKind::kFor, operands, types, std::move(extra));
  TakeResults(op, carried);
  return function_.result(function_.ops[op],
                          static_cast<int32_t>(carried.size()));
}

void FunctionLowering::LowerWhile(StmtId id) {
  const lang::WhileStmt& loop = tree().as<lang::WhileStmt>(id);
  const StmtList body = tree().list(loop.body);
  const std::vector<LocalId> carried = CarriedBy(body);
  const std::vector<ValueId> operands = CurrentValues(carried);
  const std::vector<TypeId> types = TypesOf(operands);
  OpExtra extra;
  extra.num_regions = 2;
  extra.first_region = builder_.NewRegions(2);
  InRegion(extra.first_region, [&] {
    TakeCarried(carried, types);
    const ValueId condition = Lower(loop.condition);
    EmitPlain(OpKind::kYield, {condition});
  });
  InRegion(RegionId{extra.first_region.index + 1}, [&] {
    TakeCarried(carried, types);
    for (StmtId statement : body) LowerStatement(statement);
    EmitPlain(OpKind::kYield, CurrentValues(carried));
  });
  TakeResults(builder_.Emit(OpKind::kWhile, operands, types, std::move(extra)),
              carried);
}

}  // namespace linnet::ir
