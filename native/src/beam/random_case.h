// Test only: seeded random catalogues and models for the beam's property tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "beam/brute_force_oracle.h"
#include "catalogue/reach.h"

namespace tessera::beam {

struct RandomCase {
  std::vector<Sid> sids;  // of item i; duplicates are items that share a SID
  std::vector<std::string> item_ids;
  std::vector<double> priorities;
  std::vector<uint32_t> level_sizes;  // as many as the snapshot is deep
  std::shared_ptr<const catalogue::Snapshot> snapshot;
  catalogue::Reach reach;  // the snapshot as it is
};

/// Depth 1..6, half of the cases with mixed depths and prefix items. Writes its snapshot to `path`.
/// `attributes` gives the JSON of item i; empty: items have none.
RandomCase random_case(std::mt19937_64& random, const std::string& path,
                       const std::function<std::string(uint64_t)>& attributes = {});

/// Eligibility of one in `one_in` items of the snapshot, and of the nodes above them.
std::shared_ptr<const catalogue::Eligibility> random_eligibility(const RandomCase& random_case,
                                                                 std::mt19937_64& random,
                                                                 uint64_t one_in);

/// Logits that depend on the prefix alone: multiples of 1/64 when `is_exact` (so that float sums of
/// them are exact, and ties are common), else spread evenly; log_sum_exp is of the codes and the
/// terminal, or a multiple of 1/64.
OracleModel random_model(uint64_t seed, const std::vector<uint32_t>& level_sizes, bool is_exact);

}  // namespace tessera::beam
