#include "core/graph/memory_function.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/expr/evaluator.h"
#include "core/expr/expr.h"
#include "core/expr/pool.h"
#include "core/graph/timeline.h"

namespace linnet::graph {
namespace {

using expr::Monomial;
using expr::Term;

// A coefficient of a total; columns stand for monomials.
struct Entry {
  int32_t column;
  int64_t coefficient;
};

// The monomials of a timeline, and what is known of their values when every
// role is at least 1.
class Columns {
 public:
  int32_t Of(const Monomial* monomial) {
    const auto [it, added] = index_.try_emplace(monomial, size());
    if (added) {
      columns_.push_back({monomial, expr::IsNonNegative(*monomial),
                          expr::IsPositive(*monomial)});
    }
    return it->second;
  }

  // Finds which monomials are multiples of others. Call once all are there.
  void Compare() {
    constexpr int32_t kMaxCompared = 128;
    if (size() > kMaxCompared) return;
    at_least_.resize(columns_.size() * columns_.size());
    for (int32_t a = 0; a < size(); ++a) {
      for (int32_t b = 0; b < size(); ++b) {
        at_least_[Pair(a, b)] = IsMultiple(*monomial(a), *monomial(b));
      }
    }
  }

  // Whether the monomial of `a` is known to be at least that of `b`, which is
  // not negative: it has the same factors, and others that are positive.
  bool AtLeast(int32_t a, int32_t b) const {
    return !at_least_.empty() && at_least_[Pair(a, b)];
  }

  int32_t size() const { return static_cast<int32_t>(columns_.size()); }
  const Monomial* monomial(int32_t i) const { return At(i).monomial; }
  bool non_negative(int32_t i) const { return At(i).non_negative; }
  bool positive(int32_t i) const { return At(i).positive; }

 private:
  struct Column {
    const Monomial* monomial;
    bool non_negative;
    bool positive;
  };
  static bool IsMultiple(const Monomial& a, const Monomial& b) {
    if (!expr::IsNonNegative(b)) return false;
    size_t next = 0;
    for (const expr::Atom* factor : a.factors) {
      if (next < b.degree() && b.factors[next] == factor) {
        ++next;
      } else if (!expr::IsPositive(*factor)) {
        return false;
      }
    }
    return next == b.degree();
  }

  size_t Pair(int32_t a, int32_t b) const {
    return static_cast<size_t>(a) * columns_.size() + static_cast<size_t>(b);
  }
  const Column& At(int32_t i) const { return columns_[static_cast<size_t>(i)]; }

  std::vector<Column> columns_;
  absl::flat_hash_map<const Monomial*, int32_t> index_;
  std::vector<bool> at_least_;
};

enum class Cover { kNo, kWeak, kStrict };

struct Total {
  int64_t moment;
  std::vector<Entry> entries;  // By column, none 0.
};

using Entries = absl::InlinedVector<Entry, 32>;

// Splits `a` - `b` into what `a` has more and what it has less, the latter
// without the sign. False when a column that may be negative differs.
bool Difference(const Columns& columns, const std::vector<Entry>& a,
                const std::vector<Entry>& b, Entries* more, Entries* less) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const int32_t at_a = i < a.size() ? a[i].column : INT32_MAX;
    const int32_t at_b = j < b.size() ? b[j].column : INT32_MAX;
    const int32_t column = std::min(at_a, at_b);
    const int64_t of_a = at_a == column ? a[i++].coefficient : 0;
    const int64_t of_b = at_b == column ? b[j++].coefficient : 0;
    if (of_a == of_b) continue;
    int64_t difference = 0;
    if (!columns.non_negative(column) ||
        __builtin_sub_overflow(std::max(of_a, of_b), std::min(of_a, of_b),
                               &difference)) {
      return false;
    }
    (of_a > of_b ? more : less)->push_back({column, difference});
  }
  return true;
}

