#include "engine/request_kv.h"

#include <algorithm>
#include <cstring>

#include "attention/block.h"
#include "engine/encoded_prompt.h"
#include "engine/tasks/task.h"

namespace tessera::engine {
namespace {

static_assert(attention::kBlockPositions == kv::kBlockTokens);

/// Tokens of the prompt that the pool may hold: never the last one, whose row gives the request's
/// own logits.
uint32_t keepable(const Request& request) {
  if (!request.task->needs().shares_blocks) return 0;
  if (request.encoded > 0) {
    const bool is_kept = request.kv.keep_tokens > 0 && request.encoded >= kEncodedKeptMin;
    return is_kept ? request.encoded : 0;
  }
  const auto size = static_cast<uint32_t>(request.prompt.size());
  return std::min(request.kv.keep_tokens, size - 1);
}

kv::Query query_of(const Request& request) {
  const uint32_t keep = keepable(request);
  return {.version = request.kv.version,
          .user = request.kv.user,
          .tokens = std::span<const kv::Token>(request.prompt).first(keep),
          .prefix_tokens = std::min(request.kv.prefix_tokens, keep),
          .wants_exact = request.kv.wants_exact,
          .erasures_seen = request.kv.erasures_seen};
}

/// Whole blocks that the request may keep as well as the leader: its user's own, or those of the
/// text that all users share. A request that keeps nothing but that text may hold any.
uint32_t common_blocks(const Request& request, const Request& leading, uint32_t shared) {
  const bool is_one_user =
      request.kv.version == leading.kv.version && request.kv.user == leading.kv.user;
  const bool takes_any = request.kv.user.empty() || is_one_user;
  return (takes_any ? shared : std::min(shared, query_of(request).prefix_tokens)) /
         kv::kBlockTokens;
}

}  // namespace

/// The prompt's tokens in the pool; where the model has a state, as far as it is there too.
Result<kv::Lease> RequestKv::find(const Request& request) {
  kv::Query query = query_of(request);
  if (request.encoded > 0) return find_encoded_whole(request, query);
  Result<kv::Lease> found = pool_.lookup(query);
  if (!found.is_ok() || !state_.is_used()) return found;
  const uint32_t prefix = query.prefix_tokens / kv::kBlockTokens * kv::kBlockTokens;
  const auto keep = static_cast<uint32_t>(query.tokens.size());
  while (found.is_ok()) {
    query.match_max = state_.begin(request, found.value().matched(), prefix, keep);
    if (query.match_max == found.value().matched()) break;
    found = kv::Lease();
    found = pool_.lookup(query);
    if (found.is_ok() && query.match_max == found.value().matched()) break;
  }
  if (!found.is_ok()) state_.release();
  return found;
}

/// Keys and values of the encoder's tokens are of use whole or not at all.
Result<kv::Lease> RequestKv::find_encoded_whole(const Request& request, kv::Query query) {
  name_encoded(request, name_);
  query.tokens = std::span<const kv::Token>(name_).first(query.tokens.size());
  query.prefix_tokens = 0;
  Result<kv::Lease> found = pool_.lookup(query);
  if (!found.is_ok() || found.value().matched() == query.tokens.size()) return found;
  found = kv::Lease();
  query.match_max = 0;
  return pool_.lookup(query);
}

Status RequestKv::begin(const Request& request, const Request* leading, const RequestKv* leader,
                        scheduler::Link& link) {
  Result<kv::Lease> found = find(request);
  if (!found.is_ok()) return found.status();
  kv::Lease lease = std::move(found).value();
  const uint32_t matched = lease.matched();
  // Of two that share, both have computed as much of it (scheduler/prefix.h).
  const uint32_t ahead = leader == nullptr ? 0 : std::min(link.shared, leader->view_.length);
  const bool is_too_old =
      leader != nullptr && request.kv.wants_exact && leader->versions_back() > 0;
  if (link.shared <= matched || ahead < matched || is_too_old) link = {};
  const bool is_linked = link.leader != scheduler::kNoLeader;
  const auto positions = static_cast<uint32_t>(request.prompt.size());
  Status extended =
      is_linked ? pool_.extend_beside(lease, leader->lease_,
                                      common_blocks(request, *leading, link.shared), positions)
                : pool_.extend(lease, positions);
  if (!extended.is_ok() && state_.is_used()) {
    state_.release();  // copies are optional, and their blocks may be the missing ones
    extended = pool_.extend(lease, positions);
  }
  TESSERA_RETURN_IF_ERROR(extended);
  lease_ = std::move(lease);
  found_ = lease_.matched_by_tier();
  versions_back_ = lease_.versions_back();
  blocks_.clear();
  own_blocks_ = 0;
  for (const kv::BlockRef& block : lease_.blocks()) {
    const bool is_common = is_linked && blocks_.size() < leader->blocks_.size() &&
                           leader->blocks_[blocks_.size()] == block.address;
    const bool is_matched = (blocks_.size() + 1) * kv::kBlockTokens <= matched;
    own_blocks_ += !is_common && !is_matched;
    blocks_.push_back(block.address);
  }
  lease_.note_written(is_linked ? std::max(matched, ahead) : matched);
  if (is_linked) {
    if (Status copied = copy_from(*leader, matched, ahead); !copied.is_ok()) {
      release();
      return copied;
    }
  }
  if (state_.is_used()) clear_blocks(kv::blocks_of(matched));
  view_ = {.blocks = blocks_.data(),
           .block_count = static_cast<uint32_t>(blocks_.size()),
           .length = is_linked ? ahead : matched,
           .encoded = request.encoded,
           .delta = state_.state()};
  return Status::ok();
}

/// A block that held a state may hold bits that are no number of a key or a value.
void RequestKv::clear_blocks(uint32_t first) {
  for (size_t b = first; b < blocks_.size(); ++b) std::memset(blocks_[b], 0, pool_.block_bytes());
}

Status RequestKv::copy_from(const RequestKv& leader, uint32_t matched, uint32_t ahead) {
  for (uint32_t b = matched / kv::kBlockTokens; b * kv::kBlockTokens < ahead; ++b) {
    if (blocks_[b] == leader.blocks_[b]) continue;
    // Whole, because that is one copy: what follows the shared positions is written before it is
    // read, and finite until then.
    TESSERA_RETURN_IF_ERROR(pool_.copy(lease_.blocks()[b], leader.lease_.blocks()[b]));
  }
  return Status::ok();
}

void RequestKv::keep(const Request& request) {
  uint32_t keep = std::min(keepable(request), view_.length);
  // The last block is partial: a request that resumes this prompt may still be writing to it.
  if (view_.length < request.prompt.size()) {
    keep = request.encoded > 0 ? 0 : keep - keep % kv::kBlockTokens;
  }
  state_.keep(keep);
  if (keep <= lease_.matched()) return;
  pool_.commit(lease_, keep);
}

void RequestKv::release() {
  state_.release();
  lease_.reset();
  blocks_.clear();
  versions_back_ = 0;
  view_ = {};
  own_blocks_ = 0;
}

}  // namespace tessera::engine
