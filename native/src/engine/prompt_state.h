// The recurrent state of one running request's prompt, where the model has one
// (attention/delta_state.h). Keys and values of a prefix are of use only beside its state, which
// the pool keeps at two places of a prompt: the end of the static text, and the end of what the
// user's next prompt begins with. There a state is a chain of its own, under a version of its own,
// whose tokens are made of the digest of the prefix: all that the pool does with blocks it does
// with states.
//
// Copies are optional: where the pool has no room for one, the request runs without.
// Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/delta_state.h"
#include "engine/request.h"
#include "kv/pool.h"

namespace tessera::engine {

class PromptState {
 public:
  explicit PromptState(kv::Pool& pool) : pool_(pool) {}

  /// From now on in `memory`: room for shape.floats_max(), aligned to 64 bytes, which outlives the
  /// request.
  void use(const attention::DeltaShape& shape, float* memory);
  bool is_used() const { return state_.data != nullptr; }

  /// Reads the state of the longest prefix of up to `matched` tokens that the pool has one of,
  /// zeros where it has none, and takes blocks for copies at `prefix` and `keep`. Returns the
  /// prefix's length. REQUIRES: prefix is a multiple of kv::kBlockTokens; prefix, keep <= prompt.
  uint32_t begin(const Request& request, uint32_t matched, uint32_t prefix, uint32_t keep);
  attention::DeltaState* state() { return is_used() ? &state_ : nullptr; }
  /// Captures that rows [first, first + rows) pass.
  std::span<const attention::DeltaCapture> captures(uint32_t first, uint32_t rows) const;
  /// Commits the copies up to a position.
  void keep(uint32_t length);
  void release();

 private:
  struct Copy {
    kv::Lease lease;
    std::vector<void*> pieces;
  };
  kv::Query query(const Request& request, uint32_t position, bool is_prefix);
  bool read(const Request& request, uint32_t position, bool is_prefix);
  void add_copy(const Request& request, uint32_t position, bool is_prefix);
  void list_pieces(const kv::Lease& lease, std::vector<void*>& pieces) const;

  kv::Pool& pool_;
  attention::DeltaShape shape_;
  attention::DeltaState state_;
  std::vector<kv::Token> name_;  // of the state that was asked for last
  std::vector<Copy> copies_;
  std::vector<attention::DeltaCapture> captures_;  // of copies_, by position
  std::vector<void*> pieces_;
};

}  // namespace tessera::engine