// Whether `a` is at least `b` for all sizes >= 1, or even larger for all.
Cover Covers(const Columns& columns, const std::vector<Entry>& a,
             const std::vector<Entry>& b) {
  Entries more;
  Entries less;
  if (!Difference(columns, a, b, &more, &less)) return Cover::kNo;
  // What is missing of one monomial, a larger one makes up for.
  for (Entry& missing : less) {
    for (Entry& extra : more) {
      if (!columns.AtLeast(extra.column, missing.column)) continue;
      const int64_t part = std::min(extra.coefficient, missing.coefficient);
      extra.coefficient -= part;
      missing.coefficient -= part;
    }
    if (missing.coefficient > 0) return Cover::kNo;
  }
  for (const Entry& extra : more) {
    if (extra.coefficient > 0 && columns.positive(extra.column)) {
      return Cover::kStrict;
    }
  }
  return Cover::kWeak;
}

// The totals that may be the first largest ones.
class Front {
 public:
  explicit Front(const Columns& columns) : columns_(columns) {}

  // Offers the total of a moment later than all before.
  absl::Status Offer(int64_t moment, const std::vector<Entry>& entries) {
    // Only so many are compared; one kept in vain costs time, no correctness.
    constexpr size_t kMaxCompared = 64;
    for (size_t i = 0; i < std::min(totals_.size(), kMaxCompared); ++i) {
      if (Covers(columns_, totals_[i].entries, entries) != Cover::kNo) {
        // What covers one often covers the next.
        std::swap(totals_[i], totals_[i / 2]);
        return absl::OkStatus();
      }
    }
    for (size_t i = std::min(totals_.size(), kMaxCompared); i-- > 0;) {
      if (Covers(columns_, entries, totals_[i].entries) == Cover::kStrict) {
        num_terms_ -= totals_[i].entries.size();
        std::swap(totals_[i], totals_.back());
        totals_.pop_back();
      }
    }
    num_terms_ += entries.size();
    if (num_terms_ > MemoryFunction::kMaxTerms ||
        totals_.size() >= MemoryFunction::kMaxCandidates) {
      return absl::ResourceExhaustedError(
          "memory has too many moments that may be the largest one");
    }
    totals_.push_back({moment, entries});
    std::swap(totals_.front(), totals_.back());
    return absl::OkStatus();
  }

  // By moment.
  std::vector<Total> Take() && {
    std::sort(
        totals_.begin(), totals_.end(),
        [](const Total& a, const Total& b) { return a.moment < b.moment; });
    return std::move(totals_);
  }

 private:
  const Columns& columns_;
  std::vector<Total> totals_;
  size_t num_terms_ = 0;
};

// The coefficients live at a moment, kept up to date from one to the next.
class Live {
 public:
  // Returns whether the sums fit.
  bool Add(const std::vector<Entry>& entries, bool begin) {
    for (const Entry& entry : entries) {
      int64_t& sum = sums_[entry.column];
      const bool overflow =
          begin ? __builtin_add_overflow(sum, entry.coefficient, &sum)
                : __builtin_sub_overflow(sum, entry.coefficient, &sum);
      if (overflow) return false;
      if (sum == 0) sums_.erase(entry.column);
    }
    return true;
  }

  void CopyTo(std::vector<Entry>* entries) const {
    entries->clear();
    for (const auto& [column, sum] : sums_) entries->push_back({column, sum});
  }

 private:
  std::map<int32_t, int64_t> sums_;  // Ordered, and only what is not 0.
};

absl::Status Overflow(int64_t moment) {
  return absl::InvalidArgumentError(
      absl::StrCat("memory at moment ", moment, " overflows 64 bits"));
}

// Indices of the intervals, sorted by `key`.
template <typename Key>
std::vector<size_t> Sorted(const std::vector<Interval>& intervals, Key key) {
  std::vector<size_t> order(intervals.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return key(intervals[a]) < key(intervals[b]);
  });
  return order;
}

