#include "engine/prompt_state.h"

#include <algorithm>
#include <utility>

#include "kv/identity.h"

namespace tessera::engine {

void PromptState::use(const attention::DeltaShape& shape, float* memory) {
  shape_ = shape;
  state_.data = memory;
  state_.is_folded.resize(shape.layers);
}

/// The state of the first `position` tokens of the prompt, as a chain of whole blocks: its first
/// token is the position, those behind it are the digest of the tokens.
kv::Query PromptState::query(const Request& request, uint32_t position, bool is_prefix) {
  const uint64_t bytes = shape_.floats(position) * sizeof(float);
  const uint64_t blocks = (bytes + pool_.block_bytes() - 1) / pool_.block_bytes();
  const kv::Digest digest =
      kv::prefix_digest({}, std::span<const kv::Token>(request.prompt).first(position));
  name_.resize(blocks * kv::kBlockTokens);
  for (size_t i = 0; i < name_.size(); ++i) name_[i] = static_cast<kv::Token>(i);
  name_[0] = static_cast<kv::Token>(position);
  const auto words = kv::tokens_of(digest);
  std::copy(words.begin(), words.end(), name_.begin() + 1);
  return {.version = *request.kv.state_version,
          .user = is_prefix ? std::string_view() : std::string_view(request.kv.user),
          .tokens = name_,
          .prefix_tokens = is_prefix ? static_cast<uint32_t>(name_.size()) : 0,
          .wants_exact = request.kv.wants_exact,
          .erasures_seen = request.kv.erasures_seen,
          .is_state = true};
}

void PromptState::list_pieces(const kv::Lease& lease, std::vector<void*>& pieces) const {
  pieces.clear();
  for (const kv::BlockRef& block : lease.blocks()) pieces.push_back(block.address);
}

bool PromptState::read(const Request& request, uint32_t position, bool is_prefix) {
  const kv::Query asked = query(request, position, is_prefix);
  Result<kv::Lease> found = pool_.lookup(asked);
  if (!found.is_ok() || found.value().matched() < asked.tokens.size()) return false;
  list_pieces(found.value(), pieces_);
  attention::read_pieces(pieces_.data(), pool_.block_bytes(), shape_.floats(position), state_.data);
  return true;
}

void PromptState::add_copy(const Request& request, uint32_t position, bool is_prefix) {
  const kv::Query asked = query(request, position, is_prefix);
  Result<kv::Lease> found = pool_.lookup(asked);
  if (!found.is_ok() || found.value().matched() == asked.tokens.size()) return;
  Copy copy{std::move(found).value(), {}};
  if (!pool_.extend(copy.lease, static_cast<uint32_t>(asked.tokens.size())).is_ok()) return;
  list_pieces(copy.lease, copy.pieces);
  captures_.push_back({position, copy.pieces.data(), pool_.block_bytes()});
  copies_.push_back(std::move(copy));
}

uint32_t PromptState::begin(const Request& request, uint32_t matched, uint32_t prefix,
                            uint32_t keep) {
  release();
  uint32_t length = 0;
  if (request.kv.state_version) {
    const bool has_user = !request.kv.user.empty();
    // Blocks of the user may go on behind the state, as where a request was cut short.
    const auto kept = has_user ? pool_.first_token(*request.kv.state_version, request.kv.user)
                               : std::optional<kv::Token>();
    const uint32_t position = kept ? static_cast<uint32_t>(*kept) : 0;
    if (position > prefix && position <= matched && read(request, position, false)) {
      length = position;
    } else if (prefix > 0 && matched >= prefix && read(request, prefix, true)) {
      length = prefix;
    }
    if (prefix > length) add_copy(request, prefix, true);
    if (has_user && keep > std::max(length, prefix)) add_copy(request, keep, false);
  }
  if (length == 0) std::memset(state_.data, 0, shape_.floats(0) * sizeof(float));
  std::fill(state_.is_folded.begin(), state_.is_folded.end(), uint8_t{0});
  return length;
}

std::span<const attention::DeltaCapture> PromptState::captures(uint32_t first,
                                                               uint32_t rows) const {
  const auto at_or_before = [](const attention::DeltaCapture& capture, uint32_t position) {
    return capture.position <= position;
  };
  const auto begin = std::lower_bound(captures_.begin(), captures_.end(), first, at_or_before);
  const auto end = std::lower_bound(begin, captures_.end(), first + rows, at_or_before);
  return {begin, end};
}

void PromptState::keep(uint32_t length) {
  for (size_t i = 0; i < copies_.size(); ++i) {
    const auto tokens = static_cast<uint32_t>(copies_[i].pieces.size()) * kv::kBlockTokens;
    if (captures_[i].position <= length) pool_.commit(copies_[i].lease, tokens);
  }
}

void PromptState::release() {
  captures_.clear();
  copies_.clear();
}

}  // namespace tessera::engine
