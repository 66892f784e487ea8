// Requests to the engine and their completions. Plain values, moved between threads.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "beam/explain.h"
#include "beam/export.h"
#include "beam/select.h"
#include "beam/tree.h"
#include "catalogue/appraiser.h"
#include "engine/binding.h"
#include "engine/item_texts.h"
#include "engine/tasks/tasks.h"
#include "kv/pool.h"
#include "lora/adapter.h"

namespace tessera::engine {

using Clock = std::chrono::steady_clock;

inline constexpr uint8_t kPriorityClasses = 3;  // 0 high, 1 normal, 2 low

/// The part of a prompt that the user KV pool may find and keep.
struct KvUse {
  kv::Version version = 0;     // as Engine::add_version gave it
  std::string user;            // empty: nothing but the text that all users share
  uint32_t prefix_tokens = 0;  // first tokens that are the same for all users
  uint32_t keep_tokens = 0;    // first tokens that the next request of the user may begin with
  bool wants_exact = false;    // nothing of versions before this one (kv::Query)
  /// Users dropped later are to be kept nothing of (kv::Query); filled in by Engine::submit().
  uint64_t erasures_seen = UINT64_MAX;
  std::optional<kv::Version> state_version = {};  // of models that have a state; by the engine
  uint32_t waited_us = 0;  // for its blocks when its turn had come; filled in by the engine
};

struct Request {
  uint32_t ticket = 0;                           // the caller's, unique among those in flight
  const Task* task = &recall_task();             // the kind of request; never null
  uint8_t priority = 1;                          // class below kPriorityClasses
  std::shared_ptr<const Binding> binding;        // null where its task needs none
  std::shared_ptr<const lora::Adapter> adapter;  // null: the base model
  /// The items of a version that may be found; where the caller sets none, all of the newest when
  /// the request begins.
  catalogue::Reach reach;
  std::vector<int32_t> prompt;
  /// First tokens of it, which an encoder reads; 0: the model has none. Filled in by
  /// Engine::submit().
  uint32_t encoded = 0;
  KvUse kv;
  /// Recall: of a beam, per step; the last holds for all further steps, and for the beam that a
  /// certified search goes on as where its proof is out of reach; none: it spends its budget.
  std::vector<uint32_t> widths;
  uint32_t row_budget = 0;     // recall: of a certified search; 0: a beam of the widths
  uint32_t result_count = 0;   // recall
  uint32_t items_per_sid = 0;  // recall: at most; 0: as few as fill the answer
  /// Recall: rather a narrower search, or what of it has finished, than no answer in time.
  bool allows_partial = false;
  /// Recall: how items of a SID are chosen; null: as the catalogue orders them.
  std::shared_ptr<const catalogue::ItemPolicy> item_policy;
  /// Recall: what items go by; null: their scores.
  std::shared_ptr<const catalogue::Appraiser> appraiser;
  /// Recall: the last `slots` places of the answer are drawn (beam/draw.h).
  struct Explore {
    uint32_t slots = 0;
    double temperature = 1;
    uint32_t seed_low = 0;
    uint32_t seed_high = 0;
    /// They are drawn among its items, all of which `Request::reach` has too, in the same version;
    /// where it is not set, among those of `Request::reach`.
    catalogue::Reach reach;
    uint32_t items = 0;  // of `reach`, where it is set
  };
  Explore explore;
  /// Recall: an item that `reach` has, whose fate the answer has; kNoItem: none.
  catalogue::ItemOrdinal watched_item = catalogue::kNoItem;
  std::vector<std::string> attributes;  // recall: those that the items of the answer shall have
  /// Recall: whether the answer has what each step kept and first rejected.
  bool wants_tree = false;
  /// Recall, rank: heads that read items behind the prompt (docs/integrate/ranking.md).
  struct Ranking {
    uint32_t slot = UINT32_MAX;                    // at the boundary
    std::shared_ptr<const lora::Adapter> adapter;  // with heads; null: nothing is ranked
    std::vector<int32_t> prefix;                   // tokens before the SID of every item
    std::vector<uint32_t> suffix_tokens;           // behind it
    std::vector<uint32_t> suffix_offsets;  // by item; of one suffix: of every item; or empty: none
  };
  Ranking ranking;
  std::vector<catalogue::ItemOrdinal> items;  // rank: live items of the reach
  std::vector<uint32_t> sid_codes;            // score: the SIDs, one after the other
  std::vector<uint32_t> sid_offsets;          // score: [SIDs + 1] into sid_codes
  std::vector<int32_t> label_tokens;          // relevance: those whose logits the answer has
  /// First tokens of the prompt that a request submitted before this one computes as well, and that
  /// are not counted in what is predicted for this one.
  uint32_t sibling_tokens = 0;
  /// Rows of beams that it is predicted to compute; 0: all that it may. Filled in by
  /// Engine::submit().
  uint32_t rows_predicted = 0;
  beam::ScoreNorm norm = beam::ScoreNorm::kFull;
  Clock::time_point deadline;
  Clock::time_point submitted;
};

/// A forward pass as a request that waited for it saw it, microseconds. Shared by several requests,
/// it counts whole for each of them; selecting and forking are each one's own.
struct PassTimes {
  uint32_t rows = 0;  // of all requests
  bool is_decode = false;
  float plan_us = 0;
  float forward_us = 0;
  float projections_us = 0;  // of forward_us
  float attention_us = 0;    // of forward_us
  float head_us = 0;
  float select_us = 0;
  float fork_us = 0;
};

/// Microseconds of a request: sums over its passes, and what comes before and after them.
struct Timings {
  float queue_us = 0;
  float plan_us = 0;
  float prefill_us = 0;
  float decode_us = 0;
  float projections_us = 0;  // of prefill and decode
  float attention_us = 0;    // of prefill and decode
  float head_us = 0;
  float select_us = 0;
  float fork_us = 0;
  float export_us = 0;
  float total_us = 0;