// Walks the moments at which intervals begin, and moment 0, in order: calls
// change(interval, begins) for what ended before or begins there, then
// at(moment). Stops at the first error of either.
template <typename Change, typename At>
absl::Status Sweep(const std::vector<Interval>& intervals, Change change,
                   At at) {
  const auto begins =
      Sorted(intervals, [](const Interval& i) { return i.begin; });
  const auto ends = Sorted(intervals, [](const Interval& i) { return i.end; });
  if (begins.empty() || intervals[begins[0]].begin > 0) {
    LINNET_RETURN_IF_ERROR(at(0));
  }
  size_t ended = 0;
  for (size_t next = 0; next < begins.size();) {
    const int64_t moment = intervals[begins[next]].begin;
    while (intervals[ends[ended]].end < moment) {
      LINNET_RETURN_IF_ERROR(change(intervals[ends[ended++]], false));
    }
    while (next < begins.size() && intervals[begins[next]].begin == moment) {
      LINNET_RETURN_IF_ERROR(change(intervals[begins[next++]], true));
    }
    LINNET_RETURN_IF_ERROR(at(moment));
  }
  return absl::OkStatus();
}

// The entries of each distinct size of a timeline.
using SizeEntries = absl::flat_hash_map<expr::Expr, std::vector<Entry>>;

absl::StatusOr<SizeEntries> EntriesOf(const Timeline& timeline,
                                      Columns* columns) {
  SizeEntries entries_of;
  for (const Interval& interval : timeline.intervals) {
    LINNET_CHECK(0 <= interval.begin && interval.begin <= interval.end &&
                 interval.end < timeline.moments)
        << "whoever makes a timeline keeps intervals within it";
    if (!interval.bytes.valid()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the bytes of an interval from moment ", interval.begin,
                       " ", expr::ErrorText(interval.bytes.error())));
    }
    const auto [it, added] = entries_of.try_emplace(interval.bytes);
    if (!added) continue;
    for (const Term& term : interval.bytes.terms()) {
      it->second.push_back({columns->Of(term.monomial), term.coefficient});
    }
  }
  return entries_of;
}

absl::StatusOr<std::vector<Total>> FindTotals(const Timeline& timeline,
                                              const Columns& columns,
                                              const SizeEntries& entries_of) {
  Front front(columns);
  Live live;
  std::vector<Entry> total;
  LINNET_RETURN_IF_ERROR(Sweep(
      timeline.intervals,
      [&](const Interval& interval, bool begins) {
        return live.Add(entries_of.at(interval.bytes), begins)
                   ? absl::OkStatus()
                   : Overflow(interval.begin);
      },
      [&](int64_t moment) {
        live.CopyTo(&total);
        return front.Offer(moment, total);
      }));
  return std::move(front).Take();
}

// In the order of monomials.
std::vector<Term> TermsOf(const Columns& columns,
                          const std::vector<Entry>& entries) {
  std::vector<Term> terms;
  for (const Entry& entry : entries) {
    terms.push_back({entry.coefficient, columns.monomial(entry.column)});
  }
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return expr::Compare(*a.monomial, *b.monomial) < 0;
  });
  return terms;
}

}  // namespace

absl::Status MemoryFunction::Candidate::SetSplit(
    absl::Span<const expr::SymbolId> roles,
    const std::vector<std::vector<Term>>& by_category) {
  std::vector<absl::Span<const Term>> outputs;
  for (size_t i = 0; i < by_category.size(); ++i) {
    if (by_category[i].empty()) continue;
    categories.push_back(static_cast<Category>(i));
    outputs.push_back(by_category[i]);
  }
  LINNET_ASSIGN_OR_RETURN(split, expr::Evaluator::CompileSums(roles, outputs));
  return absl::OkStatus();
}

