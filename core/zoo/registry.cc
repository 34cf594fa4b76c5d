#include "core/zoo/registry.h"

#include <algorithm>
#include <cstddef>

namespace linnet {

extern const EmbeddedFile kZooFiles[];
extern const int kZooFilesCount;

namespace zoo {
namespace {

absl::string_view Directory(absl::string_view path) {
  return path.substr(0, path.find('/'));
}

}  // namespace

absl::Span<const BuiltinModel> BuiltinModels() {
  static const auto* const kModels = [] {
    auto* models = new std::vector<BuiltinModel>;
    const auto all =
        absl::MakeConstSpan(kZooFiles, static_cast<size_t>(kZooFilesCount));
    for (size_t begin = 0; begin < all.size();) {
      const absl::string_view name = Directory(all[begin].path);
      size_t end = begin;
      while (end < all.size() && Directory(all[end].path) == name) ++end;
      models->push_back({name, all.subspan(begin, end - begin)});
      begin = end;
    }
    std::sort(models->begin(), models->end(),
              [](const BuiltinModel& a, const BuiltinModel& b) {
                return a.name < b.name;
              });
    return models;
  }();
  return *kModels;
}

const BuiltinModel* FindBuiltin(absl::string_view name) {
  for (const BuiltinModel& model : BuiltinModels()) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

}  // namespace zoo
}  // namespace linnet
