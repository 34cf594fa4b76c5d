#include "server/cache/worker_pool.h"

#include <atomic>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics.h"

namespace linnet::server {
namespace {

TEST(WorkerPoolTest, RunsEverythingBeforeItEnds) {
  Metrics metrics;
  std::atomic<int> ran = 0;
  {
    WorkerPool pool(2, 100, metrics);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.Submit([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 100);
}

TEST(WorkerPoolTest, RefusesPastItsQueue) {
  Metrics metrics;
  absl::Notification started;
  absl::Notification go;
  WorkerPool pool(1, 2, metrics);
  ASSERT_TRUE(pool.Submit([&] {
    started.Notify();
    go.WaitForNotification();
  }));
  started.WaitForNotification();
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_FALSE(pool.Submit([] {}));
  EXPECT_GE(pool.RetryDelay(), absl::Milliseconds(50));
  EXPECT_LE(pool.RetryDelay(), absl::Seconds(10));
  go.Notify();
}

TEST(WorkerPoolTest, WithoutAQueueOnlyAnIdleThreadTakesWork) {
  Metrics metrics;
  absl::Notification started;
  absl::Notification go;
  WorkerPool pool(1, 0, metrics);
  ASSERT_TRUE(pool.Submit([&] {
    started.Notify();
    go.WaitForNotification();
  }));
  started.WaitForNotification();
  EXPECT_FALSE(pool.Submit([] {}));
  go.Notify();
}

}  // namespace
}  // namespace linnet::server
