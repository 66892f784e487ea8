// The pool's versions of the prompts that this engine has. A number that add() gave stays good when
// the weights change, though the pool has another for it from then on. Not synchronised: guarded by
// the engine's mutex.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/served_model.h"
#include "kv/pool.h"

namespace tessera::engine {

/// Digests of what decides a prompt's tokens, and of the adapter that reads it (empty: none).
struct PromptDigests {
  std::string template_text, codebook, adapter;
};

/// Versions of one prompt in the pool: of its blocks, and of its states where the model has them.
struct PoolVersions {
  kv::Version blocks = 0;
  std::optional<kv::Version> state = {};
};

class PromptVersions {
 public:
  /// Version of the digests, the same for the same ones. REQUIRES: the pool's blocks are the
  /// model's.
  kv::Version add(kv::Pool& pool, const ServedModel& model, const PromptDigests& digests);
  /// Nothing is found under a number that add() gave any more.
  void drop(kv::Pool& pool, kv::Version version);
  /// Prompts that the adapter reads may go on with what its predecessor has of a user, or the one
  /// before that. Ignored where it would make an adapter come before itself, and where the model
  /// has a state, which is not inherited.
  void succeed(kv::Pool& pool, const ServedModel& model, const std::string& adapter,
               const std::string& predecessor);
  /// Its versions in the pool now.
  PoolVersions now(kv::Version version) const;
  /// After the model's weights have changed: nothing that was kept under them is found any more,
  /// and no adapter follows another.
  void renew(kv::Pool& pool, const ServedModel& model);

 private:
  struct Known {
    PromptDigests digests;
    kv::Version given = 0;  // by add()
    PoolVersions now = {};
  };
  static PoolVersions pool_versions(kv::Pool& pool, const ServedModel& model, const Known& known);
  static void retire(kv::Pool& pool, const PoolVersions& versions);

  /// Declares every version of the line: one between two adapters may have read no prompt.
  void declare(kv::Pool& pool, const ServedModel& model, const Known& known) const;

  std::vector<Known> known_;
  std::unordered_map<std::string, std::string> predecessors_;  // of adapters
};

}  // namespace tessera::engine
