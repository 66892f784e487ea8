// Answers that the addon gathers, as native/abi describes them: the sources of records that
// no other folder has whole.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beam/explain.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "catalogue/builder.h"
#include "catalogue/live_catalogue.h"
#include "catalogue/reach_request.h"
#include "engine/engine.h"
#include "engine/measure_scales.h"
#include "kv/inspect.h"
#include "kv/metrics.h"
#include "lora/adapter.h"
#include "lora/arena.h"
#include "store/ordered_store.h"
#include "store/repair_store.h"

namespace tessera::bridge {

/// A structure that the addon reads, by the names of its fields.
struct StructTable {
  std::string_view name;
  std::span<const std::string_view> fields;
};

struct BuildRequest {
  std::vector<std::string> sources;
  std::vector<std::string> domains;   // parallel to sources
  std::string titles_path;            // may be empty
  std::vector<uint32_t> level_sizes;  // may be empty: derived
  std::string output_path;
};

struct TimedBuild {
  catalogue::BuildReport report;
  double seconds = 0;
};

struct LoadedSlot {
  uint32_t slot = 0;
  const lora::Summary& summary;
};

struct NamedDepth {
  std::string_view lane;
  LaneDepth depth;
};

struct PoolReport {
  kv::PoolMetrics pool;
  kv::Rates rates;
  uint64_t block_bytes = 0, stored_block_bytes = 0;
};

struct OpenedReach {
  std::shared_ptr<ReachHandle> reach;
};

/// Items that frequency caps alone keep out.
inline uint32_t capped_items(const ReachHandle& reach) {
  const catalogue::Eligibility* eligibility = reach.reach.eligibility();
  return eligibility == nullptr ? 0 : eligibility->capped_items;
}

/// Items of a reach under its valuation.
struct Appraisal {
  double score_weight = 1;
  double floor = 0;
  uint32_t bid = 0;  // index of a term; kNoTerm: none
  std::vector<std::string> names;
  std::vector<double> terms;
  std::vector<double> paces;
  std::vector<float> sums;
  std::vector<double> head_sums;
};
inline constexpr uint32_t kNoTerm = 0xFFFFFFFFu;

/// The verdict of a version on an item, and the version.
struct Judgement {
  std::shared_ptr<ReachHandle> reach;
  beam::Explanation explanation;
  catalogue::ItemOrdinal item = catalogue::kNoItem;
  std::vector<uint32_t> sid;
};

}  // namespace tessera::bridge
