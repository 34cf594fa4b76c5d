#include "core/trace/interpreter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace linnet::trace {

using ir::OpKind;

Interpreter::Interpreter(const TraceRequest& request, Instances* instances,
                         const BlockTree* tree, expr::Pool* pool,
                         graph::GraphBuilder* builder)
    : request_(request),
      instances_(instances),
      tree_(tree),
      pool_(pool),
      builder_(builder) {}

absl::Status Interpreter::RunEntry(Instance& entry,
                                   absl::Span<const Value> args,
                                   std::vector<Value>* results) {
  Value result;
  LINNET_RETURN_IF_ERROR(Enter(entry, args, "", &result));
  std::vector<Value> open = {result};
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    if (value.kind == ValueKind::kTensor) results->push_back(value);
    if (value.kind == ValueKind::kSome) {
      open.push_back(parts_[static_cast<size_t>(value.index)]);
    }
    if (value.kind != ValueKind::kTuple) continue;
    for (int32_t i = value.count - 1; i >= 0; --i) {
      open.push_back(parts_[static_cast<size_t>(value.index + i)]);
    }
  }
  return absl::OkStatus();
}

// Counts one operation, loop round or call against the limits.
absl::Status Interpreter::Tick() {
  ++operations_;
  if (operations_ % 1024 != 0) return absl::OkStatus();
  const TraceLimits& limits = request_.limits;
  if (operations_ > limits.max_operations) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the trace looks at more than ", limits.max_operations,
                     " operations (max_operations)"));
  }
  if (builder_->num_steps() > limits.max_steps) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the trace has more than ", limits.max_steps, " steps (max_steps)"));
  }
  if (builder_->num_objects() > limits.max_objects) {
    return absl::ResourceExhaustedError(absl::StrCat("the trace has more than ",
                                                     limits.max_objects,
                                                     " tensors (max_objects)"));
  }
  if (request_.stop && request_.stop()) {
    return absl::CancelledError("the trace was stopped");
  }
  return absl::OkStatus();
}

absl::Status Interpreter::Enter(Instance& callee, absl::Span<const Value> args,
                                absl::string_view scope, Value* result) {
  if (depth_ >= request_.limits.max_call_depth) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "calls are nested more than ", request_.limits.max_call_depth,
        " deep in `", callee.decl().qualified_name, "` (max_call_depth)"));
  }
  ++depth_;
  const ir::Function& function = callee.body();
  absl::InlinedVector<Value, 48> values(
      static_cast<size_t>(function.value_types.size()));
  Frame frame{&callee, &function, absl::MakeSpan(values), scope};
  const ir::Region& body = function.regions[function.body];
  LINNET_CHECK(body.args.size() == args.size())
      << "the checker counted the arguments";
  for (size_t i = 0; i < args.size(); ++i) frame[body.args[i]] = args[i];
  Values returned;
  const absl::Status status = RunRegion(frame, function.body, &returned);
  --depth_;
  if (status.ok() && !returned.empty()) *result = returned[0];
  return status;
}

