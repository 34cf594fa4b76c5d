// Graphs with parameters, kinds and scopes for tests of training: from a small
// text, or at random from a seed.

#ifndef LINNET_TESTS_SUPPORT_TRAINING_GRAPH_H_
#define LINNET_TESTS_SUPPORT_TRAINING_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/graph_builder.h"
#include "tests/support/random.h"

namespace linnet::training {

// Reads statements separated by ';':
//   param PATH SHAPE            a parameter, called by its path
//   tie PATH OTHER              another path of a parameter
//   in NAME SHAPE               an entry input
//   NAME SHAPE = KIND(A, B)     a step that makes a tensor
//   NAME in A SHAPE = KIND(A)   a step that makes a view of A
//   KIND(A, B)                  a step without outputs
//   out A                       a result
// A step may end in `@ SCOPE` and has 100 FLOPs. KIND is a step kind, or the
// name of a native implementation. SHAPE is `2x3` or `batch x context` without
// spaces, of f32 or with `:DTYPE` behind it. Ends the process on anything else.
class TrainingGraphReader {
 public:
  std::shared_ptr<const graph::Graph> Read(absl::string_view text) {
    for (absl::string_view statement : absl::StrSplit(text, ';')) {
      statement = absl::StripAsciiWhitespace(statement);
      if (!statement.empty()) Statement(statement);
    }
    auto graph = builder_.Build();
    LINNET_CHECK(graph.ok()) << graph.status();
    const absl::Status verified = graph::VerifyGraph(**graph);
    LINNET_CHECK(verified.ok()) << verified;
    return *graph;
  }

  graph::ObjectId Named(absl::string_view name) const {
    const auto it = names_.find(absl::StripAsciiWhitespace(name));
    LINNET_CHECK(it != names_.end()) << "unknown object `" << name << "`";
    return it->second;
  }

 private:
  void Statement(absl::string_view statement) {
    const size_t assigns = statement.find('=');
    if (assigns != absl::string_view::npos) {
      const std::vector<std::string> words =
          absl::StrSplit(statement.substr(0, assigns), ' ', absl::SkipEmpty());
      graph::ObjectSpec spec;
      const bool view = words.at(1) == "in";
      if (view) spec.view_of = Named(words.at(2));
      const graph::ObjectId made = Object(words.at(0), words.back(), spec);
      return Call(statement.substr(assigns + 1), {made});
    }
    const std::vector<std::string> words =
        absl::StrSplit(statement, ' ', absl::SkipEmpty());
    graph::ObjectSpec spec;
    if (words.at(0) == "param") {
      spec.category = graph::Category::kParameters;
      spec.path = words.at(1);
      spec.persistent = true;
      Object(words.at(1), words.at(2), spec);
    } else if (words.at(0) == "tie") {
      const graph::ObjectId other = Named(words.at(2));
      const std::vector<expr::Expr> shape(builder_.shape(other).begin(),
                                          builder_.shape(other).end());
      spec.category = graph::Category::kParameters;
      spec.path = words.at(1);
      spec.view_of = other;
      spec.shape = shape;
      names_[words.at(1)] = builder_.AddObject(spec);
    } else if (words.at(0) == "in") {
      builder_.MarkInput(Object(words.at(1), words.at(2), spec));
    } else if (words.at(0) == "out") {
      builder_.MarkResult(Named(words.at(1)));
    } else {
      Call(statement, {});
    }
  }

