#include "server/cache/trace_cache.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/cache/worker_pool.h"
#include "server/metrics/metrics.h"
#include "tests/support/fake_prepared.h"

namespace linnet::server {
namespace {

using Trace = TraceCache::Trace;

Trace MakeTrace(int64_t bytes) {
  return std::make_shared<planner::FakePrepared>(bytes);
}

class TraceCacheTest : public ::testing::Test {
 protected:
  ~TraceCacheTest() override { pool_.Finish(); }

  // Gets `key`, built as a trace of `bytes`, and waits for it.
  absl::StatusOr<Trace> GetNow(const std::string& key, int64_t bytes = 1000) {
    absl::StatusOr<Trace> result = absl::UnknownError("not called");
    absl::Notification done;
    cache_.Get(
        key,
        [&](const planner::StopFunction&) {
          ++builds_;
          return MakeTrace(bytes);
        },
        [&](absl::StatusOr<Trace> trace) {
          result = std::move(trace);
          done.Notify();
        });
    done.WaitForNotification();
    return result;
  }

  Metrics metrics_;
  std::atomic<int> builds_ = 0;
  WorkerPool pool_{2, 1, metrics_};
  TraceCache cache_{10'000, pool_, metrics_};
};

TEST_F(TraceCacheTest, KeepsWhatItBuilt) {
  const auto first = GetNow("a");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*GetNow("a"), *first);
  EXPECT_EQ(builds_, 1);
}

TEST_F(TraceCacheTest, BuildsAMissingKeyOnceForAllWaiters) {
  absl::Notification go;
  constexpr int kWaiters = 20;
  absl::BlockingCounter done(kWaiters);
  std::atomic<int> answered = 0;
  for (int i = 0; i < kWaiters; ++i) {
    cache_.Get(
        "a",
        [&](const planner::StopFunction&) {
          go.WaitForNotification();
          ++builds_;
          return MakeTrace(1);
        },
        [&](const absl::StatusOr<Trace>& trace) {
          if (trace.ok()) ++answered;
          done.DecrementCount();
        });
  }
  go.Notify();
  done.Wait();
  EXPECT_EQ(builds_, 1);
  EXPECT_EQ(answered, kWaiters);
}

TEST_F(TraceCacheTest, DropsTheLeastRecentlyUsedFirst) {
  ASSERT_TRUE(GetNow("a", 4000).ok());
  ASSERT_TRUE(GetNow("b", 4000).ok());
  ASSERT_TRUE(GetNow("a", 4000).ok());  // Now `b` is the older one.
  ASSERT_TRUE(GetNow("c", 4000).ok());
  EXPECT_EQ(builds_, 3);
  EXPECT_EQ(cache_.entries(), 2);
  EXPECT_LE(cache_.bytes(), 10'000);
  ASSERT_TRUE(GetNow("a", 4000).ok());
  EXPECT_EQ(builds_, 3) << "a was kept";
  ASSERT_TRUE(GetNow("b", 4000).ok());
  EXPECT_EQ(builds_, 4) << "b was dropped";
}

TEST_F(TraceCacheTest, AnswersButDoesNotKeepWhatIsLargerThanAllOfIt) {
  ASSERT_TRUE(GetNow("small", 1000).ok());
  ASSERT_TRUE(GetNow("huge", 10'001).ok());
  EXPECT_EQ(cache_.entries(), 1);
}

TEST_F(TraceCacheTest, DoesNotKeepErrors) {
  absl::Notification done;
  cache_.Get(
      "a",
      [](const planner::StopFunction&) -> absl::StatusOr<Trace> {
        return absl::InvalidArgumentError("bad");
      },
      [&](const absl::StatusOr<Trace>& trace) {
        EXPECT_EQ(trace.status(), absl::InvalidArgumentError("bad"));
        done.Notify();
      });
  done.WaitForNotification();
  EXPECT_TRUE(GetNow("a").ok());
}

// A build that holds its thread until it is told to go on, or stopped.
class Held {
 public:
  TraceCache::Build Build() {
    return [this](const planner::StopFunction& stop) -> absl::StatusOr<Trace> {
      started.Notify();
      while (!go.WaitForNotificationWithTimeout(absl::Milliseconds(1))) {
        if (stop()) {
          stopped.Notify();
          return absl::CancelledError("stopped");
        }
      }
      return MakeTrace(1);
    };
  }

  absl::Notification started;
  absl::Notification stopped;
  absl::Notification go;
};

TEST_F(TraceCacheTest, AWaiterThatLeavesDoesNotStopTheOthers) {
  Held held;
  absl::Status left;
  absl::Notification stayed;
  const auto ticket =
      cache_.Get("a", held.Build(),
                 [&](const absl::StatusOr<Trace>& t) { left = t.status(); });
  cache_.Get("a", held.Build(), [&](const absl::StatusOr<Trace>& trace) {
    EXPECT_TRUE(trace.ok());
    stayed.Notify();
  });
  held.started.WaitForNotification();
  cache_.Cancel(ticket, absl::DeadlineExceededError("late"));
  EXPECT_EQ(left, absl::DeadlineExceededError("late"));
  held.go.Notify();
  stayed.WaitForNotification();
  EXPECT_FALSE(held.stopped.HasBeenNotified());
}

TEST_F(TraceCacheTest, TheLastWaiterToLeaveStopsTheBuild) {
  Held held;
  int calls = 0;
  const auto ticket = cache_.Get(
      "a", held.Build(), [&](const absl::StatusOr<Trace>&) { ++calls; });
  held.started.WaitForNotification();
  cache_.Cancel(ticket, absl::CancelledError("gone"));
  cache_.Cancel(ticket, absl::CancelledError("gone"));
  held.stopped.WaitForNotification();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(GetNow("a").ok()) << "the next one builds anew";
}

TEST_F(TraceCacheTest, IsBusyWhenTheQueueIsFull) {
  Held first, second, queued;
  const auto ignore = [](const absl::StatusOr<Trace>&) {};
  cache_.Get("a", first.Build(), ignore);
  cache_.Get("b", second.Build(), ignore);
  first.started.WaitForNotification();
  second.started.WaitForNotification();
  cache_.Get("c", queued.Build(), ignore);
  const absl::Status status = GetNow("d").status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(status.GetPayload(kRetryPayload).has_value());
  first.go.Notify();
  second.go.Notify();
  queued.go.Notify();
  pool_.Finish();
  EXPECT_TRUE(queued.started.HasBeenNotified());
}

}  // namespace
}  // namespace linnet::server