  void add(const PassTimes& pass) {
    plan_us += pass.plan_us;
    (pass.is_decode ? decode_us : prefill_us) += pass.forward_us;
    projections_us += pass.projections_us;
    attention_us += pass.attention_us;
    head_us += pass.head_us;
    select_us += pass.select_us;
    fork_us += pass.fork_us;
  }
};

/// How much of the search that was asked for an answer has seen.
enum class Completeness : uint8_t {
  kWhole = 0,
  kNarrowed = 1,  // fewer beams than asked for from some step on, for the deadline's sake
  kCut = 2,       // the paths that had finished when the deadline was near
};

struct Completion {
  uint32_t ticket = 0;
  Status status;
  uint32_t retry_after_us = 0;      // of a refusal for load; 0: no hint
  const Task* task = nullptr;       // the kind of request; never null where status is ok
  beam::Exported answer;            // recall; empty unless status is ok
  ItemTexts texts;                  // recall: of the items of the answer
  uint32_t items_per_sid = 0;       // recall: at most, as it was applied
  uint64_t weights_generation = 0;  // updates of the weights before it ran
  uint64_t catalogue_sequence = 0;  // of the version that was searched or scored
  beam::Explanation explanation;    // recall: of the watched item; kOpen: none
  beam::Tree tree;                  // recall: empty unless it is wanted
  /// Score: per SID; not-a-number where it is not in the catalogue. Relevance: the logit of each
  /// label token; with ScoreNorm::kFull then the logarithm of the sum of exp(logit) over the
  /// vocabulary.
  std::vector<float> scores;
  std::vector<float> heads;                          // ranked: [items][heads]
  Completeness completeness = Completeness::kWhole;  // recall
  beam::Certificate certificate;                     // recall
  uint32_t rows = 0;                                 // recall: of beams that were computed
  std::vector<uint32_t> widths_used;                 // beams kept per step
  uint32_t prefix_reused_tokens = 0;                 // prompt tokens that other requests computed
  kv::PerTier<uint32_t> kv_tokens{};                 // prompt tokens that the pool had, by tier
  std::span<const std::string> kv_tiers;             // their names, of the pool
  bool kv_is_lossy = false;          // of these, or of those of other requests, some are not exact
  uint32_t kv_inherited_tokens = 0;  // of these, those that a version before computed
  uint32_t kv_versions_back = 0;     // kv::Lease::versions_back
  uint32_t kv_wait_us = 0;  // waited for blocks on their way to the device, nothing else to do
  Timings timings;
  std::vector<PassTimes> passes;
};

/// Where finished requests go. Called on the engine's thread (and on the submitting thread for
/// requests refused at once); must not block and must not call back into the engine.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void complete(Completion completion) = 0;
};

}  // namespace tessera::engine