absl::Status Interpreter::RunRegion(Frame& frame, ir::RegionId region,
                                    Values* yields) {
  const ir::Region& ops = frame.function->regions[region];
  for (ir::OpId id : ops.ops) {
    const ir::Operation& op = frame.function->ops[id];
    if (op.kind == OpKind::kYield || op.kind == OpKind::kReturn) {
      for (ir::ValueId operand : frame.function->operands_of(op)) {
        yields->push_back(frame[operand]);
      }
      continue;
    }
    LINNET_RETURN_IF_ERROR(Tick());
    LINNET_RETURN_IF_ERROR(RunOp(frame, id, op));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::RunOp(Frame& frame, ir::OpId id,
                                const ir::Operation& op) {
  switch (op.kind) {
    case OpKind::kConstInt:
    case OpKind::kConstFloat:
    case OpKind::kConstBool:
    case OpKind::kConstDim:
    case OpKind::kEnumConst:
    case OpKind::kTupleMake:
    case OpKind::kTupleGet:
    case OpKind::kStructMake:
    case OpKind::kStructGet:
    case OpKind::kOptionSome:
    case OpKind::kOptionNone:
    case OpKind::kBlockParam:
    case OpKind::kBlockSub:
    case OpKind::kStateRead:
    case OpKind::kStateWrite:
    case OpKind::kArrayGet:
      return RunStructural(frame, op);
    case OpKind::kOptionMatch:
    case OpKind::kEnumMatch:
      return RunMatch(frame, op);
    case OpKind::kIf:
      return RunIf(frame, op);
    case OpKind::kCall:
    case OpKind::kSemanticCall:
      return RunCall(frame, id, op);
    case OpKind::kStaticFor:
      return RunStaticFor(frame, op);
    case OpKind::kStaticRange:
    case OpKind::kFor:
      return RunRange(frame, op);
    case OpKind::kWhile:
      return RunWhile(frame, op);
    case OpKind::kReshape:
    case OpKind::kBroadcast:
    case OpKind::kPermute:
    case OpKind::kSlice:
      return RunLayout(frame, op);
    case OpKind::kElement:
    case OpKind::kComprehension:
    case OpKind::kReduce:
      return RunIndexed(frame, op);
    default:
      return RunArithmetic(frame, op);
  }
}

Value Interpreter::Pack(absl::Span<const Value> parts) {
  const Value tuple{ValueKind::kTuple,
                    static_cast<int32_t>(parts_.size()),
                    static_cast<int32_t>(parts.size()),
                    {}};
  parts_.insert(parts_.end(), parts.begin(), parts.end());
  return tuple;
}

Value Interpreter::MemberOf(const Value& block, int64_t member) {
  LINNET_CHECK(block.kind == ValueKind::kBlock) << "the checker typed it";
  const MemberValue& value =
      tree_->node(block.index).members[static_cast<size_t>(member)];
  Value result;
  switch (value.kind) {
    case MemberValue::Kind::kAbsent:
      return Value::Absent();
    case MemberValue::Kind::kTensor:
      result = Value::Tensor(value.object);
      break;
    case MemberValue::Kind::kBlock:
      result = Value::Block(value.node);
      break;
    case MemberValue::Kind::kArray:
      result = {
          ValueKind::kArray, block.index, static_cast<int32_t>(member), {}};
      break;
  }
  if (!value.optional) return result;
  parts_.push_back(result);
  return {ValueKind::kSome, static_cast<int32_t>(parts_.size()) - 1, 1, {}};
}

void Interpreter::StateRead(Frame& frame, const ir::Operation& op) {
  const Value block = frame[frame.function->operands_of(op)[0]];
  Value state = MemberOf(block, op.integer);
  if (const auto it = held_.find(state.object()); it != held_.end()) {
    state = Value::Tensor(it->second);
  }
  frame[op.first_result] = state;
}

void Interpreter::StateWrite(Frame& frame, const ir::Operation& op) {
  const auto operands = frame.function->operands_of(op);
  const graph::ObjectId state =
      MemberOf(frame[operands[0]], op.integer).object();
  const Value& value = frame[operands[1]];
  // While counting, nothing is written: a body has no effects of its own.
  if (counting() || !value.is_object()) return;
  builder_->WriteState(state, value.object());
  held_[state] = value.object();
}

absl::Status Interpreter::RunStructural(Frame& frame, const ir::Operation& op) {
  const auto operands = frame.function->operands_of(op);
  if (op.kind == OpKind::kStateWrite) {
    StateWrite(frame, op);
    return absl::OkStatus();
  }
  Value& result = frame[op.first_result];
  switch (op.kind) {
    case OpKind::kConstInt:
      result = Value::Scalar(pool_->Constant(op.integer));
      break;
    case OpKind::kConstDim:
      result = Value::Scalar(
          frame.instance->environment().Dim(frame.function->data_of(op).dim));
      break;
    case OpKind::kEnumConst:
      result = {ValueKind::kEnum, static_cast<int32_t>(op.integer), 0, {}};
      break;
    case OpKind::kTupleMake:
    case OpKind::kStructMake: {
      Values parts;
      for (ir::ValueId operand : operands) parts.push_back(frame[operand]);
      result = Pack(parts);
      break;
    }
    case OpKind::kTupleGet:
    case OpKind::kStructGet:
      result =
          parts_[static_cast<size_t>(frame[operands[0]].index + op.integer)];
      break;
    case OpKind::kOptionSome:
      parts_.push_back(frame[operands[0]]);
      result = {
          ValueKind::kSome, static_cast<int32_t>(parts_.size()) - 1, 1, {}};
      break;
    case OpKind::kOptionNone:
      result = Value::Absent();
      break;
    case OpKind::kBlockParam:
    case OpKind::kBlockSub:
      result = MemberOf(frame[operands[0]], op.integer);
      break;
    case OpKind::kStateRead:
      StateRead(frame, op);
      break;
    case OpKind::kArrayGet: {
      const Value& array = frame[operands[0]];
      const MemberValue& member =
          tree_->node(array.index).members[static_cast<size_t>(array.count)];
      if (op.integer < 0 || op.integer >= member.count) {
        return absl::InvalidArgumentError(absl::StrCat(
            "position ", op.integer, " of an array of ", member.count,
            " blocks in `", frame.instance->decl().qualified_name, "`"));
      }
      result = Value::Block(
          tree_->element(member, static_cast<int32_t>(op.integer)));
      break;
    }
    default:
      result = Value::Scalar();
  }
  return absl::OkStatus();
}

// Puts what a region yielded into the results of its operation.
void Interpreter::SetResults(Frame& frame, const ir::Operation& op,
                             absl::Span<const Value> values) {
  for (int32_t i = 0; i < op.num_results; ++i) {
    frame[frame.function->result(op, i)] = values[static_cast<size_t>(i)];
  }
}

absl::Status Interpreter::RunMatch(Frame& frame, const ir::Operation& op) {
  const Value subject = frame[frame.function->operands_of(op)[0]];
  int32_t chosen = -1;
  if (op.kind == OpKind::kOptionMatch) {
    if (subject.kind == ValueKind::kSome) {
      chosen = 0;
      const ir::Region& some =
          frame.function->regions[frame.function->region(op, 0)];
      if (!some.args.empty()) {
        frame[some.args[0]] = parts_[static_cast<size_t>(subject.index)];
      }
    } else if (subject.kind == ValueKind::kAbsent) {
      chosen = 1;
    }
  } else if (subject.kind == ValueKind::kEnum) {
    const std::vector<int32_t>& arms = frame.function->data_of(op).ints;
    for (size_t i = 0; i < arms.size() && chosen < 0; ++i) {
      if (arms[i] == subject.index || arms[i] < 0) {
        chosen = static_cast<int32_t>(i);
      }
    }
  }
  if (chosen < 0) return RunAll(frame, op);
  Values yields;
  LINNET_RETURN_IF_ERROR(
      RunRegion(frame, frame.function->region(op, chosen), &yields));
  SetResults(frame, op, yields);
  return absl::OkStatus();
}

absl::Status Interpreter::RunIf(Frame& frame, const ir::Operation& op) {
  const int32_t before = builder_->num_steps();
  LINNET_RETURN_IF_ERROR(RunAll(frame, op));
  if (!counting() && builder_->num_steps() > before) {
    std::string warning = absl::StrCat(
        "`", frame.instance->decl().qualified_name,
        "` has an `if` that is decided at run time; both branches are counted, "
        "one after the other");
    if (warned_.insert(warning).second) warnings_.push_back(std::move(warning));
  }
  return absl::OkStatus();
}

// Runs every region, one after the other; the results are the last one's.
absl::Status Interpreter::RunAll(Frame& frame, const ir::Operation& op) {
  for (int32_t i = 0; i < op.num_regions; ++i) {
    Values yields;
    LINNET_RETURN_IF_ERROR(
        RunRegion(frame, frame.function->region(op, i), &yields));
    SetResults(frame, op, yields);
  }
  return absl::OkStatus();
}

absl::Status Interpreter::RunRound(Frame& frame, const ir::Operation& op,
                                   Value element, Values* carried) {
  LINNET_RETURN_IF_ERROR(Tick());
  const ir::RegionId region = frame.function->region(op, 0);
  const ir::Region& body = frame.function->regions[region];
  frame[body.args[0]] = element;
  for (size_t i = 0; i + 1 < body.args.size(); ++i) {
    frame[body.args[i + 1]] = (*carried)[i];
  }
  Values yields;
  LINNET_RETURN_IF_ERROR(RunRegion(frame, region, &yields));
  *carried = std::move(yields);
  return absl::OkStatus();
}

absl::Status Interpreter::RunStaticFor(Frame& frame, const ir::Operation& op) {
  const auto operands = frame.function->operands_of(op);
  const Value array = frame[operands[0]];
  const MemberValue& member =
      tree_->node(array.index).members[static_cast<size_t>(array.count)];
  Values carried;
  for (ir::ValueId operand : operands.subspan(1)) {
    carried.push_back(frame[operand]);
  }
  for (int32_t i = 0; i < member.count; ++i) {
    LINNET_RETURN_IF_ERROR(
        RunRound(frame, op, Value::Block(tree_->element(member, i)), &carried));
  }
  SetResults(frame, op, carried);
  return absl::OkStatus();
}

absl::Status Interpreter::KnownInteger(const Value& value,
                                       absl::string_view what,
                                       int64_t* number) const {
  if (value.number.valid() && value.number.is_constant()) {
    *number = value.number.constant();
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      value.number.valid()
          ? absl::StrCat(what, " must be a number, but it depends on `",
                         value.number.ToString(),
                         "`; give that generic a value with --bind")
          : absl::StrCat(what, " must be known before anything runs"));
}

absl::Status Interpreter::RunRange(Frame& frame, const ir::Operation& op) {
  const auto operands = frame.function->operands_of(op);
  const std::string what = absl::StrCat(
      "a bound of a loop in `", frame.instance->decl().qualified_name, "`");
  int64_t start = 0;
  int64_t stop = 0;
  LINNET_RETURN_IF_ERROR(KnownInteger(frame[operands[0]], what, &start));
  LINNET_RETURN_IF_ERROR(KnownInteger(frame[operands[1]], what, &stop));
  Values carried;
  for (ir::ValueId operand : operands.subspan(2)) {
    carried.push_back(frame[operand]);
  }
  const bool scan = op.kind == OpKind::kFor && op.integer == 1;
  std::vector<Value> rounds;  // What each round yielded.
  for (int64_t i = start; i < stop; ++i) {
    LINNET_RETURN_IF_ERROR(
        RunRound(frame, op, Value::Scalar(pool_->Constant(i)), &carried));
    if (!scan) continue;
    rounds.push_back(carried.back());
    carried.pop_back();
  }
  if (scan) carried.push_back(Value::Scalar());
  SetResults(frame, op, carried);
  if (!scan) return absl::OkStatus();
  // The yields are joined along a new first axis once the loop has ended.
  const ir::ValueId last = frame.function->result(op, op.num_results - 1);
  const lang::Type& type = instances_->program().source->types->get(
      frame.function->value_types[last]);
  const bool tuple = type.kind == lang::TypeKind::kTuple;
  Values parts;
  const size_t streams = tuple ? type.elements.size() : 1;
  for (size_t i = 0; i < streams; ++i) {
    const ConcreteType concrete = frame.instance->environment().Type(
        tuple ? instances_->program().source->types->get(type.elements[i])
              : type);
    if (!concrete.is_tensor) {
      parts.push_back(Value::Scalar());
      continue;
    }
    if (counting()) {
      parts.push_back(Value::Local());
      continue;
    }
    std::vector<graph::ObjectId> inputs;
    for (const Value& round : rounds) {
      const Value& part =
          tuple ? parts_[static_cast<size_t>(round.index) + i] : round;
      if (part.is_object()) inputs.push_back(part.object());
    }
    const graph::ObjectId object =
        NewObject(concrete, {}, Layout::Contiguous());
    AddStep(frame, graph::StepKind::kConcat, "stack", inputs, {object}, {});
    parts.push_back(Value::Tensor(object));
  }
  frame[last] = tuple ? Pack(parts) : parts[0];
  return absl::OkStatus();
}

absl::Status Interpreter::RunWhile(Frame& frame, const ir::Operation& op) {
  Values carried;
  for (ir::ValueId operand : frame.function->operands_of(op)) {
    carried.push_back(frame[operand]);
  }
  for (int32_t i = 0; i < 2; ++i) {  // The condition, then the body.
    const ir::RegionId region = frame.function->region(op, i);
    const ir::Region& ops = frame.function->regions[region];
    for (size_t j = 0; j < ops.args.size(); ++j) {
      // What changes from round to round is not known.
      if (carried[j].kind == ValueKind::kScalar) carried[j] = Value::Scalar();
      frame[ops.args[j]] = carried[j];
    }
    Values yields;
    LINNET_RETURN_IF_ERROR(RunRegion(frame, region, &yields));
    if (i == 1) carried = std::move(yields);
  }
  SetResults(frame, op, carried);
  return absl::OkStatus();
}

void Interpreter::NoteLibraryCall(const Instance& callee,
                                  absl::string_view scope) {
  const lang::FunctionId op = callee.body().id;
  const auto [it, added] =
      library_call_of_.try_emplace(op, library_calls_.size());
  if (added) {
    library_calls_.push_back({op, callee.decl().qualified_name, 0,
                              callee.native(), std::string(scope)});
  }
  ++library_calls_[it->second].count;
}

absl::Status Interpreter::RunCall(Frame& frame, ir::OpId id,
                                  const ir::Operation& op) {
  Instance& callee = frame.instance->Callee(id, op);
  if (!counting() && op.kind == OpKind::kSemanticCall) {
    NoteLibraryCall(callee, frame.scope);
  }
  if (!counting() && callee.native() != nullptr) {
    return RunNative(frame, op, callee);
  }
  Values args;
  for (ir::ValueId operand : frame.function->operands_of(op)) {
    args.push_back(frame[operand]);
  }
  absl::string_view scope = frame.scope;
  if (!args.empty() && args[0].kind == ValueKind::kBlock &&
      callee.decl().block.valid()) {
    scope = tree_->node(args[0].index).path;
  }
  Value result;
  LINNET_RETURN_IF_ERROR(Enter(callee, args, scope, &result));
  if (op.num_results > 0) frame[op.first_result] = result;
  return absl::OkStatus();
}

}  // namespace linnet::trace