absl::StatusOr<MemoryFunction> MemoryFunction::Build(
    std::shared_ptr<const expr::Pool> pool,
    absl::Span<const expr::SymbolId> roles, const Timeline& timeline) {
  Columns columns;
  LINNET_ASSIGN_OR_RETURN(const SizeEntries entries_of,
                          EntriesOf(timeline, &columns));
  columns.Compare();
  LINNET_ASSIGN_OR_RETURN(const std::vector<Total> totals,
                          FindTotals(timeline, columns, entries_of));
  MemoryFunction function;
  function.pool_ = std::move(pool);
  std::vector<absl::Span<const Term>> outputs;
  function.candidates_.resize(totals.size());
  for (size_t i = 0; i < totals.size(); ++i) {
    Candidate& candidate = function.candidates_[i];
    candidate.moment = totals[i].moment;
    candidate.total = TermsOf(columns, totals[i].entries);
    outputs.push_back(candidate.total);
  }
  LINNET_ASSIGN_OR_RETURN(function.totals_,
                          expr::Evaluator::CompileSums(roles, outputs));

  // A second sweep finds the categories at the candidates' moments.
  std::array<Live, kNumCategories> live;
  size_t next = 0;
  LINNET_RETURN_IF_ERROR(Sweep(
      timeline.intervals,
      [&](const Interval& interval, bool begins) {
        Live& of_category = live[static_cast<size_t>(interval.category)];
        return of_category.Add(entries_of.at(interval.bytes), begins)
                   ? absl::OkStatus()
                   : Overflow(interval.begin);
      },
      [&](int64_t moment) {
        if (next == totals.size() || totals[next].moment != moment) {
          return absl::OkStatus();
        }
        std::vector<std::vector<Term>> parts;
        std::vector<Entry> entries;
        for (const Live& of_category : live) {
          of_category.CopyTo(&entries);
          parts.push_back(TermsOf(columns, entries));
        }
        return function.candidates_[next++].SetSplit(roles, parts);
      }));
  return function;
}

Peak MemoryFunction::Evaluate(absl::Span<const int64_t> sizes) const {
  absl::InlinedVector<int64_t, 64> totals(candidates_.size());
  Peak peak;
  peak.error = totals_.Run(sizes, absl::MakeSpan(totals));
  if (!peak.ok()) return peak;
  size_t best = 0;
  for (size_t i = 1; i < totals.size(); ++i) {
    if (totals[i] > totals[best]) best = i;
  }
  peak.bytes = totals[best];
  peak.moment = candidates_[best].moment;
  peak.candidate = static_cast<int32_t>(best);
  return peak;
}

CategoryBytes MemoryFunction::Split(const Peak& peak,
                                    absl::Span<const int64_t> sizes) const {
  CategoryBytes bytes{};
  const Candidate& candidate = candidates_[static_cast<size_t>(peak.candidate)];
  std::array<int64_t, kNumCategories> parts{};
  // The parts are sums of what the total summed, which fitted.
  candidate.split.Run(sizes,
                      absl::MakeSpan(parts).first(candidate.categories.size()));
  for (size_t i = 0; i < candidate.categories.size(); ++i) {
    bytes[static_cast<size_t>(candidate.categories[i])] = parts[i];
  }
  return bytes;
}

int64_t MemoryFunction::candidate_moment(int32_t candidate) const {
  return candidates_[static_cast<size_t>(candidate)].moment;
}

expr::Expr MemoryFunction::Formula(expr::Pool& pool) const {
  expr::Expr formula;
  for (const Candidate& candidate : candidates_) {
    expr::Expr total = pool.Zero();
    for (const Term& term : candidate.total) {
      total = pool.Add(total, pool.FromTerm(term));
    }
    formula = formula.valid() ? pool.Max(formula, total) : total;
  }
  return formula;
}

std::string MemoryFunction::FormulaText() const {
  expr::Pool extension(pool_);
  return Formula(extension).ToString();
}

size_t MemoryFunction::ByteSize() const {
  size_t bytes = sizeof(*this) + totals_.ByteSize();
  for (const Candidate& candidate : candidates_) {
    bytes += sizeof(candidate) + candidate.total.capacity() * sizeof(Term) +
             candidate.categories.capacity() * sizeof(Category) +
             candidate.split.ByteSize() - sizeof(candidate.split);
  }
  return bytes;
}

}  // namespace linnet::graph
