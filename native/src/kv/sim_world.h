// The pool under simulation, and what is known to be true of it: what was committed, what is
// durable, what every number must be.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kv/chain.h"
#include "kv/simulator.h"
#include "kv/test_codec.h"

namespace tessera::kv {

/// A request that has not ended.
struct Running {
  Lease lease;
  std::string user;
  uint32_t version = 0;
  std::vector<Token> tokens;
  std::vector<Token> prompt;  // tokens and scene
  uint32_t matched = 0;
  bool wants_exact = false;
  bool is_extended = false;
  bool is_computed = false;
  bool is_kept = false;  // its commit was tried
};

/// The tokens that are committed for one user under one version, as the simulator counts.
struct Truth {
  std::map<uint64_t, std::vector<Token>> heads;  // by sequence number: all that ever were
  uint64_t durable_seq = 0;
  uint32_t durable_tokens = 0;
};

class SimWorld {
 protected:
  explicit SimWorld(const SimConfig& config)
      : config_(config),
        random_(config.seed),
        codec_(config.is_encoded ? std::make_shared<InvertingCodec>(kTestBlockBytes) : nullptr),
        disk_(config.disk_blocks, config.is_encoded ? codec_->encoded_bytes() : kTestBlockBytes,
              config.seed + 1),
        remote_(config.remote_blocks, config.seed + 2),
        prefix_(random_tokens(99, config.prefix_tokens)) {
    disk_.faults = config.faults;
    remote_.faults = config.remote;
    open();
  }

  uint64_t pick(uint64_t count) { return random_() % count; }
  bool happens(uint32_t chance) { return pick(1000) < chance; }
  void note(uint64_t value) { report_.trace = (report_.trace ^ value) * 0x9E3779B97F4A7C15u + 1; }
  void fault(const std::string& what) {
    report_.faults.push_back("seed " + std::to_string(config_.seed) + " step " +
                             std::to_string(step_) + ": " + what);
  }
  uint64_t salt(uint32_t version) const { return 1000 + version; }
  Digest digest_of(uint32_t version) const {
    Identity identity = test_identity("model" + std::to_string(version));
    if (codec_ != nullptr) identity.codec = codec_->name();
    return version_digest(identity);
  }
  Truth& truth(uint32_t version, const std::string& user) {
    return truth_of(version, shared_owner(false, user));
  }
  Truth& truth_of(uint32_t version, const Digest& owner) {
    return truths_[std::to_string(version) + "/" + to_text(owner)];
  }

  void open() {
    PoolOptions options;
    options.block_bytes = kTestBlockBytes;
    options.device_blocks = config_.device_blocks;
    options.host_blocks = config_.host_blocks;
    options.read_threads = 0;
    options.store_batch_bytes = 4 * kTestBlockBytes;
    options.store_queue_max = 8;
    options.prefetch_queue_max = 6;
    options.versions_back_max = config_.versions_back_max;
    options.codec = codec_;
    options.now_us = [this] { return now_us_; };
    if (config_.disk_blocks > 0) options.store = disk_.open();
    if (config_.remote_blocks > 0) {
      options.more_tiers.push_back({.name = "remote", .store = remote_.open()});
    }
    Result<std::unique_ptr<Pool>> pool = Pool::open(std::move(options));
    if (!pool.is_ok()) return fault("open: " + pool.status().message());
    pool_ = std::move(pool).value();
    work_ = std::make_unique<PoolWork>(*pool_);
    versions_.clear();
    for (uint32_t i = 0; i < config_.versions; ++i) {
      versions_.push_back(pool_->add_version(test_identity("model" + std::to_string(i))).value());
      if (i > 0) pool_->succeed(versions_[i], test_identity("model" + std::to_string(i - 1)));
    }
  }

  void audit() {
    for (const std::string& broken : work_->audit()) fault(broken);
    if (disk_.early_heads > 0) fault("I12: a head points to bytes that are not durable");
    if (remote_.strays > 0) fault("a transfer that is not under way was looked at");
    if (disk_.overwritten_heads > 0) fault("I12: a slot of a durable head was overwritten");
  }

  /// A history: what it was, longer, cut, or changed in its middle.
  std::vector<Token>& next_history(const std::string& user) {
    std::vector<Token>& history = histories_[user];
    if (history.empty()) history = prefix_;
    const uint64_t what = pick(10);
    const uint64_t own = history.size() - prefix_.size();
    if (what == 0 && own > 0) history.resize(prefix_.size() + pick(own));
    if (what == 1 && own > 0) history[prefix_.size() + pick(own)] += 1;
    if (what > 2 || history.size() == prefix_.size()) {
      for (uint64_t i = 1 + pick(40); i > 0; --i) {
        history.push_back(static_cast<Token>(pick(1000)));
      }
    }
    if (history.size() > prefix_.size() + 200) history.resize(prefix_.size() + 40);
    return history;
  }

