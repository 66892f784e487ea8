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
constexpr uint32_t kLoadRequestsMax = 8;               // that run together
constexpr double kOfferedShares[] = {0.5, 0.8, 0.95};  // of the rate of recalls one by one

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

bool same_bits(const beam::Exported& one, const beam::Exported& other) {
  return one.path_codes == other.path_codes &&
         std::ranges::equal(one.path_scores, other.path_scores, [](float a, float b) {
           return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
         });
}

/// The same together and alone, and each a recall's: paths to items, best first.
Status check(Recalls& recalls, std::span<const std::vector<int32_t>> prompts) {
  const auto together = recalls.run(prompts);
  if (!together.is_ok()) return together.status();
  for (size_t i = 0; i < prompts.size(); ++i) {
    const auto alone = recalls.run(prompts.subspan(i, 1));
    if (!alone.is_ok()) return alone.status();
    TESSERA_RETURN_IF_ERROR(recalls.check(together.value()[i]));
    if (!same_bits(together.value()[i], alone.value()[0])) return wrong("recall in a batch");
  }
  return Status::ok();
}

Result<std::unique_ptr<Recalls>> open(BenchCard& card, const Options& options, uint32_t context,
                                      uint32_t requests) {
  const Result<Shape> shape = shape_of(options.shape);
  if (!shape.is_ok()) return shape.status();
  return Recalls::open(
      card, {shape.value(), options.cache, options.items, context, options.width, requests});
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

/// Requests come when they come (Poisson), whatever runs.
Status offer(Recalls& recalls, const Shape& shape, uint32_t context, uint32_t requests,
             Offered& offered) {
  std::mt19937_64 random(77);
  std::exponential_distribution<double> gap(offered.rate);
  std::vector<Clock::time_point> arrivals;
  Clock::time_point arrival = Clock::now();
  for (uint32_t i = 0; i < requests; ++i) {
    auto prompt = random_prompt(shape, context, 1000 + i);
    std::this_thread::sleep_until(arrival);
    arrivals.push_back(arrival);
    TESSERA_RETURN_IF_ERROR(recalls.ask(i, std::move(prompt)));
    arrival +=
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(gap(random)));
  }
  const auto answered = recalls.wait_for(requests);
  if (!answered.is_ok()) return answered.status();
  for (const auto& [ticket, one] : answered.value()) {
    const auto since = [when = one.when](Clock::time_point start) {
      return std::chrono::duration<double>(when - start).count();
    };
    offered.latencies.push_back(since(arrivals[ticket]));
    offered.seconds = std::max(offered.seconds, since(arrivals[0]));
  }
  return Status::ok();
}

}  // namespace

Status recall_stage(BenchCard& card, const Options& options, Report& report) {
  uint32_t context = 0, requests = 0;
  for (const Case& one : options.cases) {
    context = std::max(context, one.context);
    requests = std::max(requests, one.requests);
  }
  const auto recalls = open(card, options, context, requests);
  if (!recalls.is_ok()) return recalls.status();
  const Shape shape = shape_of(options.shape).value();
  for (const Case& one : options.cases) {
    TESSERA_RETURN_IF_ERROR(check(*recalls.value(), prompts_of(shape, one, 0)));
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
  const uint32_t longest = *std::max_element(options.contexts.begin(), options.contexts.end());
  const auto recalls = open(card, options, longest, kLoadRequestsMax);
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
  if (options.stage == "bits") return bits_stage(card, options, report);
  if (options.stage == "recall") return recall_stage(card, options, report);
  return load_stage(card, options, report);
}

}  // namespace tessera::bench::card
