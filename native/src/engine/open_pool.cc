#include "engine/open_pool.h"

#include <algorithm>
#include <utility>

#include "engine/int8_codec.h"
#include "kv/memory.h"

namespace tessera::engine {
namespace {

/// Changes when the bytes of a block come to lie elsewhere (attention/block.h).
constexpr char kLayoutName[] = "panels.1";

uint32_t blocks_in(uint64_t bytes, uint64_t block_bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(bytes / block_bytes, kv::kNoSlot - 1));
}

}  // namespace

Result<std::unique_ptr<kv::Pool>> open_pool(const KvOptions& options, const model::Decoder& decoder,
                                            std::function<void()> on_transfer) {
  kv::PoolOptions pool;
  pool.block_bytes = decoder.block_layout().bytes();
  pool.device_blocks = blocks_in(options.device_bytes, pool.block_bytes);
  if (pool.device_blocks == 0) {
    return Status(Code::kKvPoolInvalid, "kvDeviceBytes: expected at least the " +
                                            std::to_string(pool.block_bytes) +
                                            " bytes of one block of this model, came " +
                                            std::to_string(options.device_bytes));
  }
  pool.locks_memory = options.locks_memory;
  pool.read_threads = 0;
  if (options.is_enabled) {
    // Blocks of another size, as another model or type has them, or written otherwise, lie in a
    // folder of their own.
    pool.disk_folder = options.folder + "/blocks-of-" + std::to_string(pool.block_bytes);
    uint64_t stored_bytes = pool.block_bytes;
    if (options.codec == KvCodec::kInt8) {
      pool.codec = std::make_shared<Int8Codec>(decoder.block_layout());
      pool.disk_folder += "-in-int8";
      stored_bytes = pool.codec->encoded_bytes();
    }
    pool.host_blocks = blocks_in(options.host_bytes, kv::slot_stride(stored_bytes));
    pool.disk_blocks = blocks_in(options.disk_bytes, kv::slot_stride(stored_bytes));
    pool.versions_back_max = options.versions_back_max;
    pool.eviction = options.eviction;
    pool.read_threads = options.read_threads;
    pool.store_queue_max = options.store_queue_max;
    pool.prefetch_queue_max = options.prefetch_queue_max;
    pool.on_transfer = std::move(on_transfer);
  }
  return kv::Pool::open(std::move(pool));
}

kv::Identity identity_of(const model::Decoder& decoder, std::string template_digest,
                         std::string codebook_digest, std::string adapter_digest) {
  const attention::BlockLayout layout = decoder.block_layout();
  kv::Identity identity;
  identity.model = decoder.digest();
  identity.adapter = std::move(adapter_digest);
  identity.template_text = std::move(template_digest);
  identity.codebook = std::move(codebook_digest);
  identity.layout = std::string(kLayoutName) + " " + std::to_string(layout.layers) + "x" +
                    std::to_string(layout.kv_heads) + "x" + std::to_string(layout.head_dim);
  identity.dtype = layout.type == tensor::DType::kBf16 ? "bf16" : "f32";
  identity.numeric_class =
      std::string(model::compute_type_name(decoder.compute_type())) + " " + decoder.numbers();
  identity.block_bytes = layout.bytes();
  return identity;
}

}  // namespace tessera::engine
