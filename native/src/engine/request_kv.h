// The keys and values of one running request's prompt: a lease of the user KV pool. Passes read the
// pool's part of the prompt in place. They write the missing part into the lease's own blocks,
// which the user's chain keeps when the request ends (kv/pool.h).
//
// Beside the pool a request shares with one that runs (docs/internals/engine.md): whole blocks that
// both may keep are held by both; what else they have in common is computed once and mirrored into
// the blocks of each.
//
// Engine thread only. The pool outlives it.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "attention/kv_view.h"
#include "base/status.h"
#include "engine/prompt_state.h"
#include "engine/request.h"
#include "kv/pool.h"
#include "scheduler/prefix.h"

namespace tessera::engine {

class RequestKv {
 public:
  explicit RequestKv(kv::Pool& pool) : pool_(pool), state_(pool) {}

  /// Finds what is there and takes blocks for the whole prompt. `link` is the running request with
  /// which it has most in common, `leader` that one's; the link is undone where the pool has as
  /// much. Errors: ENGINE_OVERLOADED when the device tier has no room now; nothing is held then.
  Status begin(const Request& request, const Request* leading, const RequestKv* leader,
               scheduler::Link& link);

  const attention::PromptKv& view() const { return view_; }
  /// State of a model that has one; to be put to use before begin().
  PromptState& state() { return state_; }
  const PromptState& state() const { return state_; }
  void set_length(uint32_t length) { view_.length = length; }
  /// Before a pass that writes positions up to `end`.
  void note_written(uint32_t end) { lease_.note_written(end); }
  /// Tokens that the pool had, by the tier they were found in.
  const kv::PerTier<uint32_t>& found() const { return found_; }
  /// Their names, as long as the pool.
  std::span<const std::string> tiers() const { return pool_.tier_names(); }
  /// True if the prompt's numbers are those computed from nothing (kv::Lease::is_exact).
  bool is_exact() const { return !lease_ || lease_.is_exact(); }
  /// kv::Lease::versions_back and inherited.
  uint32_t versions_back() const { return versions_back_; }
  uint32_t inherited_tokens() const { return lease_ ? lease_.inherited() : 0; }
  uint32_t found_tokens() const { return std::accumulate(found_.begin(), found_.end(), 0u); }
  /// Blocks beside those that others hold as well.
  uint32_t own_blocks() const { return own_blocks_; }
  /// The user was dropped since: what the user's tokens gave must not go out.
  bool is_revoked() const { return lease_ && lease_.is_revoked(); }

  /// Commits what is computed of the part that may be kept, visible to all from then on. Nothing is
  /// written into its blocks afterwards.
  void keep(const Request& request);
  /// Gives everything back.
  void release();

 private:
  Result<kv::Lease> find(const Request& request);
  Result<kv::Lease> find_encoded_whole(const Request& request, kv::Query query);
  void clear_blocks(uint32_t first);
  Status copy_from(const RequestKv& leader, uint32_t matched, uint32_t ahead);

  kv::Pool& pool_;
  kv::Lease lease_;
  PromptState state_;
  std::vector<void*> blocks_;    // what view_ points to
  std::vector<kv::Token> name_;  // of what an encoder reads
  attention::PromptKv view_;
  kv::PerTier<uint32_t> found_{};
  uint32_t versions_back_ = 0;
  uint32_t own_blocks_ = 0;
};

}  // namespace tessera::engine
