#include "core/planner/maximize.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "core/planner/bind.h"

namespace linnet::planner {
namespace {

Role RoleOf(Goal goal) {
  switch (goal) {
    case Goal::kBatch:
      return Role::kBatch;
    case Goal::kContext:
      return Role::kContext;
    case Goal::kKvCache:
      break;
  }
  return Role::kCache;
}

// One search over multiples of the smallest size.
class Search {
 public:
  Search(const Prepared& prepared, Config config, Goal goal, int64_t unit,
         int64_t budget, const StopFunction& stop, size_t policy)
      : prepared_(prepared),
        config_(std::move(config)),
        goal_(goal),
        unit_(unit),
        stop_(stop),
        policy_(policy) {
    maximum_.budget_bytes = budget;
    maximum_.smallest = unit;
  }

  absl::StatusOr<Maximum> Run() {
    const int64_t most = kMaxSize / unit_;
    int64_t fits = 0, fails = 1;
    LINNET_ASSIGN_OR_RETURN(bool good, Try(1));
    while (good) {
      fits = fails;
      if (fits == most) break;
      fails = std::min(2 * fits, most);
      LINNET_ASSIGN_OR_RETURN(good, Try(fails));
    }
    if (good) {
      maximum_.stopped_by = StoppedBy::kSearch;
    } else {
      while (fits > 0 && fails - fits > 1) {
        const int64_t middle = fits + (fails - fits) / 2;
        LINNET_ASSIGN_OR_RETURN(good, Try(middle));
        (good ? fits : fails) = middle;
      }
    }
    if (fits > 0) maximum_.value = fits * unit_;
    return Finish(fits);
  }

 private:
  // Whether a size fits; numbers past 64 bits do not.
  absl::StatusOr<bool> Try(int64_t size) {
    if (stop_ && stop_()) return absl::CancelledError("the search was stopped");
    ++maximum_.evaluations;
    SizeOf(config_, goal_) = size * unit_;
    const absl::StatusOr<Summary> summary =
        prepared_.SummarizePolicy(config_, policy_);
    if (absl::IsOutOfRange(summary.status()) && size > 1) {
      maximum_.stopped_by = StoppedBy::kMemory;
      return false;
    }
    if (!summary.ok()) return summary.status();
    const bool fits = summary->expected_peak_bytes <= maximum_.budget_bytes;
    if (!summary->constraints_hold) {
      maximum_.stopped_by = StoppedBy::kModel;
      return false;
    }
    if (!fits) maximum_.stopped_by = StoppedBy::kMemory;
    return fits;
  }

  absl::StatusOr<Maximum> Finish(int64_t fits) {
    // What the next size breaks, which may not be what the last one tried did.
    if (maximum_.stopped_by != StoppedBy::kSearch) {
      LINNET_ASSIGN_OR_RETURN(const bool next, Try(fits + 1));
      --maximum_.evaluations;
      if (next) return absl::InternalError("a larger size needs less memory");
      if (maximum_.stopped_by == StoppedBy::kModel) {
        LINNET_RETURN_IF_ERROR(FindClause());
      }
    }
    SizeOf(config_, goal_) = std::max<int64_t>(fits, 1) * unit_;
    LINNET_ASSIGN_OR_RETURN(maximum_.at,
                            prepared_.SummarizePolicy(config_, policy_));
    maximum_.headroom_bytes =
        maximum_.budget_bytes - maximum_.at.expected_peak_bytes;
    return maximum_;
  }

  absl::Status FindClause() {
    LINNET_ASSIGN_OR_RETURN(const Report report, prepared_.Analyze(config_));
    for (const std::string& warning : report.warnings) {
      const size_t begin = warning.find('`');
      const size_t end = warning.rfind('`');
      if (!absl::StartsWith(warning, "the model's clause ") || begin == end) {
        continue;
      }
      maximum_.clause = warning.substr(begin + 1, end - begin - 1);
      break;
    }
    return absl::OkStatus();
  }

  const Prepared& prepared_;
  Config config_;
  const Goal goal_;
  const int64_t unit_;
  const StopFunction& stop_;
  const size_t policy_;
  Maximum maximum_;
};

}  // namespace

std::optional<int64_t>& SizeOf(Config& config, Goal goal) {
  switch (goal) {
    case Goal::kBatch:
      return config.batch;
    case Goal::kContext:
      return config.context;
    case Goal::kKvCache:
      break;
  }
  return config.cache_len;
}

absl::StatusOr<int64_t> BudgetBytes(const Budget& budget) {
  if (budget.device_bytes < 1 || budget.reserve_bytes < 0) {
    return absl::InvalidArgumentError(
        "the device's memory must be at least one byte, and the reserve not "
        "negative");
  }
  if (!(budget.reserve_percent >= 0.0 && budget.reserve_percent <= 100.0)) {
    return absl::InvalidArgumentError(
        "the reserve in percent must lie between 0 and 100");
  }
  const double part =
      static_cast<double>(budget.device_bytes) * budget.reserve_percent / 100;
  const int64_t left = budget.device_bytes - budget.reserve_bytes -
                       static_cast<int64_t>(std::ceil(part));
  if (left >= 1) return left;
  return absl::InvalidArgumentError(absl::StrCat(
      "the reserves take all of the device's ",
      FormatBytes(budget.device_bytes), "; nothing is left to fit a model in"));
}

Config WithGoal(Config config, Goal goal) {
  std::optional<int64_t>& size = SizeOf(config, goal);
  if (!size) size = 1;
  return config;
}

absl::StatusOr<Maximum> Maximize(const Prepared& prepared, const Config& config,
                                 Goal goal, const Budget& budget,
                                 const StopFunction& stop, size_t policy) {
  LINNET_ASSIGN_OR_RETURN(const int64_t bytes, BudgetBytes(budget));
  const std::string role(RoleName(RoleOf(goal)));
  const std::vector<FreeSize> sizes = prepared.FreeSizes();
  const auto it = absl::c_find_if(sizes, [&](const FreeSize& size) {
    // A cache without a length of its own follows the context.
    return size.name == role || (goal == Goal::kContext && !config.cache_len &&
                                 size.name == RoleName(Role::kCache));
  });
  if (it == sizes.end()) {
    std::string known;
    for (const FreeSize& size : sizes) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", size.name);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the entry has no ", role, " that could grow",
        known.empty() ? "" : absl::StrCat("; its sizes are: ", known)));
  }
  return Search(prepared, config, goal, it->multiple, bytes, stop, policy)
      .Run();
}

}  // namespace linnet::planner
