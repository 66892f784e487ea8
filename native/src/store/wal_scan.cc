#include "store/wal_scan.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <vector>

#include "platform/mapped_file.h"
#include "store/count_commits.h"

namespace tessera::store {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBlockBytes = 32768;
constexpr uint64_t kHeaderBytes = 7;
constexpr uint64_t kBatchHeaderBytes = 12;  // of a write batch: sequence, count
enum FragmentType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr std::array<uint32_t, 256> crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78u : 0);
    table[i] = value;
  }
  return table;
}

/// CRC-32C (RFC 3720), masked as RocksDB stores it.
uint32_t masked_crc(std::span<const std::byte> bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc32c_table();
  uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 255];
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

struct Fragment {
  uint8_t type = 0;  // 0: none stands here
  std::span<const std::byte> payload;
};

Fragment fragment_at(std::span<const std::byte> file, uint64_t at) {
  const uint64_t block_left = kBlockBytes - at % kBlockBytes;
  const auto rest = file.subspan(at, std::min(block_left, file.size() - at));
  if (rest.size() < kHeaderBytes) return {};
  uint32_t crc = 0;
  uint16_t length = 0;
  std::memcpy(&crc, rest.data(), sizeof(crc));
  std::memcpy(&length, rest.data() + 4, sizeof(length));
  const auto type = static_cast<uint8_t>(rest[6]);
  if (type < kFull || type > kLast || kHeaderBytes + length > rest.size()) return {};
  if (masked_crc(rest.subspan(6, 1u + length)) != crc) return {};
  return {type, rest.subspan(kHeaderBytes, length)};
}

/// True if a write with a number above `readable` begins here.
bool is_later_write(const Fragment& fragment, uint64_t readable) {
  if (fragment.payload.size() < kBatchHeaderBytes) return false;
  if (fragment.type == kFirst) return true;
  if (fragment.type != kFull) return false;
  const rocksdb::WriteBatch batch(
      std::string(reinterpret_cast<const char*>(fragment.payload.data()), fragment.payload.size()));
  return commit_of(batch).value_or(0) > readable;
}

/// First byte that belongs to no whole record; the size of the file where there is none.
uint64_t end_of_whole(std::span<const std::byte> file) {
  uint64_t whole = 0;
  uint64_t at = 0;
  bool is_inside = false;
  while (at < file.size()) {
    if (kBlockBytes - at % kBlockBytes < kHeaderBytes) {
      at += kBlockBytes - at % kBlockBytes;
      continue;
    }
    const Fragment fragment = fragment_at(file, at);
    const bool begins = fragment.type == kFull || fragment.type == kFirst;
    if (fragment.type == 0 || begins == is_inside) return whole;
    at += kHeaderBytes + fragment.payload.size();
    is_inside = fragment.type == kFirst || fragment.type == kMiddle;
    if (!is_inside) whole = at;
  }
  return is_inside ? whole : file.size();
}

bool has_later_write(std::span<const std::byte> file, uint64_t from, uint64_t readable) {
  for (uint64_t at = from + 1; at + kHeaderBytes < file.size(); ++at) {
    const auto type = static_cast<uint8_t>(file[at + 6]);
    if (type != kFull && type != kFirst) continue;
    if (is_later_write(fragment_at(file, at), readable)) return true;
  }
  return false;
}

/// True if the file has a whole record, at any place, that is not a write.
bool has_other_record(std::span<const std::byte> file) {
  std::string record;
  for (uint64_t at = 0; at + kHeaderBytes <= file.size();) {
    const Fragment fragment = fragment_at(file, at);
    if (fragment.type == 0) {
      ++at;
      record.clear();
      continue;
    }
    if (fragment.type == kFull || fragment.type == kFirst) record.clear();
    record.append(reinterpret_cast<const char*>(fragment.payload.data()), fragment.payload.size());
    const bool is_whole = fragment.type == kFull || fragment.type == kLast;
    if (is_whole && !commit_of(rocksdb::WriteBatch(record))) return true;
    at += kHeaderBytes + fragment.payload.size();
  }
  return false;
}

std::vector<fs::path> logs_of(const std::string& folder) {
  std::vector<fs::path> logs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace

WalScan scan_wals(const std::string& folder, uint64_t readable) {
  for (const fs::path& log : logs_of(folder)) {
    const Result<platform::MappedFile> mapped =
        platform::MappedFile::open(log.string(), Code::kStoreCorrupt);
    if (!mapped.is_ok()) return {mapped.status().message(), false};
    const auto file = mapped.value().bytes();
    const uint64_t whole = end_of_whole(file);
    if (whole == file.size()) continue;
    const bool is_middle = has_later_write(file, whole, readable);
    return {log.string() + ": byte " + std::to_string(whole) + " of " +
                std::to_string(file.size()) + " begins what cannot be read" +
                (is_middle ? ", later writes follow it" : ""),
            is_middle};
  }
  return {};
}

std::vector<std::string> logs_of_other_records(const std::string& folder) {
  std::vector<std::string> found;
  for (const fs::path& log : logs_of(folder)) {
    const Result<platform::MappedFile> mapped =
        platform::MappedFile::open(log.string(), Code::kStoreCorrupt);
    if (!mapped.is_ok() || has_other_record(mapped.value().bytes())) found.push_back(log.string());
  }
  return found;
}

}  // namespace tessera::store
