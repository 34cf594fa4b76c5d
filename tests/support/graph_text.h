// Graphs for tests: from a small text, or at random from a seed.

#ifndef LINNET_TESTS_SUPPORT_GRAPH_TEXT_H_
#define LINNET_TESTS_SUPPORT_GRAPH_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/graph.h"
#include "core/graph/graph_builder.h"
#include "tests/support/random.h"

namespace linnet::graph {

// The roles of every graph made here, with ids 0 and 1.
inline std::vector<expr::SymbolId> TestRoles(expr::Pool& pool) {
  return {pool.Symbol("batch").symbol(), pool.Symbol("context").symbol()};
}

using TestSizes = absl::flat_hash_map<expr::SymbolId, int64_t>;
inline TestSizes SizesOf(const Graph& graph,
                         const std::vector<int64_t>& values) {
  TestSizes sizes;
  for (size_t i = 0; i < values.size(); ++i)
    sizes[graph.roles()[i]] = values[i];
  return sizes;
}

// Reads statements separated by ';':
//   in NAME SIZE               an entry input
//   state NAME SIZE            persistent storage
//   NAME SIZE = LABEL(A, B)    a step that makes an object
//   NAME in A = LABEL(A, B)    a step that makes a view of A
//   LABEL(A, B)                a step without outputs
//   write STATE A              a state write
//   out A                      a result
// SIZE is a product of numbers and roles in bytes, such as `8*batch*context`.
// Ends the process on anything else: the text stands in the test itself.
class GraphReader {
 public:
  std::shared_ptr<const Graph> Read(absl::string_view text) {
    for (absl::string_view statement : absl::StrSplit(text, ';')) {
      statement = absl::StripAsciiWhitespace(statement);
      if (!statement.empty()) Statement(statement);
    }
    auto graph = builder_.Build();
    LINNET_CHECK(graph.ok()) << graph.status();
    const absl::Status verified = VerifyGraph(**graph);
    LINNET_CHECK(verified.ok()) << verified;
    return *graph;
  }

  ObjectId Named(absl::string_view name) const {
    const auto it = names_.find(absl::StripAsciiWhitespace(name));
    LINNET_CHECK(it != names_.end()) << "unknown object `" << name << "`";
    return it->second;
  }

 private:
  using Words = std::vector<std::string>;

  void Statement(absl::string_view statement) {
    const std::pair<absl::string_view, absl::string_view> sides =
        absl::StrSplit(statement, absl::MaxSplits('=', 1));
    const bool assigns = statement.find('=') != absl::string_view::npos;
    const absl::string_view call = assigns ? sides.second : statement;
    const Words words = absl::StrSplit(sides.first, ' ', absl::SkipEmpty());
    if (assigns) {
      const bool view = words.at(1) == "in";
      const ObjectId made =
          view ? Object(words.at(0), "1", Named(words.at(2)), false)
               : Object(words.at(0), words.at(1), {}, false);
      return Call(call, {made});
    }
    if (words.at(0) == "in") {
      builder_.MarkInput(Object(words.at(1), words.at(2), {}, false));
    } else if (words.at(0) == "state") {
      Object(words.at(1), words.at(2), {}, true);
    } else if (words.at(0) == "write") {
      builder_.WriteState(Named(words.at(1)), Named(words.at(2)));
    } else if (words.at(0) == "out") {
      builder_.MarkResult(Named(words.at(1)));
    } else {
      Call(call, {});
    }
  }

  void Call(absl::string_view call, std::vector<ObjectId> outputs) {
    const size_t open = call.find('(');
    LINNET_CHECK(open != absl::string_view::npos) << "no call in " << call;
    absl::string_view arguments = call.substr(open + 1);
    absl::ConsumeSuffix(&arguments, ")");
    std::vector<ObjectId> inputs;
    for (const absl::string_view name :
         absl::StrSplit(arguments, ',', absl::SkipWhitespace())) {
      inputs.push_back(Named(name));
    }
    builder_.AddStep({.kind = StepKind::kNative,
                      .label = absl::StripAsciiWhitespace(call.substr(0, open)),
                      .inputs = inputs,
                      .outputs = outputs});
  }

  ObjectId Object(const std::string& name, absl::string_view size,
                  ObjectId view_of, bool persistent) {
    std::vector<expr::Expr> shape;
    for (const absl::string_view part : absl::StrSplit(size, '*')) {
      int64_t number = 0;
      shape.push_back(absl::SimpleAtoi(part, &number) ? pool_->Constant(number)
                                                      : pool_->Symbol(part));
    }
    const ObjectId id = builder_.AddObject(
        {.name = name,
         .path = persistent ? name : "",
         .category = persistent ? Category::kState : Category::kActivations,
         .shape = shape,
         .dtype = DType::kU8,
         .view_of = view_of,
         .persistent = persistent});
    names_[name] = id;
    return id;
  }

