// The readers of packed requests, of changes of a catalogue, of codebooks, of what is to be reached
// and of an ordered store's reads and writes, on words that were changed, cut and forged: nothing
// may crash, and what is read is within the words. With Clang's libFuzzer only
// LLVMFuzzerTestOneInput is used; otherwise main() mutates.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "abi/generated/packed_in.h"
#include "abi/packed_writer.h"
#include "base/check.h"
#include "catalogue/given_change.h"
#include "catalogue/reach_request.h"

namespace tessera::engine {

/// Task of requests that are read and never run: the tasks are not linked.
const Task& recall_task() {
  static const uint64_t none = 0;
  return reinterpret_cast<const Task&>(none);
}

}  // namespace tessera::engine

namespace tessera::abi {
namespace {

[[maybe_unused]] constexpr uint32_t kOne = 0x3F800000;  // bits of 1 in float32

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

/// Nor may what a change is completed by.
void read_changes(std::span<const uint32_t> words) {
  PackedReader in(words);
  ChangeMessage message;
  read_change_message(in, message);
  TESSERA_CHECK(message.changes.size() <= words.size());
  for (catalogue::GivenChange& change : message.changes) {
    TESSERA_CHECK(static_cast<uint32_t>(change.kind) < catalogue::kChangeKinds);
    const Status completed = catalogue::complete_change(0, change);
    TESSERA_CHECK(completed.is_ok() || completed.code() == Code::kCatalogueInvalid);
  }
}

/// Codebooks that are taken quantise whatever vector, or refuse it.
void read_codebooks(std::span<const uint32_t> words) {
  PackedReader in(words);
  catalogue::GivenCodebooks given;
  read_given_codebooks(in, given);
  const uint32_t dimension = given.dimension;
  const auto made = catalogue::Codebooks::make(std::move(given));
  if (!made.is_ok()) {
    TESSERA_CHECK(made.status().code() == Code::kCatalogueInvalid);
    return;
  }
  const auto found = made.value()->nearest(std::vector<float>(dimension, 2));
  if (!found.is_ok()) return;
  for (uint32_t level = 0; level < made.value()->depth(); ++level) {
    TESSERA_CHECK(found.value().codes[level] < made.value()->level_size(level));
  }
}

/// Byte strings are within the words.
void read_store(std::span<const uint32_t> words) {
  PackedReader in(words);
  store::Query query;
  read_store_query(in, query);
  PackedReader again(words);
  store::Batch batch;
  read_store_batch(again, batch);
  size_t bytes = 0;
  for (const std::string& key : query.keys) bytes += key.size();
  for (const store::Range& range : query.ranges) bytes += range.from.size() + range.to.size();
  TESSERA_CHECK(bytes <= words.size_bytes());
  bytes = 0;
  for (const std::string& key : batch.erased) bytes += key.size();
  for (const auto& [key, value] : batch.put) bytes += key.size() + value.size();
  TESSERA_CHECK(bytes <= words.size_bytes());
}

[[maybe_unused]] std::vector<uint32_t> random_store(std::mt19937_64& random) {
  PackedWriter out;
  for (int list = 0; list < 2; ++list) {
    const uint64_t count = random() % 4;
    out.count(count);
    for (uint64_t i = 0; i < count * (list == 0 ? 1 : 2); ++i) {
      out.blob(std::string(random() % 9, 'k'));
    }
  }
  out.u32(static_cast<uint32_t>(random() % 2));
  return out.end();
}

[[maybe_unused]] void put_texts(uint64_t count, const char* text, PackedWriter& out) {
  out.count(count);
  for (uint64_t i = 0; i < count; ++i) out.text(text);
}

[[maybe_unused]] void put_patch(std::mt19937_64& random, PackedWriter& out) {
  out.text(random() % 2 == 0 ? R"({"bid": 2})" : "");
  put_texts(random() % 3, "gone", out);
  for (int list = 0; list < 2; ++list) {
    out.count(1);
    out.text("labels");
    put_texts(random() % 3, "new", out);
  }
  out.count(1);
  out.text("budget");
  out.f64(-0.5);
}

uint32_t depth_of(const catalogue::Clause& clause) {
  uint32_t depth = 0;
  for (const catalogue::Clause& below : clause.clauses) depth = std::max(depth, depth_of(below));
  return depth + 1;
}

/// Nor may what a predicate is checked and evaluated by.
void read_reach(std::span<const uint32_t> words) {
  PackedReader in(words);
  catalogue::ReachRequest request;
  read_reach_request(in, request);
  const Status completed = catalogue::complete_reach_request(request);
  TESSERA_CHECK(completed.is_ok() || completed.code() == Code::kRequestInvalid);
  if (!completed.is_ok() || !request.eligibility.predicate) return;
  TESSERA_CHECK(depth_of(*request.eligibility.predicate) <= catalogue::kPredicateDepthMax);
  const bool is_match = catalogue::matches(*request.eligibility.predicate, {});
  TESSERA_CHECK(is_match == catalogue::failing_clause(*request.eligibility.predicate, {}).empty());
}

[[maybe_unused]] void write_random_clause(PackedWriter& out, std::mt19937_64& random,
                                          uint32_t depth) {
  const uint64_t kind = random() % 6;
  out.u32(static_cast<uint32_t>(kind));
  out.text(random() % 8 == 0 ? "" : "bid");
  const uint64_t values = random() % 3;
  out.count(values);
  for (uint64_t i = 0; i < values; ++i) out.text("value");
  out.f64(0.5);
  out.f64(random() % 2 == 0 ? 1 : std::numeric_limits<double>::infinity());
  const uint64_t clauses = depth == 0 ? 0 : random() % 3;
  out.count(clauses);
  for (uint64_t i = 0; i < clauses; ++i) write_random_clause(out, random, depth - 1);
}

[[maybe_unused]] std::vector<uint32_t> random_reach(std::mt19937_64& random) {
  PackedWriter out;
  out.flag(true);
  write_random_clause(out, random, static_cast<uint32_t>(random() % 20));
  const bool has_allowed = random() % 2 == 0;
  out.flag(has_allowed);
  for (int list = has_allowed ? 0 : 1; list < 3; ++list) {
    out.count(1);
    out.text("item");
  }
  out.text("bid");
  const uint64_t caps = random() % 6;
  out.count(caps);
  for (uint64_t i = 0; i < caps; ++i) {
    out.text("campaign-" + std::to_string(random() % 8));
    out.u32(static_cast<uint32_t>(random() % 3));
  }
  return out.end();
}

[[maybe_unused]] std::vector<uint32_t> random_changes(std::mt19937_64& random) {
  PackedWriter out;
  const uint64_t count = random() % 4;
  out.count(count);
  for (uint64_t i = 0; i < count; ++i) {
    out.u32(static_cast<uint32_t>(random() % catalogue::kChangeKinds));
    out.text("item-" + std::to_string(i));
    out.u32s(std::vector<uint32_t>(random() % 3, 1));
    out.text("title");
    out.text(random() % 2 == 0 ? R"({"bid": [1, "x"]})" : "");
    out.f64(0.5);
    const bool has_predicate = random() % 2 == 0;
    out.flag(has_predicate);
    if (has_predicate) write_random_clause(out, random, static_cast<uint32_t>(random() % 20));
    put_patch(random, out);
    out.u32s(std::vector<uint32_t>(random() % 3, kOne));  // vector
  }
  return out.end();
}

[[maybe_unused]] std::vector<uint32_t> random_codebooks(std::mt19937_64& random) {
  PackedWriter out;
  const auto inputs = static_cast<uint32_t>(1 + random() % 4);
  const auto outputs = static_cast<uint32_t>(1 + random() % 4);
  const bool has_encoder = random() % 2 == 0;
  out.u32(inputs);
  out.u32(static_cast<uint32_t>(random() % 3));  // capacity
  out.count(has_encoder ? 1 : 0);
  if (has_encoder) {
    out.u32s(std::vector<uint32_t>(size_t{inputs} * outputs, kOne));
    out.u32s(std::vector<uint32_t>(outputs, kOne));
  }
  out.count(2);
  const size_t width = has_encoder ? outputs : inputs;
  for (int level = 0; level < 2; ++level) out.u32s(std::vector<uint32_t>(3 * width, kOne));
  return out.end();
}

[[maybe_unused]] void mutate(std::vector<uint32_t>& words, std::mt19937_64& random) {
  for (uint64_t i = 0; i < 1 + random() % 4 && !words.empty(); ++i) {
    const size_t at = random() % words.size();
    switch (random() % 4) {
      case 0: words.resize(at); break;
      case 1: words[at] = static_cast<uint32_t>(random()); break;
      case 2: words[at] += static_cast<uint32_t>(random() % 7) - 3; break;
      default: words[at] ^= 1u << random() % 32;
    }
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

/// Reads records as they are made, and damaged ones.
template <typename Read>
void try_words(std::vector<uint32_t> words, std::mt19937_64& random, Read read) {
  read(words);
  mutate(words, random);
  read(words);
}

[[maybe_unused]] void try_seed(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> words = random_request(random);
  for (uint64_t i = 0; i < random() % 3; ++i) {
    const std::vector<uint32_t> more = random_request(random);
    words.insert(words.end(), more.begin(), more.end());
  }
  try_words(std::move(words), random, read_words);
  try_words(random_changes(random), random, read_changes);
  try_words(random_reach(random), random, read_reach);
  try_words(random_codebooks(random), random, read_codebooks);
  try_words(random_store(random), random, read_store);
}

}  // namespace
}  // namespace tessera::abi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint32_t> words(size / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  tessera::abi::read_words(words);
  tessera::abi::read_changes(words);
  tessera::abi::read_reach(words);
  tessera::abi::read_codebooks(words);
  tessera::abi::read_store(words);
  return 0;
}

#if !defined(TESSERA_LIBFUZZER)
/// packed_fuzz [cases [seed]]: a failure is repeated by the seed that was printed last.
int main(int argc, char** argv) {
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 40'000;
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
