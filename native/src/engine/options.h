// Options that an engine is opened with. Limits are those of limits.h; TypeScript fills every field
// (the addon has no defaults).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/limits.h"
#include "kv/store_link.h"
#include "model/decoder.h"

namespace tessera::engine {

/// How blocks are written in the host and disk tiers. kInt8: in 8 bits per number, which changes
/// answers (attention/quantised_block.h, docs/internals/kv-pool.md).
enum class KvCodec : uint8_t { kExact, kInt8 };

/// The user KV pool (kv/options.h), its tiers in bytes.
struct KvOptions {
  bool is_enabled = false;                           // false: nothing is found or kept
  uint64_t device_bytes = 1;                         // prompts of running requests lie here as well
  uint64_t host_bytes = 0;                           // 0: no such tier
  uint64_t disk_bytes = 0;                           // 0: no such tier
  std::string folder;                                // of the disk tier
  uint64_t disk_reserve_bytes = uint64_t{64} << 20;  // free there, below which nothing is stored
  KvCodec codec = KvCodec::kExact;
  /// Versions of an adapter between the one that computed a block and the one that finds it, at
  /// most (kv::Pool::succeed); 0: none, which changes no answer.
  uint32_t versions_back_max = 0;
  /// Numbers of links to stores that other processes use (bridge/links.h), nearest first.
  std::vector<int32_t> shared_links;
  /// The stores behind them, as the pool's tiers take them.
  std::vector<std::shared_ptr<kv::StoreLink>> shared;
  uint32_t read_threads = 1;
  uint32_t store_queue_max = 1;     // chains that wait to be stored; more are dropped
  uint32_t prefetch_queue_max = 2;  // chains that wait to be loaded; more are refused
};

inline constexpr uint32_t kCardsMax = 1024;

struct EngineOptions {
  std::string device = "cpu";  // that computes; "cuda:N": card N of the machine
  std::string model_path;
  model::ComputeType compute_type = model::ComputeType::kF32;
  std::string activation_scales_path;  // of fixed ones, for kW8A8; empty: each row has its own
  std::vector<int32_t> head_tokens;    // whose logits can be wanted; none: all of the vocabulary
  uint32_t thread_count = 1;           // the engine's own thread included
  uint32_t queue_capacity = 1;         // requests waiting; a further one is refused
  uint32_t batch_requests_max = 1;     // requests that share forward passes
  uint32_t batch_rows_max = 1;         // rows of a forward pass; >= width_max, score_items_max
  uint32_t prefill_chunk_tokens = 1;   // prompt rows per forward pass
  uint32_t pass_time_target_us = 0;    // scheduler::Budget::time_us; 0: not bounded
  bool continuous_batching = true;     // false: a batch is filled only when the last one has ended
  uint64_t kv_bytes_max = 1;           // keys and values of all running requests, beams included
  KvOptions kv;
  uint32_t prompt_tokens_max = 1;
  uint32_t width_max = 1;
  uint32_t result_count_max = 1;
  uint32_t score_items_max = 1;    // paths of a score request
  uint64_t adapter_bytes_max = 0;  // of all adapters in memory; 0: no request has one
};

/// REQUEST_INVALID naming the field, what was expected and what it got.
Status validate(const EngineOptions& options);

/// The card that EngineOptions::device names; none where it is the processor. REQUIRES: valid.
std::optional<uint32_t> card_of(const EngineOptions& options);

}  // namespace tessera::engine
