// Seeded mutations of chains' records, half of them with a right checksum, so that the structural
// checks are what stands between them and the pool. What decodes must encode to the same bytes.
// With Clang's libFuzzer only LLVMFuzzerTestOneInput is used; otherwise main() mutates.
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "base/check.h"
#include "kv/head_record.h"

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace tessera::kv {
namespace {

constexpr uint32_t kRounds = 20'000;

uint32_t check(std::string_view bytes) {
  const Result<HeadRecord> record = decode(bytes);
  if (!record.is_ok()) return 0;
  TESSERA_CHECK(encode(record.value()) == bytes);
  return 1;
}

std::string some_record(std::mt19937_64& random) {
  HeadRecord record;
  record.key.owner = std::string(random() % 40, 'u');
  record.key.is_prefix = random() % 2 == 0;
  record.seq = random();
  record.versions_back = static_cast<uint32_t>(random() % 3);
  if (record.versions_back > 0) record.root.bytes[random() % 16] = static_cast<uint8_t>(random());
  record.tokens.resize(random() % 200);
  for (Token& token : record.tokens) token = static_cast<Token>(random());
  for (uint32_t left = static_cast<uint32_t>(record.tokens.size()); left > 0;) {
    const uint32_t length = std::min(left, kBlockTokens);
    record.blocks.push_back({static_cast<SlotIndex>(random() % 1000), length, random()});
    left -= length;
  }
  return encode(record);
}

void mutate(std::string& bytes, std::mt19937_64& random) {
  for (uint64_t i = 1 + random() % 3; i > 0 && !bytes.empty(); --i) {
    switch (random() % 3) {
      case 0: bytes[random() % bytes.size()] = static_cast<char>(random()); break;
      case 1: bytes.resize(random() % bytes.size()); break;
      default: bytes.insert(random() % bytes.size(), 1 + random() % 9, static_cast<char>(random()));
    }
  }
  if (random() % 2 == 0 || bytes.size() < sizeof(uint64_t)) return;
  const uint64_t body = bytes.size() - sizeof(uint64_t);
  const uint64_t checksum = XXH3_64bits(bytes.data(), body);
  std::memcpy(bytes.data() + body, &checksum, sizeof(checksum));
}

}  // namespace
}  // namespace tessera::kv

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tessera::kv::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef TESSERA_LIBFUZZER
int main() {
  std::mt19937_64 random(20'26);
  uint32_t accepted = 0;
  for (uint32_t round = 0; round < tessera::kv::kRounds; ++round) {
    std::string bytes = tessera::kv::some_record(random);
    TESSERA_CHECK(tessera::kv::check(bytes) == 1);
    tessera::kv::mutate(bytes, random);
    accepted += tessera::kv::check(bytes);
  }
  std::printf("head_record_fuzz: %u records, %u still read\n", tessera::kv::kRounds, accepted);
  return 0;
}
#endif
