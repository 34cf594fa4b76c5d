#include "core/zoo/card.h"

#include <functional>
#include <set>
#include <sstream>
#include <utility>

#define TOML_EXCEPTIONS 0

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "core/base/nearest.h"
#include "core/base/status_macros.h"
#include "core/base/toml.h"
#include "nlohmann/json.hpp"

namespace linnet::zoo {
namespace {

// Reads the keys of one table, each once; what is left over is an error.
class TableReader {
 public:
  TableReader(const toml::table* table, absl::string_view name,
              absl::string_view path)
      : table_(table), name_(name), path_(path) {}

  void Text(const char* key, std::string* target) {
    const toml::node* node = Take(key);
    if (node == nullptr) return;
    if (const auto* text = node->as_string()) {
      *target = text->get();
    } else {
      Fail(*node, key, "a string");
    }
  }

  void Integer(const char* key, std::optional<int64_t>* target) {
    const toml::node* node = Take(key);
    if (node == nullptr) return;
    if (const auto* number = node->as_integer()) {
      *target = number->get();
    } else {
      Fail(*node, key, "an integer");
    }
  }

  void Texts(const char* key, std::vector<std::string>* target) {
    const toml::node* node = Take(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) return Fail(*node, key, "a list of strings");
    for (const toml::node& each : *array) {
      const auto* text = each.as_string();
      if (text == nullptr) return Fail(each, key, "a list of strings");
      target->push_back(text->get());
    }
  }

  // Every pair, as generics.
  void Generics(std::vector<GenericValue>* target) {
    if (table_ == nullptr) return;
    for (const auto& [key, node] : *table_) {
      const std::string name(key.str());
      known_.push_back(name);
      if (const auto* number = node.as_integer()) {
        target->push_back({name, absl::StrCat(number->get())});
      } else if (const auto* text = node.as_string()) {
        target->push_back({name, text->get()});
      } else {
        Fail(node, name, "an integer or the name of a dtype");
      }
    }
  }

  absl::Status Finish() {
    if (!status_.ok() || table_ == nullptr) return status_;
    for (const auto& [key, node] : *table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) {
        continue;
      }
      std::vector<absl::string_view> known(known_.begin(), known_.end());
      const auto near = NearestNames(name, known, 1);
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ":", node.source().begin.line, ": [", name_, "] has no key `",
          name, "`",
          near.empty() ? "" : absl::StrCat("; did you mean `", near[0], "`?")));
    }
    return status_;
  }

 private:
  const toml::node* Take(absl::string_view key) {
    known_.emplace_back(key);
    if (table_ == nullptr) return nullptr;
    return table_->get(std::string_view(key.data(), key.size()));
  }

  void Fail(const toml::node& node, absl::string_view key,
            absl::string_view want) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(path_, ":", node.source().begin.line, ": `", key, "` of [",
                     name_, "] must be ", want));
  }

  const toml::table* table_;
  std::string name_, path_;
  std::vector<std::string> known_;
  absl::Status status_;
};

// Collects the pairs of a flat object, without recursion into nested values.
class BindingsHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Fail("null"); }
  bool boolean(bool) override { return Fail("a boolean"); }
  bool number_integer(number_integer_t) override { return Fail("a number"); }
  bool number_unsigned(number_unsigned_t) override { return Fail("a number"); }
  bool number_float(number_float_t, const string_t&) override {
    return Fail("a number");
  }
  bool binary(binary_t&) override { return Fail("binary data"); }
  bool start_array(std::size_t) override { return Fail("a list"); }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override {
    if (std::exchange(inside_, true)) return Fail("an object");
    return true;
  }
  bool end_object() override { return true; }
  bool key(string_t& text) override {
    if (!seen_.insert(text).second) {
      problem_ = absl::StrCat("`", text, "` is bound twice");
      return false;
    }
    key_ = text;
    return true;
  }
  bool string(string_t& text) override {
    if (!inside_) return Fail("a string");
    bindings_.emplace_back(key_, text);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem_ = absl::StrCat("not JSON at byte ", position);
    return false;
  }

  bool inside() const { return inside_; }
  const std::string& problem() const { return problem_; }
  Bindings& bindings() { return bindings_; }

 private:
  bool Fail(absl::string_view what) {
    problem_ = inside_ ? absl::StrCat("`", key_,
                                      "` must be the name of a "
                                      "checkpoint tensor, not ",
                                      what)
                       : absl::StrCat(
                             "must be one object of parameter path to "
                             "tensor name, not ",
                             what);
    return false;
  }

  bool inside_ = false;
  std::string key_, problem_;
  std::set<std::string> seen_;
  Bindings bindings_;
};

}  // namespace

absl::StatusOr<Card> ParseCard(absl::string_view text, absl::string_view path) {
  const toml::parse_result parsed =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!parsed) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ":", parsed.error().source().begin.line,
        ": not TOML: ", std::string(parsed.error().description())));
  }
  const toml::table& top = parsed.table();
  Card card;
  absl::Status status;
  const auto read = [&](const char* name,
                        const std::function<void(TableReader&)>& fill) {
    if (!status.ok()) return;
    const toml::node* node = top.get(name);
    if (node != nullptr && node->as_table() == nullptr) {
      status = absl::InvalidArgumentError(
          absl::StrCat(path, ":", node->source().begin.line, ": `", name,
                       "` must be a table: [", name, "]"));
      return;
    }
    TableReader reader(node == nullptr ? nullptr : node->as_table(), name,
                       path);
    fill(reader);
    status = reader.Finish();
  };
  read("model", [&](TableReader& t) {
    t.Text("name", &card.name);
    t.Text("title", &card.title);
    t.Text("summary", &card.summary);
    t.Text("license", &card.license);
    t.Text("family", &card.family);
    t.Texts("tags", &card.tags);
    t.Integer("parameters", &card.parameters);
  });
  read("links", [&](TableReader& t) {
    t.Text("huggingface", &card.huggingface);
    t.Text("github", &card.github);
    t.Text("arxiv", &card.arxiv);
    t.Text("homepage", &card.homepage);
  });
  read("source", [&](TableReader& t) {
    t.Text("path", &card.source_path);
    t.Text("root", &card.root);
    t.Text("entry", &card.entry);
  });
  read("generics", [&](TableReader& t) { t.Generics(&card.generics); });
  read("check", [&](TableReader& t) { t.Generics(&card.check); });
  read("windows", [&](TableReader& t) { t.Generics(&card.windows); });
  card.has_weights = top.contains("weights");
  read("weights", [&](TableReader& t) {
    t.Text("repo", &card.weights_repo);
    t.Texts("files", &card.weights_files);
    t.Text("revision", &card.weights_revision);
    t.Text("bindings", &card.bindings_file);
  });
  if (!status.ok()) return status;
  return card;
}

absl::StatusOr<Bindings> ParseBindings(absl::string_view text,
                                       absl::string_view path) {
  BindingsHandler handler;
  const bool ok = nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  if (!ok) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", handler.problem()));
  }
  return std::move(handler.bindings());
}

}  // namespace linnet::zoo