  std::shared_ptr<expr::Pool> pool_ = std::make_shared<expr::Pool>();
  GraphBuilder builder_{pool_, TestRoles(*pool_)};
  absl::flat_hash_map<std::string, ObjectId> names_;
};

inline std::shared_ptr<const Graph> ParseGraphOrDie(absl::string_view text) {
  return GraphReader().Read(text);
}

// What RandomGraph() makes. Sizes are products of small numbers and roles, some
// with floor, ceiling, minimum and maximum in them.
struct RandomGraphOptions {
  int max_steps = 40;
  int max_inputs = 3;
};

// The same graph for the same seed, on every machine.
class GraphMaker {
 public:
  GraphMaker(uint32_t seed, const RandomGraphOptions& options)
      : random_(seed), options_(options) {}

  std::shared_ptr<const Graph> Make() {
    batch_ = pool_->Symbol("batch");
    context_ = pool_->Symbol("context");
    for (int i = Below(3); i > 0; --i) states_.push_back(New(true, {}));
    live_ = states_;
    for (int i = 1 + Below(options_.max_inputs); i > 0; --i) {
      live_.push_back(New(false, {}));
      builder_.MarkInput(live_.back());
    }
    for (int i = Below(options_.max_steps + 1); i > 0; --i) Step();
    for (int i = Below(4); i > 0; --i) builder_.MarkResult(Any());
    auto graph = builder_.Build();
    LINNET_CHECK(graph.ok()) << graph.status();
    return *graph;
  }

 private:
  int Below(int n) { return random_.Int(n); }

  // Mostly a recent object, so that most lives are short.
  ObjectId Any() {
    const int n = static_cast<int>(live_.size());
    const int back = Below(4) == 0 ? Below(n) : Below(std::min(n, 4));
    return live_[static_cast<size_t>(n - 1 - back)];
  }

  expr::Expr Size() {
    expr::Expr size = pool_->Constant(1 + Below(6));
    for (int i = Below(3); i > 0; --i) {
      size = pool_->Mul(size, Below(2) == 0 ? batch_ : context_);
    }
    const expr::Expr n = pool_->Constant(2 + Below(5));
    switch (Below(12)) {
      case 0:
        return pool_->FloorDiv(pool_->Add(size, context_), n);
      case 1:
        return pool_->CeilDiv(size, n);
      case 2:
        return pool_->Min(size, pool_->Mul(n, batch_));
      case 3:
        return pool_->Max(size, pool_->Mul(n, context_));
      case 4:
        return pool_->Add(size, pool_->Mul(n, batch_));
      case 5:
        return pool_->Zero();
      default:
        return size;
    }
  }

  ObjectId New(bool persistent, ObjectId view_of) {
    const expr::Expr size = Size();
    return builder_.AddObject(
        {.name = "t",
         .path = persistent ? "state" : "",
         .category = persistent ? Category::kState : Category::kActivations,
         .shape = {&size, 1},
         .dtype = kAllDTypes[static_cast<size_t>(Below(kNumDTypes))],
         .view_of = view_of,
         .persistent = persistent});
  }

  void Step() {
    std::vector<ObjectId> inputs;
    for (int i = 1 + Below(3); i > 0; --i) inputs.push_back(Any());
    std::vector<ObjectId> outputs;
    for (int i = Below(5) == 0 ? Below(3) : 1; i > 0; --i) {
      outputs.push_back(New(false, Below(4) == 0 ? inputs[0] : ObjectId{}));
    }
    builder_.AddStep({.kind = StepKind::kAdd,
                      .label = "add",
                      .inputs = inputs,
                      .outputs = outputs});
    live_.insert(live_.end(), outputs.begin(), outputs.end());
    if (!states_.empty() && Below(10) == 0) {
      const int n = static_cast<int>(states_.size());
      builder_.WriteState(states_[static_cast<size_t>(Below(n))], Any());
    }
  }

  Random random_;
  RandomGraphOptions options_;
  std::shared_ptr<expr::Pool> pool_ = std::make_shared<expr::Pool>();
  GraphBuilder builder_{pool_, TestRoles(*pool_)};
  expr::Expr batch_, context_;
  std::vector<ObjectId> states_;
  std::vector<ObjectId> live_;
};

inline std::shared_ptr<const Graph> RandomGraph(
    uint32_t seed, const RandomGraphOptions& options = {}) {
  return GraphMaker(seed, options).Make();
}

}  // namespace linnet::graph

#endif  // LINNET_TESTS_SUPPORT_GRAPH_TEXT_H_
