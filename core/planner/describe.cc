// The built-in models, and what a model declares.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/graph/graph_builder.h"
#include "core/lang/type_text.h"
#include "core/planner/bind.h"
#include "core/planner/model.h"
#include "core/planner/planner.h"
#include "core/trace/block_tree.h"
#include "core/trace/tracer.h"
#include "core/zoo/registry.h"

namespace linnet::planner {
namespace {

ModelSummary SummaryOf(const std::string& name, const zoo::Card& card) {
  ModelSummary summary;
  summary.name = name;
  summary.title = card.title;
  summary.summary = card.summary;
  summary.license = card.license;
  summary.family = card.family;
  return summary;
}

absl::string_view KindText(lang::GenericKind kind) {
  switch (kind) {
    case lang::GenericKind::kDim:
      return "Dim";
    case lang::GenericKind::kShape:
      return "Shape";
    case lang::GenericKind::kDType:
      return "DType";
    case lang::GenericKind::kNumeric:
      return "Numeric";
    case lang::GenericKind::kInteger:
      return "Integer";
    case lang::GenericKind::kFloat:
      break;
  }
  return "Float";
}

std::string ArgText(const trace::ConcreteArg& arg) {
  return arg.kind == lang::GenericArg::Kind::kDType
             ? std::string(DTypeName(arg.dtype))
             : arg.dim.ToString();
}

// `i32[B, S]` of a tensor type, with what is bound filled in.
class TypeWriter {
 public:
  TypeWriter(const lang::Program& program,
             absl::Span<const lang::Generic> generics,
             const std::vector<std::optional<trace::ConcreteArg>>& values)
      : program_(program) {
    for (size_t i = 0; i < generics.size() && i < values.size(); ++i) {
      if (!values[i]) continue;
      const lang::Generic& generic = generics[i];
      if (generic.kind == lang::GenericKind::kDim) {
        // A stand-in symbol of the right name is kept where nothing is bound.
        if (values[i]->dim.is_constant()) {
          dims_[generic.dim.symbol()] =
              pool_.Constant(values[i]->dim.constant());
        }
      } else if (values[i]->kind == lang::GenericArg::Kind::kDType) {
        dtypes_[generic.dtype] = values[i]->dtype;
      }
    }
  }

  std::string Text(lang::TypeId id) const {
    const lang::Type& type = program_.types->get(id);
    switch (type.kind) {
      case lang::TypeKind::kScalar:
        return Element(type.dtype);
      case lang::TypeKind::kTensor: {
        std::vector<std::string> units;
        for (const lang::Unit& unit : type.shape) {
          if (unit.is_pack()) {
            units.push_back(lang::UnitText(program_, unit));
            continue;
          }
          units.push_back(pool_.Substitute(unit.dim, dims_).ToString());
        }
        return absl::StrCat(Element(type.dtype), "[",
                            absl::StrJoin(units, ", "), "]");
      }
      case lang::TypeKind::kOptional:
        return absl::StrCat(Text(type.elements[0]), "?");
      case lang::TypeKind::kTuple: {
        std::vector<std::string> parts;
        for (lang::TypeId element : type.elements)
          parts.push_back(Text(element));
        return absl::StrCat("(", absl::StrJoin(parts, ", "), ")");
      }
      default:
        return lang::TypeText(program_, id);
    }
  }

 private:
  std::string Element(lang::DTypeRef dtype) const {
    if (dtype.is_var()) {
      const auto it = dtypes_.find(dtype.var);
      if (it != dtypes_.end()) return std::string(DTypeName(it->second));
    }
    return lang::DTypeText(program_, dtype);
  }

