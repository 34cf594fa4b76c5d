#include "core/parallel/units.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/nearest.h"
#include "core/expr/evaluator.h"

namespace linnet::parallel {
namespace {

using graph::Object;

bool IsHeld(const Object& object) {
  switch (object.category) {
    case graph::Category::kParameters:
    case graph::Category::kBuffers:
    case graph::Category::kState:
    case graph::Category::kKvCache:
      return object.path.valid() && !object.producer.valid();
    default:
      return false;
  }
}

bool IsNumber(absl::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Stages that filling one after the other up to `limit` needs, as their starts.
std::vector<size_t> Fill(absl::Span<const Unit> units, int64_t limit) {
  std::vector<size_t> starts = {0};
  int64_t bytes = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    if (i > starts.back() && bytes + units[i].bytes > limit) {
      starts.push_back(i);
      bytes = 0;
    }
    bytes += units[i].bytes;
  }
  return starts;
}

// Where a stage of several units is cut.
size_t BestCut(absl::Span<const Unit> units, size_t begin, size_t end) {
  int64_t all = 0;
  for (size_t i = begin; i < end; ++i) all += units[i].bytes;
  size_t best = begin + 1;
  int64_t least = INT64_MAX, before = 0;
  for (size_t cut = begin + 1; cut < end; ++cut) {
    before += units[cut - 1].bytes;
    if (std::max(before, all - before) >= least) continue;
    least = std::max(before, all - before);
    best = cut;
  }
  return best;
}

absl::Status TooMany(absl::Span<const Unit> units, int64_t stages) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the model has ", units.size(), units.size() == 1 ? " block" : " blocks",
      " to cut between, so it cannot run on ", stages, " stages",
      units.empty() ? "" : absl::StrCat("; they are ", UnitsText(units))));
}

}  // namespace

absl::string_view UnitOf(absl::string_view path) {
  const size_t first = path.find('.');
  if (first == absl::string_view::npos) return {};
  const size_t second = std::min(path.find('.', first + 1), path.size());
  const bool element = second < path.size() &&
                       IsNumber(path.substr(first + 1, second - first - 1));
  return path.substr(0, element ? second : first);
}

std::vector<Unit> FindUnits(const graph::Graph& graph) {
  absl::flat_hash_map<expr::SymbolId, int64_t> ones;
  for (const expr::SymbolId role : graph.roles()) ones[role] = 1;
  std::vector<Unit> units;
  absl::flat_hash_map<std::string, size_t> index;
  for (const Object& object : graph.objects()) {
    if (!IsHeld(object)) continue;
    const absl::string_view path = UnitOf(graph.text(object.path));
    if (path.empty()) continue;
    const auto [it, added] = index.try_emplace(std::string(path), units.size());
    if (added) units.push_back({std::string(path), 0});
    if (object.category != graph::Category::kParameters) continue;
    // A tied one has its bytes elsewhere.
    const expr::Value bytes = expr::Evaluate(
        object.bytes.is_zero() ? object.full_bytes : object.bytes, ones);
    if (bytes.ok()) units[it->second].bytes += bytes.value;
  }
  return units;
}

absl::StatusOr<std::vector<size_t>> BalanceStages(absl::Span<const Unit> units,
                                                  int64_t stages) {
  if (stages > static_cast<int64_t>(units.size())) {
    return TooMany(units, stages);
  }
  int64_t low = 0, high = 0;
  for (const Unit& unit : units) {
    low = std::max(low, unit.bytes);
    high += unit.bytes;
  }
  const auto count = static_cast<size_t>(stages);
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (Fill(units, middle).size() <= count) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  std::vector<size_t> starts = Fill(units, low);
  while (starts.size() < count) {
    for (size_t i = starts.size(); i-- > 0;) {
      const size_t end = i + 1 < starts.size() ? starts[i + 1] : units.size();
      if (end - starts[i] < 2) continue;
      starts.insert(starts.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    BestCut(units, starts[i], end));
      break;
    }
  }
  return starts;
}

absl::StatusOr<std::vector<size_t>> NamedStages(
    absl::Span<const Unit> units, absl::Span<const std::string> names,
    int64_t stages) {
  if (stages > static_cast<int64_t>(units.size())) {
    return TooMany(units, stages);
  }
  if (static_cast<int64_t>(names.size()) != stages - 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(stages, " stages need the names of ", stages - 1,
                     " blocks where all but the first begin (--stages), not ",
                     names.size()));
  }
  std::vector<size_t> starts = {0};
  for (const std::string& name : names) {
    const auto it =
        std::find_if(units.begin(), units.end(),
                     [&](const Unit& unit) { return unit.path == name; });
    if (it == units.end()) {
      std::vector<absl::string_view> known;
      for (const Unit& unit : units) known.push_back(unit.path);
      const auto near = NearestNames(name, known, 2);
      return absl::InvalidArgumentError(absl::StrCat(
          "a stage cannot begin at `", name, "` (--stages): ",
          near.empty() ? absl::StrCat("the blocks are ", UnitsText(units))
                       : absl::StrCat("did you mean `",
                                      absl::StrJoin(near, "` or `"), "`?")));
    }
    const auto at = static_cast<size_t>(it - units.begin());
    if (at <= starts.back()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the stage that begins at `", name,
                       "` (--stages) comes before, or at, the one before it; "
                       "the blocks are ",
                       UnitsText(units)));
    }
    starts.push_back(at);
  }
  return starts;
}

std::string UnitsText(absl::Span<const Unit> units) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < units.size();) {
    const absl::string_view path = units[i].path;
    const size_t dot = path.rfind('.');
    size_t end = i + 1;
    int64_t number = 0;
    if (dot != absl::string_view::npos &&
        absl::SimpleAtoi(path.substr(dot + 1), &number)) {
      const absl::string_view array = path.substr(0, dot);
      while (end < units.size() &&
             units[end].path ==
                 absl::StrCat(array, ".",
                              number + static_cast<int64_t>(end - i))) {
        ++end;
      }
    }
    std::string text(path);
    if (end - i > 1) {
      absl::StrAppend(&text, "-", number + static_cast<int64_t>(end - i) - 1);
    }
    parts.push_back(std::move(text));
    i = end;
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace linnet::parallel
