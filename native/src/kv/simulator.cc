#include "kv/simulator.h"

#include "kv/sim_world.h"

namespace tessera::kv {
namespace {

/// The events of a run, step by step.
class Simulator : private SimWorld {
 public:
  explicit Simulator(const SimConfig& config) : SimWorld(config) {}

  SimReport run() {
    for (step_ = 0; step_ < config_.steps && report_.faults.size() < 5; ++step_) {
      step();
      audit();
    }
    quiesce();
    return std::move(report_);
  }

 private:
  void step() {
    now_us_ += pick(3000);
    if (happens(config_.crash_chance)) return crash();
    switch (pick(16)) {
      case 0:
      case 1:
      case 2: return start();
      case 3:
      case 4: return extend();
      case 5: return compute_one();
      case 6:
      case 7: return commit();
      case 8: return end_request();
      case 9: return prefetch();
      case 10:
      case 11: return load();
      case 12:
      case 13:
      case 14: return store();
      default: return disturb();
    }
  }

  void start() {
    if (running_.size() >= 5) return;
    Running request;
    request.user = "user" + std::to_string(pick(config_.users));
    request.version = static_cast<uint32_t>(pick(config_.versions));
    request.tokens = next_history(request.user);
    request.prompt = request.tokens;
    for (uint64_t i = 1 + pick(20); i > 0; --i) request.prompt.push_back(-1);
    request.wants_exact = config_.versions_back_max > 0 && pick(6) == 0;
    Result<Lease> lease = pool_->lookup({.version = versions_[request.version],
                                         .user = request.user,
                                         .tokens = request.tokens,
                                         .prefix_tokens = config_.prefix_tokens,
                                         .wants_exact = request.wants_exact});
    if (!lease.is_ok()) return fault("lookup: " + lease.status().message());
    request.lease = std::move(lease).value();
    request.matched = request.lease.matched();
    if (request.matched > request.tokens.size()) fault("I9: more matched than asked");
    note(request.matched);
    report_.matched_tokens += request.matched;
    report_.inherited_tokens += request.lease.inherited();
    running_.push_back(std::move(request));
  }

  void extend() {
    Running* request = any_running([](const Running& r) { return !r.is_extended; });
    if (request == nullptr) return;
    const Status status =
        pool_->extend(request->lease, static_cast<uint32_t>(request->prompt.size()));
    note(static_cast<uint64_t>(status.code()));
    request->is_extended = status.is_ok();
    if (!status.is_ok()) erase(*request);
  }

  void compute(Running& request) {
    if (request.is_computed || request.lease.is_revoked()) return;
    if (config_.versions_back_max > 0) {
      forward_marked(static_cast<uint8_t>(request.version), request.prompt, request.matched,
                     request.lease.blocks());
    } else {
      const uint64_t value =
          forward(salt(request.version), request.prompt, request.matched, request.lease.blocks());
      if (value != oracle(salt(request.version), request.prompt)) fault("I21: another answer");
    }
    check_numbers(request, request.prompt.size());
    request.is_computed = true;
    ++report_.answers;
  }

  /// Others may look, compute and commit between this and its commit.
  void compute_one() {
    Running* request =
        any_running([](const Running& r) { return r.is_extended && !r.is_computed; });
    if (request != nullptr) compute(*request);
  }

  /// A request computes its prompt, unless it has, and keeps its tokens; one in eight comes to
  /// nothing instead.
  void commit() {
    Running* request = any_running([](const Running& r) { return r.is_extended && !r.is_kept; });
    if (request == nullptr) return;
    if (pick(8) == 0) return erase(*request);
    compute(*request);
    report_.revoked += request->lease.is_revoked();
    const Committed committed =
        pool_->commit(request->lease, static_cast<uint32_t>(request->tokens.size()));
    request->is_kept = true;
    report_.commits += committed == Committed::kKept;
    report_.lost_commits += committed == Committed::kLost;
    note(static_cast<uint64_t>(committed));
    learn_heads();
  }

  void end_request() {
    Running* request = any_running([](const Running& r) { return r.is_computed; });
    if (request == nullptr) request = any_running([](const Running&) { return true; });
    if (request == nullptr) return;
    // Pinned until here: nothing may have changed under it (I4).
    if (request->is_computed && !request->lease.is_revoked()) {
      check_numbers(*request, request->prompt.size());
    }
    erase(*request);
  }

  void prefetch() {
    if (prefetches_.size() >= 3) {
      const auto which = static_cast<int64_t>(pick(prefetches_.size()));
      prefetches_[static_cast<uint64_t>(which)].cut_off();
      prefetches_.erase(prefetches_.begin() + which);
      return;
    }
    const std::string user = "user" + std::to_string(pick(config_.users));
    Prefetch made =
        pool_->prefetch(versions_[pick(config_.versions)], user, static_cast<uint32_t>(pick(300)));
    note(static_cast<bool>(made));
    if (made) prefetches_.push_back(std::move(made));
  }

  /// One step of one load: planned, or begun, or looked at and finished.
  void load() {
    if (loads_.size() < 3 && pick(2) == 0) {
      auto job = std::make_unique<LoadJob>();
      if (work_->begin_load(*job)) loads_.push_back(std::move(job));
      return;
    }
    if (loads_.empty()) return;
    const auto which = static_cast<int64_t>(pick(loads_.size()));
    LoadJob& job = *loads_[static_cast<uint64_t>(which)];
    if (!job.is_started) return work_->start(job);
    if (!work_->has_ended(job, 0)) return;
    report_.loads += job.status.is_ok();
    report_.corrupt_loads += job.status.code() == Code::kKvStoreCorrupt;
    work_->finish(job);
    loads_.erase(loads_.begin() + which);
  }

  void store() {
    if (!store_.has_value()) {
      StoreJob job;
      if (!work_->begin_store(job)) return;
      learn_erased(job);
      store_.emplace(std::move(job), false);
      return;
    }
    auto& [job, is_performed] = *store_;
    if (!is_performed) {
      if (config_.crash_chance > 0 && pick(12) == 0) {
        disk_.die_after(1 + static_cast<uint32_t>(pick(6)));
        work_->perform(job);
        return crash();
      }
      work_->perform(job);
      is_performed = true;
      return;
    }
    work_->finish(job);
    report_.stores += job.heads.size();
    store_.reset();
    learn_durable();
  }

  void disturb() {
    if (!config_.forgets) return;
    const std::string user = "user" + std::to_string(pick(config_.users));
    switch (pick(5)) {
      case 0:
        (void)pool_->drop_user(user, 0);
        forget(user);
        return check_forgotten(user);
      case 1: {
        const auto which = static_cast<uint32_t>(pick(config_.versions));
        pool_->retire(versions_[which]);
        Result<Lease> lease =
            pool_->lookup({.version = versions_[which], .user = user, .tokens = histories_[user]});
        if (lease.is_ok() && lease.value().matched() > 0) fault("I15: a retired version is found");
        for (uint32_t i = 0; i < config_.users; ++i) forget("user" + std::to_string(i));
        lease.value().reset();
        (void)pool_->add_version(test_identity("model" + std::to_string(which)));
        return;
      }
      case 2:
        if (config_.faults.read_flip > 0) disk_.flip_bit();
        return;
      default: return;
    }
  }
};

}  // namespace

SimReport simulate(const SimConfig& config) { return Simulator(config).run(); }

}  // namespace tessera::kv