  /// A random one of those that `is_meant` takes, or null.
  template <typename Meant>
  Running* any_running(Meant is_meant) {
    const uint64_t from = running_.empty() ? 0 : pick(running_.size());
    for (uint64_t i = 0; i < running_.size(); ++i) {
      Running& request = running_[(from + i) % running_.size()];
      if (is_meant(request)) return &request;
    }
    return nullptr;
  }

  /// Every number that the lease holds, against one computed from nothing.
  void check_numbers(const Running& request, uint64_t count) {
    if (config_.versions_back_max > 0) return check_marks(request, count);
    uint64_t value = salt(request.version);
    for (uint64_t i = 0; i < count; ++i) {
      value = oracle(value, std::span(request.prompt).subspan(i, 1));
      uint64_t held = 0;
      const BlockRef& block = request.lease.blocks()[i / kBlockTokens];
      std::memcpy(&held, block.address + i % kBlockTokens * sizeof(held), sizeof(held));
      if (held == value) continue;
      return fault("I9, I21: position " + std::to_string(i) + " of " + std::to_string(count) +
                   " is not what it is when computed from nothing");
    }
  }

  /// The same where versions follow one another: every number is of its text; no version has seen
  /// what a newer one made, and none what is older than it says, or than is allowed.
  void check_marks(const Running& request, uint64_t count) {
    const uint32_t back = request.lease.versions_back();
    if (back > (request.wants_exact ? 0 : config_.versions_back_max)) {
      return fault("I23: older than was asked for");
    }
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; ++i) {
      value = marked_number(value, request.prompt[i], 0);
      const uint64_t held = number_at(request.lease.blocks(), i);
      const std::string where = "position " + std::to_string(i) + " of " + std::to_string(count);
      if (text_of(held) != text_of(value)) return fault("I9: " + where + " is of another text");
      if (maker_of(held) > request.version)
        return fault("I23: " + where + " is of a newer version");
      if (oldest_of(held) + back < request.version) {
        return fault("I23: " + where + " is older than the " + std::to_string(back) +
                     " versions that were declared");
      }
    }
  }

  /// Heads as the pool reports them, with the tokens that they must stand for.
  void learn_heads() {
    for (Running& request : running_) {
      if (!request.is_kept || request.lease.is_revoked()) continue;
      const std::optional<uint64_t> seq = seq_of_as_many(request);
      // Another append may have won; then these tokens are not what the head stands for.
      if (!seq.has_value() ||
          reachable(request.version, request.user, request.tokens) != request.tokens.size()) {
        continue;
      }
      // That look may itself have passed another version's chain on: what it found is then that
      // chain's, not what `seq` stands for.
      if (seq_of_as_many(request) != seq) continue;
      truth(request.version, request.user).heads.insert_or_assign(*seq, request.tokens);
    }
  }

  /// The sequence number of the request's chain, where that has as many tokens as the request.
  std::optional<uint64_t> seq_of_as_many(const Running& request) {
    for (const ChainReport& report : reports_of(request.version, request.user)) {
      if (report.tokens + report.prefix_tokens == request.tokens.size()) return report.seq;
    }
    return std::nullopt;
  }

  /// Tokens of a history that the pool has in some tier.
  uint32_t reachable(uint32_t version, const std::string& user, std::span<const Token> tokens) {
    const Lease lease = pool_
                            ->lookup({.version = versions_[version],
                                      .user = user,
                                      .tokens = tokens,
                                      .prefix_tokens = config_.prefix_tokens})
                            .value();
    return lease.matched() + lease.loadable();
  }

  void erase(Running& request) { running_.erase(running_.begin() + (&request - running_.data())); }

  void learn_durable() {
    for (uint32_t version = 0; version < config_.versions; ++version) {
      for (uint32_t i = 0; i < config_.users; ++i) {
        const std::string user = "user" + std::to_string(i);
        Truth& known = truth(version, user);
        known.durable_tokens = 0;
        known.durable_seq = 0;
        for (const ChainReport& report : reports_of(version, user)) {
          known.durable_tokens = report.durable_tokens;
          known.durable_seq = report.durable_seq;
        }
      }
    }
  }

  /// A chain that committed anew and lost all its blocks before a store gives up its older head: a
  /// crash from here on may find neither. No other durable head may be erased.
  void learn_erased(const StoreJob& job) {
    for (const StoreItem& item : job.items) {
      const Chain& chain = *item.chain;
      const bool is_replaced = chain.seq != chain.durable.seq && reachable_blocks(chain) == 0;
      if (!item.is_erased || chain.is_prefix || !is_replaced) continue;
      for (uint32_t version = 0; version < config_.versions; ++version) {
        if (digest_of(version) != item.durable_key.version) continue;
        Truth& known = truth_of(version, store_owner(false, chain.owner));
        known.durable_tokens = 0;
        known.durable_seq = 0;
      }
    }
  }

  std::vector<ChainReport> reports_of(uint32_t version, const std::string& user) {
    std::vector<ChainReport> all = pool_->inspect(user);
    const Digest wanted = digest_of(version);
    std::erase_if(all, [&](const ChainReport& report) { return report.version != wanted; });
    return all;
  }