  const lang::Program& program_;
  mutable expr::Pool pool_{program_.pool};
  absl::flat_hash_map<expr::SymbolId, expr::Expr> dims_;
  absl::flat_hash_map<lang::DTypeVarId, DType> dtypes_;
};

using OptionalArgs = std::vector<std::optional<trace::ConcreteArg>>;

// What each generic is bound to, as far as it is; `known` grows until the first
// one that is not.
OptionalArgs TryBindAll(Binder& binder,
                        absl::Span<const lang::Generic> generics, bool of_root,
                        OptionalArgs values) {
  trace::ConcreteArgs known;
  for (const auto& value : values) {
    if (!value) break;
    known.push_back(*value);
  }
  for (size_t i = values.size(); i < generics.size(); ++i) {
    std::optional<trace::ConcreteArg> value =
        binder.TryBind(generics[i], of_root, known, generics);
    if (value && known.size() == i) known.push_back(*value);
    values.push_back(std::move(value));
  }
  return values;
}

// `layers[*].attention.cache_k` of "layers.3.attention.cache_k".
std::string ManyPath(absl::string_view path) {
  std::string text;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const absl::string_view part = path.substr(begin, end - begin);
    const bool number =
        !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
          return c >= '0' && c <= '9';
        });
    if (number) {
      absl::StrAppend(&text, "[*]");
    } else {
      absl::StrAppend(&text, text.empty() ? "" : ".", part);
    }
    begin = end + 1;
  }
  return text;
}

std::string ObjectType(const graph::Graph& graph, const graph::Object& object) {
  std::vector<std::string> units;
  for (expr::Expr dim : graph.shape(object)) units.push_back(dim.ToString());
  return absl::StrCat(DTypeName(object.dtype), "[", absl::StrJoin(units, ", "),
                      "]");
}

// Bytes that one more position of the caches takes at one row.
std::optional<int64_t> CacheBytesPerToken(const graph::Graph& graph) {
  std::optional<int64_t> total;
  for (const graph::Object& object : graph.objects()) {
    if (object.category != graph::Category::kKvCache) continue;
    const auto shape = graph.shape(object);
    if (shape.size() != 4) return std::nullopt;
    int64_t bytes = DTypeBytes(object.dtype);
    for (size_t axis : {size_t{1}, size_t{3}}) {
      if (!shape[axis].is_constant() ||
          __builtin_mul_overflow(bytes, shape[axis].constant(), &bytes)) {
        return std::nullopt;
      }
    }
    total = total.value_or(0) + bytes;
  }
  return total;
}

// Fills in parameters, states and ties from the instantiated hierarchy.
absl::Status DescribeTree(const Model& model, const Config& config,
                          lang::BlockId root, trace::ConcreteArgs args,
                          const Limits& limits,
                          std::shared_ptr<expr::Pool> pool,
                          absl::Span<const expr::SymbolId> roles,
                          ModelDescription* description) {
  graph::GraphBuilder builder(pool, roles);
  trace::Weights weights;
  weights.present = config.optionals;
  if (!config.no_bindings) weights.bindings = model.bindings;
  LINNET_ASSIGN_OR_RETURN(
      const trace::BlockTree tree,
      trace::BlockTree::Build(*model.program->source, root, std::move(args),
                              weights, trace::FindCaches(*model.program),
                              trace::TreeLimits{}, pool.get(), &builder));
  LINNET_ASSIGN_OR_RETURN(const auto graph, builder.Build());
  if (graph->num_objects() > limits.max_objects) {
    return absl::ResourceExhaustedError("the model has too many tensors");
  }
  for (const graph::Object& object : graph->objects()) {
    TensorDescription tensor{std::string(graph->text(object.path)),
                             ObjectType(*graph, object)};
    switch (object.category) {
      case graph::Category::kParameters:
        if (object.persistent && object.bytes.is_constant()) {
          description->parameter_bytes += object.bytes.constant();
          description->parameter_count +=
              object.bytes.constant() / DTypeBytes(object.dtype);
        }
        description->parameters.push_back(std::move(tensor));
        break;
      case graph::Category::kState:
      case graph::Category::kKvCache:
        description->states.push_back(std::move(tensor));
        break;
      default:
        break;
    }
  }
  description->ties = tree.ties();
  description->cache_bytes_per_token = CacheBytesPerToken(*graph);
  return absl::OkStatus();
}

