// Parts of kv_bench.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::kv {

/// Adds one figure to the document; `name` and `unit` need no escapes.
void figure(const std::string& name, double value, const char* unit);

/// Microseconds per block of the plainest way to move it.
struct Plain {
  double read_us = 0;
  double write_us = 0;
};

/// memcpy between two areas of `blocks` blocks.
Plain plain_memory(uint64_t block_bytes, uint32_t blocks);
/// pread and pwrite past the page cache, with one fdatasync per 16 blocks.
Plain plain_file(const std::string& path, uint64_t block_bytes, uint32_t blocks);
/// The alternative for blocks' bytes: values in RocksDB's blob files.
void bench_blob_files(const std::string& folder, uint64_t block_bytes, uint32_t blocks);
/// Hit rates on real traces, against Belady's optimum; `data` may be empty.
void bench_traces(const std::string& data, bool is_quick);

}  // namespace tessera::kv
