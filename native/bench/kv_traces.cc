// Compares the pool's hit rate on real traces with Belady's optimum, which evicts the block whose
// next use is furthest away. A request for a block is also one for all earlier blocks of its chain,
// so the optimum keeps prefixes too and is a true upper bound.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "kv/pool.h"
#include "kv/test_model.h"
#include "kv_bench.h"

namespace tessera::kv {
namespace {

/// One visit: who, and the content of each block of the user (equal numbers mean equal content).
struct Visit {
  std::string user;
  std::vector<uint64_t> blocks;
  uint32_t prefix_blocks = 0;
};

constexpr uint32_t kTokensPerItem = 4;
constexpr uint32_t kItemsPerBlock = kBlockTokens / kTokensPerItem;
constexpr uint32_t kItemsMax = 256;  // of a history; a block holds eight
constexpr uint64_t kBlockBytes = 256;

/// How a history that grows too long is cut: one by one, by half, or to where it begins by a rule
/// of the behaviours in it (libs/service/recall/src/domain/stable-start.ts).
enum class Trim : uint8_t { kSlide, kHalve, kStableStart };

/// A user's newest items, by number and rank.
struct History {
  std::vector<uint64_t> items;
  std::vector<uint64_t> ranks;
  uint64_t user = 0;  // in the order of first visits
  uint64_t visits = 0;

  void drop(uint64_t count) {
    items.erase(items.begin(), items.begin() + static_cast<int64_t>(count));
    ranks.erase(ranks.begin(), ranks.begin() + static_cast<int64_t>(count));
  }
  /// Of the oldest half the newest one of least rank.
  uint64_t stable_start() const {
    const auto last = ranks.begin() + static_cast<int64_t>(ranks.size() / 2) + 1;
    const auto least = std::min_element(std::reverse_iterator(last), ranks.rend());
    return static_cast<uint64_t>(std::distance(least, ranks.rend())) - 1;
  }
};

/// Histories of other users, one after the other: what each visit of a user adds.
struct Contents {
  std::vector<uint64_t> items;
  std::vector<uint64_t> begins;  // of each history; empty: visits add what they checked in to

