#include "core/ir/text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/lang/type_text.h"

namespace linnet::ir {
namespace {

absl::string_view ReduceName(ReduceKind kind) {
  static constexpr absl::string_view kNames[] = {"sum", "prod", "min",
                                                 "max", "any",  "all"};
  return kNames[static_cast<size_t>(kind)];
}

std::string ValueText(ValueId value) { return absl::StrCat("%", value.index); }

std::string JoinValues(absl::Span<const ValueId> values) {
  return absl::StrJoin(values, ", ", [](std::string* out, ValueId value) {
    absl::StrAppend(out, ValueText(value));
  });
}

// The shortest decimal that reads back as the same number.
std::string FloatText(double value) {
  std::string text;
  for (int digits = 6; digits <= 17; ++digits) {
    text = absl::StrFormat("%.*g", digits, value);
    double back = 0;
    if (absl::SimpleAtod(text, &back) && back == value) break;
  }
  return text;
}

absl::string_view KindName(lang::FunctionKind kind) {
  switch (kind) {
    case lang::FunctionKind::kFn:
      return "fn";
    case lang::FunctionKind::kOp:
      return "op";
    case lang::FunctionKind::kEntry:
      return "entry";
    case lang::FunctionKind::kKernel:
      return "kernel";
  }
  return "";
}

class Printer {
 public:
  Printer(const lang::Program& program, const Function& function)
      : program_(program), function_(function) {}

  std::string Run() {
    const lang::Function& source = program_.functions[function_.id];
    absl::StrAppend(&out_, KindName(source.kind), " ", source.qualified_name,
                    "(", Args(function_.body), ")");
    if (source.result.valid() && source.result != program_.types->unit()) {
      absl::StrAppend(&out_, " -> ", lang::TypeText(program_, source.result));
    }
    absl::StrAppend(&out_, " {\n");
    Ops(function_.body, 1);
    absl::StrAppend(&out_, "}");
    if (function_.grad.valid()) {
      absl::StrAppend(&out_, " grad (", Args(function_.grad), ") {\n");
      Ops(function_.grad, 1);
      absl::StrAppend(&out_, "}");
    }
    absl::StrAppend(&out_, "\n");
    return std::move(out_);
  }

  std::string OpText(const Operation& op) const {
    std::string text;
    for (int32_t i = 0; i < op.num_results; ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ",
                      ValueText(function_.result(op, i)));
    }
    if (op.num_results > 0) absl::StrAppend(&text, " = ");
    absl::StrAppend(&text, OpName(op.kind));
    if (op.kind == OpKind::kReduce) {
      absl::StrAppend(&text, ".",
                      ReduceName(static_cast<ReduceKind>(op.integer)));
    }
    const std::string attributes = Attributes(op);
    if (!attributes.empty()) absl::StrAppend(&text, " ", attributes);
    if (op.num_operands > 0) {
      absl::StrAppend(&text, " ", JoinValues(function_.operands_of(op)));
    }
    for (int32_t i = 0; i < op.num_results; ++i) {
      absl::StrAppend(
          &text, i == 0 ? " : " : ", ",
          lang::TypeText(program_, TypeOf(function_.result(op, i))));
    }
    return text;
  }

 private:
  lang::TypeId TypeOf(ValueId value) const {
    return function_.value_types[value];
  }
  const lang::Type& OperandType(const Operation& op) const {
    return program_.types->get(TypeOf(function_.operands_of(op)[0]));
  }

  std::string Args(RegionId region) const {
    return absl::StrJoin(
        function_.regions[region].args, ", ",
        [this](std::string* out, ValueId arg) {
          const lang::Type& type = program_.types->get(TypeOf(arg));
          absl::StrAppend(out, ValueText(arg), ": ",
                          type.kind == lang::TypeKind::kShape
                              ? lang::ShapeText(program_, type.shape)
                              : lang::TypeText(program_, TypeOf(arg)));
        });
  }

  void Ops(RegionId region, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    for (OpId id : function_.regions[region].ops) {
      const Operation& op = function_.ops[id];
      absl::StrAppend(&out_, indent, OpText(op));
      for (int i = 0; i < op.num_regions; ++i) {
        const RegionId inner = function_.region(op, i);
        absl::StrAppend(&out_, " {\n");
        if (!function_.regions[inner].args.empty()) {
          absl::StrAppend(&out_, indent, "  (", Args(inner), ")\n");
        }
        Ops(inner, depth + 1);
        absl::StrAppend(&out_, indent, "}");
      }
      absl::StrAppend(&out_, "\n");
    }
  }

  // What the operation carries beside its operands.
  std::string Attributes(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kConstInt:
        return absl::StrCat(op.integer);
      case OpKind::kConstBool:
        return op.integer != 0 ? "true" : "false";
      case OpKind::kConstFloat:
        return FloatText(function_.data_of(op).real);
      case OpKind::kConstDim:
        return function_.data_of(op).dim.ToString();
      case OpKind::kEnumConst:
        return VariantName(program_.types->get(TypeOf(op.first_result)),
                           op.integer);
      case OpKind::kCompare:
        return std::string(
            lang::RelationText(static_cast<lang::Relation>(op.integer)));
      case OpKind::kPermute:
        return absl::StrCat(
            "[", absl::StrJoin(function_.data_of(op).ints, ", "), "]");
      case OpKind::kSlice:
        return Slices(function_.data_of(op).slices);
      case OpKind::kConcat:
      case OpKind::kCumsum:
        return absl::StrCat("axis ", op.integer);
      case OpKind::kTupleGet:
      case OpKind::kArrayGet:
        return absl::StrCat(op.integer);
      case OpKind::kStructGet:
        return FieldName(OperandType(op), op.integer);
      case OpKind::kComprehension:
        return Domains(op);
      case OpKind::kReduce:
        return absl::StrCat(function_.data_of(op).annotated ? "annotated " : "",
                            Domains(op));
      case OpKind::kEnumMatch:
        return Arms(op);
      case OpKind::kCall:
      case OpKind::kSemanticCall:
        return Callee(op);
      case OpKind::kBlockParam:
      case OpKind::kBlockSub:
      case OpKind::kStateRead:
      case OpKind::kStateWrite:
        return MemberName(OperandType(op), op.integer);
      case OpKind::kFor:
        return op.integer != 0 ? "scan" : "";
      default:
        return "";
    }
  }

