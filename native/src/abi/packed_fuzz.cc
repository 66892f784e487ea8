// The readers of packed requests on words that were changed, cut and forged: nothing may crash, and
// a record that is not whole is refused. With Clang's libFuzzer only LLVMFuzzerTestOneInput is
// used; otherwise main() mutates.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "abi/generated/packed_in.h"
#include "abi/packed_writer.h"
#include "base/check.h"

namespace tessera::engine {

/// Of requests that are read and never run: the tasks are not linked.
const Task& recall_task() {
  static const uint64_t none = 0;
  return reinterpret_cast<const Task&>(none);
}

}  // namespace tessera::engine

namespace tessera::abi {
namespace {

void read_words(std::span<const uint32_t> words) {
  while (!words.empty()) {
    PackedReader in(words);
    RequestHead head;
    engine::Request request;
    read_request_head(in, head);
    read_request_work(in, request);
    kReadRequest[head.kind](in, request);
    if (!in.is_good()) return;
    TESSERA_CHECK(in.size() >= kHeaderWords && in.size() <= words.size());
    const auto& offsets = request.sid_offsets;
    TESSERA_CHECK(offsets.empty() || offsets.back() == request.sid_codes.size());
    words = words.subspan(in.size());
  }
}

[[maybe_unused]] std::vector<uint32_t> random_request(std::mt19937_64& random) {
  PackedWriter out;
  const auto kind = static_cast<uint32_t>(random() % kReadRequest.size());
  for (const uint32_t word : {1u, kind, 0u, 0u}) out.u32(word);
  out.f64(1e6);
  out.u32(1);                                              // priority
  out.u32s(std::vector<uint32_t>(random() % 20, 3));       // prompt
  out.text(std::string(random() % 9, 'u'));                // user
  for (const uint32_t word : {0u, 0u, 0u}) out.u32(word);  // prefix, keep, exact
  if (kind == 0) {
    out.u32s(std::vector<uint32_t>(random() % 4, 8));
    for (const uint32_t word : {10u, 1u, 0u, 0u, 5u, 1u}) out.u32(word);
  }
  if (kind == 1) {
    out.u32(2);
    for (int sid = 0; sid < 2; ++sid) out.u32s(std::vector<uint32_t>(random() % 5, 1));
    out.u32(0);
  }
  return out.end();
}

[[maybe_unused]] void try_seed(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> words = random_request(random);
  for (uint64_t i = 0; i < random() % 3; ++i) {
    const std::vector<uint32_t> more = random_request(random);
    words.insert(words.end(), more.begin(), more.end());
  }
  read_words(words);
  for (uint64_t i = 0; i < 1 + random() % 4 && !words.empty(); ++i) {
    const size_t at = random() % words.size();
    switch (random() % 4) {
      case 0: words.resize(at); break;
      case 1: words[at] = static_cast<uint32_t>(random()); break;
      case 2: words[at] += static_cast<uint32_t>(random() % 7) - 3; break;
      default: words[at] ^= 1u << random() % 32;
    }
  }
  read_words(words);
}

}  // namespace
}  // namespace tessera::abi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint32_t> words(size / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  tessera::abi::read_words(words);
  return 0;
}

#if !defined(TESSERA_LIBFUZZER)
/// packed_fuzz [cases [seed]]: a failure is repeated by the seed that was printed last.
int main(int argc, char** argv) {
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
  const uint64_t first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    if (seed % 10'000 == first_seed % 10'000) {
      std::printf("packed_fuzz: seed %llu\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
    tessera::abi::try_seed(seed);
  }
  std::printf("packed_fuzz: %llu cases\n", static_cast<unsigned long long>(cases));
  return 0;
}
#endif