  uint64_t item(uint64_t user, uint64_t visit) const {
    return items[(begins[user % begins.size()] + visit) % items.size()];
  }
};

/// One history a line, items by number.
Contents read_contents(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  Contents contents;
  while (std::getline(in, line)) {
    contents.begins.push_back(contents.items.size());
    std::istringstream items(line);
    uint64_t item = 0;
    while (items >> item) contents.items.push_back(item);
  }
  return contents;
}

/// Histories of check-ins: every visit adds an item; a block is named by the items it holds.
std::vector<Visit> read_checkins(const std::string& path, uint64_t limit, Trim trim,
                                 uint32_t items_max, const Contents& contents = {}) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  std::unordered_map<std::string, History> histories;
  std::vector<Visit> visits;
  while (visits.size() < limit && std::getline(in, line)) {
    std::istringstream fields(line);
    std::string time, user, item;
    std::getline(fields, time, '\t');
    std::getline(fields, user, '\t');
    std::getline(fields, item, '\t');
    History& history = histories[user];
    const uint64_t visit_index = history.visits++;
    if (visit_index == 0) history.user = histories.size() - 1;
    history.items.push_back(contents.begins.empty() ? std::stoull(item)
                                                    : contents.item(history.user, visit_index));
    history.ranks.push_back(std::mt19937_64(std::hash<std::string>()(time + item))());
    if (history.items.size() > items_max) history.drop(trim == Trim::kHalve ? items_max / 2 : 1);
    const bool is_cut = trim == Trim::kStableStart && history.items.size() == items_max;
    const auto items = std::span(history.items).subspan(is_cut ? history.stable_start() : 0);
    Visit visit{user, {}, 0};
    uint64_t name = std::hash<std::string>()(user);
    for (uint64_t i = 0; i + kItemsPerBlock <= items.size(); i += kItemsPerBlock) {
      for (uint64_t j = i; j < i + kItemsPerBlock; ++j) {
        name = (name ^ items[j]) * 0x9E3779B97F4A7C15u + 1;
      }
      visit.blocks.push_back(name);
    }
    if (!visit.blocks.empty()) visits.push_back(std::move(visit));
  }
  return visits;
}

/// Requests of a trace of hashed blocks: a conversation is named by its second block, the first is
/// the text that all share.
std::vector<Visit> read_mooncake(const std::string& path, uint64_t limit) {
  std::ifstream in(path);
  std::string line;
  std::vector<Visit> visits;
  while (visits.size() < limit && std::getline(in, line)) {
    const uint64_t open = line.find('[');
    const uint64_t close = line.find(']');
    if (open == std::string::npos || close == std::string::npos) continue;
    std::istringstream ids(line.substr(open + 1, close - open - 1));
    Visit visit;
    std::string id;
    while (std::getline(ids, id, ',')) visit.blocks.push_back(std::stoull(id));
    if (visit.blocks.empty()) continue;
    visit.prefix_blocks = visit.blocks.size() > 1 ? 1 : 0;
    visit.user = std::to_string(visit.blocks[visit.prefix_blocks]);
    visits.push_back(std::move(visit));
  }
  return visits;
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Share of the blocks asked for that are there, when what is needed last is given up first.
double belady(const std::vector<Visit>& visits, uint64_t capacity) {
  constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  std::unordered_map<uint64_t, uint64_t> next_of;
  std::vector<std::vector<uint64_t>> next(visits.size());
  for (uint64_t i = visits.size(); i-- > 0;) {
    for (const uint64_t block : visits[i].blocks) {
      const auto [at, is_new] = next_of.try_emplace(block, kNever);
      next[i].push_back(at->second);
      at->second = i;
    }
  }
  std::set<std::pair<uint64_t, uint64_t>> by_next;
  std::unordered_map<uint64_t, uint64_t> cached;
  uint64_t hits = 0;
  uint64_t asked = 0;
  for (uint64_t i = 0; i < visits.size(); ++i) {
    bool is_prefix = true;
    for (uint64_t j = 0; j < visits[i].blocks.size(); ++j) {
      const uint64_t block = visits[i].blocks[j];
      const auto found = cached.find(block);
      is_prefix = is_prefix && found != cached.end();
      ++asked;
      hits += is_prefix;
      if (found != cached.end()) by_next.erase({found->second, block});
      cached[block] = next[i][j];
      by_next.insert({next[i][j], block});
    }
    while (cached.size() > capacity) {
      const auto last = std::prev(by_next.end());
      cached.erase(last->second);
      by_next.erase(last);
    }
  }
  return share(hits, asked);
}

/// The same with the pool itself.
double pool_hits(const std::vector<Visit>& visits, uint32_t capacity) {
  PoolOptions options;
  options.block_bytes = kBlockBytes;
  options.device_blocks = capacity;
  options.read_threads = 0;
  auto pool = Pool::open(std::move(options)).value();
  const Version version = pool->add_version(test_identity("m", kBlockBytes)).value();
  std::vector<Token> tokens;
  for (const Visit& visit : visits) {
    tokens.clear();
    for (const uint64_t block : visit.blocks) {
      for (uint32_t i = 0; i < kBlockTokens; ++i) {
        tokens.push_back(static_cast<Token>((block >> (i % 2 * 32)) & 0x7fffffff));
      }
    }
    const auto count = static_cast<uint32_t>(tokens.size());
    Lease lease = pool->lookup({.version = version,
                                .user = visit.user,
                                .tokens = tokens,
                                .prefix_tokens = visit.prefix_blocks * kBlockTokens})
                      .value();
    if (!pool->extend(lease, count).is_ok()) continue;  // longer than the whole pool
    pool->commit(lease, count);
  }
  const PoolMetrics metrics = pool->metrics();
  return share(metrics.tiers[kDevice].hit_tokens, metrics.asked_tokens);
}

void compare(const std::string& name, const std::vector<Visit>& visits,
             std::initializer_list<uint32_t> capacities) {
  figure(name + ".requests", static_cast<double>(visits.size()), "requests");
  figure(name + ".endless", belady(visits, std::numeric_limits<uint64_t>::max()), "of tokens");
  for (const uint32_t capacity : capacities) {
    const std::string at = name + "." + std::to_string(capacity) + ".";
    const double best = belady(visits, capacity);
    const double lru = pool_hits(visits, capacity);
    figure(at + "belady", best, "of tokens");
    figure(at + "lru", lru, "of tokens");
    figure(at + "lru_of_belady", best > 0 ? lru / best : 1, "ratio");
  }
}

bool is_there(const std::string& path) {
  if (std::filesystem::exists(path)) return true;
  std::fprintf(stderr, "kv_bench: %s is not there, skipped\n", path.c_str());
  return false;
}

}  // namespace

void bench_traces(const std::string& data, bool is_quick) {
  const std::string checkins = data + "/checkins/PetalingJaya.events.tsv";
  const uint64_t limit = is_quick ? 30'000 : std::numeric_limits<uint64_t>::max();
  if (is_there(checkins)) {
    compare("kv.hits.checkins", read_checkins(checkins, limit, Trim::kHalve, kItemsMax),
            {1000, 4000, 16'000});
    const std::string contents = data + "/amazon-beauty/histories.txt";
    if (is_there(contents)) {
      compare("kv.hits.checkins_beauty",
              read_checkins(checkins, limit, Trim::kHalve, kItemsMax, read_contents(contents)),
              {1000, 4000, 16'000});
    }
    // Histories of at most 32 items: what each way to cut them costs.
    for (const Trim trim : {Trim::kSlide, Trim::kHalve, Trim::kStableStart}) {
      const char* rule = trim == Trim::kSlide   ? "slide"
                         : trim == Trim::kHalve ? "halve"
                                                : "stable_start";
      const auto visits = read_checkins(checkins, limit, trim, 32);
      figure(std::string("kv.hits.trim.") + rule, pool_hits(visits, 16'000), "of tokens");
    }
  }
  for (const char* trace : {"conversation", "synthetic"}) {
    const std::string path = data + "/mooncake/" + trace + "_trace.jsonl";
    if (!is_there(path)) continue;
    compare(std::string("kv.hits.mooncake_") + trace, read_mooncake(path, is_quick ? 2000 : limit),
            {1000, 6000, 20'000});
  }
}

}  // namespace tessera::kv
