#include "beam/random_case.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "catalogue/builder.h"

namespace tessera::beam {
namespace {

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

double logit_of(uint64_t hash, bool is_exact) {
  if (is_exact) return static_cast<double>(static_cast<int64_t>(hash % 257) - 128) / 64.0;
  return static_cast<float>(static_cast<double>(hash % 1000003) / 1000003.0 * 8.0 - 4.0);
}

}  // namespace

RandomCase random_case(std::mt19937_64& random, const std::string& path,
                       const std::function<std::string(uint64_t)>& attributes) {
  const auto below = [&](uint64_t limit) { return static_cast<uint32_t>(random() % limit); };
  RandomCase result;
  const uint32_t depth = 1 + below(6);
  const bool is_mixed = below(2) == 0;
  // One in eight is wide: more beams than a selection looks up one by one.
  const bool is_wide = below(8) == 0;
  for (uint32_t level = 0; level < depth; ++level) {
    result.level_sizes.push_back(1 + below(is_wide ? 60 : 7));
  }
  const uint32_t count = is_wide ? 60 + below(60) : 1 + below(40);
  catalogue::CatalogueInput input;
  for (uint32_t i = 0; i < count; ++i) {
    Sid sid;
    if (i > 0 && below(4) == 0) {
      sid = result.sids[below(i)];
    } else {
      const uint32_t length = is_mixed ? 1 + below(depth) : depth;
      for (uint32_t level = 0; level < length; ++level) {
        sid.push_back(below(result.level_sizes[level]));
      }
    }
    result.sids.push_back(sid);
    result.item_ids.push_back(
        std::to_string(mix(i) % 100000).append("-").append(std::to_string(i)));
    result.priorities.push_back(below(3));
    input.codes.insert(input.codes.end(), sid.begin(), sid.end());
    input.sid_ends.push_back(input.codes.size());
    input.item_ids.add(result.item_ids.back());
    input.priorities.push_back(result.priorities.back());
    if (attributes) input.attributes.add(attributes(i));
  }
  input.level_sizes = result.level_sizes;
  TESSERA_CHECK(catalogue::build_snapshot(input, path, {}).is_ok());
  auto opened = catalogue::Snapshot::open(path);
  TESSERA_CHECK(opened.is_ok());
  result.snapshot = opened.value();
  result.reach = catalogue::Reach(catalogue::View::of(result.snapshot));
  result.level_sizes.resize(result.snapshot->depth());
  return result;
}

std::shared_ptr<const catalogue::Eligibility> random_eligibility(const RandomCase& random_case,
                                                                 std::mt19937_64& random,
                                                                 uint64_t one_in) {
  const catalogue::Snapshot& snapshot = *random_case.snapshot;
  auto made = std::make_shared<catalogue::Eligibility>();
  made->items.assign(snapshot.item_count() / 64 + 1, 0);
  made->nodes.assign(snapshot.node_count() / 64 + 1, 0);
  for (uint32_t item = 0; item < snapshot.item_count(); ++item) {
    if (random() % one_in != 0) continue;
    made->items[item / 64] |= uint64_t{1} << (item % 64);
    made->nodes[0] |= 1;
    catalogue::NodeIndex node = snapshot.node_of(item);
    for (; node != 0; node = snapshot.parent(node)) {
      made->nodes[node / 64] |= uint64_t{1} << (node % 64);
    }
  }
  return made;
}

OracleModel random_model(uint64_t seed, const std::vector<uint32_t>& level_sizes, bool is_exact) {
  return [seed, level_sizes, is_exact](const Sid& prefix) {
    uint64_t hash = mix(seed + 0x9E3779B97F4A7C15ull);
    for (const uint32_t code : prefix) hash = mix(hash * 31 + code + 1);
    OracleLogits logits;
    if (prefix.size() < level_sizes.size() && (prefix.empty() || prefix.back() != kTerminalCode)) {
      for (uint32_t code = 0; code < level_sizes[prefix.size()]; ++code) {
        logits.codes.push_back(logit_of(mix(hash + code), is_exact));
      }
    }
    logits.terminal = logit_of(mix(hash ^ 0xABCDEF), is_exact);
    if (is_exact) {
      logits.log_sum_exp = 4 + logit_of(mix(hash ^ 0x123456), true);
      return logits;
    }
    double sum = std::exp(logits.terminal);
    for (const double logit : logits.codes) sum += std::exp(logit);
    logits.log_sum_exp = std::log(sum);
    return logits;
  };
}

}  // namespace tessera::beam