  std::string Domains(const Operation& op) const {
    const OpData& data = function_.data_of(op);
    return absl::StrCat(
        "[",
        absl::StrJoin(data.domains, ", ",
                      [this](std::string* out, const lang::Shape& units) {
                        absl::StrAppend(out,
                                        units.size() == 1
                                            ? lang::UnitText(program_, units[0])
                                            : lang::ShapeText(program_, units));
                      }),
        "]");
  }

  static std::string Slices(const std::vector<lang::SliceAxis>& slices) {
    return absl::StrCat(
        "[",
        absl::StrJoin(slices, ", ",
                      [](std::string* out, const lang::SliceAxis& axis) {
                        if (axis.whole) {
                          absl::StrAppend(out, ":");
                        } else if (axis.squeezed) {
                          absl::StrAppend(out, axis.start.ToString());
                        } else {
                          absl::StrAppend(out, axis.start.ToString(), ":",
                                          axis.stop.ToString());
                          if (!axis.step.is_one()) {
                            absl::StrAppend(out, ":", axis.step.ToString());
                          }
                        }
                      }),
        "]");
  }

  std::string Callee(const Operation& op) const {
    const OpData& data = function_.data_of(op);
    std::string text(program_.functions[data.callee].qualified_name);
    if (data.bindings.empty()) return text;
    return absl::StrCat(
        text, "<",
        absl::StrJoin(data.bindings, ", ",
                      [this](std::string* out, const lang::GenericArg& arg) {
                        absl::StrAppend(out, lang::ArgText(program_, arg));
                      }),
        ">");
  }

  std::string Arms(const Operation& op) const {
    const lang::Type& type = OperandType(op);
    return absl::StrCat(
        "[",
        absl::StrJoin(function_.data_of(op).ints, ", ",
                      [&](std::string* out, int32_t arm) {
                        absl::StrAppend(out,
                                        arm < 0 ? "_" : VariantName(type, arm));
                      }),
        "]");
  }

  std::string VariantName(const lang::Type& type, int64_t variant) const {
    const lang::Enum& declared = program_.enums[lang::EnumId{type.decl}];
    return std::string(
        program_.name(declared.variants[static_cast<size_t>(variant)]));
  }
  std::string FieldName(const lang::Type& type, int64_t field) const {
    const lang::Struct& declared = program_.structs[lang::StructId{type.decl}];
    return std::string(
        program_.name(declared.fields[static_cast<size_t>(field)]));
  }
  std::string MemberName(const lang::Type& type, int64_t member) const {
    const lang::Block& block = program_.blocks[lang::BlockId{type.decl}];
    return std::string(
        program_.name(block.members[static_cast<size_t>(member)].name));
  }

  const lang::Program& program_;
  const Function& function_;
  std::string out_;
};

class Sketcher {
 public:
  explicit Sketcher(const Function& function) : function_(function) {}

  std::string Region(RegionId region) const {
    std::vector<std::string> words;
    for (OpId id : function_.regions[region].ops) {
      const Operation& op = function_.ops[id];
      if (op.kind == OpKind::kYield) continue;
      words.push_back(Word(op));
    }
    return absl::StrJoin(words, " ");
  }

 private:
  std::string Word(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kElement:
        return "el";
      case OpKind::kComprehension:
        return absl::StrCat("C[", function_.data_of(op).domains.size(), "]{ ",
                            Region(op.first_region), " }");
      case OpKind::kReduce: {
        static constexpr absl::string_view kSigns[] = {"+",   "*",   "min",
                                                       "max", "any", "all"};
        const OpData& data = function_.data_of(op);
        return absl::StrCat("R", kSigns[static_cast<size_t>(op.integer)],
                            data.annotated ? "(f)" : "", "[",
                            data.domains.size(), "]{ ", Region(op.first_region),
                            " }");
      }
      default:
        break;
    }
    std::string text(OpName(op.kind));
    for (int i = 0; i < op.num_regions; ++i) {
      absl::StrAppend(&text, i == 0 ? "{ " : " | ",
                      Region(function_.region(op, i)));
    }
    if (op.num_regions > 0) absl::StrAppend(&text, " }");
    return text;
  }

  const Function& function_;
};

}  // namespace

std::string ToText(const lang::Program& program, const Function& function) {
  return Printer(program, function).Run();
}

std::string ToText(const lang::Program& program, const Function& function,
                   OpId op) {
  return Printer(program, function).OpText(function.ops[op]);
}

std::string ToText(const Program& program) {
  std::string text;
  for (const Function& function : program.functions) {
    if (!function.body.valid()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "\n",
                    ToText(*program.source, function));
  }
  return text;
}

std::string ToSketch(const Function& function) {
  return Sketcher(function).Region(function.body);
}

}  // namespace linnet::ir