  /// Lets a restart find less than was durable from now on.
  void forget(const std::string& user) {
    for (uint32_t version = 0; version < config_.versions; ++version) {
      Truth& known = truth(version, user);
      known.durable_tokens = 0;
      known.durable_seq = 0;
      known.heads.clear();
    }
  }

  void check_forgotten(const std::string& user) {
    if (!pool_->inspect(user).empty()) fault("I15: a dropped user is still there");
  }

  void end_all() {
    running_.clear();
    prefetches_.clear();
  }

  void crash() {
    end_all();
    loads_.clear();
    store_.reset();
    const bool is_exact = pool_->metrics().tier("disk").evicted_blocks == 0 &&
                          pool_->metrics().loads_corrupt == 0 &&
                          pool_->metrics().stores_failed == 0 && config_.faults.read_flip == 0;
    work_.reset();
    pool_.reset();
    disk_.crash();
    open();
    ++report_.crashes;
    if (pool_ == nullptr) return;
    for (uint32_t version = 0; version < config_.versions; ++version) {
      for (uint32_t i = 0; i < config_.users; ++i) {
        check_recovered(version, "user" + std::to_string(i), is_exact);
      }
    }
    learn_lost();
    learn_durable();
  }

  /// Numbers above those on disk were never durable and are given again, to other heads.
  void learn_lost() {
    for (auto& [name, known] : truths_) {
      known.heads.erase(known.heads.upper_bound(disk_.highest_seq()), known.heads.end());
    }
  }

  /// I12: what is there after a crash was committed, is whole, and is no less than was durable.
  void check_recovered(uint32_t version, const std::string& user, bool is_exact) {
    const Truth& known = truth(version, user);
    const std::vector<ChainReport> reports = reports_of(version, user);
    const uint32_t found = reports.empty() ? 0 : reports.front().tokens;
    const uint64_t seq = reports.empty() ? 0 : reports.front().seq;
    report_.recovered_chains += !reports.empty();
    const bool is_less =
        seq < known.durable_seq || (seq == known.durable_seq && found < known.durable_tokens);
    if (is_exact && !config_.forgets && is_less) {
      fault("I12: " + std::to_string(found) + " tokens of " + user + " recovered, " +
            std::to_string(known.durable_tokens) + " were durable");
    }
    const auto head = known.heads.find(seq);
    if (head == known.heads.end()) return;
    const Lease lease = pool_
                            ->lookup({.version = versions_[version],
                                      .user = user,
                                      .tokens = head->second,
                                      .prefix_tokens = config_.prefix_tokens})
                            .value();
    const uint32_t reachable = lease.matched() + lease.loadable();
    if (config_.prefix_tokens == 0 && reachable != found) {
      fault("I12: the recovered head of " + user + " was never committed");
    }
  }

  /// Everything ends; what is left must be chains and nothing else (I18).
  void quiesce() {
    end_all();
    disk_.faults = {};
    remote_.faults = {};
    if (store_.has_value()) {
      if (!store_->second) work_->perform(store_->first);
      work_->finish(store_->first);
    }
    for (const std::unique_ptr<LoadJob>& job : loads_) {
      if (!job->is_started) work_->start(*job);
      while (!work_->has_ended(*job, 0)) {
      }
      work_->finish(*job);
    }
    now_us_ += uint64_t{1} << 40;
    StoreJob store;
    LoadJob load;
    uint32_t rounds = 0;
    for (bool any = true; any && rounds < 10'000; ++rounds) {
      any = work_->begin_load(load);
      if (any) work_->perform(load);
      if (any) work_->finish(load);
      if (work_->begin_store(store)) {
        any = true;
        work_->perform(store);
        work_->finish(store);
      }
    }
    if (rounds == 10'000) fault("I17: transfers never come to an end");
    audit();
    report_.remote_reads = remote_.reads;
    report_.remote_writes = remote_.writes;
    const PoolMetrics metrics = pool_->metrics();
    if (metrics.leases != 0) fault("I18: leases are left");
    if (metrics.graves != 0 && metrics.is_storing) fault("I18: a chain is held by nobody");
  }

  const SimConfig config_;
  std::mt19937_64 random_;
  const std::shared_ptr<const InvertingCodec> codec_;
  SimDisk disk_;
  SimRemote remote_;
  const std::vector<Token> prefix_;
  uint64_t now_us_ = 1;
  uint32_t step_ = 0;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<PoolWork> work_;
  std::vector<Version> versions_;
  std::map<std::string, std::vector<Token>> histories_;
  std::map<std::string, Truth> truths_;
  std::vector<Running> running_;
  std::vector<Prefetch> prefetches_;
  std::vector<std::unique_ptr<LoadJob>> loads_;  // those that have begun
  std::optional<std::pair<StoreJob, bool>> store_;
  SimReport report_;
};

}  // namespace tessera::kv
