#include "engine/open_pool.h"

#include <algorithm>
#include <utility>

#include "kv/linked_store.h"

namespace tessera::engine {
namespace {

/// Blocks of a shared store that one process remembers to be there: some 200 bytes each.
constexpr uint32_t kSharedBlocksMax = 1u << 18;
/// A block's way from a shared store, until it has been measured.
constexpr double kSharedBlockUs = 3000;

uint32_t blocks_in(uint64_t bytes, uint64_t block_bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(bytes / block_bytes, kv::kNoSlot - 1));
}

}  // namespace

Result<std::unique_ptr<kv::Pool>> open_pool(const KvOptions& options, const ServedModel& model,
                                            std::shared_ptr<const kv::BlockCodec> lossy,
                                            std::function<void()> on_transfer,
                                            const PoolMemory& memory) {
  kv::PoolOptions pool;
  pool.block_bytes = model.block_bytes;
  pool.device_blocks = blocks_in(options.device_bytes, pool.block_bytes);
  if (pool.device_blocks == 0) {
    return Status(Code::kKvPoolInvalid, "kvDeviceBytes: expected at least the " +
                                            std::to_string(pool.block_bytes) +
                                            " bytes of one block of this model, got " +
                                            std::to_string(options.device_bytes));
  }
  pool.read_threads = 0;
  uint64_t stored_bytes = pool.block_bytes;
  if (options.is_enabled) {
    // Blocks of another size, as another model or type has them, or written otherwise, lie in a
    // folder of their own.
    pool.disk_folder = options.folder + "/blocks-of-" + std::to_string(pool.block_bytes);
    if (options.codec == KvCodec::kInt8) {
      pool.codec = std::move(lossy);
      pool.disk_folder += "-in-int8";
      stored_bytes = pool.codec->encoded_bytes();
    }
    pool.host_blocks = blocks_in(options.host_bytes, kv::slot_stride(stored_bytes));
    pool.disk_blocks = blocks_in(options.disk_bytes, kv::slot_stride(stored_bytes));
    pool.disk_reserve_bytes = options.disk_reserve_bytes;
    pool.versions_back_max = options.versions_back_max;
    pool.read_threads = options.read_threads;
    pool.store_queue_max = options.store_queue_max;
    pool.prefetch_queue_max = options.prefetch_queue_max;
    pool.on_transfer = std::move(on_transfer);
    for (const std::shared_ptr<kv::StoreLink>& link : options.shared) {
      const size_t number = pool.more_tiers.size() + 1;
      pool.more_tiers.push_back(
          {.name = number == 1 ? "shared" : "shared-" + std::to_string(number),
           .store = std::make_unique<kv::LinkedStore>(link, kSharedBlocksMax),
           .expected_block_us = kSharedBlockUs});
    }
  }
  if (memory.device) {
    auto opened = memory.device(pool.device_blocks, pool.block_bytes);
    if (!opened.is_ok()) return opened.status();
    pool.device_memory = std::move(opened).value();
  }
  if (memory.host && pool.host_blocks > 0) {
    auto opened = memory.host(pool.host_blocks, stored_bytes);
    if (!opened.is_ok()) return opened.status();
    pool.host_memory = std::move(opened).value();
  }
  return kv::Pool::open(std::move(pool));
}

kv::Identity identity_of(const ServedModel& model, std::string template_digest,
                         std::string codebook_digest, std::string adapter_digest) {
  kv::Identity identity;
  identity.model = model.digest;
  identity.adapter = std::move(adapter_digest);
  identity.template_text = std::move(template_digest);
  identity.codebook = std::move(codebook_digest);
  identity.layout = model.layout;
  identity.dtype = model.element_type;
  identity.numeric_class = model.numeric_class;
  identity.block_bytes = model.block_bytes;
  return identity;
}

}  // namespace tessera::engine