EntryDescription DescribeEntry(const lang::Program& program,
                               lang::FunctionId id, Binder& binder,
                               const OptionalArgs& root,
                               const std::vector<TensorDescription>& states) {
  const lang::Function& function = program.functions[id];
  EntryDescription entry;
  entry.name = std::string(program.name(function.name));
  const OptionalArgs values =
      TryBindAll(binder, function.generics, !function.block.valid(), root);
  for (size_t i = 0; i < function.generics.size(); ++i) {
    if (!values[i] || !values[i]->dim.valid()) {
      if (values[i]) continue;  // A dtype.
      entry.generics.emplace_back(program.name(function.generics[i].name));
    }
  }
  const TypeWriter writer(program, function.generics, values);
  for (const lang::Param& param : function.params) {
    entry.inputs.push_back(
        {std::string(program.name(param.name)), writer.Text(param.type)});
  }
  if (function.result != program.types->unit()) {
    entry.result = writer.Text(function.result);
  }
  if (function.reads_state || function.writes_state) {
    for (const TensorDescription& state : states) {
      std::string path = ManyPath(state.name);
      if (entry.states.empty() || entry.states.back() != path) {
        if (std::find(entry.states.begin(), entry.states.end(), path) ==
            entry.states.end()) {
          entry.states.push_back(std::move(path));
        }
      }
    }
  }
  return entry;
}

}  // namespace

std::vector<ModelSummary> ListModels() {
  std::vector<ModelSummary> models;
  for (const zoo::BuiltinModel& builtin : zoo::BuiltinModels()) {
    for (const EmbeddedFile& file : builtin.files) {
      if (file.path != absl::StrCat(builtin.name, "/nest.toml")) continue;
      const auto card = zoo::ParseCard(file.content, file.path);
      if (card.ok()) {
        models.push_back(SummaryOf(std::string(builtin.name), *card));
      }
    }
  }
  return models;
}

absl::StatusOr<ModelDescription> Describe(const Config& config,
                                          const Limits& limits,
                                          const StopFunction& stop) {
  LINNET_ASSIGN_OR_RETURN(const Model model, LoadModel(config.model, limits));
  LINNET_RETURN_IF_ERROR(CheckBindings(model, config));
  if (stop && stop()) return absl::CancelledError("the request was stopped");
  const lang::Program& program = *model.program->source;
  LINNET_ASSIGN_OR_RETURN(const lang::BlockId root, FindRoot(model, config));
  ModelDescription description;
  description.model = SummaryOf(model.name, model.card);
  auto pool = std::make_shared<expr::Pool>();
  Binder binder(model, config, pool.get());
  OptionalArgs values;
  if (root.valid()) {
    const lang::Block& block = program.blocks[root];
    description.root_block = std::string(program.name(block.name));
    values = TryBindAll(binder, block.generics, /*of_root=*/true, {});
    trace::ConcreteArgs args;
    for (size_t i = 0; i < values.size(); ++i) {
      description.generics.push_back(
          {std::string(program.name(block.generics[i].name)),
           std::string(KindText(block.generics[i].kind)),
           values[i] ? ArgText(*values[i]) : std::string()});
      if (values[i]) args.push_back(*values[i]);
    }
    std::vector<expr::SymbolId> roles;
    for (Role role : binder.roles()) roles.push_back(binder.symbol(role));
    // Without a value for every generic there is no hierarchy to show.
    if (args.size() == values.size()) {
      LINNET_RETURN_IF_ERROR(DescribeTree(model, config, root, std::move(args),
                                          limits, pool, roles, &description));
    }
  }
  // The pool now belongs to the hierarchy's graph.
  auto entry_pool = std::make_shared<expr::Pool>(pool);
  Binder entry_binder(model, config, entry_pool.get());
  for (lang::FunctionId id : EntriesOf(program, root)) {
    description.entries.push_back(
        DescribeEntry(program, id, entry_binder, values, description.states));
    description.model.entries.push_back(description.entries.back().name);
  }
  const std::vector<std::string>& names = description.model.entries;
  if (!model.card.entry.empty()) {
    description.main_entry = model.card.entry;
  } else if (names.size() == 1) {
    description.main_entry = names[0];
  } else if (std::find(names.begin(), names.end(), "forward") != names.end()) {
    description.main_entry = "forward";
  }
  return description;
}

}  // namespace linnet::planner