  void Call(absl::string_view text, std::vector<graph::ObjectId> outputs) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits('@', 1));
    // A name may have parentheses of its own.
    const size_t close = parts.first.rfind(')');
    const size_t open = parts.first.rfind('(');
    LINNET_CHECK(open < close && close != absl::string_view::npos)
        << "no call in " << text;
    const absl::string_view kind =
        absl::StripAsciiWhitespace(parts.first.substr(0, open));
    std::vector<graph::ObjectId> inputs;
    for (absl::string_view name :
         absl::StrSplit(parts.first.substr(open + 1, close - open - 1), ',',
                        absl::SkipWhitespace())) {
      inputs.push_back(Named(name));
    }
    graph::StepSpec spec;
    spec.kind = graph::StepKind::kNative;
    for (int i = 0; i < static_cast<int>(graph::StepKind::kNative); ++i) {
      const auto each = static_cast<graph::StepKind>(i);
      if (graph::StepKindName(each) == kind) spec.kind = each;
    }
    if (spec.kind == graph::StepKind::kNative) spec.native = kind;
    spec.label = kind;
    spec.inputs = inputs;
    spec.outputs = outputs;
    spec.scope = absl::StripAsciiWhitespace(parts.second);
    spec.flops = pool_->Constant(100);
    builder_.AddStep(spec);
  }

  graph::ObjectId Object(const std::string& name, absl::string_view text,
                         graph::ObjectSpec spec) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits(':', 1));
    std::vector<expr::Expr> shape;
    for (absl::string_view part : absl::StrSplit(parts.first, 'x')) {
      int64_t number = 0;
      // No name of a role has an `x` in it.
      shape.push_back(
          absl::SimpleAtoi(part, &number)
              ? pool_->Constant(number)
              : pool_->Symbol(part == "batch" ? "batch" : "tokens"));
    }
    spec.name = name;
    spec.shape = shape;
    spec.dtype = parts.second.empty() ? DType::kF32 : *ParseDType(parts.second);
    return names_[name] = builder_.AddObject(spec);
  }

  std::shared_ptr<expr::Pool> pool_ = std::make_shared<expr::Pool>();
  graph::GraphBuilder builder_{
      pool_,
      {pool_->Symbol("batch").symbol(), pool_->Symbol("tokens").symbol()}};
  absl::flat_hash_map<std::string, graph::ObjectId> names_;
};

// A program of blocks `layers.N.a` and `layers.N.b` and steps between them that
// reads what any earlier step made; the same for the same seed.
inline std::string RandomTrainingText(uint32_t seed) {
  Random random(seed);
  const auto any = [&](const std::vector<std::string>& of) {
    return of[static_cast<size_t>(random.Int(static_cast<int>(of.size())))];
  };
  const std::vector<std::string> kinds = {
      "add",   "mul",    "exp", "tanh", "div",          "neg",
      "scale", "concat", "sin", "max",  "comprehension"};
  const std::vector<std::string> sizes = {"batchx3", "tokensx5", "batchxtokens",
                                          "7"};
  std::string text = "in x batchxtokens; param head.w 7; param frozen.w 5;";
  std::vector<std::string> values = {"x", "head.w", "frozen.w"};
  const int layers = 1 + random.Int(4);
  int made = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const std::string weight = absl::StrCat("layers.", layer, ".w");
    absl::StrAppend(&text, "param ", weight, " ", 1 + random.Int(9), ";");
    values.push_back(weight);
    for (const char* part : {".a", ".b", ""}) {
      const std::string scope =
          random.Int(6) == 0 ? "" : absl::StrCat("@ layers.", layer, part);
      for (int i = random.Int(4); i > 0; --i) {
        const std::string name = absl::StrCat("t", made++);
        const std::string first = any(values);
        const std::string second = values[values.size() - 1];
        const bool view = random.Int(5) == 0 && first[0] == 't';
        absl::StrAppend(&text, name, view ? " in " : " ",
                        view ? absl::StrCat(first, " ") : "", any(sizes), " = ",
                        view ? "reshape" : any(kinds), "(", first,
                        view ? "" : absl::StrCat(", ", second), ")", scope,
                        ";");
        values.push_back(name);
      }
    }
  }
  absl::StrAppend(&text, "reduce(", values.back(), ", head.w);");
  if (random.Int(3) == 0 && made > 0) absl::StrAppend(&text, "out t0;");
  return text;
}

}  // namespace linnet::training

#endif  // LINNET_TESTS_SUPPORT_TRAINING_GRAPH_H_
