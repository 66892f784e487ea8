#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "card/recalls.h"
#include "card/stages.h"

namespace tessera::bench::card {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kOfferedSecondsMax = 20;  // of each load, as long as kOfferedMin requests allow
constexpr uint32_t kOfferedMin = 20;
constexpr double kOfferedShares[] = {0.5, 0.8, 0.95};  // of what recalls alone would allow

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::vector<int32_t>> prompts_of(const Shape& shape, const Case& one, uint64_t seed) {
  std::vector<std::vector<int32_t>> prompts;
  for (uint32_t i = 0; i < one.requests; ++i) {
    prompts.push_back(random_prompt(shape, one.context, seed * kRequestsMax + i));
  }
  return prompts;
}

bool same_bits(const Paths& one, const Paths& other) {
  return std::ranges::equal(one, other, [](const beam::Finished& a, const beam::Finished& b) {
    return a.node == b.node && std::bit_cast<uint32_t>(a.score) == std::bit_cast<uint32_t>(b.score);
  });
}

/// Twice the same, and each a recall's: paths to items, best first.
Status check(Recalls& recalls, std::span<const std::vector<int32_t>> prompts) {
  const auto first = recalls.run(prompts);
  if (!first.is_ok()) return first.status();
  const auto second = recalls.run(prompts);
  if (!second.is_ok()) return second.status();
  for (size_t i = 0; i < prompts.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(recalls.check(first.value()[i]));
    if (!same_bits(first.value()[i], second.value()[i])) return wrong("recall made twice");
  }
  return Status::ok();
}

Result<std::unique_ptr<Recalls>> open(BenchCard& card, const Options& options, uint32_t context) {
  const Result<Shape> shape = shape_of(options.shape);
  if (!shape.is_ok()) return shape.status();
  return Recalls::open(card,
                       {shape.value(), options.cache, options.items[0], context, options.width});
}

/// Median of the host's clock, from the prompts' tokens to the paths in its memory: other prompts
/// every round.
Result<double> median_recall(Recalls& recalls, const Rounds& rounds, const Shape& shape,
                             const Case& one) {
  std::vector<double> seconds;
  for (uint32_t round = 0; round < rounds.warm_up + rounds.counted; ++round) {
    const auto prompts = prompts_of(shape, one, round + 1);
    const Clock::time_point start = Clock::now();
    const auto found = recalls.run(prompts);
    if (!found.is_ok()) return found.status();
    if (round >= rounds.warm_up) seconds.push_back(seconds_since(start));
  }
  return quantile(std::move(seconds), 0.5);
}

struct Offered {
  double rate = 0;  // requests per second
  std::vector<double> latencies;
  double seconds = 0;  // from the first arrival to the last answer
};

/// Requests come when they come (Poisson) and are answered in their order.
Status offer(Recalls& recalls, const Shape& shape, uint32_t context, uint32_t requests,
             Offered& offered) {
  std::mt19937_64 random(77);
  std::exponential_distribution<double> gap(offered.rate);
  double arrival = 0;
  const Clock::time_point start = Clock::now();
  for (uint32_t i = 0; i < requests; ++i) {
    const auto prompts = prompts_of(shape, {context, 1}, 1000 + i);
    std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(arrival)));
    const auto found = recalls.run(prompts);
    if (!found.is_ok()) return found.status();
    offered.seconds = seconds_since(start);
    offered.latencies.push_back(offered.seconds - arrival);
    arrival += gap(random);
  }
  return Status::ok();
}

}  // namespace

Status recall_stage(BenchCard& card, const Options& options, Report& report) {
  uint32_t context = 0;
  for (const Case& one : options.cases) context = std::max(context, one.context);
  const auto recalls = open(card, options, context);
  if (!recalls.is_ok()) return recalls.status();
  const Shape shape = shape_of(options.shape).value();
  report.add("recall/" + shape.name + "/weights",
             static_cast<double>(recalls.value()->weight_bytes()), "bytes");
  for (const Case& one : options.cases) {
    TESSERA_RETURN_IF_ERROR(check(*recalls.value(), prompts_of(shape, {one.context, 1}, 0)));
    const Result<double> seconds = median_recall(*recalls.value(), options.rounds, shape, one);
    if (!seconds.is_ok()) return seconds.status();
    report.add_seconds("recall/" + shape.name + "/context " + std::to_string(one.context) +
                           "/requests " + std::to_string(one.requests) + "/width " +
                           std::to_string(options.width),
                       seconds.value());
  }
  return Status::ok();
}

Status load_stage(BenchCard& card, const Options& options, Report& report) {
  const auto recalls =
      open(card, options, *std::max_element(options.contexts.begin(), options.contexts.end()));
  if (!recalls.is_ok()) return recalls.status();
  const Shape shape = shape_of(options.shape).value();
  for (const uint32_t context : options.contexts) {
    const Result<double> alone =
        median_recall(*recalls.value(), options.rounds, shape, {context, 1});
    if (!alone.is_ok()) return alone.status();
    const auto in_time = static_cast<uint32_t>(kOfferedSecondsMax / alone.value());
    const uint32_t requests = std::min(options.requests, std::max(in_time, kOfferedMin));
    const std::string prefix = "load/" + shape.name + "/context " + std::to_string(context) + "/";
    for (const double share : kOfferedShares) {
      Offered offered;
      offered.rate = share / alone.value();
      TESSERA_RETURN_IF_ERROR(offer(*recalls.value(), shape, context, requests, offered));
      const std::string name =
          prefix + "offered " + std::to_string(std::lround(100 * share)) + " percent/";
      report.add(name + "offered", offered.rate, "requests/s");
      report.add(name + "answered", requests / offered.seconds, "requests/s");
      report.add_seconds(name + "latency p50", quantile(offered.latencies, 0.5));
      report.add_seconds(name + "latency p95", quantile(offered.latencies, 0.95));
      report.add_seconds(name + "latency p99", quantile(offered.latencies, 0.99));
    }
  }
  return Status::ok();
}

Status run_stage(BenchCard& card, const Options& options, Report& report) {
  if (options.stage == "kernels") return kernels_stage(card, options, report);
  if (options.stage == "constraint") return constraint_stage(card, options, report);
  if (options.stage == "recall") return recall_stage(card, options, report);
  if (options.stage == "returning") return returning_stage(card, options, report);
  return load_stage(card, options, report);
}

}  // namespace tessera::bench::card
