// Baselines for the pool's transfers: memcpy, plain files, RocksDB's blob files.
#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/check.h"
#include "kv/memory.h"
#include "kv_bench.h"

namespace tessera::kv {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// An area of random bytes, so that no page is the zero page.
std::unique_ptr<Arena> random_area(uint64_t block_bytes, uint32_t blocks) {
  auto area = Arena::open(blocks, block_bytes).value();
  std::mt19937_64 random(1);
  for (uint32_t i = 0; i < blocks; ++i) {
    for (uint64_t at = 0; at + 8 <= block_bytes; at += 8) {
      const uint64_t value = random();
      std::memcpy(area->address(i) + at, &value, sizeof(value));
    }
  }
  return area;
}

std::vector<uint32_t> shuffled(uint32_t count) {
  std::vector<uint32_t> order(count);
  for (uint32_t i = 0; i < count; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(2));
  return order;
}

}  // namespace

Plain plain_memory(uint64_t block_bytes, uint32_t blocks) {
  const auto from = random_area(block_bytes, blocks);
  const auto to = random_area(block_bytes, blocks);
  std::vector<double> us;
  for (const uint32_t i : shuffled(blocks)) {
    const Clock::time_point start = Clock::now();
    std::memcpy(to->address(i), from->address(blocks - 1 - i), block_bytes);
    us.push_back(us_since(start));
  }
  return {median(us), median(us)};
}

Plain plain_file(const std::string& path, uint64_t block_bytes, uint32_t blocks) {
  const auto area = random_area(block_bytes, blocks);
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT, 0600);
  if (file < 0) file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  TESSERA_CHECK(file >= 0);
  std::vector<double> writes, reads;
  constexpr uint32_t kBatch = 16;
  for (uint32_t i = 0; i + kBatch <= blocks; i += kBatch) {
    const Clock::time_point start = Clock::now();
    for (uint32_t j = i; j < i + kBatch; ++j) {
      TESSERA_CHECK(
          ::pwrite(file, area->address(j), block_bytes, static_cast<off_t>(block_bytes * j)) ==
          static_cast<ssize_t>(block_bytes));
    }
    TESSERA_CHECK(::fdatasync(file) == 0);
    writes.push_back(us_since(start) / kBatch);
  }
  for (const uint32_t i : shuffled(blocks / kBatch * kBatch)) {
    const Clock::time_point start = Clock::now();
    TESSERA_CHECK(
        ::pread(file, area->address(i), block_bytes, static_cast<off_t>(block_bytes * i)) ==
        static_cast<ssize_t>(block_bytes));
    reads.push_back(us_since(start));
  }
  ::close(file);
  ::unlink(path.c_str());
  return {median(reads), median(writes)};
}

void bench_blob_files(const std::string& folder, uint64_t block_bytes, uint32_t blocks) {
  const auto area = random_area(block_bytes, blocks);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.enable_blob_files = true;
  options.blob_compression_type = rocksdb::kNoCompression;
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  rocksdb::DB* opened = nullptr;
  TESSERA_CHECK(rocksdb::DB::Open(options, folder, &opened).ok());
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions writing;
  writing.disableWAL = true;
  constexpr uint32_t kBatch = 16;
  std::vector<double> writes, reads;
  for (uint32_t i = 0; i + kBatch <= blocks; i += kBatch) {
    const Clock::time_point start = Clock::now();
    for (uint32_t j = i; j < i + kBatch; ++j) {
      const rocksdb::Slice value(reinterpret_cast<const char*>(area->address(j)), block_bytes);
      TESSERA_CHECK(db->Put(writing, std::to_string(j), value).ok());
    }
    TESSERA_CHECK(db->Flush(rocksdb::FlushOptions()).ok());
    writes.push_back(us_since(start) / kBatch);
  }
  rocksdb::ReadOptions reading;
  reading.verify_checksums = true;
  reading.fill_cache = false;
  for (const uint32_t i : shuffled(blocks / kBatch * kBatch)) {
    const Clock::time_point start = Clock::now();
    rocksdb::PinnableSlice value;
    TESSERA_CHECK(db->Get(reading, db->DefaultColumnFamily(), std::to_string(i), &value).ok());
    std::memcpy(area->address(i), value.data(), block_bytes);
    reads.push_back(us_since(start));
  }
  const auto rate = [&](double us) {
    return static_cast<double>(block_bytes) / us * 1e6 / static_cast<double>(uint64_t{1} << 30);
  };
  figure("kv.copy.blob_files.load", rate(median(reads)), "GiB/s");
  figure("kv.copy.blob_files.store", rate(median(writes)), "GiB/s");
}

}  // namespace tessera::kv
