#include "engine/prompt_versions.h"

#include <algorithm>

#include "base/check.h"
#include "engine/open_pool.h"

namespace tessera::engine {

kv::Version PromptVersions::pool_version(kv::Pool& pool, const model::Decoder& decoder,
                                         const Known& known) {
  Result<kv::Version> version =
      pool.add_version(identity_of(decoder, known.template_digest, known.codebook_digest));
  TESSERA_CHECK(version.is_ok());
  return version.value();
}

kv::Version PromptVersions::add(kv::Pool& pool, const model::Decoder& decoder,
                                const std::string& template_digest,
                                const std::string& codebook_digest) {
  Known known{template_digest, codebook_digest};
  known.given = known.now = pool_version(pool, decoder, known);
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& other) { return other.now == known.now; });
  if (found != known_.end()) return found->given;
  known_.push_back(known);
  return known.given;
}

kv::Version PromptVersions::now(kv::Version version) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& known) { return known.given == version; });
  return found == known_.end() ? version : found->now;
}

void PromptVersions::renew(kv::Pool& pool, const model::Decoder& decoder) {
  for (Known& known : known_) {
    const kv::Version before = known.now;
    known.now = pool_version(pool, decoder, known);
    if (known.now != before) pool.retire(before);
  }
}

}  // namespace tessera::engine
