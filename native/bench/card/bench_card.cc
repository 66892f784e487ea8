#include "card/bench_card.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "cuda/device/card_queue.h"
#include "cuda/kernels/test_forward_kernels.h"

namespace tessera::bench::card {
namespace {

using device::cuda::Card;
using device::cuda::CardQueue;
using device::cuda::EmulatedQueue;
using device::cuda::Event;
using device::cuda::Queue;

constexpr uint64_t kCardCacheBytes = 256u << 20;  // several times the 50 MiB of an H100

class OnCard final : public BenchCard {
 public:
  OnCard(std::unique_ptr<CardQueue> queue, uint32_t index)
      : queue_(std::move(queue)), index_(index) {}
  ~OnCard() override {
    for (const Event event : events_) queue_->card().drop_event(event);
  }

  std::string name() const override { return queue_->card().name(); }
  Queue& queue() override { return *queue_; }
  Result<engine::cuda::CardQueues> engine_queues() override {
    return engine::cuda::open_queues(index_);
  }
  uint64_t cache_bytes() const override { return kCardCacheBytes; }
  Result<double> seconds_of(const std::function<Status()>& work) override {
    Card& card = queue_->card();
    while (events_.size() < 2) {
      Result<Event> event = card.make_timing_event();
      if (!event.is_ok()) return event.status();
      events_.push_back(event.value());
    }
    TESSERA_RETURN_IF_ERROR(card.record(events_[0], queue_->stream()));
    TESSERA_RETURN_IF_ERROR(work());
    TESSERA_RETURN_IF_ERROR(card.record(events_[1], queue_->stream()));
    TESSERA_RETURN_IF_ERROR(queue_->finish());
    const Result<double> milliseconds = card.milliseconds_between(events_[0], events_[1]);
    if (!milliseconds.is_ok()) return milliseconds;
    return milliseconds.value() * 1e-3;
  }

 private:
  std::unique_ptr<CardQueue> queue_;
  uint32_t index_;
  std::vector<Event> events_;
};

void add_kernels(EmulatedQueue& queue) { model::cuda::add_forward_kernels(queue); }

class Emulation final : public BenchCard {
 public:
  Emulation() { add_kernels(queue_); }

  std::string name() const override { return "emulated threads"; }
  Queue& queue() override { return queue_; }
  Result<engine::cuda::CardQueues> engine_queues() override {
    auto passes = std::make_unique<EmulatedQueue>();
    add_kernels(*passes);
    return engine::cuda::CardQueues{name(), std::move(passes), std::make_unique<EmulatedQueue>(),
                                    std::make_unique<EmulatedQueue>(),
                                    std::make_shared<EmulatedQueue>()};
  }
  uint64_t cache_bytes() const override { return 0; }
  Result<double> seconds_of(const std::function<Status()>& work) override {
    const auto start = std::chrono::steady_clock::now();
    TESSERA_RETURN_IF_ERROR(work());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  EmulatedQueue queue_;
};

}  // namespace

Result<std::unique_ptr<BenchCard>> open_card(uint32_t index) {
  auto library = device::cuda::CardLibrary::open();
  if (!library.is_ok()) return library.status();
  auto driver = device::cuda::Driver::load();
  if (!driver.is_ok()) return driver.status();
  auto card = Card::open(driver.value(), static_cast<int>(index));
  if (!card.is_ok()) return card.status();
  auto queue = CardQueue::open(std::move(card).value(), library.value());
  if (!queue.is_ok()) return queue.status();
  return std::unique_ptr<BenchCard>(std::make_unique<OnCard>(std::move(queue).value(), index));
}

std::unique_ptr<BenchCard> open_emulation() { return std::make_unique<Emulation>(); }

Result<double> median_seconds(BenchCard& card, const Rounds& rounds,
                              const std::function<Status()>& work,
                              const std::function<Status()>& prepare) {
  std::vector<double> seconds;
  for (uint32_t round = 0; round < rounds.warm_up + rounds.counted; ++round) {
    if (prepare != nullptr) TESSERA_RETURN_IF_ERROR(prepare());
    const Result<double> taken = card.seconds_of(work);
    if (!taken.is_ok()) return taken;
    if (round >= rounds.warm_up) seconds.push_back(taken.value());
  }
  return quantile(std::move(seconds), 0.5);
}

Result<double> median_chain_seconds(BenchCard& card, const Rounds& rounds,
                                    const std::function<Status()>& launches,
                                    const std::function<Status()>& prepare) {
  // Once as they are: finding a kernel for the first time is no launch.
  if (prepare != nullptr) TESSERA_RETURN_IF_ERROR(prepare());
  TESSERA_RETURN_IF_ERROR(launches());
  TESSERA_RETURN_IF_ERROR(card.queue().begin_recording());
  const Status asked = launches();
  const auto chain = card.queue().end_recording();
  TESSERA_RETURN_IF_ERROR(asked);
  if (!chain.is_ok()) return chain.status();
  return median_seconds(card, rounds, [&] { return card.queue().replay(*chain.value()); }, prepare);
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::min(std::max<size_t>(rank, 1), values.size()) - 1];
}

Status wrong(const std::string& what) {
  return {Code::kInternal, what + ": not what the CPU makes of the same input"};
}

}  // namespace tessera::bench::card
