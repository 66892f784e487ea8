// How long requests take under rules for the length of passes, in a simulation of the engine's loop
// whose time is the cost model's own: the same numbers on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "scheduler/plan_step.h"

namespace tessera::scheduler {
namespace pass_time_test {

constexpr uint32_t kPlaces = 16;
constexpr uint32_t kDecodePasses = 3;
constexpr uint32_t kWidth = 32;
constexpr uint32_t kRows = 1024;
constexpr uint32_t kChunk = 512;
constexpr double kTimeUs = 5'000;  // engine.passTimeTargetUs by default
constexpr std::array<uint32_t, 5> kPromptTokens{64, 128, 256, 96, 192};
/// Fitted to 8 layers of 512 on two AVX2 cores.
constexpr PassCost kCost{1'500, 500, 0.2, 166};
/// Two layers of Qwen3-30B-A3B there: reading an expert takes as long as four rows.
constexpr PassCost kMixtureCost{
    200, 120, 0.2, 166, 0, 480, {.layers = 2, .experts = 128, .chosen = 8, .spread = 0.9}};

struct Simulated {
  double arrival_us = 0;
  uint32_t prompt_tokens = 0;
  uint32_t length = 0;
  uint32_t width = kWidth;
  uint32_t passes_left = kDecodePasses;

  bool is_decoding() const { return length == prompt_tokens; }
};

enum class Batching : uint8_t { kContinuous, kWhole };

/// The engine's loop with nothing but its decisions. `cost` is what passes take.
class Simulation {
 public:
  Simulation(Batching batching, double time_us, uint32_t chunk, const PassCost& cost = kCost)
      : batching_(batching), budget_{kRows, chunk, time_us, cost} {}

  double now_us() const { return now_us_; }
  bool is_idle() const { return running_.empty() && queue_.empty(); }
  void wait_until(double us) { now_us_ = std::max(now_us_, us); }
  void arrive(const Simulated& request) { queue_.push_back(request); }

  /// One pass; requests that it completes, as they arrived.
  std::vector<Simulated> pass() {
    admit();
    runnable_.clear();
    for (const Simulated& r : running_)
      runnable_.push_back({r.prompt_tokens, r.length, r.is_decoding() ? r.width : 0});
    links_.assign(running_.size(), {});
    plan_step(runnable_, links_, budget_, scratch_, plan_);
    PassWork work;
    std::vector<uint8_t> has_selected(running_.size());
    for (const Slice& slice : plan_) {
      const bool is_prompt = runnable_[slice.runnable].decode_rows == 0;
      Simulated& request = running_[slice.runnable];
      work.add_rows(slice.rows, slice.first, is_prompt);
      if (is_prompt) request.length += slice.rows;
      if (!request.is_decoding()) continue;
      has_selected[slice.runnable] = 1;
      work.head.cells += is_prompt ? 1 : request.width;
      if (!is_prompt) --request.passes_left;
    }
    now_us_ += budget_.cost.predict_us(work);
    std::vector<Simulated> completed;
    for (size_t i = running_.size(); i-- > 0;) {
      if (has_selected[i] == 0 || running_[i].passes_left > 0) continue;
      completed.push_back(running_[i]);
      running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
    }
    return completed;
  }

 private:
  void admit() {
    if (batching_ == Batching::kWhole && !running_.empty()) return;
    while (!queue_.empty() && running_.size() < kPlaces) {
      running_.push_back(queue_.front());
      queue_.erase(queue_.begin());
    }
  }

  const Batching batching_;
  const Budget budget_;
  double now_us_ = 0;
  std::vector<Simulated> queue_, running_;
  std::vector<Runnable> runnable_;
  std::vector<Link> links_;
  PlanScratch scratch_;
  std::vector<Slice> plan_;
};

Simulated request_of(uint32_t index, double arrival_us) {
  return {arrival_us, kPromptTokens[index % kPromptTokens.size()]};
}

/// Requests a second with all places taken.
double throughput(double time_us, const PassCost& cost = kCost) {
  Simulation simulation(Batching::kContinuous, time_us, kChunk, cost);
  uint32_t entered = 0;
  uint32_t completed = 0;
  for (; entered < kPlaces; ++entered) simulation.arrive(request_of(entered, 0));
  while (completed < 2'000) {
    for (size_t done = simulation.pass().size(); done > 0; --done) {
      ++completed;
      simulation.arrive(request_of(entered++, simulation.now_us()));
    }
  }
  return 1e6 * completed / simulation.now_us();
}

struct Latencies {
  double mean_us = 0;
  double p95_us = 0;
};

/// Of requests that arrive at random (Poisson) at that rate.
Latencies latencies(Batching batching, double time_us, double per_second, uint32_t seed) {
  Simulation simulation(batching, time_us, kChunk);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> taken;
  double next_us = 0;
  for (uint32_t entered = 0; taken.size() < 4'000;) {
    if (simulation.is_idle()) simulation.wait_until(next_us);
    while (next_us <= simulation.now_us()) {
      simulation.arrive(request_of(entered++, next_us));
      next_us -= std::log(1 - uniform(random)) * 1e6 / per_second;
    }
    for (const Simulated& r : simulation.pass())
      taken.push_back(simulation.now_us() - r.arrival_us);
  }
  std::sort(taken.begin(), taken.end());
  double sum = 0;
  for (const double us : taken) sum += us;
  return {sum / static_cast<double>(taken.size()), taken[taken.size() * 95 / 100]};
}

TEST(PassTime, CuttingPassesCostsNoMoreThanTheirFixedPart) {
  for (const PassCost& cost : {kCost, kMixtureCost})
    EXPECT_GE(throughput(kTimeUs, cost), throughput(0, cost) * (1 - 1 / kPassParts));
}

TEST(PassTime, CutPassesGiveContinuousBatchesAShorterTailThanWholeOnes) {
  const double capacity = throughput(0);
  for (const double load : {0.3, 0.6}) {
    for (uint32_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << "load " << load << ", seed " << seed);
      const Latencies whole = latencies(Batching::kWhole, 0, load * capacity, seed);
      const Latencies cut = latencies(Batching::kContinuous, kTimeUs, load * capacity, seed);
      const Latencies uncut = latencies(Batching::kContinuous, 0, load * capacity, seed);
      EXPECT_LT(cut.mean_us, uncut.mean_us);
      EXPECT_LT(cut.p95_us, uncut.p95_us);
      EXPECT_LT(cut.p95_us, whole.p95_us);
    }
  }
}

/// Time of a short request that arrives after so much of a long one's time.
double beside_long_us(double time_us, uint32_t passes_before) {
  Simulation simulation(Batching::kContinuous, time_us, kChunk);
  simulation.arrive({0, 2'048});
  for (uint32_t i = 0; i < passes_before; ++i) simulation.pass();
  // The worst moment: just after a pass of the long one alone has begun.
  const double arrival_us = simulation.now_us();
  simulation.pass();
  simulation.arrive({arrival_us, 64, 0, 16});
  for (;;) {
    for (const Simulated& r : simulation.pass()) {
      if (r.prompt_tokens == 64) return simulation.now_us() - r.arrival_us;
    }
  }
}

double alone_us() {
  Simulation simulation(Batching::kContinuous, kTimeUs, kChunk);
  simulation.arrive({0, 64, 0, 16});
  while (simulation.pass().empty()) continue;
  return simulation.now_us();
}

TEST(PassTime, ALongPromptAddsAFewPassesOfBoundedTimeToAShortRequest) {
  const double pass_us = std::max(kTimeUs, kPassParts * kCost.pass_us);
  for (uint32_t before = 0; before < 10; ++before) {
    SCOPED_TRACE(before);
    // One pass under way, and the passes that both share while the short one's rows take turns.
    const double passes = 1 + 3 + kDecodePasses;
    EXPECT_LT(beside_long_us(kTimeUs, before), alone_us() + passes * std::sqrt(2.0) * pass_us);
    EXPECT_LT(beside_long_us(kTimeUs, before), 0.5 * beside_long_us(0, before % 3));
  }
}

}  // namespace pass_time_test
}  // namespace tessera::scheduler
