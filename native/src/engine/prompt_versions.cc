#include "engine/prompt_versions.h"

#include <algorithm>

#include "base/check.h"
#include "engine/open_pool.h"

namespace tessera::engine {

PoolVersions PromptVersions::pool_versions(kv::Pool& pool, const ServedModel& model,
                                           const Known& known) {
  kv::Identity identity = identity_of(model, known.digests.template_text, known.digests.codebook,
                                      known.digests.adapter);
  const auto add = [&] {
    Result<kv::Version> version = pool.add_version(identity);
    TESSERA_CHECK(version.is_ok());
    return version.value();
  };
  PoolVersions versions;
  versions.blocks = add();
  if (model.state_layout.empty()) return versions;
  identity.layout = model.state_layout;
  versions.state = add();
  return versions;
}

void PromptVersions::retire(kv::Pool& pool, const PoolVersions& versions) {
  pool.retire(versions.blocks);
  if (versions.state) pool.retire(*versions.state);
}

kv::Version PromptVersions::add(kv::Pool& pool, const ServedModel& model,
                                const PromptDigests& digests) {
  Known known{digests};
  known.now = pool_versions(pool, model, known);
  known.given = known.now.blocks;
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& other) {
    return other.now.blocks == known.now.blocks;
  });
  if (found != known_.end()) return found->given;
  known_.push_back(known);
  declare(pool, model, known);
  return known.given;
}

void PromptVersions::declare(kv::Pool& pool, const ServedModel& model, const Known& known) const {
  if (known.now.state) return;
  kv::Version version = known.now.blocks;
  auto before = predecessors_.find(known.digests.adapter);
  for (uint32_t back = 0; back < kv::kVersionsBackMax && before != predecessors_.end(); ++back) {
    version = pool.succeed(version, identity_of(model, known.digests.template_text,
                                                known.digests.codebook, before->second));
    before = predecessors_.find(before->second);
  }
}

void PromptVersions::succeed(kv::Pool& pool, const ServedModel& model, const std::string& adapter,
                             const std::string& predecessor) {
  for (auto at = predecessors_.find(predecessor); at != predecessors_.end();
       at = predecessors_.find(at->second)) {
    if (at->second == adapter) return;
  }
  predecessors_[adapter] = predecessor;
  for (const Known& known : known_) {
    if (known.digests.adapter == adapter) declare(pool, model, known);
  }
}

void PromptVersions::drop(kv::Pool& pool, kv::Version version) {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& known) { return known.given == version; });
  if (found == known_.end()) return;
  retire(pool, found->now);
  known_.erase(found);
}

PoolVersions PromptVersions::now(kv::Version version) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& known) { return known.given == version; });
  return found == known_.end() ? PoolVersions{version} : found->now;
}

void PromptVersions::renew(kv::Pool& pool, const ServedModel& model) {
  predecessors_.clear();
  for (Known& known : known_) {
    const PoolVersions before = known.now;
    known.now = pool_versions(pool, model, known);
    if (known.now.blocks != before.blocks) retire(pool, before);
  }
}

}  // namespace tessera::engine
