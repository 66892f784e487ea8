// The link alone, with a performer that does nothing by itself. Run it under ThreadSanitizer.
#include "kv/store_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace tessera::kv {
namespace store_link_test {

constexpr uint64_t kLongUs = 600'000'000;
constexpr int kTurns = 2000;

uint64_t begin_find(StoreLink& link, StoreLink::Then then) {
  return link.begin(StoreCall{}, {}, std::move(then));
}

/// Something of the pool's, which goes when close() has returned.
struct Owned {
  std::atomic<bool> is_there{true};
  ~Owned() { is_there = false; }
};

/// Closes the link while a callback runs, which `end` calls on another thread.
void close_under_callback(uint64_t limit_us, void (*end)(StoreLink&, uint64_t)) {
  StoreLink link(limit_us);
  link.serve([] {});
  auto owned = std::make_shared<Owned>();
  const Owned* state = owned.get();
  std::atomic<bool> is_running{false}, is_closing{false}, has_closed{false};
  const uint64_t id = begin_find(link, [&](StoreAnswer) {
    is_running = true;
    while (!is_closing) std::this_thread::yield();
    for (int i = 0; i < kTurns; ++i) std::this_thread::yield();
    EXPECT_FALSE(has_closed);
    EXPECT_TRUE(state->is_there);
  });
  std::thread performer([&] { end(link, id); });
  while (!is_running) std::this_thread::yield();
  is_closing = true;
  link.close();
  has_closed = true;
  owned.reset();
  performer.join();
}

TEST(StoreLink, ClosesWhenNoCallbackOfThePerformerRuns) {
  close_under_callback(
      kLongUs, [](StoreLink& link, uint64_t id) { link.end(id, StoreCallEnd::kMissing, {}, ""); });
}

TEST(StoreLink, ClosesWhenNoCallbackOfWhatIsLateRuns) {
  close_under_callback(0, [](StoreLink& link, uint64_t) { link.end_late(); });
}

TEST(StoreLink, ClosesWhenNoCallbackRunsForWantOfAPerformer) {
  close_under_callback(kLongUs, [](StoreLink& link, uint64_t) { link.serve(nullptr); });
}

TEST(StoreLink, ClosesWhereACallbackBeginsAnother) {
  StoreLink link(kLongUs);
  link.serve([] {});
  int told = 0;
  begin_find(link, [&](StoreAnswer) {
    ++told;
    begin_find(link, [&](StoreAnswer answer) {
      ++told;
      EXPECT_EQ(answer.end, StoreCallEnd::kFailed);
    });
  });
  link.close();
  EXPECT_EQ(told, 2);
}

TEST(StoreLink, TakesNothingThatWasGivenUp) {
  StoreLink link(0);
  int rings = 0;
  link.serve([&rings] { ++rings; });
  for (int i = 0; i < 1000; ++i) {
    begin_find(link, [](StoreAnswer) {});
    link.end_late();
  }
  EXPECT_TRUE(link.take().empty());
  // The performer is rung for once until it has looked.
  EXPECT_EQ(rings, 1);
  const uint64_t id = begin_find(link, [](StoreAnswer) {});
  EXPECT_EQ(rings, 2);
  const auto taken = link.take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.front().id, id);
  EXPECT_TRUE(link.take().empty());
}

TEST(StoreLink, TakesNothingOfAPerformerThatHasGone) {
  StoreLink link(kLongUs);
  link.serve([] {});
  begin_find(link, [](StoreAnswer) {});
  link.serve(nullptr);
  link.serve([] {});
  EXPECT_TRUE(link.take().empty());
}

}  // namespace store_link_test
}  // namespace tessera::kv
